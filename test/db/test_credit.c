/* test_credit.c - credit and statistics through the real daemons: every mode,
 * every option, outliers, stragglers, adaptive replication, several validators
 * at once.  The numbers are those of docs/credit.md.
 *
 * A workunit is estimated at 1e12 FLOP, that is 200 / 86.4 credits; a played
 * result took 500 s at 2e9 FLOPS: just that. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buf.h"
#include "db_scale.h"
#include "file.h"
#include "project.h"

#define UNIT (200 / 86.4) /* credits of 1e12 FLOP */
#define TOLD "../test/db/told_validator"

static void
setup(void)
{
    project_new();
    ck_assert_int_eq(dbtest_platform(project_db(), "linux"), 1);
    for (int i = 1; i <= 4; i++) /* the played results have version 3 */
        dbtest_app_version(project_db(), 1, 1, 100 + i);
    project_do("UPDATE app_version SET plan_class = IF(id = 4, 'cuda', ''), "
               "pfc_n = 0, pfc_avg = 0, pfc_scale = 0, expavg_credit = 0, "
               "expavg_time = 0, deprecated = 0");
    project_do("UPDATE app SET target_nresults = 0, min_avg_pfc = 0, "
               "host_scale_check = 0, deprecated = 0");
}

static void
teardown(void)
{
    project_end();
}

static void
validate(const char *option, const char *value)
{
    ck_assert_int_eq(project_run(TOLD, "--app", "app", option, value, NULL), 0);
}

static void
transition(void)
{
    ck_assert_int_eq(project_run("transitioner", NULL), 0);
}

/* A workunit with a report of each text, from hosts 1, 2, …, asking for
 * validation. */
static int64_t
reported(const char *name, const char *one, const char *two)
{
    int n = two != NULL ? 2 : 1;
    int64_t wu = project_workunit(
        name, (struct workunit){.min_quorum = n, .target_nresults = n});

    transition();
    for (int k = 0; k < n; k++) {
        project_send(wu, k, k + 1);
        project_success(wu, k, k == 0 ? one : two);
    }
    transition();
    return wu;
}

static void
check_near(double got, double want, const char *what)
{
    ck_assert_msg(fabs(got - want) <= 1e-9 * fmax(1, fabs(want)),
                  "%s: %.12g, want %.12g", what, got, want);
}

__attribute__((format(printf, 2, 3))) static void
check(double want, const char *fmt, ...)
{
    struct buf sql = BUF_INIT;
    va_list args;

    va_start(args, fmt);
    buf_vaddf(&sql, fmt, args);
    va_end(args);
    check_near(dbtest_double(project_db(), buf_str(&sql)), want, buf_str(&sql));
    buf_free(&sql);
}

/* Both users, both hosts have it; the team has both. */
static void
check_credit(double each)
{
    check(each, "SELECT total_credit FROM user WHERE id = 1");
    check(each, "SELECT total_credit FROM user WHERE id = 2");
    check(each, "SELECT total_credit FROM host WHERE id = 2");
    check(2 * each, "SELECT total_credit FROM team");
}

static void
record(int host, const char *set)
{
    project_do("INSERT INTO host_app_version SET host_id = %d, "
               "app_version_id = 3, pfc_n = 0, pfc_avg = 0, et_n = 0, "
               "et_avg = 0, et_var = 0, et_q = 0, max_jobs_per_day = 10, "
               "n_jobs_today = 0, turnaround_n = 0, turnaround_avg = 0, "
               "turnaround_var = 0, turnaround_q = 0, consecutive_valid = 0",
               host);
    project_do("UPDATE host_app_version SET %s WHERE host_id = %d AND "
               "app_version_id = 3",
               set, host);
}

/* ---- modes ----------------------------------------------------------------
 */

