/* test_held_files.c - does a host hold an input file of a job? (dispatch §9.4,
 * lite) */
#include "held_files.h"

#include <check.h>
#include <stdlib.h>

#include "sendable.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define MAX_NAMES 9

/* FNV-1a of 64 bits: the offset basis, and the published values of "a" and
 * "foobar". */
START_TEST(hash_is_fnv_1a)
{
    ck_assert_uint_eq(held_file_hash(""), UINT64_C(0xcbf29ce484222325));
    ck_assert_uint_eq(held_file_hash("a"), UINT64_C(0xaf63dc4c8601ec8c));
    ck_assert_uint_eq(held_file_hash("foobar"), UINT64_C(0x85944171f73967e8));
}
END_TEST

static const struct {
    const char *promise;
    const char *job[MAX_NAMES], *host[MAX_NAMES];
    bool want;
} spec[] = {
    {"the same name",                 {"sky_1"},        {"sky_1"},                 true },
    {"one of several",                {"par", "sky_1"}, {"zoo", "sky_2", "sky_1"}, true },
    {"the last of eight",
     {"a", "b", "c", "d", "e", "f", "g", "h"},
     {"h"},
     true                                                                               },
    {"another name",                  {"sky_1"},        {"sky_2"},                 false},
    {"the host's is the longer one",  {"sky_1"},        {"sky_10", "my_sky_1"},    false},
    {"the host's is the shorter one",
     {"sky_10"},
     {"sky_1", "sky", "10"},
     false                                                                              },
    {"case counts",                   {"sky_1"},        {"SKY_1"},                 false},
    {"the host has nothing",          {"sky_1"},        {NULL},                    false},
    {"the job has no files",          {NULL},           {"sky_1"},                 false},
    {"neither",                       {NULL},           {NULL},                    false},
};

START_TEST(whole_names_count)
{
    struct sendable job = {.result_id = 1};
    uint64_t held[MAX_NAMES];
    size_t n = 0;

    for (size_t i = 0; spec[_i].job[i] != NULL; i++)
        job.file[i] = held_file_hash(spec[_i].job[i]);
    for (; spec[_i].host[n] != NULL; n++)
        held[n] = held_file_hash(spec[_i].host[n]);
    held_files_sort(held, n);
    ck_assert_msg(held_files_any(&job, held, n) == spec[_i].want, "broken: %s",
                  spec[_i].promise);
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("held_files");
    TCase *tc = tcase_create("names");
    SRunner *runner = srunner_create(s);
    int failed;

    tcase_add_test(tc, hash_is_fnv_1a);
    tcase_add_loop_test(tc, whole_names_count, 0, ARRAY_LEN(spec));
    suite_add_tcase(s, tc);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
