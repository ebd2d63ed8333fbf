/* test_jobarray.c - slots and their words, on ordinary memory. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buf.h"
#include "jobarray.h"

#define N 4
#define ME 1234
#define NOW 1000u

static void *memory;
static struct jobarray *array;

static void
setup(void)
{
    memory = aligned_alloc(64, jobarray_size(N));
    jobarray_init(memory, N);
    array = jobarray_check(memory, jobarray_size(N));
    ck_assert_ptr_nonnull(array);
}

static void
teardown(void)
{
    free(memory);
}

static struct sendable
job(int64_t id)
{
    return (struct sendable){.result_id = id,
                             .wu_id = id * 10,
                             .appid = 3,
                             .rsc_fpops_est = 1e12,
                             .priority = 7,
                             .size_class = -1,
                             .need_reliable = true};
}

static struct job_slot *
filled(size_t i, int64_t id)
{
    struct job_slot *slot = jobarray_slot(array, i);
    struct sendable j = job(id);

    ck_assert(jobarray_fill(slot, &j, NOW));
    return slot;
}

static uint64_t
claimed(struct job_slot *slot, pid_t me, uint32_t now)
{
    struct sendable copy;
    uint64_t word = 0;

    ck_assert(jobarray_claim(slot, me, now, &word, &copy));
    return word;
}

START_TEST(a_new_array_has_only_empty_slots)
{
    ck_assert_uint_eq(jobarray_n_slots(array), N);
    ck_assert_uint_eq(jobarray_count(array, SLOT_EMPTY), N);
    ck_assert_uint_eq(jobarray_count(array, SLOT_READY), 0);
}
END_TEST

START_TEST(a_claim_gives_the_whole_job_and_shuts_others_out)
{
    struct job_slot *slot = filled(0, 5000000001);
    struct sendable copy;
    uint64_t word, other;

    ck_assert(jobarray_claim(slot, ME, NOW, &word, &copy));
    ck_assert_int_eq(copy.result_id, 5000000001);
    ck_assert_int_eq(copy.wu_id, 50000000010);
    ck_assert_int_eq(copy.appid, 3);
    ck_assert(copy.rsc_fpops_est == 1e12);
    ck_assert_int_eq(copy.priority, 7);
    ck_assert_int_eq(copy.size_class, -1);
    ck_assert(copy.need_reliable);
    ck_assert_int_eq(jobarray_owner(word), ME);
    ck_assert_uint_eq(jobarray_claim_time(word), NOW);
    ck_assert_int_eq(jobarray_state(slot), SLOT_CLAIMED);
    ck_assert(!jobarray_claim(slot, ME + 1, NOW, &other, &copy));
}
END_TEST

START_TEST(the_largest_pid_of_linux_fits)
{
    struct job_slot *slot = filled(0, 1);

    /* PID_MAX_LIMIT is 2^22, so the last pid is one less. */
    ck_assert_int_eq(jobarray_owner(claimed(slot, 4194303, 0xffffffffu)),
                     4194303);
    ck_assert_uint_eq(jobarray_claim_time(atomic_load(&slot->word)),
                      0xffffffffu);
}
END_TEST

START_TEST(an_empty_slot_cannot_be_claimed)
{
    struct sendable copy;
    uint64_t word;

    ck_assert(!jobarray_claim(jobarray_slot(array, 0), ME, NOW, &word, &copy));
}
END_TEST

START_TEST(only_an_empty_slot_is_filled)
{
    struct job_slot *slot = filled(0, 1);
    struct sendable other = job(2);

    ck_assert(!jobarray_fill(slot, &other, NOW));
    claimed(slot, ME, NOW);
    ck_assert(!jobarray_fill(slot, &other, NOW));
    ck_assert_int_eq(atomic_load(&slot->result_id), 1);
}
END_TEST