START_TEST(adaptive_without_statistics_pays_what_was_computed)
{
    int64_t wu = reported("a", "x", "x");

    project_do("UPDATE result SET sent_time = received_time - 1000");
    validate(NULL, NULL);
    check_credit(UNIT);
    check(UNIT, "SELECT canonical_credit FROM workunit WHERE id = %" PRId64,
          wu);
    check(UNIT, "SELECT MIN(claimed_credit) FROM result");
    /* one sample of each host, two of the version: 1e12 / 1e12 = 1 */
    check(2, "SELECT COUNT(*) FROM host_app_version WHERE pfc_n = 1 AND "
             "pfc_avg = 1 AND et_n = 1 AND turnaround_n = 1 AND "
             "turnaround_avg = 1000 AND consecutive_valid = 1");
    check(1, "SELECT MIN(et_avg) * 2e9 FROM host_app_version");
    check(1, "SELECT pfc_n = 2 AND pfc_avg = 1 AND expavg_credit > 0 AND "
             "expavg_time > 0 FROM app_version WHERE id = 3");
    check(0, "SELECT SUM(pfc_n) FROM app_version WHERE id <> 3");
}
END_TEST

START_TEST(adaptive_scales_by_version_and_host)
{
    reported("a", "x", "x");
    project_do("UPDATE app_version SET pfc_n = 200, pfc_avg = 2, "
               "pfc_scale = 0.5 WHERE id = 3");
    record(1, "pfc_n = 10, pfc_avg = 4");
    record(2, "pfc_n = 10, pfc_avg = 4");
    project_do("UPDATE result SET flops_estimate = 4e9");
    validate(NULL, NULL);
    /* 2e12 FLOP x 1/2 x 2/4 from both: half of the estimate */
    check_credit(UNIT / 2);
    /* the host's 11th sample: 4 + (2 - 4) / 11 */
    check(4 - 2 / 11.,
          "SELECT pfc_avg FROM host_app_version WHERE host_id = 1");
    check(202, "SELECT pfc_n FROM app_version WHERE id = 3");
}
END_TEST

START_TEST(a_host_scale_may_need_ten_valid_results)
{
    reported("a", "x", "x");
    project_do("UPDATE app SET host_scale_check = 1");
    project_do("UPDATE app_version SET pfc_n = 200, pfc_avg = 2, "
               "pfc_scale = 0.5 WHERE id = 3");
    record(1, "pfc_n = 10, pfc_avg = 4, consecutive_valid = 9");
    record(2, "pfc_n = 10, pfc_avg = 4, consecutive_valid = 9");
    project_do("UPDATE result SET flops_estimate = 4e9");
    validate(NULL, NULL);
    check_credit(UNIT);
}
END_TEST

START_TEST(adaptive_pays_an_anonymous_platform_the_estimate)
{
    reported("a", "x", "x");
    project_do("UPDATE result SET app_version_id = -2, flops_estimate = 9e9");
    project_do("UPDATE app SET min_avg_pfc = 0.5");
    validate(NULL, NULL);
    check_credit(UNIT / 2);
    check(2, "SELECT COUNT(*) FROM host_app_version WHERE app_version_id = "
             "1000002 AND pfc_n = 1");
    check(0, "SELECT SUM(pfc_n) FROM app_version");
}
END_TEST

START_TEST(credit_may_be_assigned_by_the_hook)
{
    reported("a", "x credit=40", "x credit=60");
    validate("--post_assigned_credit", NULL);
    check_credit(40); /* the canonical one's */
    check(1, "SELECT MIN(claimed_credit) = 40 AND MAX(claimed_credit) = 60 "
             "FROM result");
    check(2, "SELECT COUNT(*) FROM host_app_version WHERE pfc_n = 1 AND "
             "et_n = 1");
}
END_TEST

START_TEST(assigned_credit_that_is_no_number_is_none)
{
    reported("a", "x credit=nan", "x credit=nan");
    validate("--post_assigned_credit", NULL);
    check_credit(0);
    check(2, "SELECT COUNT(*) FROM result WHERE validate_state = 1");
}
END_TEST

