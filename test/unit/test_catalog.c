/* test_catalog.c - platforms, apps and versions in a block of shared memory. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "catalog.h"

#define N_PLATFORMS 80
#define N_APPS 15
#define N_VERSIONS 300
#define LONG_DOC (256 * 1024)

static struct platform platform[N_PLATFORMS];
static struct app app[N_APPS];
static struct app_version version[N_VERSIONS];
static struct catalog_source source;
static void *memory;
static size_t size;
static const struct catalog *catalog;

/* Document of a version: its number, then one letter up to `n` bytes. */
static char *
document(size_t i, size_t n)
{
    char *doc = xmalloc(n + 1);
    struct buf b = BUF_INIT;

    buf_addf(&b, "<v>%zu</v>", i);
    memset(doc, 'a' + (int)(i % 26), n);
    memcpy(doc, b.data, b.len);
    doc[n] = '\0';
    buf_free(&b);
    return doc;
}

static void
name(char *to, const char *what, size_t i)
{
    struct buf b = BUF_INIT;

    buf_addf(&b, "%s-%zu", what, i);
    str_copy(to, NAME_SIZE, buf_str(&b));
    buf_free(&b);
}

static void
fill_source(size_t platforms, size_t apps, size_t versions)
{
    for (size_t i = 0; i < platforms; i++) {
        platform[i] = (struct platform){.id = (int64_t)i + 1};
        name(platform[i].name, "platform", i);
        name(platform[i].user_friendly_name, "Platform", i);
    }
    for (size_t i = 0; i < apps; i++) {
        app[i] =
            (struct app){.id = 100 + (int64_t)i, .weight = 0.5 * (double)i};
        name(app[i].name, "app", i);
    }
    for (size_t i = 0; i < versions; i++) {
        version[i] = (struct app_version){
            .id = 5000000000 + (int64_t)i,
            .appid = 100 + (int64_t)(i % N_APPS),
            .platformid = 1 + (int64_t)(i % N_PLATFORMS),
            .version_num = 100 + (int)i,
            .xml_doc = document(i, i % 100 == 50 ? LONG_DOC : 40 + i),
        };
        str_copy(version[i].plan_class, sizeof(version[i].plan_class),
                 i % 2 ? "mt" : "");
    }
    source = (struct catalog_source){
        .platform = platform,
        .n_platforms = platforms,
        .app = app,
        .n_apps = apps,
        .version = version,
        .n_versions = versions,
        .speeds = {1, 2, 3, 4},
    };
    size = catalog_size(&source);
    memory = aligned_alloc(64, size);
    catalog_write(memory, &source);
    catalog = catalog_check(memory, size);
}

static void
setup_full(void)
{
    fill_source(N_PLATFORMS, N_APPS, N_VERSIONS);
    ck_assert_ptr_nonnull(catalog);
}

static void
setup_small(void)
{
    fill_source(2, 1, 1);
    ck_assert_ptr_nonnull(catalog);
}

static void
teardown(void)
{
    for (size_t i = 0; i < source.n_versions; i++)
        free(version[i].xml_doc);
    free(memory);
}

START_TEST(everything_of_a_large_project_fits)
{
    ck_assert_uint_eq(catalog_n_platforms(catalog), N_PLATFORMS);
    ck_assert_uint_eq(catalog_n_apps(catalog), N_APPS);
    ck_assert_uint_eq(catalog_n_versions(catalog), N_VERSIONS);
    ck_assert_uint_eq(size % 64, 0);
    for (size_t i = 0; i < N_VERSIONS; i++) {
        struct app_version got;

        catalog_version(catalog, i, &got);
        ck_assert_int_eq(got.id, version[i].id);
        ck_assert_int_eq(got.appid, version[i].appid);
        ck_assert_int_eq(got.platformid, version[i].platformid);
        ck_assert_int_eq(got.version_num, version[i].version_num);
        ck_assert_str_eq(got.plan_class, version[i].plan_class);
        ck_assert_str_eq(got.xml_doc, version[i].xml_doc);
    }
    for (size_t i = 0; i < N_PLATFORMS; i++) {
        struct platform got;

        catalog_platform(catalog, i, &got);
        ck_assert_int_eq(got.id, platform[i].id);
        ck_assert_str_eq(got.name, platform[i].name);
        ck_assert_str_eq(got.user_friendly_name,
                         platform[i].user_friendly_name);
    }
}
END_TEST

START_TEST(rows_are_found)
{
    struct app got;

    for (size_t i = 0; i < N_APPS; i++)
        ck_assert_int_eq(catalog_find_app(catalog, app[i].id), (long)i);
    for (size_t i = 0; i < N_PLATFORMS; i++)
        ck_assert_int_eq(catalog_find_platform(catalog, platform[i].name),
                         (long)i);
    ck_assert_int_eq(catalog_find_app(catalog, 99), -1);
    ck_assert_int_eq(catalog_find_platform(catalog, "platform-80"), -1);
    ck_assert_int_eq(catalog_find_platform(catalog, "platform-"), -1);
    catalog_app(catalog, 14, &got);
    ck_assert_str_eq(got.name, "app-14");
    ck_assert_str_eq(got.user_friendly_name, "");
    ck_assert(got.weight == 7.0);
    ck_assert(catalog_speeds(catalog).mean == 1);
    ck_assert(catalog_speeds(catalog).percentile95 == 4);
}
END_TEST

