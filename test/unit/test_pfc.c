/* test_pfc.c - adaptive credit: lifecycle §5.2-5.5, automatic outliers (§4.7),
 * and the numbers of docs/credit.md.
 *
 * The job of these tests is estimated at 8.64e13 FLOP: a day of 1 GFLOPS, 200
 * credits. */
#include "pfc.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define EST 8.64e13
#define CREDITS(c) ((c) * (EST / 200))
#define MAX 73e6

static bool
is_near(double got, double want)
{
    return fabs(got - want) <= 1e-9 * fmax(1, fabs(want));
}

static struct workunit wu;
static struct app app;
static struct result result;
static struct host_app_version hav;
static struct app_version av;
static struct pfc_query query;
static struct pfc pfc;

/* Half a day on 4 GFLOPS: 1.728e14 FLOP, twice the estimate.  Results of this
 * version usually claim twice the estimate and count half; this host usually
 * claims four times the estimate, so it counts half again. */
static void
usual(void)
{
    wu = (struct workunit){.rsc_fpops_est = EST, .rsc_fpops_bound = 10 * EST};
    app = (struct app){.min_avg_pfc = 0};
    result = (struct result){
        .elapsed_time = 43200,
        .cpu_time = 40000,
        .flops_estimate = 4e9,
        .sent_time = 1000000,
        .received_time = 1050000,
        .app_version_id = 7,
    };
    hav = (struct host_app_version){.pfc_n = 10, .pfc_avg = 4};
    av = (struct app_version){.pfc_n = 200, .pfc_avg = 2, .pfc_scale = 0.5};
    query =
        (struct pfc_query){&wu, &app, &result, &hav, &av, PFC_TIMES_AUTOMATIC};
}

static void
ask(void)
{
    memset(&pfc, 0x55, sizeof(pfc));
    pfc_of_result(&query, &pfc);
}

/* ---- what one result claims ----------------------------------------------
 */

static void
nothing(void)
{
}
static void
host_n_9(void)
{
    hav.pfc_n = 9;
}
static void
host_avg_0(void)
{
    hav.pfc_avg = 0;
}
static void
host_modest(void)
{
    hav.pfc_avg = 0.1;
}
static void
version_n_99(void)
{
    av.pfc_n = 99;
}
static void
no_scale(void)
{
    av.pfc_scale = 0;
}
static void
checked_9(void)
{
    app.host_scale_check = true;
    hav.consecutive_valid = 9;
}
static void
checked_10(void)
{
    checked_9();
    hav.consecutive_valid = 10;
}
static void
no_hav(void)
{
    query.hav = NULL;
}
static void
no_hav_min(void)
{
    query.hav = NULL;
    app.min_avg_pfc = 0.5;
}
static void
no_av(void)
{
    query.av = NULL;
}
static void
anonymous(void)
{
    result.app_version_id = -2;
    query.av = NULL;
    app.min_avg_pfc = 2;
}
static void
anonymous_9(void)
{
    anonymous();
    hav.pfc_n = 9;
}
static void
anonymous_checked(void)
{
    anonymous();
    checked_9();
}
static void
anonymous_no_base(void)
{
    anonymous();
    app.min_avg_pfc = 0;
}
static void
elapsed_0(void)
{
    result.elapsed_time = 0;
    result.cpu_time = 21600;
}
static void
times_0(void)
{
    result.elapsed_time = result.cpu_time = 0;
}
static void
flops_1e9(void)
{
    result.flops_estimate = 1e9;
    result.elapsed_time = 10000;
}
static void
flops_0(void)
{
    flops_1e9();
    result.flops_estimate = 0;
}
static void
flops_negative(void)
{
    flops_1e9();
    result.flops_estimate = -4e9;
}