START_TEST(run_time_credit_makes_no_peak_flop_samples)
{
    reported("a", "x", "x");
    validate("--credit_from_runtime", NULL);
    check_credit(UNIT); /* the low average of two alike */
    check(2, "SELECT COUNT(*) FROM host_app_version WHERE pfc_n = 0 AND "
             "et_n = 1 AND turnaround_n = 1");
    check(0, "SELECT SUM(pfc_n) FROM app_version");
}
END_TEST

static const struct {
    const char *promise;
    const char *option[4];
    double want;
} precedence[] = {
    {"the workunit's before all others",
     {"--credit_from_wu", "--credit_from_runtime", "--post_assigned_credit",
      "--no_credit"},
     7                                                                                },
    {"then run time",
     {"--no_credit", "--post_assigned_credit", "--credit_from_runtime"},
     UNIT                                                                             },
    {"then what is assigned",            {"--no_credit", "--post_assigned_credit"}, 40},
    {"then nothing",                     {"--no_credit"},                           0 },
};

START_TEST(the_first_mode_counts)
{
    const char *const *o = precedence[_i].option;
    int64_t wu = reported("a", "x credit=40", NULL);

    project_do("UPDATE workunit SET canonical_credit = 7 WHERE id = %" PRId64,
               wu);
    ck_assert_int_eq(
        project_run(TOLD, "--app", "app", o[0], o[1], o[2], o[3], NULL), 0);
    check_near(dbtest_double(project_db(),
                             "SELECT total_credit FROM user WHERE id = 1"),
               precedence[_i].want, precedence[_i].promise);
}
END_TEST

/* ---- limits ---------------------------------------------------------------
 */

START_TEST(an_absurd_bound_and_claim_are_not_paid)
{
    reported("a", "x", "x");
    project_do("UPDATE workunit SET rsc_fpops_bound = 1e300");
    project_do("UPDATE result SET flops_estimate = 1e200, elapsed_time = 1e9");
    validate("--max_granted_credit", "1000");
    check_credit(UNIT); /* both claims are above: the estimate */
}
END_TEST

START_TEST(an_absurd_estimate_is_capped)
{
    reported("a", "x", "x");
    project_do("UPDATE workunit SET rsc_fpops_est = 1e299, "
               "rsc_fpops_bound = 1e300");
    project_do("UPDATE result SET flops_estimate = 1e200, elapsed_time = 1e9");
    validate("--max_granted_credit", "1000");
    check_credit(1000);
}
END_TEST

START_TEST(no_time_at_all_is_no_credit_and_no_sample)
{
    reported("a", "x", "x");
    project_do("UPDATE result SET elapsed_time = 0, cpu_time = 0");
    validate(NULL, NULL);
    check_credit(0);
    check(2, "SELECT COUNT(*) FROM result WHERE validate_state = 1 AND "
             "granted_credit = 0");
    check(2, "SELECT COUNT(*) FROM host_app_version WHERE pfc_n = 0 AND "
             "et_n = 0 AND turnaround_n = 1 AND consecutive_valid = 1");
}
END_TEST

START_TEST(an_elapsed_time_of_nothing_is_that_of_the_processor)
{
    reported("a", "x", "x");
    project_do("UPDATE result SET elapsed_time = 0, cpu_time = 250");
    validate(NULL, NULL);
    check_credit(UNIT / 2);
}
END_TEST

/* ---- outliers -------------------------------------------------------------
 */

START_TEST(an_outlier_is_paid_but_no_sample)
{
    reported("a", "x outlier", "x");
    validate(NULL, NULL);
    check_credit(UNIT);
    check(1, "SELECT GROUP_CONCAT(runtime_outlier ORDER BY id) = '1,0' "
             "FROM result");
    check(1, "SELECT pfc_n = 0 AND et_n = 0 AND turnaround_n = 0 AND "
             "consecutive_valid = 1 FROM host_app_version WHERE host_id = 1");
    check(1, "SELECT pfc_n = 1 AND et_n = 1 AND turnaround_n = 1 "
             "FROM host_app_version WHERE host_id = 2");
    check(1, "SELECT pfc_n FROM app_version WHERE id = 3");
}
END_TEST

