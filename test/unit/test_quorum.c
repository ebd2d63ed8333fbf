/* test_quorum.c - what the agreement among results means: lifecycle §4.2-4.4.
 *
 * A set of results is written as a word.  Equal letters are equal outputs;
 * capitals are plain, small ones suspicious; '!' cannot be read, '?' cannot be
 * read for now.  The answer is a word too: V valid, X invalid, N inconclusive,
 * E validate error, '.' untouched. */
#include "quorum.h"

#include <check.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define MAX_RESULTS 12
#define SUCCESSES WU_TOO_MANY_SUCCESS_RESULTS

static enum read_verdict
read_of(char c)
{
    if (c == '!')
        return OUTPUT_BAD;
    if (c == '?')
        return OUTPUT_LATER;
    return islower((unsigned char)c) ? OUTPUT_SUSPICIOUS : OUTPUT_OK;
}

static void
decide_with(const struct quorum_limits *limits, const char *word,
            const enum match *match, char *ret_answer,
            struct quorum_decision *ret)
{
    enum read_verdict read[MAX_RESULTS] = {OUTPUT_OK};
    enum quorum_status status[MAX_RESULTS];
    size_t n = strlen(word);

    for (size_t i = 0; i < n; i++)
        read[i] = read_of(word[i]);
    quorum_decide(limits, read, match, n, status, ret);
    for (size_t i = 0; i < n; i++)
        ret_answer[i] = ".VXNE"[status[i]];
    ret_answer[n] = '\0';
}

static void
decide(const struct quorum_limits *limits, const char *word, char *ret_answer,
       struct quorum_decision *ret)
{
    enum match match[MAX_RESULTS * MAX_RESULTS] = {MATCH_NO};
    size_t n = strlen(word);

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            match[i * n + j] = toupper((unsigned char)word[i]) ==
                                       toupper((unsigned char)word[j])
                                   ? MATCH_YES
                                   : MATCH_NO;
    decide_with(limits, word, match, ret_answer, ret);
}

/* ---- who is canonical, valid, invalid ------------------------------------ */

/* clang-format off */
static const struct {
    const char *promise;
    int quorum, target;
    const char *given;
    ptrdiff_t canonical;
    const char *want;
    int want_target;
    bool transition_now, retry;
} spec[] = {
    /* below, at, above the quorum */
    {"no results, nothing to say",                 2, 2, "",      -1, "",      2, false, false},
    {"below the quorum nobody is asked",           2, 2, "A",     -1, ".",     2, false, false},
    {"a quorum of one is its own witness",         1, 1, "A",      0, "V",     1, false, false},
    {"two that agree",                             2, 2, "AA",     0, "VV",    2, false, false},
    {"more than the quorum agree",                 2, 2, "AAA",    0, "VVV",   2, false, false},

    /* disagreement: one more result */
    {"two that disagree order a third",            2, 2, "AB",    -1, "NN",    3, true,  false},
    {"a third decides, the wrong one is invalid",  2, 3, "ABA",    0, "VXV",   3, false, false},
    {"whichever it is",                            2, 3, "ABB",    1, "XVV",   3, false, false},
    {"three opinions order a fourth",              2, 3, "ABC",   -1, "NNN",   4, true,  false},
    {"a target above the number is not raised",    2, 5, "ABC",   -1, "NNN",   5, false, false},
    {"a target equal to the number is",            2, 4, "ABCD",  -1, "NNNN",  5, true,  false},

    /* the majority: floor(quorum / 2) + 1 */
    {"quorum 3 wants 2 alike",                     3, 3, "AAB",    0, "VVX",   3, false, false},
    {"quorum 3, all different",                    3, 3, "ABC",   -1, "NNN",   4, true,  false},
    {"quorum 4 wants 3 alike",                     4, 4, "AAAB",   0, "VVVX",  4, false, false},
    {"quorum 4, two and two",                      4, 4, "AABB",  -1, "NNNN",  5, true,  false},
    {"quorum 5 wants 3 alike",                     5, 5, "ABABA",  0, "VXVXV", 5, false, false},
    {"quorum 5, two and two and one",              5, 5, "ABABC", -1, "NNNNN", 6, true,  false},
    {"of two majorities the first in order",       2, 4, "BAAB",   0, "VXXV",  4, false, false},

    /* unreadable for good */
    {"an unreadable one is an error, replaced",    2, 2, "A!",    -1, "NE",    2, true,  false},
    {"it does not stop the others",                2, 3, "A!A",    0, "VEV",   3, false, false},
    {"all unreadable",                             2, 2, "!!",    -1, "EE",    2, true,  false},
    {"it is not viable: the target stays",         2, 3, "AB!",   -1, "NNE",   3, true,  false},
    {"the only one, unreadable",                   1, 1, "!",     -1, "E",     1, true,  false},

    /* unreadable for now */
    {"one to be read later: wait, order nothing",  2, 2, "A?",    -1, "..",    2, false, true},
    {"the others agree without it",                2, 3, "AA?",    0, "VV.",   3, false, true},
    {"the others disagree: all wait for it",       2, 3, "AB?",   -1, "...",   3, false, true},
    {"too few without it: all wait",               3, 3, "AA?",   -1, "...",   3, false, true},
    {"bad and later: the bad one is replaced",     2, 3, "A!?",   -1, ".E.",   3, true,  true},
    {"nothing can be read now",                    2, 2, "??",    -1, "..",    2, false, true},
    {"not too many while one waits",               2, 4, "ABC?",  -1, "....",  4, false, true},
};
/* clang-format on */