START_TEST(hints_are_those_of_the_job)
{
    struct job_slot *slot = filled(0, 9);

    jobarray_refuse(slot);
    jobarray_refuse(slot);
    ck_assert_int_eq(atomic_load(&slot->result_id), 9);
    ck_assert_int_eq(atomic_load(&slot->wu_id), 90);
    ck_assert_int_eq(atomic_load(&slot->priority), 7);
    ck_assert_uint_eq(atomic_load(&slot->refusals), 2);
    ck_assert_uint_eq(jobarray_time_added(slot), NOW);
    ck_assert(jobarray_clear(slot));
    ck_assert_uint_eq(atomic_load(&filled(0, 10)->refusals), 0);
}
END_TEST

START_TEST(a_job_given_back_can_be_claimed_again)
{
    struct job_slot *slot = filled(0, 1);
    uint64_t word = claimed(slot, ME, NOW);

    ck_assert(jobarray_give_back(slot, word));
    ck_assert_int_eq(jobarray_state(slot), SLOT_READY);
    ck_assert(!jobarray_give_back(slot, word));
    ck_assert(!jobarray_done(slot, word));
    claimed(slot, ME + 1, NOW);
}
END_TEST

START_TEST(a_job_done_leaves_an_empty_slot)
{
    struct job_slot *slot = filled(0, 1);

    ck_assert(jobarray_done(slot, claimed(slot, ME, NOW)));
    ck_assert_int_eq(jobarray_state(slot), SLOT_EMPTY);
    filled(0, 2);
}
END_TEST

START_TEST(the_feeder_clears_ready_slots_only)
{
    struct job_slot *slot = filled(0, 1);
    uint64_t word = claimed(slot, ME, NOW);

    ck_assert(!jobarray_clear(slot));
    ck_assert(jobarray_give_back(slot, word));
    ck_assert(jobarray_clear(slot));
    ck_assert(!jobarray_clear(slot));
}
END_TEST

/* The same process claims the same slot in the same second once more: its first
 * claim must not pass for the second. */
START_TEST(a_stale_word_never_matches)
{
    struct job_slot *slot = filled(0, 1);
    uint64_t first = claimed(slot, ME, NOW);

    ck_assert_uint_eq(jobarray_sweep(array, NOW + 61, 60, false), 1);
    filled(0, 2);
    uint64_t second = claimed(slot, ME, NOW);
    ck_assert(first != second);
    ck_assert(!jobarray_done(slot, first));
    ck_assert(!jobarray_give_back(slot, first));
    ck_assert_int_eq(jobarray_state(slot), SLOT_CLAIMED);
    ck_assert(jobarray_done(slot, second));
}
END_TEST

/* Each step must differ from all words of the recent past, not only from the
 * last: 80 rounds of three steps stay within the counter of 8 bits. */
START_TEST(words_do_not_come_back_soon)
{
    uint64_t seen[80];
    struct job_slot *slot = jobarray_slot(array, 0);

    for (size_t i = 0; i < ARRAY_LEN(seen); i++) {
        filled(0, 1);
        seen[i] = claimed(slot, ME, NOW);
        for (size_t k = 0; k < i; k++)
            ck_assert_msg(seen[k] != seen[i], "claim %zu is like %zu", i, k);
        ck_assert(jobarray_done(slot, seen[i]));
    }
}
END_TEST

static const struct {
    const char *promise;
    uint32_t claimed_at, now;
    size_t freed;
} leases[] = {
    {"a claim within its lease stays",              100, 159, 0},
    {"a claim stays until the lease is over",       100, 160, 0},
    {"one second more and it is freed",             100, 161, 1},
    {"a clock read before the claim frees nothing", 100, 99,  0},
};

START_TEST(claims_last_as_long_as_their_lease)
{
    struct job_slot *slot = filled(1, 1);

    claimed(slot, 0, leases[_i].claimed_at);
    ck_assert_msg(jobarray_sweep(array, leases[_i].now, 60, true) ==
                      leases[_i].freed,
                  "broken: %s", leases[_i].promise);
    ck_assert_int_eq(jobarray_state(slot),
                     leases[_i].freed ? SLOT_EMPTY : SLOT_CLAIMED);
}
END_TEST