START_TEST(times_far_from_the_averages_are_outliers)
{
    /* results of the version take 300 times the estimate: 1 is below 1 % */
    reported("a", "x", "x usual");
    project_do("UPDATE app_version SET pfc_n = 100, pfc_avg = 300 "
               "WHERE id = 3");
    validate(NULL, NULL);
    check(1, "SELECT GROUP_CONCAT(runtime_outlier ORDER BY id) = '1,0' "
             "FROM result");
    check(101, "SELECT pfc_n FROM app_version WHERE id = 3");
}
END_TEST

START_TEST(a_host_that_was_not_measured_is_an_outlier)
{
    reported("a", "x", "x");
    project_do("UPDATE result SET flops_estimate = 1e9 WHERE hostid = 1");
    validate(NULL, NULL);
    check(1, "SELECT GROUP_CONCAT(runtime_outlier ORDER BY id) = '1,0' "
             "FROM result");
}
END_TEST

/* ---- late results ---------------------------------------------------------
 */

START_TEST(a_late_third_result_is_paid_and_not_assimilated_again)
{
    struct buf text = BUF_INIT;
    int64_t wu = project_workunit(
        "a", (struct workunit){.min_quorum = 2, .target_nresults = 3});

    transition();
    for (int k = 0; k < 3; k++)
        project_send(wu, k, k + 1);
    project_success(wu, 0, "x");
    project_success(wu, 1, "x");
    project_round();
    check(2, "SELECT assimilate_state FROM workunit");
    ck_assert_int_eq(file_write(project_path("results/a"), "once", 4, 0640), 0);
    project_success(wu, 2, "x");
    project_do("UPDATE result SET elapsed_time = 900 WHERE hostid = 3");
    project_round();
    /* as much as the canonical one, whatever it took; its time is a sample */
    check(3,
          "SELECT COUNT(*) FROM user WHERE id <= 3 AND "
          "ABS(total_credit - %.17g) < 1e-9",
          UNIT);
    check(1.8, "SELECT pfc_avg FROM host_app_version WHERE host_id = 3");
    check(3, "SELECT pfc_n FROM app_version WHERE id = 3");
    check(2, "SELECT assimilate_state FROM workunit");
    ck_assert_int_eq(file_read(project_path("results/a"), 100, &text), 0);
    ck_assert_str_eq(buf_str(&text), "once"); /* not written again */
    buf_free(&text);
    project_round();
    check(3 * UNIT, "SELECT total_credit FROM team");
}
END_TEST

/* ---- options --------------------------------------------------------------
 */

START_TEST(items_are_credited_once_to_a_user)
{
    for (int i = 0; i < 3; i++) {
        char name[8];

        snprintf(name, sizeof(name), "w%d", i);
        reported(name, "x", "x");
    }
    project_do("UPDATE workunit SET opaque = IF(name = 'w2', 0, 5000000001)");
    validate("--update_credited_job", NULL);
    /* two workunits of one item, two users; an item of 0 is none */
    check(2, "SELECT COUNT(*) FROM credited_job WHERE workunitid = 5000000001");
    check(2, "SELECT COUNT(*) FROM credited_job");
    check_credit(3 * UNIT);
}
END_TEST

static void
note_by_app(void)
{
    struct buf text = BUF_INIT, more = BUF_INIT;
    const char *end;

    ck_assert_int_eq(file_read(project_path("config.xml"), 100000, &text), 0);
    end = strstr(buf_str(&text), "</config>");
    buf_addf(&more, "%.*s<credit_by_app>1</credit_by_app>%s",
             (int)(end - buf_str(&text)), buf_str(&text), end);
    project_write("config.xml", buf_str(&more));
    buf_free(&text);
    buf_free(&more);
}