START_TEST(every_number_of_an_app_comes_through)
{
    struct app want = {
        .id = 1,
        .name = "uppercase",
        .user_friendly_name = "Upper case",
        .min_version = 102,
        .homogeneous_redundancy = 2,
        .weight = -1,
        .beta = true,
        .target_nresults = 3,
        .min_avg_pfc = 0.25,
        .host_scale_check = true,
        .homogeneous_app_version = true,
        .non_cpu_intensive = true,
        .locality_scheduling = 1,
        .n_size_classes = 4,
        .n_size_quantiles = 3,
        .size_quantile = {1e9, 2e9, 3e9},
        .fraction_done_exact = true
    };
    struct catalog_source one = {.app = &want, .n_apps = 1};
    void *where = aligned_alloc(64, catalog_size(&one));
    struct app got;

    catalog_write(where, &one);
    catalog_app(catalog_check(where, catalog_size(&one)), 0, &got);
    ck_assert_str_eq(got.name, want.name);
    ck_assert_str_eq(got.user_friendly_name, want.user_friendly_name);
    ck_assert_int_eq(got.min_version, 102);
    ck_assert_int_eq(got.homogeneous_redundancy, 2);
    ck_assert(got.weight == -1);
    ck_assert(got.beta && got.host_scale_check && got.homogeneous_app_version);
    ck_assert(got.non_cpu_intensive && got.fraction_done_exact);
    ck_assert(!got.deprecated);
    ck_assert_int_eq(got.target_nresults, 3);
    ck_assert(got.min_avg_pfc == 0.25);
    ck_assert_int_eq(got.locality_scheduling, 1);
    ck_assert_int_eq(got.n_size_classes, 4);
    ck_assert_int_eq(got.n_size_quantiles, 3);
    ck_assert(got.size_quantile[0] == 1e9 && got.size_quantile[2] == 3e9);
    free(where);
}
END_TEST

START_TEST(every_number_of_a_version_comes_through)
{
    struct app_version want = {.id = 1,
                               .appid = 2,
                               .version_num = 314,
                               .platformid = 3,
                               .min_core_version = 70200,
                               .max_core_version = 80000,
                               .deprecated = true,
                               .plan_class = "cuda",
                               .pfc_n = 10,
                               .pfc_avg = 1.5,
                               .pfc_scale = 0.75,
                               .expavg_credit = 12.5,
                               .expavg_time = 1.7e9,
                               .beta = true};
    struct catalog_source one = {.version = &want, .n_versions = 1};
    void *where = aligned_alloc(64, catalog_size(&one));
    struct app_version got;

    catalog_write(where, &one);
    catalog_version(catalog_check(where, catalog_size(&one)), 0, &got);
    ck_assert_int_eq(got.min_core_version, 70200);
    ck_assert_int_eq(got.max_core_version, 80000);
    ck_assert(got.deprecated && got.beta);
    ck_assert_str_eq(got.plan_class, "cuda");
    ck_assert(got.pfc_n == 10 && got.pfc_avg == 1.5 && got.pfc_scale == 0.75);
    ck_assert(got.expavg_credit == 12.5 && got.expavg_time == 1.7e9);
    ck_assert_str_eq(got.xml_doc, ""); /* none was read */
    free(where);
}
END_TEST

START_TEST(a_project_may_have_nothing_yet)
{
    struct catalog_source none = {.n_apps = 0};
    void *where = aligned_alloc(64, catalog_size(&none));
    const struct catalog *c;

    catalog_write(where, &none);
    c = catalog_check(where, catalog_size(&none));
    ck_assert_ptr_nonnull(c);
    ck_assert_uint_eq(catalog_n_versions(c), 0);
    ck_assert_int_eq(catalog_find_app(c, 1), -1);
    free(where);
}
END_TEST

START_TEST(a_cut_catalog_is_refused)
{
    for (size_t n = 0; n < size; n += 8)
        ck_assert_msg(catalog_check(memory, n) == NULL, "%zu of %zu bytes", n,
                      size);
}
END_TEST

/* Whatever 64-bit value stands anywhere: either it is refused, or all that can
 * be read stays inside (which the sanitizers watch). */
START_TEST(no_damage_leads_out_of_the_block)
{
    static const uint64_t evil[] = {0, 1, 64, 1 << 20, INT64_MAX, UINT64_MAX};
    uint64_t *word = memory;

    for (size_t i = 0; i < size / sizeof(*word); i++) {
        uint64_t saved = word[i];

        for (size_t k = 0; k < ARRAY_LEN(evil); k++) {
            const struct catalog *c;
            struct app_version v;
            struct app a;
            struct platform p;

            word[i] = evil[k];
            c = catalog_check(memory, size);
            if (c == NULL)
                continue;
            for (size_t n = 0; n < catalog_n_versions(c); n++) {
                catalog_version(c, n, &v);
                ck_assert_uint_lt(strlen(v.xml_doc), size);
            }
            for (size_t n = 0; n < catalog_n_apps(c); n++)
                catalog_app(c, n, &a);
            for (size_t n = 0; n < catalog_n_platforms(c); n++)
                catalog_platform(c, n, &p);
        }
        word[i] = saved;
    }
    ck_assert_ptr_nonnull(catalog_check(memory, size));
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("catalog");
    TCase *full = tcase_create("full");
    TCase *small = tcase_create("small");
    SRunner *runner;
    int failed;

    tcase_add_checked_fixture(full, setup_full, teardown);
    tcase_add_test(full, everything_of_a_large_project_fits);
    tcase_add_test(full, rows_are_found);
    tcase_add_checked_fixture(small, setup_small, teardown);
    tcase_add_test(small, every_number_of_an_app_comes_through);
    tcase_add_test(small, every_number_of_a_version_comes_through);
    tcase_add_test(small, a_project_may_have_nothing_yet);
    tcase_add_test(small, a_cut_catalog_is_refused);
    tcase_add_test(small, no_damage_leads_out_of_the_block);
    suite_add_tcase(suite, full);
    suite_add_tcase(suite, small);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
