/* test_file.c - whole files, folders, programs. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buf.h"
#include "unit_test.h"

static struct buf text = BUF_INIT;

static const char *
content(const char *path)
{
    buf_reset(&text);
    ck_assert_int_eq(file_read(path, 1 << 20, &text), 0);
    return buf_str(&text);
}

static mode_t
mode_of(const char *path)
{
    struct stat st;

    ck_assert_int_eq(stat(path, &st), 0);
    return st.st_mode & 07777;
}

START_TEST(what_is_written_is_read)
{
    umask(077);
    ck_assert_int_eq(file_write(scratch("a"), "one\0two", 7, 0640), 0);
    ck_assert_int_eq(memcmp(content(scratch("a")), "one\0two", 8), 0);
    ck_assert_uint_eq(text.len, 7);
    ck_assert_uint_eq(mode_of(scratch("a")), 0640); /* whatever the umask */
    ck_assert_int_eq(file_write(scratch("a"), "", 0, 0600), 0);
    ck_assert_str_eq(content(scratch("a")), "");
    ck_assert_int_eq(file_write_nosync(scratch("a"), "x", 1, 0600), 0);
    ck_assert_str_eq(content(scratch("a")), "x");
}
END_TEST

START_TEST(a_file_larger_than_allowed_is_refused)
{
    struct buf b = BUF_INIT;

    ck_assert_int_eq(file_write(scratch("b"), "12345", 5, 0600), 0);
    buf_add(&b, "before ");
    ck_assert_int_eq(file_read(scratch("b"), 5, &b), 0);
    ck_assert_str_eq(buf_str(&b), "before 12345");
    ck_assert_int_eq(file_read(scratch("b"), 4, &b), -1);
    ck_assert_int_eq(errno, EFBIG);
    ck_assert_str_eq(buf_str(&b), "before 12345");
    ck_assert_int_eq(file_read(scratch("none"), 4, &b), -1);
    ck_assert_int_eq(errno, ENOENT);
    buf_free(&b);
}
END_TEST

START_TEST(a_failed_write_leaves_nothing)
{
    ck_assert_int_eq(file_write(scratch("no/a"), "x", 1, 0600), -1);
    ck_assert_int_eq(errno, ENOENT);
    ck_assert_int_eq(file_mkdirs(scratch("full"), 0755), 0);
    ck_assert_int_eq(file_mkdirs(scratch("full/x"), 0755), 0);
    /* The name is taken by a folder: the rename fails, the temporary goes. */
    ck_assert_int_eq(file_write(scratch("full/x"), "x", 1, 0600), -1);
    ck_assert_int_eq(rmdir(scratch("full/x")), 0);
    ck_assert_int_eq(rmdir(scratch("full")), 0);
}
END_TEST

/* A reader at any time sees the old or the new text, whole. */
START_TEST(no_reader_sees_half)
{
    char old[4097], new[4097];
    pid_t writer;
    int status;

    memset(old, 'o', 4096);
    memset(new, 'n', 4096);
    old[4096] = new[4096] = '\0';
    ck_assert_int_eq(file_write_nosync(scratch("c"), old, 4096, 0600), 0);
    if ((writer = fork()) == 0) {
        for (int i = 0; i < 300; i++)
            if (file_write_nosync(scratch("c"), i % 2 ? old : new, 4096,
                                  0600) != 0)
                _exit(1);
        _exit(0);
    }
    while (waitpid(writer, &status, WNOHANG) == 0) {
        const char *got = content(scratch("c"));

        ck_assert(strcmp(got, old) == 0 || strcmp(got, new) == 0);
    }
    ck_assert_int_eq(status, 0);
}
END_TEST

/* … and two writers do not disturb each other. */
START_TEST(of_two_writers_each_writes_whole)
{
    pid_t writer[2];
    int status;

    for (int w = 0; w < 2; w++)
        if ((writer[w] = fork()) == 0) {
            char all[4096];

            memset(all, 'a' + w, sizeof(all));
            for (int i = 0; i < 200; i++)
                if (file_write_nosync(scratch("two"), all, sizeof(all), 0600) !=
                    0)
                    _exit(1);
            _exit(0);
        }
    for (int w = 0; w < 2; w++) {
        ck_assert_int_eq(waitpid(writer[w], &status, 0), writer[w]);
        ck_assert_int_eq(status, 0);
    }
    ck_assert_uint_eq(strlen(content(scratch("two"))), 4096);
    ck_assert_uint_eq(strspn(buf_str(&text), text.data[0] == 'a' ? "a" : "b"),
                      4096);
    ck_assert(!file_exists(scratch("two.tmp")));
}
END_TEST

