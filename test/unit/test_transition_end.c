/* test_transition_end.c - what happens next to a workunit: lifecycle §3.2,
 * steps 6 to 9, and §3.3: new results, assimilation, deletion, the next look;
 * and that nothing is left undone whatever the results are. */
#include "transition_cases.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* ---- new results: priority and names (§3.3) ------------------------------ */

/* clang-format off */
static const struct {
    const char *promise;
    int on_over, except_error;
    enum kind given[MAX_RESULTS];
    int want; /* the workunit's is 10 */
} priority_spec[] = {
    {"the first results have the workunit's", 5,          7, {END},              10},
    {"while none is over it stays",           5,          7, {OUT},              10},
    {"a replacement goes first",              5,          0, {NO_REPLY},         15},
    {"after an error too",                    5,          7, {FAILED},           15},
    {"or only without an error",              0,          7, {NO_REPLY},         17},
    {"then an error changes nothing",         0,          7, {NO_REPLY, FAILED}, 10},
    {"nothing configured, nothing changed",   0,          0, {NO_REPLY},         10},
    {"it may be lowered",                     -3,         0, {NO_REPLY},         7},
    {"the largest stays the largest",         2147483647, 0, {NO_REPLY},         2147483647},
};
/* clang-format on */

START_TEST(replacements_have_priority)
{
    const struct transition_config cfg = {
        .reliable_priority_on_over = priority_spec[_i].on_over,
        .reliable_priority_on_over_except_error =
            priority_spec[_i].except_error,
    };
    struct outcome_of got = decide_with(&pair, priority_spec[_i].given, &cfg);

    ck_assert_msg(got.t.new_priority == priority_spec[_i].want,
                  "broken: %s (%d)", priority_spec[_i].promise,
                  got.t.new_priority);
}
END_TEST

/* clang-format off */
static const struct {
    const char *promise;
    const char *names[3];
    int want; /* of the first new result */
} suffix_spec[] = {
    {"the first is _0",                     {NULL},                0},
    {"then it counts on",                   {"a_0", "a_1"},        2},
    {"in any order",                        {"a_7", "a_0", "a_3"}, 8},
    {"a workunit called a_7",               {"a_7_0", "a_7_1"},    2},
    {"a name without a number counts as 0", {"x"},                 1},
    {"a lone underscore too",               {"_"},                 1},
    {"a number too long to be ours too",    {"a_1234567890"},      1},
    {"the longest number",                  {"a_999999999"},       1000000000},
};

static const struct {
    const char *name;
    int want;
} name_spec[] = {
    {"a_7",                    7},
    {"a_7_12",                 12},
    {"a_0",                    0},
    {"a_007",                  7},
    {"x",                      -1},
    {"_",                      -1},
    {"",                       -1},
    {"a_",                     -1},
    {"a_7b",                   -1},
    {"a_-1",                   -1},
    {"a_ 1",                   -1},
    {"a_+1",                   -1},
    {"_5",                     5},
    {"a__5",                   5},
    {"7",                      -1},
    {"a_999999999",            999999999},
    {"a_1000000000",           -1},
    {"a_99999999999999999999", -1},
};
/* clang-format on */

START_TEST(names_count_on)
{
    struct transition_result results[3] = {{0}};
    struct result_change changes[3];
    struct transition got;
    size_t n = 0;

    for (; n < 3 && suffix_spec[_i].names[n] != NULL; n++) {
        results[n] = kinds[NO_REPLY];
        results[n].suffix = transition_name_suffix(suffix_spec[_i].names[n]);
    }
    transition_decide(&pair, results, n, &plain, NOW, changes, &got);
    ck_assert_msg(got.first_suffix == suffix_spec[_i].want, "broken: %s (%d)",
                  suffix_spec[_i].promise, got.first_suffix);
}
END_TEST

START_TEST(suffix_is_read)
{
    ck_assert_msg(
        transition_name_suffix(name_spec[_i].name) == name_spec[_i].want,
        "suffix of '%s' is not %d", name_spec[_i].name, name_spec[_i].want);
}
END_TEST