static const struct {
    const char *promise;
    void (*change)(void);
    double flop;
    enum pfc_mode mode;
    bool outlier;
} claims[] = {
    {"both scales: 1.728e14 x 1/2 x 1/2",           nothing,           EST / 2,          PFC_NORMAL, false},
    {"nine samples of the host do not count",       host_n_9,          EST,              PFC_APPROX, false},
    {"nor does a host average of nothing",          host_avg_0,        EST,              PFC_APPROX, false},
    {"the host counts at most ten times",           host_modest,       EST * 10,         PFC_NORMAL,
     false                                                                                                },
    {"99 of the version: not against the host",     version_n_99,      EST,              PFC_APPROX,
     false                                                                                                },
    {"no scale of the version yet: the host alone", no_scale,          EST,              PFC_APPROX,
     false                                                                                                },
    {"checked: nine valid in a row do not count",   checked_9,         EST,              PFC_APPROX,
     false                                                                                                },
    {"checked: ten do",                             checked_10,        EST / 2,          PFC_NORMAL, false},
    {"without a version: the estimate",             no_hav,            EST,              PFC_WU_EST, false},
    {"in FLOP of the most efficient version",       no_hav_min,        EST / 2,          PFC_WU_EST,
     false                                                                                                },
    {"a version that is gone scales nothing",       no_av,             EST * 2,          PFC_APPROX,
     false                                                                                                },
    {"anonymous: 1.728e14 x 2/4",                   anonymous,         EST,              PFC_APPROX, false},
    {"anonymous, unknown: the estimate x 2",        anonymous_9,       EST * 2,          PFC_APPROX,
     false                                                                                                },
    {"anonymous, not trusted: the same",            anonymous_checked, EST * 2,          PFC_APPROX,
     false                                                                                                },
    {"anonymous, no base yet: the estimate",        anonymous_no_base, EST,              PFC_APPROX,
     false                                                                                                },
    {"no elapsed time: that of the processor",      elapsed_0,         EST / 4,          PFC_NORMAL,
     false                                                                                                },
    {"no time at all: nothing, and no sample",      times_0,           0,                PFC_NORMAL, true },
    {"1e9 exactly is 4.3e9, and an outlier",        flops_1e9,         1e4 * 4.3e9 / 4.,
     PFC_NORMAL,                                                                                     true },
    {"so is a speed of nothing",                    flops_0,           1e4 * 4.3e9 / 4., PFC_NORMAL, true },
    {"and one below nothing",                       flops_negative,    1e4 * 4.3e9 / 4., PFC_NORMAL,
     true                                                                                                 },
};

START_TEST(a_result_claims)
{
    usual();
    claims[_i].change();
    ask();
    ck_assert_msg(is_near(pfc.flop, claims[_i].flop) &&
                      pfc.mode == claims[_i].mode &&
                      pfc.outlier == claims[_i].outlier,
                  "broken: %s (%g FLOP, mode %d, outlier %d)",
                  claims[_i].promise, pfc.flop, (int)pfc.mode, pfc.outlier);
}
END_TEST

/* ---- samples -------------------------------------------------------------
 */

START_TEST(a_usual_result_is_a_sample_of_each_average)
{
    usual();
    ask();
    ck_assert_double_eq_tol(pfc.host_pfc, 2, 1e-12);
    ck_assert_double_eq_tol(pfc.version_pfc, 2, 1e-12);
    ck_assert_double_eq_tol(pfc.host_et, 5e-10, 1e-22); /* 43200 / 8.64e13 */
    ck_assert_double_eq_tol(pfc.turnaround, 50000, 1e-9);
}
END_TEST

static bool
has_no_sample(void)
{
    return pfc.host_pfc < 0 && pfc.version_pfc < 0 && pfc.host_et < 0 &&
           pfc.turnaround < 0;
}

