/* test_db_catalog.c - which platforms, apps and versions get into the catalog.
 */
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "db_catalog.h"
#include "dbtest.h"

static struct db *db;
static struct db_catalog catalog;
static int64_t linux_id, windows_id, app_id;

static void
setup(void)
{
    db = dbtest_open();
    dbtest_empty(db);
    linux_id = dbtest_platform(db, "x86_64-pc-linux-gnu");
    windows_id = dbtest_platform(db, "windows_x86_64");
    app_id = dbtest_app(db, "uppercase");
}

static void
teardown(void)
{
    db_catalog_free(&catalog);
    db_close(db);
}

static void
load(void)
{
    db_catalog_free(&catalog);
    ck_assert_int_eq(db_catalog_load(db, &catalog), 0);
}

/* "100 101!mt": version numbers in their order, ! = superseded, plan class. */
static const char *
versions(void)
{
    static struct buf b;

    buf_reset(&b);
    for (size_t i = 0; i < catalog.n_versions; i++) {
        const struct app_version *v = &catalog.version[i];

        buf_addf(&b, "%s%d%s%s", i == 0 ? "" : " ", v->version_num,
                 v->deprecated ? "!" : "", v->plan_class);
    }
    return buf_str(&b);
}

START_TEST(a_new_project_has_nothing)
{
    dbtest_empty(db);
    load();
    ck_assert_uint_eq(catalog.n_platforms, 0);
    ck_assert_uint_eq(catalog.n_apps, 0);
    ck_assert_uint_eq(catalog.n_versions, 0);
}
END_TEST

START_TEST(rows_are_read_whole)
{
    const struct app *a;
    const struct app_version *v;

    dbtest_exec(db, "UPDATE app SET user_friendly_name = 'Upper case',"
                    " homogeneous_redundancy = 2, weight = 2.5, beta = 1,"
                    " target_nresults = 3, min_avg_pfc = 0.5,"
                    " host_scale_check = 1, homogeneous_app_version = 1,"
                    " non_cpu_intensive = 1, locality_scheduling = 1,"
                    " n_size_classes = 4, fraction_done_exact = 1");
    dbtest_app_version(db, app_id, linux_id, 314);
    dbtest_exec(db, "UPDATE app_version SET xml_doc = '<app_version/>',"
                    " min_core_version = 70200, max_core_version = 80000,"
                    " plan_class = 'mt', pfc_n = 3, pfc_avg = 1.5,"
                    " pfc_scale = 0.5, expavg_credit = 10, expavg_time = 1e9,"
                    " beta = 1");
    load();
    ck_assert_uint_eq(catalog.n_platforms, 2);
    ck_assert_int_eq(catalog.platform[0].id, linux_id);
    ck_assert_str_eq(catalog.platform[0].name, "x86_64-pc-linux-gnu");
    ck_assert_uint_eq(catalog.n_apps, 1);
    a = &catalog.app[0];
    ck_assert_int_eq(a->id, app_id);
    ck_assert_str_eq(a->name, "uppercase");
    ck_assert_str_eq(a->user_friendly_name, "Upper case");
    ck_assert_int_eq(a->homogeneous_redundancy, 2);
    ck_assert(a->weight == 2.5 && a->min_avg_pfc == 0.5);
    ck_assert(a->beta && a->host_scale_check && a->homogeneous_app_version);
    ck_assert(a->non_cpu_intensive && a->fraction_done_exact);
    ck_assert_int_eq(a->target_nresults, 3);
    ck_assert_int_eq(a->locality_scheduling, 1);
    ck_assert_int_eq(a->n_size_classes, 4);
    ck_assert_uint_eq(catalog.n_versions, 1);
    v = &catalog.version[0];
    ck_assert_int_eq(v->appid, app_id);
    ck_assert_int_eq(v->platformid, linux_id);
    ck_assert_int_eq(v->version_num, 314);
    ck_assert_str_eq(v->xml_doc, "<app_version/>");
    ck_assert_int_eq(v->min_core_version, 70200);
    ck_assert_int_eq(v->max_core_version, 80000);
    ck_assert_str_eq(v->plan_class, "mt");
    ck_assert(v->pfc_n == 3 && v->pfc_avg == 1.5 && v->pfc_scale == 0.5);
    ck_assert(v->expavg_credit == 10 && v->expavg_time == 1e9);
    ck_assert(v->beta && !v->deprecated);
}
END_TEST