START_TEST(suffix_of_a_long_name)
{
    char name[NAME_SIZE];

    memset(name, 'n', 190);
    memcpy(name + 190, "_41", sizeof("_41"));
    ck_assert_int_eq(transition_name_suffix(name), 41);
    memset(name, '_', 190);
    name[190] = '\0';
    ck_assert_int_eq(transition_name_suffix(name), -1);
}
END_TEST

/* ---- step 6: deferred assimilation --------------------------------------- */

/* clang-format off */
static const struct {
    const char *promise;
    int64_t canonical;
    enum kind given[MAX_RESULTS];
    enum assimilate_state want; /* from INIT */
} ready_spec[] = {
    {"all over and checked: assimilate", 1, {VALID, VALID},            ASSIMILATE_READY},
    {"errors and silence are over too",  1, {VALID, FAILED, NO_REPLY}, ASSIMILATE_READY},
    {"one still out: wait",              1, {VALID, VALID, OUT},       ASSIMILATE_INIT},
    {"one unchecked: wait",              1, {VALID, VALID, NEW},       ASSIMILATE_INIT},
    {"one not judged: wait",             1, {VALID, INCONCLUSIVE},     ASSIMILATE_INIT},
    {"no canonical result: not ready",   0, {INVALID, FAILED},         ASSIMILATE_INIT},
    {"withdrawn just now: over",         1, {VALID, UNSENT},           ASSIMILATE_READY},
};
/* clang-format on */

START_TEST(deferred_workunit_gets_ready)
{
    struct workunit wu = pair;
    struct outcome_of got;

    wu.canonical_resultid = ready_spec[_i].canonical;
    got = decide(&wu, ready_spec[_i].given);
    ck_assert_msg(got.t.assimilate_state == ready_spec[_i].want, "broken: %s",
                  ready_spec[_i].promise);
}
END_TEST

/* ---- step 7: deletion of files ------------------------------------------- */

#define R FILES_READY
#define I FILES_INIT

/* clang-format off */
static const struct {
    const char *promise;
    enum assimilate_state assimilated;
    int64_t canonical; /* id */
    unsigned error_mask;
    enum kind given[MAX_RESULTS];
    enum file_delete_state inputs;
    enum file_delete_state outputs[MAX_RESULTS];
} deletion_spec[] = {
    {"not assimilated: nothing goes",         ASSIMILATE_READY, 1, 0,  {VALID, VALID},          I, {I, I}},
    {"assimilated: all goes",                 ASSIMILATE_DONE,  1, 0,  {VALID, VALID},          R, {R, R}},
    {"invalid outputs too",                   ASSIMILATE_DONE,  1, 0,  {VALID, INVALID},        R, {R, R}},
    {"failed outputs too",                    ASSIMILATE_DONE,  1, 0,  {VALID, FAILED},         R, {R, R}},
    {"without a reply there is nothing",      ASSIMILATE_DONE,  1, 0,  {VALID, NO_REPLY},       R, {R, I}},
    {"nor of unreadable ones",                ASSIMILATE_DONE,  1, 0,  {VALID, UNREADABLE},     R, {R, I}},
    {"nor of detached ones",                  ASSIMILATE_DONE,  1, 0,  {VALID, DETACHED},       R, {R, I}},
    {"nor of withdrawn ones",                 ASSIMILATE_DONE,  1, 0,  {VALID, DIDNT_NEED},     R, {R, I}},
    {"one is out: inputs and canonical stay", ASSIMILATE_DONE,  1, 0,  {VALID, VALID, OUT},     I, {I, R, I}},
    {"one is unchecked: they stay, and it",   ASSIMILATE_DONE,  1, 0,  {VALID, VALID, NEW},     I, {I, R, I}},
    {"one is not judged: the same",           ASSIMILATE_DONE,  1, 0,  {VALID, INCONCLUSIVE},   I, {I, I}},
    {"one may still report in time",          ASSIMILATE_DONE,  1, 0,  {VALID, NO_REPLY_EARLY}, I, {I, I}},
    {"one cannot report any more",            ASSIMILATE_DONE,  1, 0,  {VALID, NO_REPLY_DUE},   R, {R, I}},
    {"one has just timed out: all goes",      ASSIMILATE_DONE,  1, 0,  {VALID, VALID, LATE},    R, {R, R, I}},
    {"failed workunit: all goes",             ASSIMILATE_DONE,  0, 2,  {FAILED, FAILED},        R, {R, R}},
    {"failed workunit: what is unchecked",    ASSIMILATE_DONE,  0, 2,  {NEW, FAILED},           R, {R, R}},
    {"failed workunit without results",       ASSIMILATE_DONE,  0, 16, {END},                   R, {I}},
};
/* clang-format on */