/* A pid that was ours to know and is gone now. */
static pid_t
dead_pid(void)
{
    pid_t pid = fork();

    if (pid == 0)
        _exit(0);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    return pid;
}

START_TEST(a_dead_owner_loses_its_claim_at_once)
{
    struct job_slot *dead = filled(0, 1);
    struct job_slot *alive = filled(1, 2);
    struct job_slot *elsewhere = filled(2, 3);

    claimed(dead, dead_pid(), NOW);
    claimed(alive, getpid(), NOW);
    claimed(elsewhere, 0, NOW);
    ck_assert_uint_eq(jobarray_sweep(array, NOW, 60, true), 1);
    ck_assert_int_eq(jobarray_state(dead), SLOT_EMPTY);
    ck_assert_int_eq(jobarray_state(alive), SLOT_CLAIMED);
    ck_assert_int_eq(jobarray_state(elsewhere), SLOT_CLAIMED);
    /* Its job may be unsent: the feeder must not take it for sent. */
    ck_assert_int_eq(atomic_load(&dead->result_id), 0);
}
END_TEST

START_TEST(pids_of_another_namespace_mean_nothing)
{
    claimed(filled(0, 1), dead_pid(), NOW);
    ck_assert_uint_eq(jobarray_sweep(array, NOW, 60, false), 0);
}
END_TEST

START_TEST(what_is_no_job_array_is_refused)
{
    uint32_t *magic = memory;
    size_t size = jobarray_size(N);

    ck_assert_ptr_null(jobarray_check(memory, 0));
    ck_assert_ptr_null(jobarray_check(memory, 63));
    /* N slots and the header, one byte short */
    ck_assert_ptr_null(
        jobarray_check(memory, 64 + N * sizeof(struct job_slot) - 1));
    ck_assert_ptr_nonnull(
        jobarray_check(memory, 64 + N * sizeof(struct job_slot)));
    *magic ^= 1;
    ck_assert_ptr_null(jobarray_check(memory, size));
}
END_TEST

START_TEST(an_array_may_be_without_slots)
{
    void *none = aligned_alloc(64, jobarray_size(0));
    struct jobarray *a;

    jobarray_init(none, 0);
    a = jobarray_check(none, jobarray_size(0));
    ck_assert_ptr_nonnull(a);
    ck_assert_uint_eq(jobarray_n_slots(a), 0);
    ck_assert_uint_eq(jobarray_sweep(a, NOW, 60, true), 0);
    free(none);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("jobarray");
    TCase *tc = tcase_create("jobarray");
    SRunner *runner;
    int failed;

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_new_array_has_only_empty_slots);
    tcase_add_test(tc, a_claim_gives_the_whole_job_and_shuts_others_out);
    tcase_add_test(tc, the_largest_pid_of_linux_fits);
    tcase_add_test(tc, an_empty_slot_cannot_be_claimed);
    tcase_add_test(tc, only_an_empty_slot_is_filled);
    tcase_add_test(tc, hints_are_those_of_the_job);
    tcase_add_test(tc, a_job_given_back_can_be_claimed_again);
    tcase_add_test(tc, a_job_done_leaves_an_empty_slot);
    tcase_add_test(tc, the_feeder_clears_ready_slots_only);
    tcase_add_test(tc, a_stale_word_never_matches);
    tcase_add_test(tc, words_do_not_come_back_soon);
    tcase_add_loop_test(tc, claims_last_as_long_as_their_lease, 0,
                        ARRAY_LEN(leases));
    tcase_add_test(tc, a_dead_owner_loses_its_claim_at_once);
    tcase_add_test(tc, pids_of_another_namespace_mean_nothing);
    tcase_add_test(tc, what_is_no_job_array_is_refused);
    tcase_add_test(tc, an_array_may_be_without_slots);
    suite_add_tcase(suite, tc);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