START_TEST(what_is_deprecated_is_left_out)
{
    int64_t old_app = dbtest_app(db, "lowercase");

    dbtest_app_version(db, app_id, linux_id, 100);
    dbtest_app_version(db, app_id, windows_id, 101);
    dbtest_app_version(db, old_app, linux_id, 102);
    dbtest_app_version(db, app_id, 77, 103); /* no such platform */
    dbtest_exec(db, "UPDATE app SET deprecated = 1 WHERE name = 'lowercase'");
    dbtest_exec(db, "UPDATE platform SET deprecated = 1"
                    " WHERE name = 'windows_x86_64'");
    load();
    ck_assert_uint_eq(catalog.n_platforms, 1);
    ck_assert_uint_eq(catalog.n_apps, 1);
    ck_assert_str_eq(versions(), "100");
    dbtest_exec(db, "UPDATE app_version SET deprecated = 1");
    load();
    ck_assert_uint_eq(catalog.n_versions, 0);
}
END_TEST

/* Versions 100, 101, 102 without and 100, 101 with a plan class, and 100 on
 * another platform. */
static const struct {
    const char *promise;
    const char *change;
    const char *want;
} choices[] = {
    {"of each platform and plan class only the newest counts",             "DO 1",
     "102 101mt 100"                                                                                                                           },
    {"a deprecated version does not supersede another",
     "UPDATE app_version SET deprecated = 1 WHERE version_num = 102",                                          "101 101mt 100"                 },
    {"with min_version all from there on are kept, the older ones marked",
     "UPDATE app SET min_version = 101",                                                                       "102 101! 101mt 100"            },
    {"where all are older than min_version, the newest tells so",
     "UPDATE app SET min_version = 103",                                                                       "102 100"                       },
    {"min_version 100 keeps all",                                          "UPDATE app SET min_version = 100",
     "102 101! 101mt 100! 100!mt 100"                                                                                                          },
    {"results of one version: all are kept for workunits pinned to them",
     "UPDATE app SET homogeneous_app_version = 1",                                                             "102 101! 101mt 100! 100!mt 100"},
};

START_TEST(superseded_versions)
{
    dbtest_app_version(db, app_id, linux_id, 101);
    dbtest_app_version(db, app_id, linux_id, 100);
    dbtest_exec(db, "UPDATE app_version SET plan_class = 'mt'");
    for (int v = 100; v <= 102; v++)
        dbtest_app_version(db, app_id, linux_id, v);
    dbtest_app_version(db, app_id, windows_id, 100);
    /* The order in which rows of equal number come is that of their ids. */
    dbtest_exec(db, "UPDATE app_version SET id = id + 100"
                    " WHERE plan_class = 'mt'");
    dbtest_exec(db, "UPDATE app_version SET xml_doc = 'document'");
    dbtest_exec(db, choices[_i].change);
    load();
    for (size_t i = 0; i < catalog.n_versions; i++)
        ck_assert_int_eq(catalog.version[i].xml_doc[0] == '\0',
                         catalog.version[i].version_num <
                             catalog.app[0].min_version);
    ck_assert_msg(strcmp(versions(), choices[_i].want) == 0,
                  "broken: %s: %s instead of %s", choices[_i].promise,
                  versions(), choices[_i].want);
}
END_TEST

static const struct {
    int stored, want;
} core_versions[] = {
    {0,     0     }, /* none */
    {1,     100   }, /* 0.01 */
    {609,   60900 }, /* client 6.9 */
    {9999,  999900}, /* the last of the old notation */
    {10000, 10000 }, /* client 1.0.0 */
    {72005, 72005 },
};