#undef R
#undef I

START_TEST(files_are_deleted)
{
    struct workunit wu = pair;
    enum file_delete_state outputs[MAX_RESULTS] = {FILES_INIT};
    const char *broken = deletion_spec[_i].promise;
    struct outcome_of got;

    wu.assimilate_state = deletion_spec[_i].assimilated;
    wu.canonical_resultid = deletion_spec[_i].canonical;
    wu.error_mask = deletion_spec[_i].error_mask;
    got = decide(&wu, deletion_spec[_i].given);
    for (size_t c = 0; c < got.t.n_changes; c++)
        outputs[got.change[c].index] = got.change[c].file_delete_state;

    ck_assert_msg(got.t.file_delete_state == deletion_spec[_i].inputs,
                  "broken: %s (inputs)", broken);
    for (size_t i = 0; i < MAX_RESULTS; i++)
        ck_assert_msg(outputs[i] == deletion_spec[_i].outputs[i],
                      "broken: %s (output %zu)", broken, i);
}
END_TEST

START_TEST(files_already_handled_stay)
{
    struct transition_result results[3] = {kinds[VALID], kinds[VALID],
                                           kinds[VALID]};
    struct result_change changes[3];
    struct workunit wu = pair;
    struct transition got;

    results[0].file_delete_state = FILES_READY;
    results[1].file_delete_state = FILES_DONE;
    results[2].file_delete_state = FILES_ERROR;
    results[0].id = 1;
    wu.canonical_resultid = 1;
    wu.assimilate_state = ASSIMILATE_DONE;
    wu.file_delete_state = FILES_DONE;
    transition_decide(&wu, results, 3, &plain, NOW, changes, &got);
    ck_assert_uint_eq(got.n_changes, 0);
    ck_assert_int_eq(got.file_delete_state, FILES_DONE);
}
END_TEST

/* clang-format off */
static const struct {
    const char *promise;
    int64_t delay; /* the last report was 100 s ago */
    enum file_delete_state want;
    int64_t next;
} delay_spec[] = {
    {"no delay: at once",         0,    FILES_READY, TRANSITION_NEVER},
    {"a second over",             99,   FILES_READY, TRANSITION_NEVER},
    {"exactly over",              100,  FILES_READY, TRANSITION_NEVER},
    {"a second to go: look then", 101,  FILES_INIT,  NOW + 1},
    {"an hour to go: look then",  3700, FILES_INIT,  NOW + 3600},
};
/* clang-format on */

START_TEST(deletion_waits)
{
    const struct transition_config cfg = {.delete_delay = delay_spec[_i].delay};
    const enum kind what[] = {VALID, VALID, END};
    struct workunit wu = pair;
    struct outcome_of got;

    wu.canonical_resultid = 1;
    wu.assimilate_state = ASSIMILATE_DONE;
    got = decide_with(&wu, what, &cfg);
    ck_assert_msg(got.t.file_delete_state == delay_spec[_i].want &&
                      got.t.transition_time == delay_spec[_i].next,
                  "broken: %s", delay_spec[_i].promise);
}
END_TEST

/* ---- step 8: when to look again ------------------------------------------ */

