/* test_mirror.c - files come from servers near the host, if there are any. */
#include <check.h>
#include <string.h>

#include "buf.h"
#include "mirror.h"
#include "unit_test.h"

#define OLD "https://project.example/ex/download"
#define HOUR 3600

static const char list[] = "# hours east of Greenwich, in seconds\n"
                           "\n"
                           "-28800 https://us-west.example/dl/\n"
                           "  3600\thttps://europe.example/dl \r\n"
                           "43200 http://east.example/a&b\n";

static struct mirrors *
read_list(const char *text, size_t max)
{
    struct buf err = BUF_INIT;
    struct mirrors *m = mirrors_parse(text, "download_servers", OLD, max, &err);

    ck_assert_str_eq(buf_str(&err), "");
    buf_free(&err);
    return m;
}

static void
check(size_t max, int timezone, const char *document, const char *want)
{
    struct mirrors *m = read_list(list, max);
    struct buf out = BUF_INIT;

    ck_assert_ptr_nonnull(m);
    mirrors_replace(m, document, timezone, 17, &out);
    ck_assert_str_eq(buf_str(&out), want);
    buf_free(&out);
    mirrors_free(m);
}

START_TEST(nearest_first)
{
    check(0, 0, "<file_info>\n    <url>" OLD "/1a/in</url>\n</file_info>\n",
          "<file_info>\n"
          "    <url>https://europe.example/dl/1a/in</url>\n"
          "    <url>https://us-west.example/dl/1a/in</url>\n"
          "    <url>http://east.example/a&amp;b/1a/in</url>\n"
          "</file_info>\n");
}
END_TEST

START_TEST(the_day_is_round)
{
    /* -11 h: 1 h from 12 h, 3 h from -8 h, 12 h from 1 h */
    check(0, -11 * HOUR, "<url>" OLD "/in</url>",
          "<url>http://east.example/a&amp;b/in</url>\n"
          "<url>https://us-west.example/dl/in</url>\n"
          "<url>https://europe.example/dl/in</url>");
}
END_TEST

START_TEST(no_more_than_asked_for)
{
    check(1, HOUR, "<url>" OLD "/in</url>\n",
          "<url>https://europe.example/dl/in</url>\n");
}
END_TEST

START_TEST(gzipped_files_and_new_elements_too)
{
    check(1, HOUR,
          "<gzipped_url>" OLD "/in.gz</gzipped_url>\n"
          "<download_url>\n" OLD "/in\n</download_url>\n",
          "<gzipped_url>https://europe.example/dl/in.gz</gzipped_url>\n"
          "<download_url>https://europe.example/dl/in</download_url>\n");
}
END_TEST

static const char *const untouched[] = {
    "",
    "no element, " OLD "/in",
    "<url>https://elsewhere.example/in</url>",
    "<url>" OLD "_cgi/file_upload_handler</url>", /* another folder */
    "<name>" OLD "/in</name>",
    "<url>" OLD "/never ended",
    "<url>x" OLD "/in</url>",
};

START_TEST(others_are_left_alone)
{
    check(0, 0, untouched[_i], untouched[_i]);
}
END_TEST

/* Two servers in one place: both are the first of some host. */
START_TEST(equal_ones_share_the_hosts)
{
    struct mirrors *m =
        read_list("0 http://a.example\n0 http://b.example\n", 1);
    int a = 0, b = 0;

    for (int host = 1; host <= 64; host++) {
        struct buf once = BUF_INIT, again = BUF_INIT;

        mirrors_replace(m, "<url>" OLD "/x</url>", 0, host, &once);
        mirrors_replace(m, "<url>" OLD "/x</url>", 0, host, &again);
        ck_assert_str_eq(buf_str(&once), buf_str(&again));
        a += strcmp(buf_str(&once), "<url>http://a.example/x</url>") == 0;
        b += strcmp(buf_str(&once), "<url>http://b.example/x</url>") == 0;
        buf_free(&once);
        buf_free(&again);
    }
    ck_assert_int_eq(a + b, 64);
    ck_assert_int_gt(a, 16);
    ck_assert_int_gt(b, 16);
    mirrors_free(m);
}
END_TEST

static const struct {
    const char *text, *err;
    bool usable;
} files[] = {
    {"",                                      "",                                                   false},
    {"# nothing\n",                           "",                                                   false},
    {"http://a.example\n",                    "f:1: not \"OFFSET URL\"\n",                          false},
    {"3600\n",                                "f:1: not \"OFFSET URL\"\n",                          false},
    {"3600 \nx",                              "f:1: not \"OFFSET URL\"\nf:2: not \"OFFSET URL\"\n", false},
    {"86401 http://a.example",                "f:1: the offset is more than a day\n",               false},
    {"0 ftp://a.example\n1 http://b.example", "f:1: not an http URL\n",                             true },
    {"\f\n1 http://a.example",                "f:1: not \"OFFSET URL\"\n",                          true },
    {"0 http://a.example b\n",                "f:1: a blank in the URL\n",                          false},
};

START_TEST(bad_lines_are_told_and_skipped)
{
    struct buf err = BUF_INIT;
    struct mirrors *m = mirrors_parse(files[_i].text, "f", OLD, 0, &err);

    ck_assert_str_eq(buf_str(&err), files[_i].err);
    ck_assert((m != NULL) == files[_i].usable);
    mirrors_free(m);
    buf_free(&err);
}
END_TEST

static void
fill(TCase *tc)
{
    tcase_add_test(tc, nearest_first);
    tcase_add_test(tc, the_day_is_round);
    tcase_add_test(tc, no_more_than_asked_for);
    tcase_add_test(tc, gzipped_files_and_new_elements_too);
    tcase_add_loop_test(tc, others_are_left_alone, 0, ARRAY_LEN(untouched));
    tcase_add_test(tc, equal_ones_share_the_hosts);
    tcase_add_loop_test(tc, bad_lines_are_told_and_skipped, 0,
                        ARRAY_LEN(files));
}

int
main(void)
{
    return unit_main("mirror", fill);
}
