/* test_hooks.c - the stock validators, assimilators and work generator,
 * scripts, and hooks from a file, through the real programs. */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "clock.h"
#include "file.h"
#include "path.h"
#include "project.h"

static void
setup(void)
{
    project_new();
    ck_assert_int_eq(file_mkdirs(project_path("bin"), 0770), 0);
}

static void
teardown(void)
{
    project_end();
}

/* A workunit with two reports of these texts, asking for validation. */
static int64_t
reported(const char *name, const char *one, const char *two)
{
    int64_t wu = project_workunit(name, (struct workunit){.batch = 0});

    ck_assert_int_eq(project_run("transitioner", NULL), 0);
    project_send(wu, 0, 1);
    project_send(wu, 1, 2);
    project_success(wu, 0, one);
    project_success(wu, 1, two);
    ck_assert_int_eq(project_run("transitioner", NULL), 0);
    return wu;
}

static int64_t
in_state(int state)
{
    return project_ask("SELECT COUNT(*) FROM result WHERE validate_state = %d",
                       state);
}

static int64_t
agreed(void)
{
    return project_ask("SELECT COUNT(*) FROM workunit WHERE "
                       "canonical_resultid <> 0");
}

static void
expect_file(const char *path, const char *want)
{
    struct buf text = BUF_INIT;

    ck_assert_msg(file_read(project_path(path), 1000, &text) == 0, "no %s",
                  path);
    ck_assert_str_eq(buf_str(&text), want);
    buf_free(&text);
}

/* ---- validators -----------------------------------------------------------
 */

static const struct {
    const char *absolute, *relative, *one, *two;
    bool agree;
} numbers[] = {
    {"0",   "0",    "1.0 x\n",    "1 x\n",          true },
    {"0",   "0",    "1.0\n",      "1.0000001\n",    false},
    {"0.5", "0",    "1\n",        "1.5\n",          true }, /* exactly */
    {"0.5", "0",    "1\n",        "1.75\n",         false},
    {"0",   "0.25", "100\n",      "75\n",           true }, /* of the larger */
    {"0",   "0.25", "-100\n",     "-74\n",          false},
    {"0",   "0.25", "1\n",        "-1\n",           false},
    {"1",   "0.01", "0\n",        "1\n",            true }, /* the larger one */
    {"1",   "0.01", "1000\n",     "1010\n",         true },
    {"0",   "0",    "nan\n",      "nan\n",          true },
    {"9",   "9",    "nan\n",      "1\n",            false},
    {"9",   "9",    "inf\n",      "inf\n",          true },
    {"9",   "9",    "inf\n",      "-inf\n",         false},
    {"9",   "9",    "inf\n",      "1e308\n",        false},
    {"9",   "0",    "a 1\n",      "b 1\n",          false},
    {"9",   "0",    "1 2\n",      "1 2 3\n",        false},
    {"9",   "0",    "1\n2\n",     "1 2\n",          false},
    {"9",   "0",    "1\n\n2\n",   "1\n2\n",         false},
    {"0",   "0",    " 1\t2 \r\n", "1 2\n",          true },
    {"0",   "0",    "1",          "1\n",            false},
    {"0",   "0",    "",           "",               true },
    {"0.1", "0",    "0x10 1e2\n", "16.05 100.05\n", true },
};

START_TEST(numbers_agree_within_tolerance)
{
    int64_t wu[ARRAY_LEN(numbers)];
    char text[32];

    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        snprintf(text, sizeof(text), "case%zu", i);
        wu[i] = project_workunit(text, (struct workunit){.batch = 0});
    }
    ck_assert_int_eq(project_run("transitioner", NULL), 0);
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        project_send(wu[i], 0, 1);
        project_send(wu[i], 1, 2);
        project_success(wu[i], 0, numbers[i].one);
        project_success(wu[i], 1, numbers[i].two);
    }
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        snprintf(text, sizeof(text), "%" PRId64, wu[i]);
        ck_assert_int_eq(project_run("sample_numeric_validator", "--app", "app",
                                     "--absolute", numbers[i].absolute,
                                     "--relative", numbers[i].relative,
                                     "--wu_id", text, NULL),
                         0);
        ck_assert_msg(project_ask("SELECT canonical_resultid <> 0 FROM "
                                  "workunit WHERE id = %s",
                                  text) == numbers[i].agree,
                      "%s and %s", numbers[i].one, numbers[i].two);
    }
}
END_TEST