/* clang-format off */
static const struct {
    const char *promise;
    int64_t delay_bound;
    int64_t canonical;
    unsigned error_mask;
    enum kind given[MAX_RESULTS];
    int64_t want;
} next_spec[] = {
    {"new: the safety net",                  DAY,             0, 0,  {END},                   SAFETY},
    {"unsent: the safety net",               DAY,             0, 0,  {UNSENT, UNSENT},        SAFETY},
    {"out: its deadline",                    DAY,             0, 0,  {OUT, UNSENT},           DEADLINE},
    {"at the deadline: the second after",    DAY,             0, 0,  {DUE, OUT},              NOW + 1},
    {"timed out and replaced: safety net",   DAY,             0, 0,  {LATE, NEW},             SAFETY},
    {"net of a long bound: 1.5 times it",    10 * DAY,        0, 0,  {UNSENT, UNSENT},        NOW + 15 * DAY},
    {"… just under ten days",                6 * DAY + 57599, 0, 0,  {UNSENT, UNSENT},        SAFETY},
    {"… just over",                          6 * DAY + 57602, 0, 0,  {UNSENT, UNSENT},        SAFETY + 3},
    {"… longer than the column holds",       2147483647,      0, 0,  {UNSENT, UNSENT},        TRANSITION_NEVER - 1},
    {"agreed: never",                        DAY,             1, 0,  {VALID, VALID},          TRANSITION_NEVER},
    {"agreed, one is out: its deadline",     DAY,             1, 0,  {VALID, VALID, OUT},     DEADLINE},
    {"agreed, one may report: its deadline", DAY,             1, 0,  {VALID, NO_REPLY_EARLY}, DEADLINE},
    {"failed: never",                        DAY,             0, 16, {FAILED},                TRANSITION_NEVER},
    {"failed, one is out: its deadline",     DAY,             0, 16, {FAILED, OUT},           DEADLINE},
    {"failed just now: never",               DAY,             0, 0,  {FAILED, FAILED},        TRANSITION_NEVER},
};
/* clang-format on */

START_TEST(looks_again)
{
    struct workunit wu = pair;
    struct outcome_of got;

    wu.delay_bound = next_spec[_i].delay_bound;
    wu.canonical_resultid = next_spec[_i].canonical;
    wu.error_mask = next_spec[_i].error_mask;
    got = decide(&wu, next_spec[_i].given);
    ck_assert_msg(got.t.transition_time == next_spec[_i].want,
                  "broken: %s (%+lld s)", next_spec[_i].promise,
                  (long long)(got.t.transition_time - NOW));
}
END_TEST

/* ---- the row of the canonical result ------------------------------------- */

START_TEST(missing_canonical_row_raises_an_alert)
{
    const enum kind what[] = {VALID, VALID, END};
    struct workunit wu = pair;
    struct outcome_of got;

    wu.canonical_resultid = 77;
    got = decide(&wu, what);
    ck_assert(got.t.canonical_missing);
    ck_assert_int_eq(got.t.new_results, 0);
    wu.canonical_resultid = 2;
    got = decide(&wu, what);
    ck_assert(!got.t.canonical_missing);
}
END_TEST

/* ---- all together -------------------------------------------------------- */

static void
apply(struct workunit *wu, struct transition_result *results,
      const struct transition *t, const struct result_change *changes)
{
    wu->need_validate = t->need_validate;
    wu->error_mask = t->error_mask;
    wu->assimilate_state = t->assimilate_state;
    wu->file_delete_state = t->file_delete_state;
    for (size_t c = 0; c < t->n_changes; c++) {
        struct transition_result *r = &results[changes[c].index];

        r->server_state = changes[c].server_state;
        r->outcome = changes[c].outcome;
        r->validate_state = changes[c].validate_state;
        r->file_delete_state = changes[c].file_delete_state;
    }
}

/* Three results of any kinds, in any phase of the workunit. */
static void
check_rest(const struct workunit *given, const int *what)
{
    struct transition_result results[8];
    struct result_change changes[8];
    struct workunit wu = *given;
    struct transition t;
    size_t n = 3;

    for (size_t i = 0; i < n; i++) {
        results[i] = kinds[what[i]];
        results[i].id = (int64_t)i + 1;
        results[i].suffix = (int)i;
    }
    transition_decide(&wu, results, n, &plain, NOW, changes, &t);
    ck_assert_int_gt(t.transition_time, NOW);
    ck_assert_int_le(t.n_total + t.new_results, 8);
    apply(&wu, results, &t, changes);
    for (int k = 0; k < t.new_results; k++) {
        results[n] = kinds[UNSENT];
        results[n].id = (int64_t)n + 1;
        results[n].suffix = t.first_suffix + k;
        n++;
    }
    transition_decide(&wu, results, n, &plain, NOW, changes, &t);
    ck_assert_msg(t.n_changes == 0 && t.new_results == 0 &&
                      t.error_mask == wu.error_mask &&
                      t.need_validate == wu.need_validate &&
                      t.assimilate_state == wu.assimilate_state &&
                      t.file_delete_state == wu.file_delete_state,
                  "not at rest: %d %d %d", what[0], what[1], what[2]);
}