START_TEST(an_outlier_is_none)
{
    usual();
    query.times = PFC_TIMES_OUTLIER;
    ask();
    ck_assert(pfc.outlier && has_no_sample());
    ck_assert_double_eq_tol(pfc.flop, EST / 2, 1); /* but it is paid */

    usual();
    result.runtime_outlier = true; /* known from before */
    ask();
    ck_assert(pfc.outlier && has_no_sample());

    usual();
    query.hav = NULL;
    ask();
    ck_assert(has_no_sample());
}
END_TEST

START_TEST(the_version_of_an_anonymous_platform_has_no_average)
{
    usual();
    anonymous();
    ask();
    ck_assert_double_eq_tol(pfc.host_pfc, 2, 1e-12);
    ck_assert(pfc.version_pfc < 0);
}
END_TEST

/* 2e9 FLOPS and an estimate of 1e12 FLOP: elapsed / 500 is the ratio. */
static void
ratio(double x)
{
    usual();
    hav.pfc_n = av.pfc_n = 0;
    wu.rsc_fpops_est = 1e12;
    result.flops_estimate = 2e9;
    result.elapsed_time = 500 * x;
    result.cpu_time = 0;
}

static const struct {
    const char *promise;
    double ratio;
    bool counts;
} band[] = {
    {"a ten-thousandth of the estimate counts", 1.001e-4, true },
    {"less does not",                           0.999e-4, false},
    {"ten thousand times the estimate counts",  1e4,      true },
    {"more does not",                           1.001e4,  false},
};

START_TEST(absurd_ratios_are_no_samples)
{
    ratio(band[_i].ratio);
    ask();
    ck_assert_msg(!pfc.outlier && (pfc.host_pfc >= 0) == band[_i].counts &&
                      (pfc.version_pfc >= 0) == band[_i].counts,
                  "broken: %s", band[_i].promise);
    ck_assert(pfc.host_et >= 0 && pfc.turnaround >= 0);
}
END_TEST

START_TEST(no_time_is_no_sample_of_speed)
{
    ratio(0);
    ask();
    ck_assert(!pfc.outlier && pfc.host_et < 0 && pfc.host_pfc < 0);
    ck_assert(pfc.turnaround >= 0);
}
END_TEST

START_TEST(no_estimate_is_no_sample_of_speed)
{
    ratio(1);
    wu.rsc_fpops_est = 0;
    ask();
    ck_assert(!pfc.outlier && pfc.host_et < 0 && pfc.host_pfc < 0);
}
END_TEST

/* ---- outliers ------------------------------------------------------------
 */

static const struct {
    const char *promise;
    double version_n, version_avg, host_n, host_avg, ratio;
    enum pfc_times times;
    bool outlier;
} outliers[] = {
    {"1 % of the version's average is usual",   100, 100, 0,  0,   1,
     PFC_TIMES_AUTOMATIC,                                                                      false},
    {"less is an outlier",                      100, 100, 0,  0,   0.99,  PFC_TIMES_AUTOMATIC, true },
    {"100 times is usual",                      100, 100, 0,  0,   1e4,   PFC_TIMES_AUTOMATIC, false},
    {"more is an outlier",                      100, 100, 0,  0,   1.1e4, PFC_TIMES_AUTOMATIC, true },
    {"unless the hook says that it is usual",   100, 100, 0,  0,   1.1e4,
     PFC_TIMES_USUAL,                                                                          false},
    {"what is usual is one if the hook says",   100, 100, 0,  0,   100,
     PFC_TIMES_OUTLIER,                                                                        true },
    {"99 results of a version say nothing",     99,  100, 0,  0,   0.99,
     PFC_TIMES_AUTOMATIC,                                                                      false},
    {"the host's own average does then",        99,  100, 10, 100, 0.99,
     PFC_TIMES_AUTOMATIC,                                                                      true },
    {"but not of nine results",                 99,  100, 9,  100, 0.99,  PFC_TIMES_AUTOMATIC,
     false                                                                                          },
    {"the version's comes before the host's",   100, 100, 10, 1e9, 1,
     PFC_TIMES_AUTOMATIC,                                                                      false},
    {"an average of nothing says nothing",      100, 0,   10, 0,   50,
     PFC_TIMES_AUTOMATIC,                                                                      false},
    {"no time at all is far below the average", 100, 100, 0,  0,   0,
     PFC_TIMES_AUTOMATIC,                                                                      true },
};

