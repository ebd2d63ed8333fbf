/* test_jobarray.c - slots and their words, on ordinary memory. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buf.h"
#include "jobarray.h"

#define N 4
#define HOSTS 100
/* 100 hosts in a set that is at most four fifths full: 128 cells of 8 bytes */
#define SLOT_AND_SET                                                           \
    (sizeof(struct job_slot) + sizeof(struct sendable) + 128 * 8)
/* 65536 notes of 16 bytes, 16 kinds of 4 */
#define TABLES (65536 * 16 + 16 * 4)
#define ME 1234
#define NOW 1000u

static void *memory;
static struct jobarray *array;

static void
setup(void)
{
    memory = aligned_alloc(64, jobarray_size(N, HOSTS));
    jobarray_init(memory, N, HOSTS);
    array = jobarray_check(memory, jobarray_size(N, HOSTS));
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
    return (struct sendable){
        .result_id = id,
        .wu_id = id * 10,
        .appid = 3,
        .rsc_fpops_est = 1e12,
        .file = {1, 2, 3, 4, 5, 6, 7, (uint64_t)id},
        .priority = 7,
        .size_class = -1,
        .need_reliable = true
    };
}

static struct job_slot *
filled(size_t i, int64_t id)
{
    struct job_slot *slot = jobarray_slot(array, i);
    struct sendable j = job(id);

    ck_assert(jobarray_fill(array, slot, &j, NOW));
    return slot;
}

static uint64_t
claimed(struct job_slot *slot, pid_t me, uint32_t now)
{
    struct sendable copy;
    uint64_t word = 0;

    ck_assert(jobarray_claim(array, slot, me, now, &word, &copy));
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

    ck_assert(jobarray_claim(array, slot, ME, NOW, &word, &copy));
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
    ck_assert(!jobarray_claim(array, slot, ME + 1, NOW, &other, &copy));
}
END_TEST

START_TEST(a_look_leaves_no_trace)
{
    struct job_slot *slot = filled(0, 7);
    struct sendable seen;
    uint64_t word;

    ck_assert(jobarray_peek(array, slot, &seen));
    ck_assert_int_eq(seen.result_id, 7);
    ck_assert_int_eq(seen.wu_id, 70);
    ck_assert_uint_eq(seen.file[0], 1);
    ck_assert_uint_eq(seen.file[7], 7);
    ck_assert_int_eq(seen.priority, 7);
    ck_assert_int_eq(seen.size_class, -1);
    ck_assert(seen.need_reliable); /* the last field */
    ck_assert_int_eq(jobarray_state(slot), SLOT_READY);
    ck_assert(
        !jobarray_peek(array, jobarray_slot(array, 1), &seen)); /* empty */
    word = claimed(slot, ME, NOW);
    ck_assert(!jobarray_peek(array, slot, &seen));
    ck_assert(jobarray_give_back(slot, word));
    ck_assert(jobarray_peek(array, slot, &seen));
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

    ck_assert(
        !jobarray_claim(array, jobarray_slot(array, 0), ME, NOW, &word, &copy));
}
END_TEST

START_TEST(only_an_empty_slot_is_filled)
{
    struct job_slot *slot = filled(0, 1);
    struct sendable other = job(2);

    ck_assert(!jobarray_fill(array, slot, &other, NOW));
    claimed(slot, ME, NOW);
    ck_assert(!jobarray_fill(array, slot, &other, NOW));
    ck_assert_int_eq(atomic_load(&slot->result_id), 1);
}
END_TEST

START_TEST(hints_are_those_of_the_job)
{
    struct job_slot *slot = filled(0, 9);

    jobarray_refuse(array, slot, 9, 1, REFUSED_MEMORY);
    jobarray_refuse(array, slot, 9, 2, REFUSED_DISK);
    ck_assert_int_eq(atomic_load(&slot->result_id), 9);
    ck_assert_int_eq(atomic_load(&slot->wu_id), 90);
    ck_assert_int_eq(atomic_load(&slot->priority), 7);
    ck_assert_uint_eq(atomic_load(&slot->refusals), 2);
    ck_assert_uint_eq(jobarray_time_added(slot), NOW);
    ck_assert(jobarray_clear(slot));
    ck_assert_uint_eq(atomic_load(&filled(0, 10)->refusals), 0);
}
END_TEST