START_TEST(decision_is_complete)
{
    int what[3];

    for (what[0] = INACTIVE; what[0] < N_KINDS; what[0]++)
        for (what[1] = INACTIVE; what[1] < N_KINDS; what[1]++)
            for (what[2] = INACTIVE; what[2] < N_KINDS; what[2]++)
                for (int phase = 0; phase < 6; phase++) {
                    struct workunit wu = pair;

                    wu.max_total_results = 8;
                    wu.canonical_resultid = phase % 2;
                    wu.assimilate_state = (enum assimilate_state)(phase / 2);
                    wu.error_mask = phase == 4 ? WU_CANCELLED : 0;
                    check_rest(&wu, what);
                }
}
END_TEST

START_TEST(many_results_at_once)
{
    enum { N = 1500 };
    struct transition_result *results = calloc(N, sizeof(*results));
    struct result_change *changes = calloc(N, sizeof(*changes));
    struct workunit wu = pair;
    struct transition got;

    for (int i = 0; i < N; i++) {
        results[i] = kinds[LATE];
        results[i].suffix = i;
    }
    wu.target_nresults = N;
    wu.max_total_results = 2 * N - 1;
    transition_decide(&wu, results, N, &plain, NOW, changes, &got);
    ck_assert_uint_eq(got.n_changes, N);
    ck_assert_int_eq(got.new_results, N - 1); /* all that there is room for */
    ck_assert_int_eq(got.first_suffix, N);
    free(results);
    free(changes);
}
END_TEST

START_TEST(largest_limits_do_not_overflow)
{
    const enum kind what[] = {END};
    struct workunit wu = pair;

    wu.target_nresults = wu.max_total_results = 2147483647;
    wu.max_error_results = wu.max_success_results = 2147483647;
    ck_assert_int_eq(decide(&wu, what).t.new_results, 2147483647);
    wu.max_total_results = -2147483647;
    ck_assert_uint_eq(decide(&wu, what).t.error_mask,
                      WU_TOO_MANY_TOTAL_RESULTS);
}
END_TEST

static Suite *
transition_end_suite(void)
{
    Suite *s = suite_create("transition-end");
    TCase *tc = tcase_create("steps");

    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, replacements_have_priority, 0,
                        ARRAY_LEN(priority_spec));
    tcase_add_loop_test(tc, names_count_on, 0, ARRAY_LEN(suffix_spec));
    tcase_add_loop_test(tc, suffix_is_read, 0, ARRAY_LEN(name_spec));
    tcase_add_test(tc, suffix_of_a_long_name);
    tcase_add_loop_test(tc, deferred_workunit_gets_ready, 0,
                        ARRAY_LEN(ready_spec));
    tcase_add_loop_test(tc, files_are_deleted, 0, ARRAY_LEN(deletion_spec));
    tcase_add_test(tc, files_already_handled_stay);
    tcase_add_loop_test(tc, deletion_waits, 0, ARRAY_LEN(delay_spec));
    tcase_add_loop_test(tc, looks_again, 0, ARRAY_LEN(next_spec));
    tcase_add_test(tc, missing_canonical_row_raises_an_alert);
    tcase_add_test(tc, decision_is_complete);
    tcase_add_test(tc, many_results_at_once);
    tcase_add_test(tc, largest_limits_do_not_overflow);
    suite_add_tcase(s, tc);
    return s;
}

int
main(void)
{
    SRunner *runner = srunner_create(transition_end_suite());
    int failed;

    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