START_TEST(agreement_decides)
{
    const struct quorum_limits limits = {
        .min_quorum = spec[_i].quorum,
        .target_nresults = spec[_i].target,
        .max_success_results = 10,
    };
    struct quorum_decision got;
    char answer[MAX_RESULTS + 1];

    decide(&limits, spec[_i].given, answer, &got);
    ck_assert_msg(strcmp(answer, spec[_i].want) == 0, "broken: %s ('%s')",
                  spec[_i].promise, answer);
    ck_assert_msg(got.canonical == spec[_i].canonical, "broken: %s (%td)",
                  spec[_i].promise, got.canonical);
    ck_assert_msg(got.target_nresults == spec[_i].want_target,
                  "broken: %s (target %d)", spec[_i].promise,
                  got.target_nresults);
    ck_assert_msg(got.transition_now == spec[_i].transition_now,
                  "broken: %s (transition)", spec[_i].promise);
    ck_assert_msg(got.retry == spec[_i].retry, "broken: %s (retry)",
                  spec[_i].promise);
    ck_assert_msg(got.min_quorum == spec[_i].quorum, "broken: %s (quorum)",
                  spec[_i].promise);
    ck_assert_msg(got.new_errors == 0, "broken: %s (error)", spec[_i].promise);
}
END_TEST

/* ---- successes without end ----------------------------------------------- */

/* clang-format off */
static const struct {
    const char *promise;
    int max_success;
    const char *given;
    unsigned want;
} success_spec[] = {
    {"below the limit goes on",             3, "AB",   0},
    {"at the limit goes on",                3, "ABC",  0},
    {"one more ends it",                    3, "ABCD", SUCCESSES},
    {"unreadable ones are no successes",    3, "ABC!", 0},
    {"one to be read later is not judged",  3, "ABC?", 0},
    {"agreement at last counts",            3, "ABCA", 0},
    {"a limit of one",                      1, "AB",   SUCCESSES},
};
/* clang-format on */

START_TEST(successes_without_agreement_end)
{
    const struct quorum_limits limits = {
        .min_quorum = 2,
        .target_nresults = 2,
        .max_success_results = success_spec[_i].max_success,
    };
    struct quorum_decision got;
    char answer[MAX_RESULTS + 1];

    decide(&limits, success_spec[_i].given, answer, &got);
    ck_assert_msg(got.new_errors == success_spec[_i].want, "broken: %s",
                  success_spec[_i].promise);
    if (got.new_errors != 0) {
        ck_assert(got.transition_now);
        ck_assert_int_eq(got.target_nresults, 2); /* no more are made */
        ck_assert_int_eq(got.canonical, -1);
    }
}
END_TEST

START_TEST(viable_are_counted)
{
    const struct quorum_limits limits = {2, 2, 10, 0};
    struct quorum_decision got;
    char answer[MAX_RESULTS + 1];

    decide(&limits, "A!b?C", answer, &got);
    ck_assert_int_eq(got.n_viable, 4); /* all but the unreadable one */
}
END_TEST

/* ---- suspicious results, adaptive replication ---------------------------- */