START_TEST(a_column_has_its_own_tolerance)
{
    reported("a", "1 10 5\n1 10 5\n", "1 12 5\n1 8 5\n");
    ck_assert_int_eq(project_run("sample_numeric_validator", "--app", "app",
                                 "--column", "3", "2", "0", NULL),
                     0);
    ck_assert_int_eq(agreed(), 0);
    reported("b", "1 10 5\n1 10 5\n", "1 12 5\n1 8 5\n");
    ck_assert_int_eq(project_run("sample_numeric_validator", "--app", "app",
                                 "--column", "2", "2", "0", NULL),
                     0);
    ck_assert_int_eq(agreed(), 1);
}
END_TEST

START_TEST(too_much_output_is_no_numbers)
{
    reported("a", "1234567890\n", "1234567890\n");
    ck_assert_int_eq(project_run("sample_numeric_validator", "--app", "app",
                                 "--max_bytes", "10", NULL),
                     0);
    ck_assert_int_eq(in_state(2), 2);
    reported("b", "1234567890\n", "1234567890\n");
    ck_assert_int_eq(project_run("sample_numeric_validator", "--app", "app",
                                 "--max_bytes", "11", NULL),
                     0);
    ck_assert_int_eq(agreed(), 1);
}
END_TEST

START_TEST(wrong_options_end_the_start)
{
    ck_assert_int_eq(project_run("sample_numeric_validator", "--app", "app",
                                 "--absolute", "x", NULL),
                     100);
    ck_assert_int_eq(project_run("sample_numeric_validator", "--app", "app",
                                 "--column", "0", "1", "1", NULL),
                     100);
    ck_assert_int_eq(
        project_run("sample_substr_validator", "--app", "app", NULL), 100);
    ck_assert_int_eq(project_run("script_validator", "--app", "app", NULL),
                     100);
    ck_assert_int_eq(project_run("script_validator", "--app", "app",
                                 "--init_script", "../x", NULL),
                     100);
    ck_assert_int_eq(project_run("validator", "--app", "app", NULL), 100);
    ck_assert_int_eq(
        project_run("validator", "--app", "app", "--hooks", "nowhere.so", NULL),
        100);
}
END_TEST

static void
stderr_of(int64_t wu, const char *text)
{
    project_do("UPDATE result SET stderr_out = '%s' WHERE workunitid = "
               "%" PRId64,
               text, wu);
}

START_TEST(all_texts_must_be_in_the_standard_error)
{
    int64_t both = reported("a", "x", "y"), one = reported("b", "x", "y");

    stderr_of(both, "alpha, beta");
    stderr_of(one, "alpha");
    ck_assert_int_eq(project_run("sample_substr_validator", "--app", "app",
                                 "--stderr_string", "alpha", "--stderr_string",
                                 "beta", NULL),
                     0);
    ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM workunit WHERE "
                                 "canonical_resultid <> 0 AND id = %" PRId64,
                                 both),
                     1);
    ck_assert_int_eq(agreed(), 1);
}
END_TEST

START_TEST(or_none_of_them)
{
    stderr_of(reported("a", "x", "y"), "fine");
    stderr_of(reported("b", "x", "y"), "an ERROR");
    ck_assert_int_eq(project_run("sample_substr_validator", "--app", "app",
                                 "--reject_if_present", "--stderr_string",
                                 "ERROR", NULL),
                     0);
    ck_assert_int_eq(agreed(), 1);
}
END_TEST

/* ---- scripts --------------------------------------------------------------
 */

static void
script(const char *name, const char *text)
{
    struct buf path = BUF_INIT;

    buf_addf(&path, "bin/%s", name);
    ck_assert_int_eq(
        file_write(project_path(buf_str(&path)), text, strlen(text), 0755), 0);
    buf_free(&path);
}

