/* test_every_vote.c - the proof by enumeration that every vote leads on: all
 * readings of one to five outputs, all ways in which they can be equal, and all
 * limits.  Each ends with a canonical result, or a further result is wanted, or
 * the same ones are read again, or it is over. */
#include "quorum.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "walk_speed.h"

enum { MAX_OUTPUTS = WALK_IS_SLOW ? 4 : 5 };

static long n_votes;

struct ballot {
    struct quorum_limits limits;
    size_t n;
    enum read_verdict read[MAX_OUTPUTS];
    enum match match[MAX_OUTPUTS * MAX_OUTPUTS];
    /* what was decided */
    enum quorum_status status[MAX_OUTPUTS];
    struct quorum_decision q;
};

static size_t
count_status(const struct ballot *b, enum quorum_status what)
{
    size_t n = 0;

    for (size_t i = 0; i < b->n; i++)
        n += b->status[i] == what;
    return n;
}

static size_t
count_read(const struct ballot *b, enum read_verdict what)
{
    size_t n = 0;

    for (size_t i = 0; i < b->n; i++)
        n += b->read[i] == what;
    return n;
}

static const char *
agreement_broken(const struct ballot *b)
{
    size_t needed = (size_t)(b->q.min_quorum / 2 + 1);

    if (b->status[b->q.canonical] != QUORUM_VALID)
        return "the canonical result is not valid";
    if (count_status(b, QUORUM_VALID) < needed)
        return "no majority is behind the canonical result";
    if (count_status(b, QUORUM_INCONCLUSIVE) > 0)
        return "inconclusive beside a canonical result";
    if (b->q.new_errors != 0)
        return "agreed, and given up";
    return NULL;
}

/* No agreement: either it is tried again with the same results, or one more
 * comes, or it ends. */
static const char *
disagreement_broken(const struct ballot *b)
{
    bool is_new_wanted = b->q.target_nresults > b->q.n_viable;

    if (count_status(b, QUORUM_VALID) + count_status(b, QUORUM_INVALID) > 0)
        return "judged without a canonical result";
    if (b->q.retry)
        return count_status(b, QUORUM_INCONCLUSIVE) == 0
                   ? NULL
                   : "some wait for the disk, others for a further result";
    if (count_status(b, QUORUM_KEEP) > 0)
        return "left as it is, and never looked at again";
    if (b->q.new_errors == 0 && !is_new_wanted)
        return "no agreement, and no further result is wanted";
    if (b->q.new_errors != 0 && b->q.n_viable <= b->limits.max_success_results)
        return "given up though the limit is not exceeded";
    return NULL;
}

static const char *
ballot_broken(const struct ballot *b)
{
    if (count_status(b, QUORUM_VALIDATE_ERROR) != count_read(b, OUTPUT_BAD))
        return "bad output and VALIDATE_ERROR are not the same";
    if (b->q.retry != (count_status(b, QUORUM_KEEP) > 0))
        return "a retry, and nothing that waits for it; or the reverse";
    if (b->q.target_nresults < b->limits.target_nresults ||
        b->q.min_quorum < b->limits.min_quorum)
        return "quorum or target went down";
    if (b->q.canonical < 0 && !b->q.transition_now &&
        (b->q.new_errors != 0 || count_read(b, OUTPUT_BAD) > 0 ||
         b->q.target_nresults != b->limits.target_nresults))
        return "something for the transitioner, who is not called";
    return b->q.canonical >= 0 ? agreement_broken(b) : disagreement_broken(b);
}

static void
ck_ballot(struct ballot *b)
{
    const char *broken;

    quorum_decide(&b->limits, b->read, b->match, b->n, b->status, &b->q);
    broken = ballot_broken(b);
    if (broken != NULL)
        for (size_t i = 0; i < b->n; i++)
            fprintf(stderr, "output %zu: read %d status %d\n", i,
                    (int)b->read[i], (int)b->status[i]);
    ck_assert_msg(broken == NULL, "quorum %d target %d successes %d app %d: %s",
                  b->limits.min_quorum, b->limits.target_nresults,
                  b->limits.max_success_results, b->limits.app_target_nresults,
                  broken);
    n_votes++;
}

static void
for_each_quorum(struct ballot *b)
{
    for (int quorum = 1; quorum <= (int)b->n; quorum++)
        for (int more = 0; more < 2; more++)
            for (int successes = b->n < 5 ? 0 : 3; successes <= (int)b->n;
                 successes++)
                for (int app = 1; app <= 3; app += 2) {
                    b->limits = (struct quorum_limits){quorum, quorum + more,
                                                       successes, app};
                    ck_ballot(b);
                }
}

/* All ways to read n outputs. */
static void
for_each_reading(struct ballot *b)
{
    for (unsigned code = 0; code < 1U << (2 * b->n); code++) {
        for (size_t i = 0; i < b->n; i++)
            b->read[i] = (enum read_verdict)(code >> (2 * i) & 3);
        for_each_quorum(b);
    }
}

/* All ways in which n outputs can be equal: group[i] is at most one more than
 * the largest before it. */
static void
for_each_partition(struct ballot *b, int *group, size_t i, int groups)
{
    if (i < b->n) {
        for (group[i] = 0; group[i] <= groups; group[i]++)
            for_each_partition(b, group, i + 1,
                               group[i] == groups ? groups + 1 : groups);
        return;
    }
    for (size_t x = 0; x < b->n; x++)
        for (size_t y = 0; y < b->n; y++)
            b->match[x * b->n + y] =
                group[x] == group[y] ? MATCH_YES : MATCH_NO;
    for_each_reading(b);
}

START_TEST(every_vote_leads_on)
{
    struct ballot b = {.n = (size_t)_i};
    int group[MAX_OUTPUTS];

    n_votes = 0;
    for_each_partition(&b, group, 0, 0);
    printf("%d outputs: %ld votes\n", _i, n_votes);
}
END_TEST

/* Equality within a tolerance need not be transitive, nor the same from both
 * sides, and a comparison may fail: all 3^6 tables of three outputs. */
START_TEST(every_table_of_three_leads_on)
{
    struct ballot b = {.n = 3};

    for (int code = 0; code < 729; code++) {
        int rest = code;

        for (size_t x = 0; x < 3; x++)
            for (size_t y = 0; y < 3; y++) {
                b.match[x * 3 + y] = MATCH_YES;
                if (x == y)
                    continue;
                b.match[x * 3 + y] = (enum match)(rest % 3);
                rest /= 3;
            }
        for_each_reading(&b);
    }
}
END_TEST

static Suite *
every_vote_suite(void)
{
    Suite *s = suite_create("every-vote");
    TCase *tc = tcase_create("votes");

    tcase_set_timeout(tc, 600);
    tcase_add_loop_test(tc, every_vote_leads_on, 1, MAX_OUTPUTS + 1);
    tcase_add_test(tc, every_table_of_three_leads_on);
    suite_add_tcase(s, tc);
    return s;
}

int
main(void)
{
    SRunner *runner = srunner_create(every_vote_suite());
    int failed;

    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