/* A writer was killed: once in the middle, once just before its rename. */
START_TEST(what_a_killed_writer_left_is_written_over)
{
    struct buf temp = BUF_INIT;
    int fd = file_begin(scratch("e"), &temp);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(file_write_all(fd, "half of a long", 14), 0);
    close(fd);
    buf_free(&temp);
    ck_assert_int_eq(file_write(scratch("e"), "whole", 5, 0644), 0);
    ck_assert_str_eq(content(scratch("e")), "whole");
    ck_assert(!file_exists(scratch("e.tmp")));

    fd = file_begin(scratch("e"), &temp);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(fchmod(fd, 0444), 0);
    close(fd);
    buf_free(&temp);
    ck_assert_int_eq(file_write(scratch("e"), "again", 5, 0644), 0);
    ck_assert_str_eq(content(scratch("e")), "again");
    ck_assert_uint_eq(mode_of(scratch("e")), 0644);
    ck_assert(!file_exists(scratch("e.tmp")));
}
END_TEST

START_TEST(a_copy_has_the_bits_of_its_source_or_those_told)
{
    ck_assert_int_eq(file_write(scratch("prog"), "#!/bin/sh\n", 10, 0750), 0);
    ck_assert_int_eq(file_copy(scratch("prog"), scratch("prog2"), 0), 0);
    ck_assert_str_eq(content(scratch("prog2")), "#!/bin/sh\n");
    ck_assert_uint_eq(mode_of(scratch("prog2")), 0750);
    ck_assert_int_eq(file_copy(scratch("prog"), scratch("prog2"), 0644), 0);
    ck_assert_uint_eq(mode_of(scratch("prog2")), 0644);
    ck_assert_int_eq(file_copy(scratch("none"), scratch("x"), 0), -1);
    ck_assert_int_eq(errno, ENOENT);
    ck_assert_int_eq(file_copy(unit_folder, scratch("x"), 0), -1);
    ck_assert_int_eq(errno, EISDIR);
    ck_assert(!file_exists(scratch("x")));
}
END_TEST

START_TEST(folders_are_made_with_all_above_them)
{
    umask(027);
    ck_assert_int_eq(file_mkdirs(scratch("d/e//f"), 02770), 0);
    ck_assert(file_is_dir(scratch("d/e/f")));
    ck_assert_uint_eq(mode_of(scratch("d/e/f")), 02770);
    ck_assert_int_eq(chmod(scratch("d"), 0711), 0);
    ck_assert_int_eq(file_mkdirs(scratch("d/e/f/"), 0700), 0);
    ck_assert_uint_eq(mode_of(scratch("d")), 0711);
    ck_assert_int_eq(file_write(scratch("d/file"), "", 0, 0600), 0);
    ck_assert(!file_is_dir(scratch("d/file")));
    ck_assert_int_eq(file_mkdirs(scratch("d/file/g"), 0700), -1);
    ck_assert(!file_exists(scratch("d/file/g")));
}
END_TEST

START_TEST(a_tree_goes_and_what_links_point_to_stays)
{
    ck_assert_int_eq(file_mkdirs(scratch("keep"), 0700), 0);
    ck_assert_int_eq(file_write(scratch("keep/this"), "", 0, 0600), 0);
    ck_assert_int_eq(file_mkdirs(scratch("tree/a/b"), 0700), 0);
    ck_assert_int_eq(file_write(scratch("tree/a/x"), "", 0, 0400), 0);
    ck_assert_int_eq(symlink(scratch("keep"), scratch("tree/a/link")), 0);
    ck_assert_int_eq(file_remove_tree(scratch("tree")), 0);
    ck_assert(!file_exists(scratch("tree")));
    ck_assert(file_exists(scratch("keep/this")));
    ck_assert_int_eq(symlink(scratch("keep"), scratch("link")), 0);
    ck_assert_int_eq(file_remove_tree(scratch("link")), 0);
    ck_assert(file_exists(scratch("keep/this")));
    ck_assert_int_eq(file_remove_tree(scratch("keep/this")), 0);
    ck_assert_int_eq(file_remove_tree(scratch("never was")), 0);
}
END_TEST