static const struct {
    const char *promise, *text;
    int valid, invalid, waiting; /* results; waiting: INIT */
} scripts[] = {
    {"0 is yes",                                "#!/bin/sh\nexit 0\n",          2, 0, 0},
    {"1 is no",                                 "#!/bin/sh\nexit 1\n",          0, 2, 0},
    {"3 is not now",                            "#!/bin/sh\nexit 3\n",          0, 0, 2},
    {"too long is not now",                     "#!/bin/sh\nsleep 60\n",        0, 0, 2},
    {"its children go, too",                    "#!/bin/sh\nsleep 60 & wait\n", 0, 0, 2},
    {"a child left behind does not hold it up",
     "#!/bin/sh\nsleep 60 &\nexit 0\n",                                         2, 0, 0},
    {"a signal is no",                          "#!/bin/sh\nkill -9 $$\n",      0, 2, 0},
    {"too much output is no",
     "#!/bin/sh\nwhile :; do echo 0123456789abcdef; done\n",                    0, 2, 0},
    {"what cannot run is not now",              "#!/no/such/program\n",         0, 0, 2},
};

START_TEST(a_script_answers)
{
    uint32_t begun = clock_monotonic();

    reported("a", "same", "same");
    script("check", scripts[_i].text);
    ck_assert_int_eq(project_run("script_validator", "--app", "app",
                                 "--init_script", "check", "--time_limit",
                                 "0.5", "--max_output", "5000", NULL),
                     0);
    ck_assert_msg(in_state(1) == scripts[_i].valid &&
                      in_state(2) == scripts[_i].invalid &&
                      in_state(0) == scripts[_i].waiting,
                  "broken: %s", scripts[_i].promise);
    ck_assert_uint_lt(clock_monotonic() - begun, 20);
}
END_TEST

START_TEST(a_script_compares)
{
    script("cmp.sh", "#!/bin/sh\ncmp -s \"$1\" \"$2\"\n");
    reported("a", "same", "same");
    reported("b", "one", "other");
    ck_assert_int_eq(project_run("script_validator", "--app", "app",
                                 "--compare_script", "cmp.sh", NULL),
                     0);
    ck_assert_int_eq(agreed(), 1);
}
END_TEST

/* File names come from names of workunits. */
START_TEST(names_and_literals_reach_a_script_as_they_are)
{
    static const char odd[] = "a b;$(touch hacked)'\"\\*|&x";

    script("note",
           "#!/bin/sh\nfor a in \"$@\"; do printf '<%s>' \"${a##*/}\"; done"
           " >>\"$QUORATE_PROJECT_DIR/noted\"\n"
           "echo >>\"$QUORATE_PROJECT_DIR/noted\"\n"
           "cat \"$1\" >>\"$QUORATE_PROJECT_DIR/noted\" && pwd "
           ">>\"$QUORATE_PROJECT_DIR/noted\"\n");
    {
        struct buf quoted = BUF_INIT, want = BUF_INIT;
        char name[300];
        int64_t wu = project_workunit(
            "odd", (struct workunit){.min_quorum = 1, .target_nresults = 1});

        ck_assert_int_eq(project_run("transitioner", NULL), 0);
        project_send(wu, 0, 1);
        project_success(wu, 0, "text\n");
        /* the file under an odd name, as the result's document says */
        for (const char *c = odd; *c != '\0'; c++)
            buf_addf(&quoted, "%02x", (unsigned char)*c);
        project_do("UPDATE result SET elapsed_time = 2.5, xml_doc_in = "
                   "CONCAT('<result>\\n<file_ref>\\n<file_name>', "
                   "REPLACE(REPLACE(UNHEX('%s'), '&', '&amp;'), '<', '&lt;'), "
                   "'</file_name>\\n<open_name>out</open_name>\\n"
                   "</file_ref>\\n</result>\\n')",
                   buf_str(&quoted));
        buf_reset(&quoted);
        ck_assert_int_eq(
            path_hier(project_path("upload"), odd, 1024, true, &quoted), 0);
        ck_assert_int_eq(file_write(buf_str(&quoted), "text\n", 5, 0640), 0);
        ck_assert_int_eq(project_run("transitioner", NULL), 0);
        ck_assert_int_eq(
            project_run("script_validator", "--app", "app", "--init_script",
                        "note files 'lit:it is' \"lit:$(x)\" result_id "
                        "runtime lit:",
                        NULL),
            0);
        ck_assert_int_eq(agreed(), 1);
        buf_addf(&want, "<%s><it is><$(x)><1><2.5><>\ntext\n%s\n", odd,
                 project_path(""));
        snprintf(name, sizeof(name), "tmp_%s", path_short_host());
        buf_truncate(&want, want.len - 2);
        buf_addf(&want, "/%s\n", name);
        expect_file("noted", buf_str(&want));
        buf_free(&quoted);
        buf_free(&want);
    }
}
END_TEST

