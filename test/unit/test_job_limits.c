/* test_job_limits.c - the readers of config_aux.xml and hr_classes.xml: what is
 * right is read, what is wrong is named with its line. */
#include "unit_test.h"

#include <string.h>

#include "buf.h"
#include "hr_table.h"
#include "job_limits.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

static void
write_file(const char *name, const char *text)
{
    FILE *f = fopen(scratch(name), "w");

    ck_assert_ptr_nonnull(f);
    ck_assert_int_ge(fputs(text, f), 0);
    ck_assert_int_eq(fclose(f), 0);
}

/* ---- config_aux.xml ---- */

START_TEST(limits_are_read)
{
    struct buf err = BUF_INIT;
    struct job_limits l;

    write_file("config_aux.xml", "<config>\n<max_jobs_in_progress>\n"
                                 "<project>\n"
                                 "<total_limit><jobs>100</jobs></total_limit>\n"
                                 "<cpu_limit><jobs>2</jobs><per_proc/>"
                                 "</cpu_limit>\n</project>\n"
                                 "<app><app_name>demo</app_name>\n"
                                 "<gpu_limit><jobs>3</jobs>"
                                 "<per_proc>1</per_proc></gpu_limit></app>\n"
                                 "<app><app_name>other</app_name>\n"
                                 "<cpu_limit><jobs>0</jobs></cpu_limit></app>\n"
                                 "</max_jobs_in_progress>\n</config>\n");
    ck_assert_msg(job_limits_load(unit_folder, &l, &err) == 0, "%s",
                  buf_str(&err));
    ck_assert_int_eq(l.project.total.jobs, 100);
    ck_assert(!l.project.total.per_proc);
    ck_assert_int_eq(l.project.cpu.jobs, 2);
    ck_assert(l.project.cpu.per_proc);
    ck_assert_int_eq(l.project.gpu.jobs, 0);
    ck_assert_uint_eq(l.n_apps, 2);
    ck_assert_str_eq(l.app[0].app_name, "demo");
    ck_assert_int_eq(l.app[0].limit.gpu.jobs, 3);
    ck_assert(l.app[0].limit.gpu.per_proc);
    ck_assert_str_eq(l.app[1].app_name, "other");
    ck_assert_int_eq(l.app[1].limit.cpu.jobs, 0);
    job_limits_free(&l);
    buf_free(&err);
}
END_TEST

START_TEST(no_file_is_no_limit)
{
    struct buf err = BUF_INIT;
    struct job_limits l;
    struct hr_table t;

    ck_assert_int_eq(job_limits_load("/nowhere", &l, &err), 0);
    ck_assert_uint_eq(l.n_apps, 0);
    ck_assert_int_eq(l.project.total.jobs, 0);
    ck_assert_int_eq(hr_table_load("/nowhere", &t, &err), 0);
    ck_assert_uint_eq(t.n, 0);
    ck_assert_uint_eq(err.len, 0);
}
END_TEST

/* clang-format off */
static const struct {
    const char *text;
    const char *fault; /* begins with the line */
} bad_limits[] = {
    {"<boinc>\n</boinc>\n",                                     "1: <config> is wanted"},
    {"<config>\n<max_jobs>\n</max_jobs></config>",              "2: unknown element <max_jobs>"},
    {"<config><max_jobs_in_progress>\n<total_limit/>\n</max_jobs_in_progress></config>",
     "2: unknown element <total_limit>"},
    {"<config><max_jobs_in_progress><project>\n\n<cpu_limit><job>1</job></cpu_limit></project></max_jobs_in_progress></config>",
     "3: <cpu_limit> needs <jobs>"},
    {"<config><max_jobs_in_progress><project>\n<cpu_limit><jobs>1</jobs><perproc/></cpu_limit></project></max_jobs_in_progress></config>",
     "2: unknown element <perproc>"},
    {"<config><max_jobs_in_progress><project>\n<cpu_limit><jobs>-1</jobs></cpu_limit></project></max_jobs_in_progress></config>",
     "2: <cpu_limit> needs <jobs> from 0"},
    {"<config><max_jobs_in_progress><project>\n<cpu_limit><jobs>two</jobs></cpu_limit></project></max_jobs_in_progress></config>",
     "2: <cpu_limit> needs <jobs> from 0"},
    {"<config><max_jobs_in_progress><project>\n<total_limit><jobs>1</jobs><per_proc/></total_limit></project></max_jobs_in_progress></config>",
     "2: <total_limit> is never <per_proc>"},
    {"<config><max_jobs_in_progress>\n<app><cpu_limit><jobs>1</jobs></cpu_limit></app></max_jobs_in_progress></config>",
     "2: <app> needs an <app_name>"},
    {"<config><max_jobs_in_progress><app><app_name>a</app_name></app>\n<app><app_name>a</app_name></app></max_jobs_in_progress></config>",
     "2: app a is there twice"},
    {"<config>\n<max_jobs_in_progress>\n</config>",             "3: "},
};