/* clang-format off */
static const struct {
    const char *promise;
    int app_target, quorum, target;
    const char *given;
    ptrdiff_t canonical;
    const char *want;
    int want_quorum, want_target;
    bool transition_now;
} suspicious_spec[] = {
    {"alone it proves nothing",                     0, 1, 1, "a",   -1, "N",   1, 2, true},
    {"a plain one beside it is enough",             0, 1, 2, "aA",   0, "VV",  1, 2, false},
    {"two of them are enough",                      0, 1, 2, "aa",   0, "VV",  1, 2, false},
    {"they count for the quorum",                   0, 2, 2, "aA",   0, "VV",  2, 2, false},
    {"adaptive: the full quorum is asked",          2, 1, 1, "a",   -1, "N",   2, 2, true},
    {"adaptive, beside a plain one: too few",       3, 2, 2, "aA",  -1, "NN",  3, 3, true},
    {"adaptive, the full quorum agrees",            3, 1, 1, "aAA",  0, "VVV", 3, 3, false},
    {"the number counts, not its sign",            -2, 1, 1, "a",   -1, "N",   2, 2, true},
    {"a quorum as large stays",                     2, 2, 2, "aA",   0, "VV",  2, 2, false},
    {"a larger quorum stays",                       2, 3, 3, "aAA",  0, "VVV", 3, 3, false},
    {"a larger target stays",                       2, 1, 4, "a",   -1, "N",   2, 4, true},
    {"without suspicion nothing is raised",         2, 1, 1, "A",    0, "V",   1, 1, false},
    {"a suspicious one beside an unreadable one",   0, 1, 2, "a!",  -1, "NE",  1, 2, true},
};
/* clang-format on */

START_TEST(suspicion_wants_more_agreement)
{
    const struct quorum_limits limits = {
        .min_quorum = suspicious_spec[_i].quorum,
        .target_nresults = suspicious_spec[_i].target,
        .max_success_results = 10,
        .app_target_nresults = suspicious_spec[_i].app_target,
    };
    const char *broken = suspicious_spec[_i].promise;
    struct quorum_decision got;
    char answer[MAX_RESULTS + 1];

    decide(&limits, suspicious_spec[_i].given, answer, &got);
    ck_assert_msg(strcmp(answer, suspicious_spec[_i].want) == 0,
                  "broken: %s ('%s')", broken, answer);
    ck_assert_msg(got.canonical == suspicious_spec[_i].canonical, "broken: %s",
                  broken);
    ck_assert_msg(got.min_quorum == suspicious_spec[_i].want_quorum,
                  "broken: %s (quorum %d)", broken, got.min_quorum);
    ck_assert_msg(got.target_nresults == suspicious_spec[_i].want_target,
                  "broken: %s (target %d)", broken, got.target_nresults);
    ck_assert_msg(got.transition_now == suspicious_spec[_i].transition_now,
                  "broken: %s (transition)", broken);
}
END_TEST

/* ---- equality that is none, comparisons that fail ------------------------ */

#define Y MATCH_YES
#define N MATCH_NO
#define U MATCH_UNKNOWN

/* clang-format off */
static const struct {
    const char *promise;
    enum match match[9]; /* from the row's side; the diagonal is not read */
    ptrdiff_t canonical;
    const char *want;
    bool retry;
} matrix_spec[] = {
    {"a chain: the first in order is canonical, the far end is not its equal",
     {N, Y, N,   Y, N, Y,   N, Y, N},   0, "VVX", false},
    {"a pair is seen from the canonical one's side",
     {N, N, N,   Y, N, N,   N, N, N},   1, "VVX", false},
    {"nobody agrees with another",
     {N, N, N,   N, N, N,   N, N, N},  -1, "NNN", false},
    {"one cannot be compared now: two agree all the same, it waits",
     {N, Y, U,   Y, N, Y,   U, Y, N},   0, "VV.", true},
    {"a comparison that nobody needs",
     {N, Y, N,   Y, N, U,   N, U, N},   0, "VVX", false},
    {"two others agree: nothing is left to wait for",
     {N, N, U,   N, N, Y,   U, Y, N},   1, "XVV", false},
    {"without it nobody agrees: all wait",
     {N, N, U,   N, N, N,   U, N, N},  -1, "...", true},
};
/* clang-format on */

#undef Y
#undef N
#undef U

START_TEST(matrix_decides)
{
    /* floor(3 / 2) + 1 = 2 must agree */
    const struct quorum_limits limits = {3, 3, 10, 0};
    struct quorum_decision got;
    char answer[MAX_RESULTS + 1];

    decide_with(&limits, "ABC", matrix_spec[_i].match, answer, &got);
    ck_assert_msg(strcmp(answer, matrix_spec[_i].want) == 0,
                  "broken: %s ('%s')", matrix_spec[_i].promise, answer);
    ck_assert_msg(got.canonical == matrix_spec[_i].canonical, "broken: %s",
                  matrix_spec[_i].promise);
    ck_assert_msg(got.retry == matrix_spec[_i].retry, "broken: %s (retry)",
                  matrix_spec[_i].promise);
}
END_TEST

