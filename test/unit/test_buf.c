/* test_buf.c - growing buffers, and copies into fixed fields. */
#include <string.h>

#include "buf.h"
#include "unit_test.h"

START_TEST(an_untouched_buffer_is_the_empty_string)
{
    struct buf b = BUF_INIT;

    ck_assert_str_eq(buf_str(&b), "");
    ck_assert_ptr_null(b.data);
    buf_reset(&b);
    buf_free(&b);
}
END_TEST

START_TEST(everything_added_stands_one_behind_the_other)
{
    struct buf b = BUF_INIT;

    buf_add(&b, "one ");
    buf_addn(&b, "two!!", 3);
    buf_addc(&b, ' ');
    buf_addf(&b, "%d %s", 3, "four");
    ck_assert_str_eq(buf_str(&b), "one two 3 four");
    ck_assert_uint_eq(b.len, 14);
    buf_free(&b);
    ck_assert_ptr_null(b.data);
}
END_TEST

START_TEST(a_buffer_grows_and_stays_terminated)
{
    struct buf b = BUF_INIT;

    for (size_t i = 0; i < 100000; i++) {
        buf_addc(&b, 'x');
        ck_assert_int_eq(b.data[i + 1], '\0');
    }
    ck_assert_uint_eq(strlen(buf_str(&b)), 100000);
    ck_assert_uint_gt(b.cap, b.len);
    buf_free(&b);
}
END_TEST

/* Formatted text may be exactly as long as the room, one less, or one more. */
START_TEST(formatted_text_of_any_length_is_whole)
{
    struct buf b = BUF_INIT;

    for (int n = 0; n < 200; n++) {
        buf_free(&b);
        buf_addf(&b, "%*s", n, "");
        ck_assert_uint_eq(b.len, (size_t)n);
        ck_assert_uint_eq(strlen(buf_str(&b)), (size_t)n);
    }
    buf_free(&b);
}
END_TEST

START_TEST(nul_bytes_are_bytes)
{
    struct buf b = BUF_INIT;

    buf_addn(&b, "a\0b", 3);
    ck_assert_uint_eq(b.len, 3);
    ck_assert_mem_eq(b.data, "a\0b", 4);
    buf_free(&b);
}
END_TEST

START_TEST(truncate_forgets_the_end_and_keeps_the_memory)
{
    struct buf b = BUF_INIT;
    size_t cap;

    buf_add(&b, "keep this");
    cap = b.cap;
    buf_truncate(&b, 4);
    ck_assert_str_eq(buf_str(&b), "keep");
    ck_assert_uint_eq(b.cap, cap);
    buf_reset(&b);
    ck_assert_str_eq(buf_str(&b), "");
    buf_free(&b);
}
END_TEST

START_TEST(a_taken_text_is_the_callers)
{
    struct buf b = BUF_INIT;
    char *text;

    buf_add(&b, "mine");
    text = buf_take(&b);
    ck_assert_str_eq(text, "mine");
    ck_assert_str_eq(buf_str(&b), "");
    free(text);
    text = buf_take(&b); /* of an empty buffer: a text as well */
    ck_assert_str_eq(text, "");
    free(text);
}
END_TEST

static const struct {
    const char *promise, *given, *want;
    size_t size;
    bool fits;
} copies[] = {
    {"a text shorter than the field",      "abc",                  "abc",           8, true },
    {"an empty text fits the least field", "",                     "",              1, true },
    {"exactly the field: size - 1 bytes",  "abcdefg",              "abcdefg",       8, true },
    {"one byte more is cut",               "abcdefgh",             "abcdefg",       8, false},
    {"two-byte characters are not split",  "abcdef\xc3\xa9",       "abcdef",        8, false},
    {"a character that fits whole stays",  "abcde\xc3\xa9",        "abcde\xc3\xa9", 8,
     true                                                                                   },
    {"four-byte characters are not split", "abcd\xf0\x9f\x98\x80", "abcd",          8,
     false                                                                                  },
};

START_TEST(copies_into_fields_are_cut_at_a_character)
{
    char field[16];
    bool fits;

    memset(field, '#', sizeof(field));
    fits = str_copy(field, copies[_i].size, copies[_i].given);
    ck_assert_msg(fits == copies[_i].fits, "broken: %s", copies[_i].promise);
    ck_assert_str_eq(field, copies[_i].want);
    ck_assert_int_eq(field[copies[_i].size], '#');
}
END_TEST

START_TEST(duplicates_end_where_told)
{
    char *a = xstrdup("text"), *b = xstrndup("text", 2),
         *c = xstrndup("text", 99);

    ck_assert_str_eq(a, "text");
    ck_assert_str_eq(b, "te");
    ck_assert_str_eq(c, "text");
    free(a);
    free(b);
    free(c);
}
END_TEST

static void
add_tests(TCase *tc)
{
    tcase_add_test(tc, an_untouched_buffer_is_the_empty_string);
    tcase_add_test(tc, everything_added_stands_one_behind_the_other);
    tcase_add_test(tc, a_buffer_grows_and_stays_terminated);
    tcase_add_test(tc, formatted_text_of_any_length_is_whole);
    tcase_add_test(tc, nul_bytes_are_bytes);
    tcase_add_test(tc, truncate_forgets_the_end_and_keeps_the_memory);
    tcase_add_test(tc, a_taken_text_is_the_callers);
    tcase_add_loop_test(tc, copies_into_fields_are_cut_at_a_character, 0,
                        ARRAY_LEN(copies));
    tcase_add_test(tc, duplicates_end_where_told);
}

int
main(void)
{
    return unit_main("buf", add_tests);
}