static const struct {
    const char *text;
    const char *fault;
} bad_classes[] = {
    {"<classes>\n</classes>",                                   "1: <hr_classes> is wanted"},
    {"<hr_classes>\n<klass/>\n</hr_classes>",                   "2: unknown element <klass>"},
    {"<hr_classes>\n<class><os>Linux</os></class></hr_classes>", "2: a class needs an <id> from 1000 to 32767"},
    {"<hr_classes>\n<class><id>999</id><os>x</os></class></hr_classes>", "2: a class needs an <id>"},
    {"<hr_classes>\n<class><id>32768</id><os>x</os></class></hr_classes>", "2: a class needs an <id>"},
    {"<hr_classes>\n<class><id>1000</id></class></hr_classes>", "2: a class needs an <os>"},
    {"<hr_classes><class><id>1000</id>\n<os></os></class></hr_classes>", "2: <os>: 1 to 63 characters"},
    {"<hr_classes><class><id>1000</id><os>x</os>\n<arch>x</arch></class></hr_classes>", "2: unknown element <arch>"},
    {"<hr_classes><class><id>1000</id><os>x</os>\n<os>y</os></class></hr_classes>", "2: <os> is there twice"},
    {"<hr_classes><class><id>1000</id><os>x</os>\n<feature>avx avx2</feature></class></hr_classes>", "2: <feature>: one word each"},
};
/* clang-format on */

static void
expect_fault(const char *file, const char *fault, int rc, struct buf *err)
{
    char want[200];

    (void)snprintf(want, sizeof(want), "%s:%s", file, fault);
    ck_assert_int_eq(rc, -1);
    ck_assert_msg(strncmp(buf_str(err), want, strlen(want)) == 0,
                  "'%s' does not begin with '%s'", buf_str(err), want);
    buf_free(err);
}

START_TEST(a_bad_limit_is_named)
{
    struct buf err = BUF_INIT;
    struct job_limits l;
    int rc;

    write_file("config_aux.xml", bad_limits[_i].text);
    rc = job_limits_load(unit_folder, &l, &err);
    expect_fault("config_aux.xml", bad_limits[_i].fault, rc, &err);
    ck_assert_uint_eq(l.n_apps, 0);
}
END_TEST

START_TEST(classes_are_read)
{
    struct buf err = BUF_INIT;
    struct hr_table t;

    write_file("hr_classes.xml",
               "<hr_classes>\n<class><id>1000</id><os>Linux</os>"
               "<vendor>AMD</vendor><model>Zen</model>"
               "<platform>x86_64</platform><feature>avx2</feature>"
               "<feature>fma</feature></class>\n"
               "<class><id>32767</id><os>Darwin</os></class></hr_classes>");
    ck_assert_msg(hr_table_load(unit_folder, &t, &err) == 0, "%s",
                  buf_str(&err));
    ck_assert_uint_eq(t.n, 2);
    ck_assert_int_eq(t.rule[0].id, 1000);
    ck_assert_str_eq(t.rule[0].os, "Linux");
    ck_assert_str_eq(t.rule[0].vendor, "AMD");
    ck_assert_str_eq(t.rule[0].model, "Zen");
    ck_assert_str_eq(t.rule[0].platform, "x86_64");
    ck_assert_uint_eq(t.rule[0].n_features, 2);
    ck_assert_str_eq(t.rule[0].feature[1], "fma");
    ck_assert_int_eq(t.rule[1].id, 32767);
    hr_table_free(&t);
    buf_free(&err);
}
END_TEST

START_TEST(a_bad_class_is_named)
{
    struct buf err = BUF_INIT;
    struct hr_table t;
    int rc;

    write_file("hr_classes.xml", bad_classes[_i].text);
    rc = hr_table_load(unit_folder, &t, &err);
    expect_fault("hr_classes.xml", bad_classes[_i].fault, rc, &err);
    ck_assert_uint_eq(t.n, 0);
}
END_TEST

static void
add_tests(TCase *tc)
{
    tcase_add_test(tc, limits_are_read);
    tcase_add_test(tc, no_file_is_no_limit);
    tcase_add_loop_test(tc, a_bad_limit_is_named, 0, ARRAY_LEN(bad_limits));
    tcase_add_test(tc, classes_are_read);
    tcase_add_loop_test(tc, a_bad_class_is_named, 0, ARRAY_LEN(bad_classes));
}

int
main(void)
{
    return unit_main("job_limits", add_tests);
}