/* ---- hosts that could not take a job --------------------------------------
 */

START_TEST(a_host_counts_once_whatever_its_reasons)
{
    struct job_slot *slot = filled(0, 9);
    struct refused_host host[2];

    ck_assert(jobarray_refuse(array, slot, 9, 5, REFUSED_MEMORY));
    ck_assert(!jobarray_refuse(array, slot, 9, 5, REFUSED_MEMORY));
    ck_assert(!jobarray_refuse(array, slot, 9, 5, REFUSED_DISK));
    ck_assert_uint_eq(atomic_load(&slot->refusals), 1);
    ck_assert_uint_eq(jobarray_refused(array, slot, 9, host, 2), 1);
    ck_assert_int_eq(host[0].hostid, 5);
    ck_assert_int_eq(host[0].reason, REFUSED_MEMORY);
}
END_TEST

START_TEST(as_many_hosts_as_asked_for_have_room)
{
    struct job_slot *slot = filled(0, 9);
    struct refused_host host[HOSTS];
    int of[REFUSED_MAX + 1] = {0};

    for (int id = 1; id <= HOSTS; id++)
        ck_assert(
            jobarray_refuse(array, slot, 9, 1000 * id,
                            id <= 63 ? REFUSED_MEMORY : REFUSED_NO_VERSION));
    ck_assert_uint_eq(jobarray_refused(array, slot, 9, host, HOSTS), HOSTS);
    for (int i = 0; i < HOSTS; i++)
        of[host[i].reason]++;
    ck_assert_int_eq(of[REFUSED_MEMORY], 63);
    ck_assert_int_eq(of[REFUSED_NO_VERSION], 37);
}
END_TEST

START_TEST(more_hosts_than_there_is_room_for_are_let_go)
{
    struct job_slot *slot = filled(0, 9);

    for (int id = 1; id <= 10 * HOSTS; id++)
        jobarray_refuse(array, slot, 9, id, REFUSED_DISK);
    ck_assert_uint_ge(jobarray_refused(array, slot, 9, NULL, 0), HOSTS);
    ck_assert(!jobarray_refuse(array, slot, 9, 10 * HOSTS + 1, REFUSED_DISK));
    ck_assert_uint_eq(jobarray_refused(array, filled(1, 10), 10, NULL, 0), 0);
}
END_TEST

START_TEST(a_host_that_speaks_too_late_does_not_count_for_the_next_job)
{
    struct job_slot *slot = filled(0, 9);

    ck_assert(jobarray_clear(slot));
    filled(0, 10);
    jobarray_refuse(array, slot, 9, 5, REFUSED_MEMORY);
    ck_assert_uint_eq(atomic_load(&slot->refusals), 0);
    ck_assert_uint_eq(jobarray_refused(array, slot, 10, NULL, 0), 0);
    ck_assert(jobarray_refuse(array, slot, 10, 5, REFUSED_MEMORY));
    ck_assert_uint_eq(jobarray_refused(array, slot, 10, NULL, 0), 1);
}
END_TEST

START_TEST(a_job_may_come_with_the_hosts_that_failed_before)
{
    static const struct refused_host known[] = {
        {5, REFUSED_MEMORY},
        {6, REFUSED_DISK  }
    };
    struct job_slot *slot = filled(0, 9);
    struct sendable j = {.result_id = 10};

    jobarray_refuse(array, slot, 9, 4, REFUSED_MEMORY);
    ck_assert(jobarray_clear(slot));
    ck_assert(jobarray_fill_known(array, slot, &j, known, 2, NOW));
    ck_assert_uint_eq(atomic_load(&slot->refusals), 2);
    ck_assert(!jobarray_refuse(array, slot, 10, 6, REFUSED_MEMORY));
    ck_assert(jobarray_refuse(array, slot, 10, 4, REFUSED_MEMORY));
    ck_assert_uint_eq(jobarray_refused(array, slot, 10, NULL, 0), 3);
}
END_TEST

