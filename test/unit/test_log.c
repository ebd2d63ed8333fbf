/* test_log.c - one event is one line, whatever it says. */
#include <fcntl.h>
#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buf.h"
#include "clock.h"
#include "log.h"
#include "unit_test.h"

/* 2026-11-30 19:35:33 UTC: 56 years of 365 days from 1970 are 20440 days, with
 * 14 leap days and 333 days of 2026 before November 30th it is day 20787. */
#define NOW (INT64_C(20787) * 86400 + 19 * 3600 + 35 * 60 + 33)
#define STAMP "2026-11-30 19:35:33.0000 "

static struct buf text = BUF_INIT;

static void
begin(enum log_level level, bool with_pid)
{
    (void)unlink(scratch("log"));
    log_open("test", level, with_pid);
    ck_assert_int_eq(log_to_file(scratch("log")), 0);
    clock_set(NOW);
}

static const char *
written(void)
{
    buf_reset(&text);
    ck_assert_int_eq(file_read(scratch("log"), 1 << 20, &text), 0);
    return buf_str(&text);
}

START_TEST(a_line_has_time_level_subject_text)
{
    begin(LOG_LEVEL_DEBUG, false);
    log_critical("disk full");
    log_warning(TAG_HOST "odd", INT64_C(5000000000));
    log_normal(TAG_WU "made %d results", INT64_C(12), "wu_1", 2);
    log_debug("why");
    ck_assert_str_eq(written(), STAMP "[CRITICAL] disk full\n" STAMP
                                      "[warning] [HOST#5000000000] odd\n" STAMP
                                      "[WU#12 wu_1] made 2 results\n" STAMP
                                      "[debug] why\n");
}
END_TEST

START_TEST(cgi_programs_say_who_they_are)
{
    struct buf want = BUF_INIT;

    begin(LOG_LEVEL_NORMAL, true);
    log_warning("x");
    buf_addf(&want, STAMP "[PID=%d] [warning] x\n", (int)getpid());
    ck_assert_str_eq(written(), buf_str(&want));
    buf_free(&want);
}
END_TEST

START_TEST(only_what_was_asked_for_is_written)
{
    begin(LOG_LEVEL_WARNING, false);
    log_normal("not this");
    log_warning("this");
    log_set_level(LOG_LEVEL_CRITICAL);
    log_warning("nor this");
    ck_assert_int_eq(log_get_level(), LOG_LEVEL_CRITICAL);
    ck_assert_str_eq(written(), STAMP "[warning] this\n");
}
END_TEST

START_TEST(no_text_can_forge_a_line)
{
    begin(LOG_LEVEL_NORMAL, false);
    log_normal("%s", "a\n2026-11-30 [CRITICAL] b\r\t\x1b[31m\x7f");
    ck_assert_str_eq(written(),
                     STAMP "a\\n2026-11-30 [CRITICAL] b\\r\\t\\x1b[31m\\x7f\n");
}
END_TEST

/* U+009B begins a terminal's escape sequence, U+2028 is a line separator,
 * U+202E turns the direction of writing. */
START_TEST(no_text_can_look_like_another)
{
    begin(LOG_LEVEL_NORMAL, false);
    log_normal("%s", "J\xc3\xbcrgen \xf0\x9f\x98\x80 \xc2\x9b"
                     "31m \xe2\x80\xa8 \xe2\x80\xae");
    ck_assert_str_eq(written(), STAMP "J\xc3\xbcrgen \xf0\x9f\x98\x80 "
                                      "\\u009b31m \\u2028 \\u202e\n");
}
END_TEST

START_TEST(a_line_is_always_utf_8)
{
    begin(LOG_LEVEL_NORMAL, false);
    log_normal("%s", "a\xff \xc0\xaf \xed\xa0\x80 \xc3");
    ck_assert_str_eq(written(),
                     STAMP "a\\xff \\xc0\\xaf \\xed\\xa0\\x80 \\xc3\n");
}
END_TEST

START_TEST(a_request_has_a_copy_of_its_lines)
{
    struct buf copy = BUF_INIT;
    int fd = open(scratch("copy"), O_WRONLY | O_CREAT | O_APPEND, 0600);

    ck_assert_int_ge(fd, 0);
    begin(LOG_LEVEL_NORMAL, false);
    log_normal("before");
    log_copy_to(fd);
    log_normal("during");
    log_copy_to(-1);
    log_normal("after");
    close(fd);
    ck_assert_str_eq(written(),
                     STAMP "before\n" STAMP "during\n" STAMP "after\n");
    ck_assert_int_eq(file_read(scratch("copy"), 1000, &copy), 0);
    ck_assert_ptr_nonnull(strstr(buf_str(&copy), " during\n"));
    ck_assert_ptr_null(strstr(buf_str(&copy), "before"));
    ck_assert_ptr_null(strstr(buf_str(&copy), "after"));
    buf_free(&copy);
}
END_TEST

START_TEST(a_repeated_line_is_counted)
{
    begin(LOG_LEVEL_NORMAL, false);
    for (int i = 0; i < 42; i++)
        log_normal("again");
    log_normal("else");
    ck_assert_str_eq(written(), STAMP "again\n" STAMP
                                      "(repeated 41 times)\n" STAMP "else\n");
}
END_TEST