START_TEST(old_core_versions_are_converted)
{
    struct buf sql = BUF_INIT;

    dbtest_app_version(db, app_id, linux_id, 100);
    buf_addf(&sql,
             "UPDATE app_version SET min_core_version = %d,"
             " max_core_version = %d",
             core_versions[_i].stored, core_versions[_i].stored);
    dbtest_exec(db, buf_str(&sql));
    buf_free(&sql);
    load();
    ck_assert_int_eq(catalog.version[0].min_core_version,
                     core_versions[_i].want);
    ck_assert_int_eq(catalog.version[0].max_core_version,
                     core_versions[_i].want);
}
END_TEST

START_TEST(a_large_project_goes_into_a_segment)
{
    struct buf name = BUF_INIT;
    struct catalog_source src;
    const struct catalog *c;
    struct app_version v;
    void *where;

    for (int i = 2; i < 80; i++) {
        buf_reset(&name);
        buf_addf(&name, "platform-%d", i);
        dbtest_platform(db, buf_str(&name));
    }
    for (int i = 1; i < 15; i++) {
        buf_reset(&name);
        buf_addf(&name, "app-%d", i);
        dbtest_app(db, buf_str(&name));
    }
    for (int i = 0; i < 300; i++)
        dbtest_app_version(db, 1 + i % 15, 1 + i / 15, 100);
    dbtest_exec(db, "UPDATE app_version SET xml_doc = REPEAT('x', 262144)"
                    " WHERE id % 50 = 0");
    load();
    buf_free(&name);
    ck_assert_uint_eq(catalog.n_platforms, 80);
    ck_assert_uint_eq(catalog.n_apps, 15);
    ck_assert_uint_eq(catalog.n_versions, 300);
    src = db_catalog_source(&catalog);
    where = aligned_alloc(64, catalog_size(&src));
    catalog_write(where, &src);
    c = catalog_check(where, catalog_size(&src));
    ck_assert_ptr_nonnull(c);
    for (size_t i = 0; i < 300; i++) {
        catalog_version(c, i, &v);
        ck_assert_uint_eq(strlen(v.xml_doc), v.id % 50 == 0 ? 262144 : 0);
    }
    free(where);
}
END_TEST

/* Hosts 1 … n, the i-th of i GFLOPS. */
static void
hosts(int n, double credit)
{
    for (int i = 1; i <= n; i++) {
        struct buf sql = BUF_INIT;

        buf_addf(&sql,
                 "INSERT INTO host (userid, create_time, rpc_time, "
                 "p_fpops, expavg_credit) VALUES (1, 1, 1, %d, %g)",
                 1000000000 * i, credit);
        dbtest_exec(db, buf_str(&sql));
        buf_free(&sql);
    }
}

START_TEST(the_speed_of_the_hosts_that_compute)
{
    dbtest_exec(db, "SET sql_mode = ''"); /* columns have no defaults */
    hosts(2, 10.5);
    hosts(2, 10); /* do not count */
    load();
    ck_assert_double_eq(catalog.speeds.mean, 2.2e9); /* too few */
    for (int i = 0; i < 4; i++)
        hosts(2, 11);
    load();
    ck_assert_double_eq(catalog.speeds.mean, 1.5e9);
    ck_assert_double_eq(catalog.speeds.stddev, 0.5e9);
    ck_assert_double_eq(catalog.speeds.percentile95, 2e9);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("db_catalog");
    TCase *tc = tcase_create("db_catalog");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, a_new_project_has_nothing);
    tcase_add_test(tc, rows_are_read_whole);
    tcase_add_test(tc, what_is_deprecated_is_left_out);
    tcase_add_loop_test(tc, superseded_versions, 0, ARRAY_LEN(choices));
    tcase_add_loop_test(tc, old_core_versions_are_converted, 0,
                        ARRAY_LEN(core_versions));
    tcase_add_test(tc, a_large_project_goes_into_a_segment);
    tcase_add_test(tc, the_speed_of_the_hosts_that_compute);
    suite_add_tcase(suite, tc);
    return dbtest_run(suite);
}
