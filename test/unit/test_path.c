/* test_path.c - the project's root, good names, and the fan-out. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"
#include "path.h"
#include "unit_test.h"

/* Lines "name md5 digits fanout-1024 fanout-256 fanout-1000 fanout-1". */
START_TEST(folders_are_those_of_the_vectors)
{
    static const int fanout[] = {1024, 256, 1000, 1};
    struct buf text = BUF_INIT;
    char *line, *rest;
    int n = 0;

    ck_assert_int_eq(file_read(TEST_DATA "/dirhash/vectors.tsv", 100000, &text),
                     0);
    rest = text.data;
    (void)strsep(&rest, "\n"); /* headings */
    while ((line = strsep(&rest, "\n")) != NULL && line[0] != '\0') {
        const char *name = strsep(&line, "\t");

        (void)strsep(&line, "\t");
        (void)strsep(&line, "\t");
        for (size_t i = 0; i < ARRAY_LEN(fanout); i++) {
            char sub[16];

            path_fanout(name, fanout[i], sub);
            ck_assert_str_eq(sub, strsep(&line, "\t\r"));
        }
        n++;
    }
    ck_assert_int_ge(n, 10);
    buf_free(&text);
}
END_TEST

START_TEST(without_fan_out_there_is_no_folder)
{
    struct buf b = BUF_INIT;
    char sub[16];

    path_fanout("input_1", 0, sub);
    ck_assert_str_eq(sub, "");
    ck_assert_int_eq(path_hier("/d", "input_1", 0, true, &b), 0);
    buf_addc(&b, ' ');
    path_hier_url("http://h/d/", "input_1", 0, &b);
    ck_assert_str_eq(buf_str(&b), "/d/input_1 http://h/d/input_1");
    buf_free(&b);
}
END_TEST

START_TEST(a_path_is_folder_sub_folder_name)
{
    struct buf b = BUF_INIT;

    ck_assert_int_eq(path_hier("/up", "input_1", 1024, false, &b), 0);
    buf_addc(&b, ' ');
    path_hier_url("http://h/up", "a", 1024, &b);
    ck_assert_str_eq(buf_str(&b), "/up/2c1/input_1 http://h/up/1b9/a");
    buf_free(&b);
}
END_TEST

START_TEST(the_sub_folder_is_made_once_for_the_group)
{
    struct buf b = BUF_INIT;
    struct stat st;

    for (int i = 0; i < 2; i++) {
        buf_reset(&b);
        ck_assert_int_eq(path_hier(unit_folder, "input_1", 1024, true, &b), 0);
    }
    ck_assert_str_eq(buf_str(&b), scratch("2c1/input_1"));
    ck_assert_int_eq(stat(scratch("2c1"), &st), 0);
    ck_assert_uint_eq(st.st_mode & 07777, 02770);
    buf_free(&b);
}
END_TEST

START_TEST(a_missing_upload_folder_is_not_made)
{
    struct buf b = BUF_INIT;

    ck_assert_int_eq(path_hier(scratch("gone"), "input_1", 1024, true, &b), -1);
    ck_assert_int_eq(errno, ENOENT);
    ck_assert(!file_exists(scratch("gone")));
    buf_free(&b);
}
END_TEST

static const struct {
    const char *name;
    bool good;
} names[] = {
    {"a",                      true },
    {"wu_demo_0_r123456789_0", true },
    {"file with space.txt",    true },
    {"caf\xc3\xa9",            true },
    {".hidden",                true },
    {"",                       false},
    {".",                      false},
    {"..",                     false},
    {"a..b",                   false},
    {"../a",                   false},
    {"a/b",                    false},
    {"/a",                     false},
    {"a%2fb",                  false},
    {"a\nb",                   false},
    {"a\x7f",                  false},
    {"a\x01",                  false},
};

START_TEST(a_name_can_lead_nowhere)
{
    ck_assert_msg(path_good_name(names[_i].name) == names[_i].good, "\"%s\"",
                  names[_i].name);
}
END_TEST

START_TEST(a_name_has_at_most_255_bytes)
{
    char name[258];

    memset(name, 'x', sizeof(name));
    name[255] = '\0';
    ck_assert(path_good_name(name));
    name[255] = 'x';
    name[256] = '\0';
    ck_assert(!path_good_name(name));
}
END_TEST

static void
make_project(const char *folder)
{
    struct buf path = BUF_INIT;

    ck_assert_int_eq(file_mkdirs(folder, 0755), 0);
    buf_addf(&path, "%s/config.xml", folder);
    ck_assert_int_eq(file_write(buf_str(&path), "", 0, 0644), 0);
    buf_free(&path);
}

static void
root_is(const char *want)
{
    char *root = path_project_root();

    if (want == NULL) {
        ck_assert_ptr_null(root);
    } else {
        char *real = realpath(want, NULL);

        ck_assert_ptr_nonnull(root);
        ck_assert_str_eq(root, real);
        free(real);
    }
    free(root);
}

START_TEST(the_root_is_here_or_above)
{
    unsetenv("QUORATE_PROJECT_DIR");
    unsetenv("BOINC_PROJECT_DIR");
    make_project(scratch("p"));
    ck_assert_int_eq(file_mkdirs(scratch("p/bin/deep"), 0755), 0);
    ck_assert_int_eq(chdir(scratch("p")), 0);
    root_is(scratch("p"));
    ck_assert_int_eq(chdir("bin"), 0);
    root_is(scratch("p"));
    ck_assert_int_eq(chdir("deep"), 0);
    root_is(NULL);
}
END_TEST

START_TEST(the_environment_names_the_root)
{
    make_project(scratch("p"));
    make_project(scratch("q"));
    ck_assert_int_eq(chdir(scratch("p")), 0);
    setenv("BOINC_PROJECT_DIR", scratch("q"), 1);
    unsetenv("QUORATE_PROJECT_DIR");
    root_is(scratch("q"));
    setenv("QUORATE_PROJECT_DIR", scratch("p"), 1);
    root_is(scratch("p"));
    setenv("QUORATE_PROJECT_DIR", scratch("none"), 1);
    root_is(NULL); /* what was said is meant */
}
END_TEST

START_TEST(the_short_host_name_has_no_dot)
{
    ck_assert_uint_gt(strlen(path_short_host()), 0);
    ck_assert_ptr_null(strchr(path_short_host(), '.'));
}
END_TEST

static void
add_tests(TCase *tc)
{
    tcase_add_test(tc, folders_are_those_of_the_vectors);
    tcase_add_test(tc, without_fan_out_there_is_no_folder);
    tcase_add_test(tc, a_path_is_folder_sub_folder_name);
    tcase_add_test(tc, the_sub_folder_is_made_once_for_the_group);
    tcase_add_test(tc, a_missing_upload_folder_is_not_made);
    tcase_add_loop_test(tc, a_name_can_lead_nowhere, 0, ARRAY_LEN(names));
    tcase_add_test(tc, a_name_has_at_most_255_bytes);
    tcase_add_test(tc, the_root_is_here_or_above);
    tcase_add_test(tc, the_environment_names_the_root);
    tcase_add_test(tc, the_short_host_name_has_no_dot);
}

int
main(void)
{
    return unit_main("path", add_tests);
}