START_TEST(the_same_text_of_another_level_is_another_line)
{
    begin(LOG_LEVEL_NORMAL, false);
    log_normal("x");
    log_warning("x");
    ck_assert_str_eq(written(), STAMP "x\n" STAMP "[warning] x\n");
}
END_TEST

START_TEST(a_count_waits_no_longer_than_a_minute)
{
    begin(LOG_LEVEL_NORMAL, false);
    log_normal("again");
    clock_set(NOW + 59);
    log_normal("again");
    ck_assert_str_eq(written(), STAMP "again\n");
    clock_set(NOW + 60);
    log_normal("again");
    ck_assert_str_eq(written(), STAMP
                     "again\n2026-11-30 19:36:33.0000 (repeated 2 times)\n");
}
END_TEST

START_TEST(a_count_is_written_at_the_end)
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        begin(LOG_LEVEL_NORMAL, false);
        log_normal("again");
        log_normal("again");
        exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_str_eq(written(), STAMP "again\n" STAMP "(repeated 1 times)\n");
}
END_TEST

START_TEST(a_long_text_is_cut_and_says_so)
{
    char *longer = xmalloc(20001);
    const char *got;

    memset(longer, 'x', 20000);
    longer[20000] = '\0';
    begin(LOG_LEVEL_NORMAL, false);
    log_normal("%s", longer);
    got = written();
    ck_assert_uint_gt(strlen(got), 4000);
    ck_assert_uint_lt(strlen(got), 9000);
    ck_assert_str_eq(got + strlen(got) - 7, " [cut]\n");
    ck_assert_ptr_eq(strchr(got, '\n'), got + strlen(got) - 1);
    free(longer);
}
END_TEST

START_TEST(an_error_tells_its_reason_and_keeps_errno)
{
    begin(LOG_LEVEL_NORMAL, false);
    errno = ENOENT;
    log_errno("open %s", "x");
    ck_assert_int_eq(errno, ENOENT);
    ck_assert_str_eq(written(),
                     STAMP "[CRITICAL] open x: No such file or directory\n");
}
END_TEST

START_TEST(a_rotated_log_begins_a_new_file)
{
    begin(LOG_LEVEL_NORMAL, false);
    log_normal("old");
    ck_assert_int_eq(rename(scratch("log"), scratch("log.1")), 0);
    log_normal("still old");
    log_reopen();
    log_normal("new");
    ck_assert_str_eq(written(), STAMP "new\n");
}
END_TEST

START_TEST(a_log_that_cannot_be_opened_leaves_the_old_one)
{
    begin(LOG_LEVEL_NORMAL, false);
    ck_assert_int_eq(log_to_file(scratch("none/log")), -1);
    ck_assert_int_eq(errno, ENOENT);
    log_normal("here");
    ck_assert_str_eq(written(), STAMP "here\n");
}
END_TEST

/* Four processes, one file: every line is whole. */
START_TEST(lines_of_many_processes_never_mix)
{
    enum { WRITERS = 4, LINES = 500, LENGTH = 1000 };
    char *line, *rest;
    int n = 0;

    begin(LOG_LEVEL_NORMAL, false);
    for (int i = 0; i < WRITERS; i++)
        if (fork() == 0) {
            char body[LENGTH + 1];

            memset(body, 'a' + i, LENGTH);
            body[LENGTH] = '\0';
            for (int k = 0; k < LINES; k++)
                log_normal("%d %s", k, body);
            _exit(0);
        }
    for (int i = 0; i < WRITERS; i++)
        (void)wait(NULL);
    buf_reset(&text);
    ck_assert_int_eq(file_read(scratch("log"), 1 << 24, &text), 0);
    rest = text.data;
    while ((line = strsep(&rest, "\n")) != NULL && line[0] != '\0') {
        const char *body = strrchr(line, ' ') + 1;
        char letter[2] = {body[0], '\0'};

        ck_assert_uint_eq(strspn(body, letter), LENGTH);
        ck_assert_uint_eq(strlen(body), LENGTH);
        n++;
    }
    ck_assert_int_eq(n, WRITERS * LINES);
}
END_TEST

static void
add_tests(TCase *tc)
{
    tcase_add_test(tc, a_line_has_time_level_subject_text);
    tcase_add_test(tc, cgi_programs_say_who_they_are);
    tcase_add_test(tc, only_what_was_asked_for_is_written);
    tcase_add_test(tc, no_text_can_forge_a_line);
    tcase_add_test(tc, no_text_can_look_like_another);
    tcase_add_test(tc, a_line_is_always_utf_8);
    tcase_add_test(tc, a_request_has_a_copy_of_its_lines);
    tcase_add_test(tc, a_repeated_line_is_counted);
    tcase_add_test(tc, the_same_text_of_another_level_is_another_line);
    tcase_add_test(tc, a_count_waits_no_longer_than_a_minute);
    tcase_add_test(tc, a_count_is_written_at_the_end);
    tcase_add_test(tc, a_long_text_is_cut_and_says_so);
    tcase_add_test(tc, an_error_tells_its_reason_and_keeps_errno);
    tcase_add_test(tc, a_rotated_log_begins_a_new_file);
    tcase_add_test(tc, a_log_that_cannot_be_opened_leaves_the_old_one);
    tcase_add_test(tc, lines_of_many_processes_never_mix);
}

int
main(void)
{
    return unit_main("log", add_tests);
}