/* ---- never stuck --------------------------------------------------------- */

/* Of every set of up to four results, in every state of the limits: either
 * there is a canonical result, or the workunit ends, or we come back ourselves,
 * or a further result is on its way. */
static void
check_goes_on(const char *word, int quorum, int target)
{
    const struct quorum_limits limits = {quorum, target, 3, 2};
    struct quorum_decision got;
    char answer[MAX_RESULTS + 1];

    decide(&limits, word, answer, &got);
    ck_assert_msg(got.canonical >= 0 || got.new_errors != 0 || got.retry ||
                      got.n_viable < got.target_nresults,
                  "'%s' waits for nothing", word);
    if (got.canonical >= 0)
        ck_assert_int_eq(answer[got.canonical], 'V');
    for (size_t i = 0; word[i] != '\0'; i++) {
        ck_assert((word[i] == '!') == (answer[i] == 'E'));
        ck_assert(word[i] != '?' || answer[i] == '.');
        ck_assert(answer[i] != 'V' || got.canonical >= 0);
        ck_assert(answer[i] != 'X' || got.canonical >= 0);
        ck_assert(answer[i] != 'N' || !got.retry);
    }
}

START_TEST(no_set_waits_for_nothing)
{
    static const char letters[] = "ABCaB!?";
    const int k = (int)sizeof(letters) - 1;

    for (int n = 1; n <= 4; n++)
        for (int code = 0; code < k * k * k * k; code++) {
            char word[5] = {0};

            for (int i = 0, rest = code; i < n; i++, rest /= k)
                word[i] = letters[rest % k];
            for (int quorum = 1; quorum <= n; quorum++)
                for (int target = quorum; target <= n + 1; target++)
                    check_goes_on(word, quorum, target);
        }
}
END_TEST

/* ---- late results (§4.3) ------------------------------------------------- */

/* clang-format off */
static const struct {
    const char *promise;
    enum read_verdict late, canonical;
    enum match match;
    enum straggler_verdict want;
} late_spec[] = {
    {"it agrees",                         OUTPUT_OK,         OUTPUT_OK,         MATCH_YES,     STRAGGLER_VALID},
    {"it disagrees",                      OUTPUT_OK,         OUTPUT_OK,         MATCH_NO,      STRAGGLER_INVALID},
    {"they cannot be compared now",       OUTPUT_OK,         OUTPUT_OK,         MATCH_UNKNOWN, STRAGGLER_RETRY},
    {"suspicious ones are compared",      OUTPUT_SUSPICIOUS, OUTPUT_SUSPICIOUS, MATCH_YES,     STRAGGLER_VALID},
    {"it is unreadable",                  OUTPUT_BAD,        OUTPUT_OK,         MATCH_NO,      STRAGGLER_ERROR},
    {"it is unreadable for now",          OUTPUT_LATER,      OUTPUT_OK,         MATCH_NO,      STRAGGLER_RETRY},
    {"the canonical one for now",         OUTPUT_OK,         OUTPUT_LATER,      MATCH_NO,      STRAGGLER_RETRY},
    {"the canonical one is lost",         OUTPUT_OK,         OUTPUT_BAD,        MATCH_NO,      STRAGGLER_TOO_LATE},
    {"both are lost: it is an error",     OUTPUT_BAD,        OUTPUT_BAD,        MATCH_NO,      STRAGGLER_ERROR},
};
/* clang-format on */

START_TEST(late_result_is_compared)
{
    ck_assert_msg(quorum_straggler(late_spec[_i].late, late_spec[_i].canonical,
                                   late_spec[_i].match) == late_spec[_i].want,
                  "broken: %s", late_spec[_i].promise);
}
END_TEST

static Suite *
quorum_suite(void)
{
    Suite *s = suite_create("quorum");
    TCase *tc = tcase_create("agreement");

    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, agreement_decides, 0, ARRAY_LEN(spec));
    tcase_add_loop_test(tc, successes_without_agreement_end, 0,
                        ARRAY_LEN(success_spec));
    tcase_add_test(tc, viable_are_counted);
    tcase_add_loop_test(tc, suspicion_wants_more_agreement, 0,
                        ARRAY_LEN(suspicious_spec));
    tcase_add_loop_test(tc, matrix_decides, 0, ARRAY_LEN(matrix_spec));
    tcase_add_test(tc, no_set_waits_for_nothing);
    tcase_add_loop_test(tc, late_result_is_compared, 0, ARRAY_LEN(late_spec));
    suite_add_tcase(s, tc);
    return s;
}

int
main(void)
{
    SRunner *runner = srunner_create(quorum_suite());
    int failed;

    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