START_TEST(a_script_assimilates)
{
    int64_t wu;

    script("take", "#!/bin/sh\necho \"$#:$1:${2##*/}:$3\" "
                   ">>\"$QUORATE_PROJECT_DIR/taken\"\n"
                   "[ -e \"$QUORATE_PROJECT_DIR/ready\" ]\n");
    wu = reported("good", "same", "same");
    ck_assert_int_eq(
        project_run("sample_bitwise_validator", "--app", "app", NULL), 0);
    ck_assert_int_eq(project_run("script_assimilator", "--app", "app",
                                 "--script", "take wu_name files2", NULL),
                     0);
    ck_assert_int_eq(project_ask("SELECT assimilate_state FROM workunit WHERE "
                                 "id = %" PRId64,
                                 wu),
                     1);
    project_write("ready", "");
    project_clock(3600);
    ck_assert_int_eq(project_run("script_assimilator", "--app", "app",
                                 "--script", "take wu_name files2", NULL),
                     0);
    ck_assert_int_eq(project_ask("SELECT assimilate_state FROM workunit WHERE "
                                 "id = %" PRId64,
                                 wu),
                     2);
}
END_TEST

START_TEST(a_script_is_told_of_a_failed_workunit)
{
    int64_t wu = project_workunit("bad", (struct workunit){.batch = 7});
    char want[100];

    script("take", "#!/bin/sh\necho \"$*\" >\"$QUORATE_PROJECT_DIR/taken\"\n");
    project_do("UPDATE workunit SET error_mask = 18, assimilate_state = 1");
    ck_assert_int_eq(project_run("script_assimilator", "--app", "app",
                                 "--script", "take", NULL),
                     0);
    snprintf(want, sizeof(want), "--error 18 bad %" PRId64 " 7\n", wu);
    expect_file("taken", want);
}
END_TEST

/* ---- assimilators ---------------------------------------------------------
 */

START_TEST(a_batch_is_collected)
{
    int64_t bad;

    project_do("UPDATE workunit SET batch = 5 WHERE id = %" PRId64,
               reported("good", "same", "same"));
    bad = project_workunit("bad", (struct workunit){.batch = 5});
    ck_assert_int_eq(
        project_run("sample_bitwise_validator", "--app", "app", NULL), 0);
    project_do("UPDATE workunit SET error_mask = 18, assimilate_state = 1 "
               "WHERE id = %" PRId64,
               bad);
    for (int i = 0; i < 2; i++) { /* twice leaves the same */
        ck_assert_int_eq(
            project_run("batch_collect_assimilator", "--app", "app", NULL), 0);
        expect_file("results/5/good__file_out", "same");
        expect_file("results/5/bad_error", "0x12\n");
        project_do("UPDATE workunit SET assimilate_state = 1");
    }
}
END_TEST

START_TEST(a_single_job_comes_home)
{
    int64_t wu = reported("good", "same", "same");
    struct buf path = BUF_INIT, note = BUF_INIT;
    char name[64];

    ck_assert_int_eq(
        project_run("sample_bitwise_validator", "--app", "app", NULL), 0);
    snprintf(name, sizeof(name), "sj_%" PRId64, wu);
    ck_assert_int_eq(path_hier(project_path("upload"), name, 1024, true, &path),
                     0);
    buf_addf(&note, "<job_dir> %s </job_dir>\n", project_path("home dir"));
    ck_assert_int_eq(file_write(buf_str(&path), buf_str(&note), note.len, 0640),
                     0);
    snprintf(name, sizeof(name), "templates/sj_in_%" PRId64, wu);
    project_write(name, "");
    project_write("templates/sj_in_99", "");
    ck_assert_int_eq(
        project_run("single_job_assimilator", "--app", "app", NULL), 0);
    expect_file("home dir/out", "same");
    ck_assert(!file_exists(project_path(name)));
    ck_assert(file_exists(project_path("templates/sj_in_99")));
    snprintf(name, sizeof(name), "home dir/job_summary_%" PRId64, wu);
    ck_assert(file_exists(project_path(name)));
    buf_free(&path);
    buf_free(&note);
}
END_TEST