#define ARGV(...) ((char *const[]){__VA_ARGS__, NULL})

static char sh[] = "sh", minus_c[] = "-c", cat[] = "cat", echo[] = "echo";

static int
shell(const char *script, struct buf *out, size_t max)
{
    char *copy = xstrdup(script);
    int rc = file_run(ARGV(sh, minus_c, copy), NULL, out, max);

    free(copy);
    return rc;
}

START_TEST(a_programs_exit_status_comes_back)
{
    static char none[] = "/no/such/program";

    ck_assert_int_eq(shell("exit 0", NULL, 0), 0);
    ck_assert_int_eq(shell("exit 7", NULL, 0), 7);
    ck_assert_int_eq(shell("kill -TERM $$", NULL, 0), 128 + SIGTERM);
    ck_assert_int_eq(file_run(ARGV(none), NULL, NULL, 0), -1);
    ck_assert_int_eq(errno, ENOENT);
}
END_TEST

START_TEST(a_programs_output_is_collected)
{
    struct buf b = BUF_INIT;

    buf_add(&b, ">");
    ck_assert_int_eq(shell("printf 'one two'; exit 3", &b, 100), 3);
    ck_assert_str_eq(buf_str(&b), ">one two");
    buf_reset(&b);
    /* More than a pipe holds: it must not block, and only `max` stays. */
    ck_assert_int_eq(shell("head -c 300000 /dev/zero | tr '\\0' x", &b, 10), 0);
    ck_assert_str_eq(buf_str(&b), "xxxxxxxxxx");
    buf_free(&b);
}
END_TEST

START_TEST(arguments_are_words_to_nobodys_shell)
{
    static char word[] = "$(touch x); `id` 'a b' *";
    struct buf b = BUF_INIT;

    ck_assert_int_eq(file_run(ARGV(echo, word), NULL, &b, 100), 0);
    ck_assert_str_eq(buf_str(&b), "$(touch x); `id` 'a b' *\n");
    buf_free(&b);
}
END_TEST

START_TEST(standard_input_is_the_file_or_empty)
{
    struct buf b = BUF_INIT;

    ck_assert_int_eq(file_write(scratch("in"), "input", 5, 0600), 0);
    ck_assert_int_eq(file_run(ARGV(cat), scratch("in"), &b, 100), 0);
    ck_assert_str_eq(buf_str(&b), "input");
    buf_reset(&b);
    ck_assert_int_eq(file_run(ARGV(cat), NULL, &b, 100), 0);
    ck_assert_str_eq(buf_str(&b), "");
    ck_assert_int_eq(file_run(ARGV(cat), scratch("none"), &b, 100), -1);
    buf_free(&b);
}
END_TEST

START_TEST(a_child_does_not_inherit_that_we_ignore_sigpipe)
{
    signal(SIGPIPE, SIG_IGN);
    ck_assert_int_eq(shell("kill -PIPE $$; exit 0", NULL, 0), 128 + SIGPIPE);
}
END_TEST

static void
add_tests(TCase *tc)
{
    tcase_add_test(tc, what_is_written_is_read);
    tcase_add_test(tc, a_file_larger_than_allowed_is_refused);
    tcase_add_test(tc, a_failed_write_leaves_nothing);
    tcase_add_test(tc, no_reader_sees_half);
    tcase_add_test(tc, of_two_writers_each_writes_whole);
    tcase_add_test(tc, what_a_killed_writer_left_is_written_over);
    tcase_add_test(tc, a_copy_has_the_bits_of_its_source_or_those_told);
    tcase_add_test(tc, folders_are_made_with_all_above_them);
    tcase_add_test(tc, a_tree_goes_and_what_links_point_to_stays);
    tcase_add_test(tc, a_programs_exit_status_comes_back);
    tcase_add_test(tc, a_programs_output_is_collected);
    tcase_add_test(tc, arguments_are_words_to_nobodys_shell);
    tcase_add_test(tc, standard_input_is_the_file_or_empty);
    tcase_add_test(tc, a_child_does_not_inherit_that_we_ignore_sigpipe);
}

int
main(void)
{
    return unit_main("file", add_tests);
}