START_TEST(times_far_from_the_average_are_outliers)
{
    ratio(outliers[_i].ratio);
    av.pfc_n = outliers[_i].version_n;
    av.pfc_avg = outliers[_i].version_avg;
    hav.pfc_n = outliers[_i].host_n;
    hav.pfc_avg = outliers[_i].host_avg;
    query.times = outliers[_i].times;
    ask();
    ck_assert_msg(pfc.outlier == outliers[_i].outlier, "broken: %s",
                  outliers[_i].promise);
}
END_TEST

/* ---- what a set of results gets ------------------------------------------
 */

#define N(c)                                                                   \
    {                                                                          \
        .flop = CREDITS(c), .mode = PFC_NORMAL                                 \
    }
#define A(c)                                                                   \
    {                                                                          \
        .flop = CREDITS(c), .mode = PFC_APPROX                                 \
    }
#define E(c)                                                                   \
    {                                                                          \
        .flop = CREDITS(c), .mode = PFC_WU_EST                                 \
    }

/* Peg 200: a claim of 200 weighs 1/20, of 400 and of 0 1/220. */
static const struct {
    const char *promise;
    size_t n;
    struct pfc claim[3];
    double est, max, want; /* credits */
} sets[] = {
    {"one normal claim stands",                       1, {N(300)},                 200, MAX,  300     },
    {"(200/20 + 400/220) / (1/20 + 1/220)",
     2,                                                  {N(200), N(400)},
     200,                                                                               MAX,
     650 / 3.                                                                                         },
    {"beside two normal ones approximate are naught",
     3,                                                  {N(200), N(400), A(900)},
     200,                                                                               MAX,
     650 / 3.                                                                                         },
    {"one normal counts twice: 4800 / 23",
     2,                                                  {N(200), A(400)},
     200,                                                                               MAX,
     4800 / 23.                                                                                       },
    {"only approximate ones: pegged alike",
     2,                                                  {A(200), A(400)},
     200,                                                                               MAX,
     650 / 3.                                                                                         },
    {"one approximate claim stands",                  1, {A(150)},                 200, MAX,  150     },
    {"estimates alone: the estimate",                 2, {E(9), E(9)},             200, MAX,  200     },
    {"nobody: the estimate",                          0, {E(0)},                   200, MAX,  200     },
    {"no time at all: no credit",                     1, {A(0)},                   200, MAX,  0       },
    {"against another: 550 / 3",                      2, {A(0), A(200)},           200, MAX,  550 / 3.},
    {"no estimate: weights 1/200 and 1/100",
     2,                                                  {A(200), A(100)},
     0,                                                                                 MAX,
     400 / 3.                                                                                         },
    {"no estimate, no claim: no credit",              2, {A(0), A(100)},           0,   MAX,  0       },
    {"claims are bound: ten times the estimate",      1, {N(5000)},                200, MAX,  2000    },
    {"one above the cap is not used",                 2, {N(5000), N(200)},        200, 1000, 200     },
    {"all above the cap: the estimate",               2, {N(5000), N(3000)},       200, 1000, 200     },
    {"exactly the cap is used",                       1, {N(1000)},                200, 1000, 1000    },
    {"the estimate has a cap",                        0, {E(0)},                   5e3, 1000, 1000    },
    {"a cap of nothing",                              1, {N(300)},                 200, 0,    0       },
};

START_TEST(valid_results_get)
{
    double got;

    usual();
    wu.rsc_fpops_est = CREDITS(sets[_i].est);
    got = pfc_credit(sets[_i].claim, sets[_i].n, &wu, &app, sets[_i].max);
    ck_assert_msg(is_near(got, sets[_i].want), "broken: %s (%.12g)",
                  sets[_i].promise, got);
}
END_TEST