START_TEST(a_host_without_an_id_does_not_count)
{
    struct job_slot *slot = filled(0, 9);

    ck_assert(!jobarray_refuse(array, slot, 9, 0, REFUSED_MEMORY));
    ck_assert_uint_eq(jobarray_refused(array, slot, 9, NULL, 0), 0);
}
END_TEST

START_TEST(a_job_of_a_class_begins_as_infeasible_for_some)
{
    struct sendable j = {.result_id = 10, .hr_class = 3};
    struct job_slot *slot = filled(0, 9);

    ck_assert_uint_eq(atomic_load(&slot->infeasible), 0);
    jobarray_infeasible(slot);
    ck_assert_uint_eq(atomic_load(&slot->infeasible), 1);
    ck_assert(jobarray_clear(slot));
    ck_assert(jobarray_fill(array, slot, &j, NOW));
    ck_assert_uint_eq(atomic_load(&slot->infeasible), 1);
}
END_TEST

START_TEST(a_copy_of_the_ready_jobs_is_private)
{
    void *mine = aligned_alloc(64, jobarray_size(N, 0));
    uint64_t before[N], word;
    struct jobarray *copy;
    struct sendable job;

    filled(1, 51);
    jobarray_infeasible(jobarray_slot(array, 1));
    claimed(filled(2, 52), ME, NOW);
    filled(3, 53);
    for (size_t i = 0; i < N; i++)
        before[i] = atomic_load(&jobarray_slot(array, i)->word);
    copy = jobarray_copy_ready(array, mine);
    ck_assert_uint_eq(jobarray_n_slots(copy), N);
    ck_assert_int_eq(jobarray_state(jobarray_slot(copy, 0)), SLOT_EMPTY);
    ck_assert_int_eq(jobarray_state(jobarray_slot(copy, 1)), SLOT_READY);
    ck_assert_int_eq(jobarray_state(jobarray_slot(copy, 2)), SLOT_EMPTY);
    ck_assert_uint_eq(atomic_load(&jobarray_slot(copy, 1)->infeasible), 1);
    ck_assert(
        jobarray_claim(copy, jobarray_slot(copy, 3), ME, NOW + 1, &word, &job));
    ck_assert_int_eq(job.result_id, 53);
    ck_assert_int_eq(job.wu_id, 530);
    ck_assert(jobarray_done(jobarray_slot(copy, 3), word));
    ck_assert(
        jobarray_refuse(copy, jobarray_slot(copy, 1), 51, 7, REFUSED_MEMORY));
    for (size_t i = 0; i < N; i++)
        ck_assert(atomic_load(&jobarray_slot(array, i)->word) == before[i]);
    ck_assert_uint_eq(atomic_load(&jobarray_slot(array, 1)->refusals), 0);
    free(mine);
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

/* ---- kinds (rule 9) ---- */

/* The kind of a job that differs from others by what `field` points to. */
static uint64_t
kind_of_slot(size_t i)
{
    struct job_hint hint;

    ck_assert(jobarray_glance(jobarray_slot(array, i), &hint));
    return hint.kind;
}

static uint64_t
kind_of_filled(size_t i, const struct sendable *j)
{
    (void)jobarray_clear(jobarray_slot(array, i));
    ck_assert(jobarray_fill(array, jobarray_slot(array, i), j, NOW));
    return kind_of_slot(i);
}

START_TEST(jobs_that_differ_in_ids_only_are_of_one_kind)
{
    struct sendable a = job(1), b = job(1);
    uint64_t kind = kind_of_filled(0, &a);

    b.result_id = 2;
    b.wu_id = 77;
    b.batch = 5;
    b.user_id = 6;
    b.create_time = 1700000000;
    ck_assert_uint_ne(kind, 0);
    ck_assert_uint_eq(kind_of_filled(1, &b), kind);
    ck_assert_uint_eq(kind_of_filled(2, &a), kind);
    ck_assert_uint_eq(kind_of_filled(1, &a), kind);
}
END_TEST

/* Whatever byte of the rest differs, it is another kind. */
START_TEST(jobs_that_differ_otherwise_are_not)
{
    static const struct {
        size_t from, end;
    } same[] = {
        {offsetof(struct sendable, result_id),   8},
        {offsetof(struct sendable, wu_id),       8},
        {offsetof(struct sendable, batch),       8},
        {offsetof(struct sendable, user_id),     8},
        {offsetof(struct sendable, create_time), 8},
    };
    struct sendable a = job(1);
    uint64_t kind = kind_of_filled(0, &a);

    for (size_t at = 0; at < sizeof(a); at++) {
        unsigned char bytes[sizeof(a)];
        struct sendable b;
        bool ids_only = false;

        for (size_t k = 0; k < ARRAY_LEN(same); k++)
            ids_only = ids_only ||
                       (at >= same[k].from && at < same[k].from + same[k].end);
        memcpy(bytes, &a, sizeof(a));
        bytes[at] ^= 1;
        if (at == offsetof(struct sendable, need_reliable))
            bytes[at] = 0;
        memcpy(&b, bytes, sizeof(b));
        kind = kind_of_filled(0, &a);
        if (ids_only)
            ck_assert_uint_eq(kind_of_filled(1, &b), kind);
        else
            ck_assert_msg(kind_of_filled(1, &b) != kind,
                          "byte %zu makes no kind", at);
        ck_assert_uint_eq(kind_of_slot(0), kind);
    }
}
END_TEST

/* ---- notes (rule 10) ---- */

START_TEST(a_note_holds_for_its_host_and_kind)
{
    ck_assert_uint_eq(jobarray_noted(array, 5, 9), 0);
    jobarray_note(array, 5, 9, 100);
    ck_assert_uint_eq(jobarray_noted(array, 5, 9), 100);
    ck_assert_uint_eq(jobarray_noted(array, 6, 9), 0);
    ck_assert_uint_eq(jobarray_noted(array, 5, 10), 0);
    jobarray_note(array, 5, 9, 101);
    ck_assert_uint_eq(jobarray_noted(array, 5, 9), 101);
    jobarray_note(array, 5, JOBARRAY_EVERY_KIND, 7);
    ck_assert_uint_eq(jobarray_noted(array, 5, JOBARRAY_EVERY_KIND), 7);
}
END_TEST

/* A table of 65536 for twice as many: what is found is right. */
START_TEST(a_note_may_be_lost_but_is_never_wrong)
{
    const int64_t hosts = 131072;
    int64_t found = 0;

    for (int64_t id = 1; id <= hosts; id++)
        jobarray_note(array, id, (uint64_t)(id % 7), (uint64_t)(3 * id));
    for (int64_t id = 1; id <= hosts; id++) {
        uint64_t stamp = jobarray_noted(array, id, (uint64_t)(id % 7));

        ck_assert(stamp == 0 || stamp == (uint64_t)(3 * id));
        found += stamp != 0;
        ck_assert_uint_eq(jobarray_noted(array, id, (uint64_t)(id % 7) + 7), 0);
    }
    ck_assert_int_gt(found, hosts / 4);
}
END_TEST

/* Who has noted the newest stamp sees new jobs, and those that came back. */
START_TEST(a_stamp_tells_what_has_not_been_seen)
{
    struct job_slot *slot = filled(0, 1);
    uint64_t seen = jobarray_newest(array);
    struct job_hint hint;

    ck_assert(jobarray_glance(slot, &hint));
    ck_assert_uint_le(hint.stamp, seen);
    ck_assert(jobarray_glance(filled(1, 2), &hint));
    ck_assert_uint_gt(hint.stamp, seen);
    seen = jobarray_newest(array);
    ck_assert_uint_le(hint.stamp, seen);
    ck_assert(jobarray_give_back(slot, claimed(slot, ME, NOW)));
    ck_assert(jobarray_glance(slot, &hint));
    ck_assert_uint_gt(hint.stamp, seen);
    ck_assert(jobarray_clear(slot));
    ck_assert(!jobarray_glance(slot, &hint));
    ck_assert(jobarray_glance(filled(0, 3), &hint));
    ck_assert_uint_gt(hint.stamp, seen);
    ck_assert_uint_le(hint.stamp, jobarray_newest(array));
}
END_TEST

START_TEST(a_glance_shows_the_line_of_a_ready_slot)
{
    struct job_slot *slot = filled(0, 4);
    struct job_hint hint;

    jobarray_infeasible(slot);
    ck_assert(jobarray_glance(slot, &hint));
    ck_assert_int_eq(hint.result_id, 4);
    ck_assert_int_eq(hint.wu_id, 40);
    ck_assert_uint_eq(hint.infeasible, 1);
    ck_assert(!jobarray_glance(jobarray_slot(array, 1), &hint));
    claimed(slot, ME, NOW);
    ck_assert(!jobarray_glance(slot, &hint));
}
END_TEST

START_TEST(what_is_no_job_array_is_refused)
{
    uint32_t *magic = memory;
    size_t size = jobarray_size(N, HOSTS);

    ck_assert_ptr_null(jobarray_check(memory, 0));
    ck_assert_ptr_null(jobarray_check(memory, 63));
    /* N slots, the header and the tables, one byte short */
    ck_assert_ptr_null(
        jobarray_check(memory, 64 + N * SLOT_AND_SET + TABLES - 1));
    ck_assert_ptr_nonnull(
        jobarray_check(memory, 64 + N * SLOT_AND_SET + TABLES));
    *magic ^= 1;
    ck_assert_ptr_null(jobarray_check(memory, size));
}
END_TEST

START_TEST(an_array_may_be_without_slots)
{
    void *none = aligned_alloc(64, jobarray_size(0, HOSTS));
    struct jobarray *a;

    jobarray_init(none, 0, HOSTS);
    a = jobarray_check(none, jobarray_size(0, HOSTS));
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
    tcase_add_test(tc, a_look_leaves_no_trace);
    tcase_add_test(tc, the_largest_pid_of_linux_fits);
    tcase_add_test(tc, an_empty_slot_cannot_be_claimed);
    tcase_add_test(tc, only_an_empty_slot_is_filled);
    tcase_add_test(tc, hints_are_those_of_the_job);
    tcase_add_test(tc, a_host_counts_once_whatever_its_reasons);
    tcase_add_test(tc, as_many_hosts_as_asked_for_have_room);
    tcase_add_test(tc, more_hosts_than_there_is_room_for_are_let_go);
    tcase_add_test(tc,
                   a_host_that_speaks_too_late_does_not_count_for_the_next_job);
    tcase_add_test(tc, a_job_may_come_with_the_hosts_that_failed_before);
    tcase_add_test(tc, a_host_without_an_id_does_not_count);
    tcase_add_test(tc, a_job_of_a_class_begins_as_infeasible_for_some);
    tcase_add_test(tc, a_copy_of_the_ready_jobs_is_private);
    tcase_add_test(tc, a_job_given_back_can_be_claimed_again);
    tcase_add_test(tc, a_job_done_leaves_an_empty_slot);
    tcase_add_test(tc, the_feeder_clears_ready_slots_only);
    tcase_add_test(tc, a_stale_word_never_matches);
    tcase_add_test(tc, words_do_not_come_back_soon);
    tcase_add_loop_test(tc, claims_last_as_long_as_their_lease, 0,
                        ARRAY_LEN(leases));
    tcase_add_test(tc, a_dead_owner_loses_its_claim_at_once);
    tcase_add_test(tc, pids_of_another_namespace_mean_nothing);
    tcase_add_test(tc, jobs_that_differ_in_ids_only_are_of_one_kind);
    tcase_add_test(tc, jobs_that_differ_otherwise_are_not);
    tcase_add_test(tc, a_note_holds_for_its_host_and_kind);
    tcase_add_test(tc, a_note_may_be_lost_but_is_never_wrong);
    tcase_add_test(tc, a_stamp_tells_what_has_not_been_seen);
    tcase_add_test(tc, a_glance_shows_the_line_of_a_ready_slot);
    tcase_add_test(tc, what_is_no_job_array_is_refused);
    tcase_add_test(tc, an_array_may_be_without_slots);
    suite_add_tcase(suite, tc);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