START_TEST(credit_is_noted_by_application)
{
    note_by_app();
    project_do("UPDATE user SET teamid = 0 WHERE id = 2");
    reported("a", "x", "x");
    reported("b", "x", "x");
    validate(NULL, NULL);
    reported("c", "x", "x");
    validate(NULL, NULL);
    check(2,
          "SELECT COUNT(*) FROM credit_user WHERE appid = 1 AND njobs = 3 "
          "AND ABS(total - %.17g) < 1e-9 AND expavg > 0 AND expavg_time > "
          "0",
          3 * UNIT);
    /* team 0 is that of the users without a team */
    check(2,
          "SELECT COUNT(*) FROM credit_team WHERE appid = 1 AND njobs = 3 "
          "AND teamid IN (0, 1) AND ABS(total - %.17g) < 1e-9",
          3 * UNIT);
}
END_TEST

static int64_t
with_failure(int exit_status)
{
    int64_t wu = project_workunit(
        "a", (struct workunit){.min_quorum = 1, .target_nresults = 2});

    transition();
    project_send(wu, 0, 1);
    project_send(wu, 1, 2);
    project_error(wu, 0, exit_status);
    project_success(wu, 1, "x");
    transition();
    return wu;
}

static const struct {
    const char *promise;
    int exit_status;
    const char *option;
    int max_jobs;
} punished[] = {
    {"a hopeless host gets one a day",     77, "--check_punitive", 1 },
    {"one that just failed keeps its own", 1,  "--check_punitive", 10},
    {"nobody is punished unless told",     77, "--credit_from_wu", 10},
};

START_TEST(hosts_that_will_go_on_failing)
{
    with_failure(punished[_i].exit_status);
    record(1, "n_jobs_today = 4");
    validate(punished[_i].option, NULL);
    check_near(dbtest_double(project_db(), "SELECT max_jobs_per_day FROM "
                                           "host_app_version WHERE host_id = "
                                           "1"),
               punished[_i].max_jobs, punished[_i].promise);
    check(punished[_i].max_jobs == 1 ? 1 : 4,
          "SELECT n_jobs_today FROM host_app_version WHERE host_id = 1");
    check(1, "SELECT COUNT(*) FROM result WHERE validate_state = 1");
}
END_TEST

/* ---- adaptive replication -------------------------------------------------
 */

START_TEST(a_suspicious_single_result_wants_a_second_one)
{
    int64_t wu = reported("a", "x suspicious", NULL);

    project_do("UPDATE app SET target_nresults = 2");
    validate(NULL, NULL);
    check(1, "SELECT min_quorum = 2 AND target_nresults = 2 AND "
             "canonical_resultid = 0 AND need_validate = 0 FROM workunit");
    transition();
    project_send(wu, 1, 2);
    project_success(wu, 1, "x");
    transition();
    validate(NULL, NULL);
    check_credit(UNIT);
    /* another host has confirmed both */
    check(2, "SELECT COUNT(*) FROM host_app_version WHERE "
             "consecutive_valid = 1");
}
END_TEST

START_TEST(an_unconfirmed_result_earns_no_trust)
{
    reported("a", "x", NULL);
    record(1, "consecutive_valid = 12");
    project_do("UPDATE app SET target_nresults = 2");
    validate(NULL, NULL);
    check(12, "SELECT consecutive_valid FROM host_app_version");
    check(11, "SELECT max_jobs_per_day FROM host_app_version");
    check(1, "SELECT pfc_n FROM host_app_version"); /* but counts otherwise */
}
END_TEST

START_TEST(an_invalid_result_ends_all_trust)
{
    int64_t wu = project_workunit(
        "a", (struct workunit){.min_quorum = 3, .target_nresults = 3});

    transition();
    for (int k = 0; k < 3; k++) {
        project_send(wu, k, k + 1);
        project_success(wu, k, k == 2 ? "other" : "x");
    }
    transition();
    record(3, "consecutive_valid = 12, max_jobs_per_day = 11");
    validate(NULL, NULL);
    check(1, "SELECT consecutive_valid = 0 AND max_jobs_per_day = 10 AND "
             "pfc_n = 0 FROM host_app_version WHERE host_id = 3");
    check(0, "SELECT total_credit FROM user WHERE id = 3");
}
END_TEST

/* ---- versions -------------------------------------------------------------
 */