START_TEST(an_absurd_bound_does_not_lift_the_cap)
{
    const struct pfc absurd = {.flop = 1e99, .mode = PFC_NORMAL};

    usual();
    wu.rsc_fpops_bound = 1e300;
    ck_assert_double_eq_tol(pfc_credit(&absurd, 1, &wu, &app, 1000), 200, 1e-9);
    wu.rsc_fpops_est = 1e300;
    ck_assert_double_eq_tol(pfc_credit(&absurd, 1, &wu, &app, 1000), 1000,
                            1e-9);
    ck_assert_double_eq_tol(pfc_claim(&absurd, &wu, 1000), 1000, 1e-9);
}
END_TEST

START_TEST(a_claim_in_credits)
{
    const struct pfc p = {.flop = CREDITS(300), .mode = PFC_APPROX};

    usual();
    ck_assert_double_eq_tol(pfc_claim(&p, &wu, MAX), 300, 1e-9);
    ck_assert_double_eq_tol(pfc_claim(&p, &wu, 100), 100, 1e-9);
    wu.rsc_fpops_bound = CREDITS(250);
    ck_assert_double_eq_tol(pfc_claim(&p, &wu, MAX), 250, 1e-9);
}
END_TEST

/* ---- scales of versions --------------------------------------------------
 */

struct version_row {
    const char *plan_class;
    double n, avg, scale; /* 9: left as it is */
};

static const struct {
    const char *promise;
    size_t n;
    struct version_row row[3];
    double base; /* 0: not enough is known */
} scales[] = {
    {"one CPU version has nothing to compare with",    1, {{"", 500, 2, 9}},                                            0},
    {"two: their mean, (200 x 2 + 600 x 4) / 800",
     2,                                                   {{"", 200, 2, 1.75}, {"mt", 600, 4, 0.875}},
     3.5                                                                                                                 },
    {"CPU and GPU: the lower of the two",
     2,                                                   {{"", 200, 2, 1}, {"cuda", 200, 20, 0.1}},
     2                                                                                                                   },
    {"also if that is the GPU",
     2,                                                   {{"", 200, 4, 0.5}, {"opencl_ati_101", 200, 2, 1}},
     2                                                                                                                   },
    {"a GPU alone: a tenth",                           1, {{"opencl_nvidia_101", 200, 20, 0.1}},                        2},
    {"a hundredth sample is scaled but makes no base",
     3,                                                   {{"", 200, 2, 1}, {"sse3", 200, 2, 1}, {"mt", 100, 8, 0.25}},
     2                                                                                                                   },
    {"a 99th is left alone",
     3,                                                   {{"", 200, 2, 1}, {"sse3", 200, 2, 1}, {"mt", 99, 8, 9}},
     2                                                                                                                   },
    {"a base of exactly 100 samples is none",
     2,                                                   {{"", 100, 2, 9}, {"mt", 100, 2, 9}},
     0                                                                                                                   },
    {"what is no number is left alone",
     3,                                                   {{"", 200, 2, 1}, {"sse3", 200, 2, 1}, {"mt", 200, NAN, 9}},
     2                                                                                                                   },
    {"so is what claims nothing",                      2, {{"", 200, 0, 9}, {"mt", 200, 0, 9}},                         0},
    {"no version at all",                              0, {{0}},                                                        0},
};

