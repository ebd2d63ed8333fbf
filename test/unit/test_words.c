/* test_words.c - a line as words, as a shell splits it. */
#include "unit_test.h"

#include <string.h>

#include "buf.h"
#include "words.h"

/* The words between bars. */
static const char *
split(const char *line, const char *forbidden)
{
    static struct buf all;
    struct buf err = BUF_INIT;
    char **words = words_split(line, forbidden, &err);

    buf_reset(&all);
    for (char **w = words; w != NULL && *w != NULL; w++)
        buf_addf(&all, "|%s", *w);
    buf_add(&all, words != NULL ? "|" : buf_str(&err));
    words_free(words);
    buf_free(&err);
    return buf_str(&all);
}

static const struct {
    const char *line, *words;
} good[] = {
    {"feeder",                        "|feeder|"                     },
    {"  a  b\tc \n",                  "|a|b|c|"                      },
    {"--command_line '-x 1 -y 2' in", "|--command_line|-x 1 -y 2|in|"},
    {"--command_line \"-x 1\" in",    "|--command_line|-x 1|in|"     },
    {"a\\ b c",                       "|a b|c|"                      },
    {"'' x",                          "||x|"                         },
    {"a'b'\"c\"d",                    "|abcd|"                       },
    {"\"a\\\"b\"",                    "|a\"b|"                       },
    {"'a\\b'",                        "|a\\b|"                       },
    {"$HOME|x",                       "|$HOME|x|"                    },
};

START_TEST(splits_like_a_shell)
{
    ck_assert_str_eq(split(good[_i].line, ""), good[_i].words);
}
END_TEST

static const char *const no_words[] = {"", "   ", "\t\n"};

START_TEST(a_line_without_words_is_refused)
{
    ck_assert_str_eq(split(no_words[_i], ""), "no words");
}
END_TEST

static const char *const open_quotes[] = {"'a", "x \"y", "\"a\\\""};

START_TEST(an_open_quote_is_refused)
{
    ck_assert_str_eq(split(open_quotes[_i], ""), "a quote does not end");
}
END_TEST

static const char *const needs_shell[] = {"a | b", "a > b",  "a; b", "a && b",
                                          "$HOME", "`date`", "*.c",  "~/x"};

START_TEST(what_only_a_shell_can_do_is_refused)
{
    const char *answer = split(needs_shell[_i], WORDS_SHELL);

    ck_assert_msg(strstr(answer, "is for a shell") != NULL, "%s: %s",
                  needs_shell[_i], answer);
}
END_TEST

START_TEST(a_quoted_character_of_a_shell_is_a_character)
{
    ck_assert_str_eq(split("a '|' \"*\" \\$", WORDS_SHELL), "|a|||*|$|");
}
END_TEST

static void
add_tests(TCase *tc)
{
    tcase_add_loop_test(tc, splits_like_a_shell, 0, (int)ARRAY_LEN(good));
    tcase_add_loop_test(tc, a_line_without_words_is_refused, 0,
                        (int)ARRAY_LEN(no_words));
    tcase_add_loop_test(tc, an_open_quote_is_refused, 0,
                        (int)ARRAY_LEN(open_quotes));
    tcase_add_loop_test(tc, what_only_a_shell_can_do_is_refused, 0,
                        (int)ARRAY_LEN(needs_shell));
    tcase_add_test(tc, a_quoted_character_of_a_shell_is_a_character);
}

int
main(void)
{
    return unit_main("words", add_tests);
}