START_TEST(a_new_version_inherits_a_hosts_record)
{
    record(1, "pfc_n = 30, pfc_avg = 7, consecutive_valid = 12");
    project_do("UPDATE host_app_version SET app_version_id = 1");
    record(1, "pfc_n = 50, pfc_avg = 9, consecutive_valid = 1");
    project_do("UPDATE host_app_version SET app_version_id = 4 "
               "WHERE pfc_n = 50"); /* another plan class */
    reported("a", "x", NULL);
    validate(NULL, NULL);
    /* version 3 from version 1: (30 + 1) samples, 7 + (1 - 7) / 100 */
    check(1, "SELECT pfc_n = 31 AND consecutive_valid = 13 "
             "FROM host_app_version WHERE app_version_id = 3");
    check(6.94, "SELECT pfc_avg FROM host_app_version "
                "WHERE app_version_id = 3");
    check(1, "SELECT pfc_n = 30 AND consecutive_valid = 12 "
             "FROM host_app_version WHERE app_version_id = 1");
}
END_TEST

START_TEST(the_feeders_scales)
{
    size_t changed;

    /* CPU: (200 x 2 + 600 x 4) / 800 = 3.5; GPU: 35; the base is 3.5 */
    project_do("UPDATE app_version SET pfc_n = ELT(id, 200, 600, 100, 300), "
               "pfc_avg = ELT(id, 2, 4, 7, 35)");
    ck_assert_int_eq(db_scale_versions(project_db(), &changed), 0);
    ck_assert_uint_eq(changed, 5);
    check(1.75, "SELECT pfc_scale FROM app_version WHERE id = 1");
    check(0.875, "SELECT pfc_scale FROM app_version WHERE id = 2");
    check(0.5, "SELECT pfc_scale FROM app_version WHERE id = 3");
    check(0.1, "SELECT pfc_scale FROM app_version WHERE id = 4");
    check(3.5, "SELECT min_avg_pfc FROM app");
    ck_assert_int_eq(db_scale_versions(project_db(), &changed), 0);
    ck_assert_uint_eq(changed, 0); /* nothing to write */
    project_do("UPDATE app_version SET deprecated = 1 WHERE id IN (1, 4)");
    ck_assert_int_eq(db_scale_versions(project_db(), &changed), 0);
    check(0.875, "SELECT pfc_scale FROM app_version WHERE id = 2");
}
END_TEST

/* ---- all at once ----------------------------------------------------------
 */

enum { MANY = 240, VALIDATORS = 4 };

static void
run_validators(void)
{
    pid_t pid[VALIDATORS];
    int status;

    for (int i = 0; i < VALIDATORS; i++) {
        pid[i] = fork();
        ck_assert_int_ge(pid[i], 0);
        if (pid[i] == 0) {
            execl(DAEMONS "/" TOLD, "told_validator", "--one_pass", "--app",
                  "app", NULL);
            _exit(127);
        }
    }
    for (int i = 0; i < VALIDATORS; i++) {
        ck_assert_int_eq(waitpid(pid[i], &status, 0), pid[i]);
        ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

/* Results of 6 hosts, each of other length. */
static void
many_reports(void)
{
    int64_t wu[MANY];
    char name[16];

    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "w%d", i);
        wu[i] = project_workunit(name, (struct workunit){.min_quorum = 2});
    }
    transition();
    for (int i = 0; i < MANY; i++)
        for (int k = 0; k < 2; k++) {
            project_send(wu[i], k, 1 + (i + 3 * k) % 6);
            project_success(wu[i], k, "x");
        }
    project_do("UPDATE result SET elapsed_time = 400 + id %% 50, "
               "sent_time = received_time - 1000");
    transition();
}

/* A grant of c within a minute or so adds c ln 2 / 7 days to an average of now;
 * 1 of 80 missing would be 1 %. */
