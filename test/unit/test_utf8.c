/* test_utf8.c - what is UTF-8, how anything becomes it, where it may be cut. */
#include <string.h>

#include "buf.h"
#include "unit_test.h"
#include "utf8.h"

/* Expected values: RFC 3629 (table of well-formed sequences) and ISO 8859-1,
 * whose code points are the first 256 of Unicode. */
static const struct {
    const char *promise, *given;
    bool valid;
    const char *repaired;
} texts[] = {
    {"ASCII is UTF-8",                    "Hello",            true,  "Hello"           },
    {"the empty text is UTF-8",           "",                 true,  ""                },
    {"two bytes: U+00E9",                 "caf\xc3\xa9",      true,  "caf\xc3\xa9"     },
    {"three bytes: U+20AC",               "\xe2\x82\xac",     true,  "\xe2\x82\xac"    },
    {"four bytes: U+1F600",               "\xf0\x9f\x98\x80", true,  "\xf0\x9f\x98\x80"},
    {"the last code point: U+10FFFF",     "\xf4\x8f\xbf\xbf", true,
     "\xf4\x8f\xbf\xbf"                                                                },
    {"a Latin-1 byte is its code point",  "caf\xe9",          false, "caf\xc3\xa9"     },
    {"the highest Latin-1 byte: U+00FF",  "\xff",             false, "\xc3\xbf"        },
    {"a Latin-1 byte in the middle",      "M\xfcller",        false, "M\xc3\xbcller"   },
    {"both encodings in one text",        "\xe9\xc3\xa9",     false, "\xc3\xa9\xc3\xa9"},
    {"a cut sequence is Latin-1",         "\xe2\xac",         false, "\xc3\xa2\xc2\xac"},
    {"a continuation alone is Latin-1",   "\xa9",             false, "\xc2\xa9"        },
    {"overlong '/' is two Latin-1 bytes", "\xc0\xaf",         false,
     "\xc3\x80\xc2\xaf"                                                                },
    {"overlong in three bytes",           "\xe0\xa0",         false, "\xc3\xa0\xc2\xa0"},
    {"surrogates are none: U+D8A0",       "\xed\xa2\xa0",     false,
     "\xc3\xad\xc2\xa2\xc2\xa0"                                                        },
    {"beyond U+10FFFF",                   "\xf4\xa0\xa0\xa0", false,
     "\xc3\xb4\xc2\xa0\xc2\xa0\xc2\xa0"                                                },
    {"tab, LF and CR stay",               "a\tb\nc\rd",       true,  "a\tb\nc\rd"      },
    {"other control characters go",
     "a\x01\x02\x1b\x1f"
     "b",                                                     true,  "ab"              },
    {"DEL goes",
     "a\x7f"
     "b",                                                     true,  "ab"              },
    {"C1 controls go: U+0085",
     "a\xc2\x85"
     "b",                                                     true,  "ab"              },
    {"so does a C1 byte of Latin-1",
     "a\x85"
     "b",                                                     false, "ab"              },
    {"XML forbids U+FFFE and U+FFFF",
     "a\xef\xbf\xbe\xef\xbf\xbf"
     "b",                                                     true,  "ab"              },
};

START_TEST(validity_is_rfc_3629)
{
    ck_assert_msg(utf8_valid(texts[_i].given, strlen(texts[_i].given)) ==
                      texts[_i].valid,
                  "broken: %s", texts[_i].promise);
}
END_TEST

START_TEST(repair_makes_text_that_xml_may_hold)
{
    struct buf b = BUF_INIT;

    utf8_repair(texts[_i].given, strlen(texts[_i].given), &b);
    ck_assert_msg(strcmp(buf_str(&b), texts[_i].repaired) == 0, "broken: %s",
                  texts[_i].promise);
    buf_free(&b);
}
END_TEST

START_TEST(nul_bytes_are_dropped)
{
    struct buf b = BUF_INIT;

    utf8_repair("a\0b", 3, &b);
    ck_assert_str_eq(buf_str(&b), "ab");
    buf_free(&b);
}
END_TEST

/* Every pair of bytes, twice: the second time there is nothing left to do. */
START_TEST(repaired_text_is_valid_and_stays)
{
    for (unsigned i = 0; i < 65536; i++) {
        const char pair[] = {(char)(i >> 8), (char)i, 'x'};
        struct buf once = BUF_INIT, twice = BUF_INIT;

        utf8_repair(pair, sizeof(pair), &once);
        ck_assert(utf8_valid(buf_str(&once), once.len));
        utf8_repair(buf_str(&once), once.len, &twice);
        ck_assert_str_eq(buf_str(&once), buf_str(&twice));
        buf_free(&once);
        buf_free(&twice);
    }
}
END_TEST

static const struct {
    const char *text;
    size_t n, want;
} cuts[] = {
    {"abc",                2, 2},
    {"abc",                0, 0},
    {"a\xc3\xa9",          2, 1},
    {"a\xc3\xa9",          3, 3},
    {"\xe2\x82\xac",       1, 0},
    {"\xe2\x82\xac",       2, 0},
    {"\xe2\x82\xac",       3, 3},
    {"a\xf0\x9f\x98\x80!", 4, 1},
    {"a\xf0\x9f\x98\x80!", 5, 5},
    {"a\xf0\x9f\x98\x80!", 6, 6},
};

START_TEST(a_cut_never_splits_a_character)
{
    ck_assert_uint_eq(utf8_cut(cuts[_i].text, cuts[_i].n), cuts[_i].want);
}
END_TEST

static void
add_tests(TCase *tc)
{
    tcase_add_loop_test(tc, validity_is_rfc_3629, 0, ARRAY_LEN(texts));
    tcase_add_loop_test(tc, repair_makes_text_that_xml_may_hold, 0,
                        ARRAY_LEN(texts));
    tcase_add_test(tc, nul_bytes_are_dropped);
    tcase_add_test(tc, repaired_text_is_valid_and_stays);
    tcase_add_loop_test(tc, a_cut_never_splits_a_character, 0, ARRAY_LEN(cuts));
}

int
main(void)
{
    return unit_main("utf8", add_tests);
}