START_TEST(the_dummy_takes_all)
{
    reported("good", "same", "same");
    ck_assert_int_eq(
        project_run("sample_bitwise_validator", "--app", "app", NULL), 0);
    ck_assert_int_eq(
        project_run("sample_dummy_assimilator", "--app", "app", NULL), 0);
    ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM workunit WHERE "
                                 "assimilate_state = 2"),
                     1);
}
END_TEST

/* ---- work generator -------------------------------------------------------
 */

static const char input_template[] =
    "<input_template>\n<file_info/>\n<workunit>\n"
    "<file_ref><open_name>in</open_name></file_ref>\n"
    "</workunit>\n</input_template>\n";

static void
generate(void)
{
    ck_assert_int_eq(project_run("sample_work_generator", "--app", "app",
                                 "--cushion", "7", "--out_template_file",
                                 "templates/out.xml", NULL),
                     0);
}

static int64_t
count(const char *table)
{
    return project_ask("SELECT COUNT(*) FROM %s", table);
}

START_TEST(the_generator_keeps_some_unsent)
{
    project_write("templates/app_in", input_template);
    generate();
    ck_assert_int_eq(count("workunit"), 7);
    /* their results are not made yet, but are coming: no more */
    generate();
    ck_assert_int_eq(count("workunit"), 7);
    ck_assert_int_eq(project_run("transitioner", NULL), 0);
    ck_assert_int_eq(count("result"), 7);
    generate();
    ck_assert_int_eq(count("workunit"), 7);
    project_do("UPDATE result SET server_state = 4 ORDER BY id LIMIT 3");
    generate();
    ck_assert_int_eq(count("workunit"), 10);
}
END_TEST

/* ---- a try against stored results -----------------------------------------
 */

START_TEST(a_try_prints_what_would_be_said_and_changes_nothing)
{
    struct buf out = BUF_INIT;
    char id[32], program[] = DAEMONS "/sample_bitwise_validator";
    char *argv[] = {program,
                    (char[]){"--app"},
                    (char[]){"app"},
                    (char[]){"--dry_run"},
                    (char[]){"--wu_id"},
                    id,
                    NULL};
    int64_t wu = reported("a", "one", "other");

    snprintf(id, sizeof(id), "%" PRId64, wu);
    ck_assert_int_eq(
        project_run("sample_trivial_validator", "--app", "app", NULL), 0);
    ck_assert_int_eq(in_state(1), 2);
    ck_assert_int_eq(file_run(argv, NULL, &out, 10000), 0);
    ck_assert_ptr_nonnull(strstr(buf_str(&out), "a: 2 successes, quorum 2\n"));
    ck_assert_ptr_nonnull(
        strstr(buf_str(&out), "a_0: INCONCLUSIVE (stored: VALID, canonical)"));
    ck_assert_ptr_nonnull(
        strstr(buf_str(&out), "a_1: INCONCLUSIVE (stored: VALID)"));
    ck_assert_ptr_nonnull(strstr(buf_str(&out), "no agreement"));
    ck_assert_int_eq(in_state(1), 2);
    buf_free(&out);
}
END_TEST

static Suite *
hooks_suite(void)
{
    Suite *s = suite_create("hooks");
    TCase *tc = tcase_create("stock hooks");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, numbers_agree_within_tolerance);
    tcase_add_test(tc, a_column_has_its_own_tolerance);
    tcase_add_test(tc, too_much_output_is_no_numbers);
    tcase_add_test(tc, wrong_options_end_the_start);
    tcase_add_test(tc, all_texts_must_be_in_the_standard_error);
    tcase_add_test(tc, or_none_of_them);
    tcase_add_loop_test(tc, a_script_answers, 0, ARRAY_LEN(scripts));
    tcase_add_test(tc, a_script_compares);
    tcase_add_test(tc, names_and_literals_reach_a_script_as_they_are);
    tcase_add_test(tc, a_script_assimilates);
    tcase_add_test(tc, a_script_is_told_of_a_failed_workunit);
    tcase_add_test(tc, a_batch_is_collected);
    tcase_add_test(tc, a_single_job_comes_home);
    tcase_add_test(tc, the_dummy_takes_all);
    tcase_add_test(tc, the_generator_keeps_some_unsent);
    tcase_add_test(tc, a_try_prints_what_would_be_said_and_changes_nothing);
    suite_add_tcase(s, tc);
    return s;
}

int
main(void)
{
    return dbtest_run(hooks_suite());
}