static void
check_averages(const char *table, const char *owner)
{
    int64_t bad = project_ask(
        "SELECT COUNT(*) FROM %s o JOIN (SELECT %s AS id, "
        "SUM(granted_credit) AS sum FROM result GROUP BY %s) r ON r.id = o.id "
        "WHERE ABS(o.total_credit - r.sum) > 1e-6 OR "
        "ABS(o.expavg_credit / (r.sum * LN(2) / 7) - 1) > 2e-3",
        table, owner, owner);

    ck_assert_msg(bad == 0, "%" PRId64 " rows of %s are wrong", bad, table);
}

START_TEST(four_validators_lose_nothing)
{
    note_by_app();
    many_reports();
    project_do("UPDATE user SET expavg_time = %" PRId64, project_now());
    project_do("UPDATE host SET expavg_time = %" PRId64, project_now());
    project_do("UPDATE team SET expavg_time = %" PRId64, project_now());
    run_validators();
    ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM result WHERE "
                                 "validate_state = 1 AND granted_credit > 0"),
                     2 * MANY);
    check_averages("user", "userid");
    check_averages("host", "hostid");
    check_averages("team", "teamid");
    /* no sample is lost */
    check(2 * MANY, "SELECT pfc_n FROM app_version WHERE id = 3");
    check(6,
          "SELECT COUNT(*) FROM host_app_version WHERE pfc_n = %d AND "
          "et_n = %d AND turnaround_n = %d AND consecutive_valid = %d",
          MANY / 3, MANY / 3, MANY / 3, MANY / 3);
    check(2 * MANY, "SELECT SUM(njobs) FROM credit_user");
    check(2 * MANY, "SELECT SUM(njobs) FROM credit_team");
    check(dbtest_double(project_db(), "SELECT SUM(granted_credit) FROM result"),
          "SELECT SUM(total) FROM credit_user");
}
END_TEST

static Suite *
credit_suite(void)
{
    Suite *s = suite_create("credit");
    TCase *tc = tcase_create("through the daemons");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, adaptive_without_statistics_pays_what_was_computed);
    tcase_add_test(tc, adaptive_scales_by_version_and_host);
    tcase_add_test(tc, a_host_scale_may_need_ten_valid_results);
    tcase_add_test(tc, adaptive_pays_an_anonymous_platform_the_estimate);
    tcase_add_test(tc, credit_may_be_assigned_by_the_hook);
    tcase_add_test(tc, assigned_credit_that_is_no_number_is_none);
    tcase_add_test(tc, run_time_credit_makes_no_peak_flop_samples);
    tcase_add_loop_test(tc, the_first_mode_counts, 0,
                        (int)ARRAY_LEN(precedence));
    tcase_add_test(tc, an_absurd_bound_and_claim_are_not_paid);
    tcase_add_test(tc, an_absurd_estimate_is_capped);
    tcase_add_test(tc, no_time_at_all_is_no_credit_and_no_sample);
    tcase_add_test(tc, an_elapsed_time_of_nothing_is_that_of_the_processor);
    tcase_add_test(tc, an_outlier_is_paid_but_no_sample);
    tcase_add_test(tc, times_far_from_the_averages_are_outliers);
    tcase_add_test(tc, a_host_that_was_not_measured_is_an_outlier);
    tcase_add_test(tc, a_late_third_result_is_paid_and_not_assimilated_again);
    tcase_add_test(tc, items_are_credited_once_to_a_user);
    tcase_add_test(tc, credit_is_noted_by_application);
    tcase_add_loop_test(tc, hosts_that_will_go_on_failing, 0,
                        (int)ARRAY_LEN(punished));
    tcase_add_test(tc, a_suspicious_single_result_wants_a_second_one);
    tcase_add_test(tc, an_unconfirmed_result_earns_no_trust);
    tcase_add_test(tc, an_invalid_result_ends_all_trust);
    tcase_add_test(tc, a_new_version_inherits_a_hosts_record);
    tcase_add_test(tc, the_feeders_scales);
    tcase_add_test(tc, four_validators_lose_nothing);
    suite_add_tcase(s, tc);
    return s;
}

int
main(void)
{
    return dbtest_run(credit_suite());
}