START_TEST(versions_are_scaled)
{
    struct app_version v[3] = {0};
    double base = -1;
    bool known;

    for (size_t i = 0; i < scales[_i].n; i++) {
        const struct version_row *r = &scales[_i].row[i];

        v[i].pfc_n = r->n;
        v[i].pfc_avg = r->avg;
        v[i].pfc_scale = 9;
        memcpy(v[i].plan_class, r->plan_class, strlen(r->plan_class));
    }
    known = pfc_scale_versions(v, scales[_i].n, &base);
    ck_assert_msg(known == (scales[_i].base > 0) &&
                      (!known || is_near(base, scales[_i].base)),
                  "broken: %s (%g)", scales[_i].promise, base);
    for (size_t i = 0; i < scales[_i].n; i++)
        ck_assert_msg(is_near(v[i].pfc_scale, scales[_i].row[i].scale),
                      "broken: %s (%zu: %g)", scales[_i].promise, i,
                      v[i].pfc_scale);
}
END_TEST

/* ---- whatever comes in ---------------------------------------------------
 */

static bool
is_sane(double x)
{
    return isfinite(x) && x >= 0;
}

static bool
is_sample(double x)
{
    return isfinite(x) && (x >= 0 || x == -1);
}

/* Two fields at a time get every odd value. */
START_TEST(odd_numbers_do_no_harm)
{
    static const double odd[] = {0,         1,     -1,     NAN,    INFINITY,
                                 -INFINITY, 1e308, -1e308, 1e-308, 1e9};
    double *const field[] = {
        &wu.rsc_fpops_est, &wu.rsc_fpops_bound,    &app.min_avg_pfc,
        &hav.pfc_n,        &hav.pfc_avg,           &av.pfc_n,
        &av.pfc_avg,       &av.pfc_scale,          &result.elapsed_time,
        &result.cpu_time,  &result.flops_estimate,
    };

    for (size_t f = 0; f < ARRAY_LEN(field); f++)
        for (size_t g = 0; g < ARRAY_LEN(field); g++)
            for (size_t a = 0; a < ARRAY_LEN(odd); a++)
                for (size_t b = 0; b < ARRAY_LEN(odd); b++) {
                    struct pfc two[2];
                    double base = 1, max = odd[(a + b) % ARRAY_LEN(odd)];

                    usual();
                    if ((a & 1) != 0)
                        anonymous();
                    *field[f] = odd[a];
                    *field[g] = odd[b];
                    ask();
                    ck_assert(is_sane(pfc.flop) && is_sample(pfc.host_pfc) &&
                              is_sample(pfc.host_et) &&
                              is_sample(pfc.turnaround) &&
                              is_sample(pfc.version_pfc));
                    ck_assert(is_sane(pfc_claim(&pfc, &wu, max)));
                    two[0] = two[1] = pfc;
                    two[1].flop = odd[b];
                    ck_assert(is_sane(pfc_credit(two, 2, &wu, &app, max)));
                    pfc_scale_versions(&av, 1, &base);
                    ck_assert(is_sane(base));
                }
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("pfc");
    TCase *tc = tcase_create("claims");
    SRunner *runner;
    int failed;

    tcase_add_loop_test(tc, a_result_claims, 0, ARRAY_LEN(claims));
    tcase_add_test(tc, a_usual_result_is_a_sample_of_each_average);
    tcase_add_test(tc, an_outlier_is_none);
    tcase_add_test(tc, the_version_of_an_anonymous_platform_has_no_average);
    tcase_add_loop_test(tc, absurd_ratios_are_no_samples, 0, ARRAY_LEN(band));
    tcase_add_test(tc, no_time_is_no_sample_of_speed);
    tcase_add_test(tc, no_estimate_is_no_sample_of_speed);
    tcase_add_loop_test(tc, times_far_from_the_average_are_outliers, 0,
                        ARRAY_LEN(outliers));
    tcase_add_loop_test(tc, valid_results_get, 0, ARRAY_LEN(sets));
    tcase_add_test(tc, an_absurd_bound_does_not_lift_the_cap);
    tcase_add_test(tc, a_claim_in_credits);
    tcase_add_loop_test(tc, versions_are_scaled, 0, ARRAY_LEN(scales));
    tcase_add_test(tc, odd_numbers_do_no_harm);
    suite_add_tcase(s, tc);
    runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
