/* test_cmdline.c - command lines, and the help that comes from their table. */
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buf.h"
#include "cmdline.h"
#include "unit_test.h"

struct options {
    int64_t level;
    bool once;
    struct conf_list mod, url;
    char *name;
    double share;
    char *from;
    struct conf_list rest;
};

#define CONF_STRUCT struct options

static const struct conf_option rows[] = {
    {"d|debug_level", CONF_INT, offsetof(struct options, level), "3", 1, 4, 0,
     "", "how much to log"},
    OPTION(once, CONF_BOOL, NULL, 0, 0, 0, "", "one pass only"),
    OPTION(mod, CONF_LIST, NULL, 0, 0, CONF_TAKES_2, "N I",
           "ids with id % N = I"),
    OPTION(url, CONF_LIST, NULL, 0, 0, CONF_TAKES_3, "URL N MD5", "a far file"),
    OPTION(name, CONF_STRING, NULL, 0, 0, CONF_REQUIRED, "NAME",
           "what to call it"),
    OPTION(share, CONF_DOUBLE, "0.5", 0, 1, 0, "", "what part"),
    OPTION(from, CONF_STRING, NULL, 0, 0, CONF_POSITIONAL | CONF_REQUIRED,
           "FILE", "file to read"),
    OPTION(rest, CONF_LIST, NULL, 0, 0, CONF_POSITIONAL, "FILE", "more files"),
};

static const struct cmdline_exit exits[] = {
    {3, "the moon is full"},
};

static const struct cmdline spec = {
    .name = "sampler",
    .section = 1,
    .summary = "take samples",
    .description = "First paragraph.\n.second line\n\nSecond - paragraph\\.",
    .options = rows,
    .n_options = ARRAY_LEN(rows),
    .exits = exits,
    .n_exits = ARRAY_LEN(exits),
};

static const struct cmdline two_words = {
    .name = "pair",
    .section = 8,
    .summary = "take two",
    .options = rows,
    .n_options = 2,
};

static struct options got;

/* Split words at blanks, parse; what cmdline_parse() returns. */
static int
parse(const struct cmdline *c, const char *words)
{
    static char copy[500];
    static char *argv[50];
    char *rest = copy, *word;
    int argc = 0;

    (void)str_copy(copy, sizeof(copy), words);
    argv[argc++] = copy + sizeof(copy) - 1;
    while ((word = strsep(&rest, " ")) != NULL && argc < 49)
        if (word[0] != '\0')
            argv[argc++] = word;
    argv[argc] = NULL;
    return cmdline_parse(c, argc, argv, &got);
}

/* The same in a child; its exit status, and all it says. */
static int
run(const struct cmdline *c, const char *words, struct buf *said)
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        int fd = open(scratch("said"), O_WRONLY | O_CREAT | O_TRUNC, 0600);

        (void)dup2(fd, STDOUT_FILENO);
        (void)dup2(fd, STDERR_FILENO);
        (void)parse(c, words);
        _exit(42); /* came back */
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    buf_reset(said);
    ck_assert_int_eq(file_read(scratch("said"), 100000, said), 0);
    return WEXITSTATUS(status);
}

START_TEST(options_and_arguments_find_their_fields)
{
    ck_assert_int_eq(parse(&spec, "--name n -d 4 in --once --mod 3 1 a b"), 12);
    ck_assert_str_eq(got.name, "n");
    ck_assert_int_eq(got.level, 4);
    ck_assert(got.once);
    ck_assert_uint_eq(got.mod.n, 2);
    ck_assert_str_eq(got.mod.item[0], "3");
    ck_assert_str_eq(got.mod.item[1], "1");
    ck_assert_str_eq(got.from, "in");
    ck_assert_uint_eq(got.rest.n, 2);
    ck_assert_str_eq(got.rest.item[1], "b");
    ck_assert_double_eq(got.share, 0.5);
    conf_free(rows, ARRAY_LEN(rows), &got);
}
END_TEST

static const struct {
    const char *promise, *words;
    int64_t level;
    bool once;
    int next;
} lines[] = {
    {"nothing said: defaults",             "",                3, false, 1},
    {"one dash",                           "-debug_level 1",  1, false, 3},
    {"two dashes and the short name",      "--d 2 -once",     2, true,  4},
    {"with an equals sign",                "--debug_level=4", 4, false, 2},
    {"a switch may be turned off",         "--once --once=0", 3, false, 3},
    {"the last one counts",                "-d 1 -d 2",       2, false, 5},
    {"two dashes alone end the options",   "-d 1 -- --once",  1, false, 4},
    {"an argument that nobody takes ends", "--once x -d 1",   3, true,  2},
    {"a lone dash is an argument",         "- -d 1",          3, false, 1},
    {"a negative number is an argument",   "-5 -d 1",         3, false, 1},
};

START_TEST(options_are_spelt_as_people_do)
{
    int next = parse(&two_words, lines[_i].words);

    ck_assert_msg(next == lines[_i].next && got.level == lines[_i].level &&
                      got.once == lines[_i].once,
                  "broken: %s", lines[_i].promise);
}
END_TEST

START_TEST(words_of_options_may_look_like_options)
{
    ck_assert_int_eq(
        parse(&spec, "--url -u -1 --once --name --name f --share 1"), 10);
    ck_assert_uint_eq(got.url.n, 3);
    ck_assert_str_eq(got.url.item[2], "--once");
    ck_assert(!got.once);
    ck_assert_str_eq(got.name, "--name");
    ck_assert_double_eq(got.share, 1.0);
    conf_free(rows, ARRAY_LEN(rows), &got);
}
END_TEST

static const struct {
    const char *words, *said;
} wrong[] = {
    {"--nmae x f",          "sampler: unknown option --nmae; did you mean --name?"
                   "; try sampler --help\n"                    },
    {"--onse",              "sampler: unknown option --onse; did you mean --once?; try "
               "sampler --help\n"                                  },
    {"--name n --zzz",      "sampler: unknown option --zzz; try sampler --help\n"},
    {"--name n f -d 9",     "sampler: --debug_level: must be 1 to 4; try sampler "
                        "--help\n"                        },
    {"--name n f -d x",     "sampler: --debug_level: not a whole number: x; try "
                        "sampler --help\n"                },
    {"--name",              "sampler: --name needs 1 more word; try sampler "
               "--help\n"                                          },
    {"--name n f --mod 1",  "sampler: --mod needs 2 more words; try sampler "
                           "--help\n"                  },
    {"f",                   "sampler: --name is missing; try sampler --help\n"   },
    {"--name n",            "sampler: from is missing; try sampler --help\n"     },
    {"--from x --name n f",
     "sampler: unknown option --from; try sampler --help\n"                      },
};

START_TEST(wrong_usage_is_told_in_one_line)
{
    struct buf said = BUF_INIT;

    ck_assert_int_eq(run(&spec, wrong[_i].words, &said), EXIT_USAGE);
    ck_assert_str_eq(buf_str(&said), wrong[_i].said);
    buf_free(&said);
}
END_TEST

static void
says(const struct buf *said, const char *text)
{
    ck_assert_msg(strstr(buf_str(said), text) != NULL, "\"%s\" is not in:\n%s",
                  text, buf_str(said));
}

START_TEST(help_names_every_option_argument_and_exit_status)
{
    struct buf said = BUF_INIT;

    ck_assert_int_eq(run(&spec, "--help", &said), EXIT_OK);
    says(&said, "Usage: sampler [options] from [rest...]\n");
    says(&said, "sampler: take samples\n");
    says(&said, "-d N, --debug_level N");
    says(&said, "how much to log (default 3; 1 to 4)\n");
    says(&said, "--mod N I ");
    says(&said, "--name NAME ");
    says(&said, "what to call it; required\n");
    says(&said, "file to read; required\n");
    says(&said, "--man ");
    says(&said, "  0 ");
    says(&said, "  1 ");
    says(&said, "  3                     the moon is full\n");
    says(&said, "  100 ");
    says(&said, "  111 ");
    ck_assert_int_eq(run(&spec, "-d 1 -h", &said), EXIT_OK);
    buf_free(&said);
}
END_TEST

START_TEST(the_man_page_has_all_sections)
{
    struct buf said = BUF_INIT;

    ck_assert_int_eq(run(&spec, "--man", &said), EXIT_OK);
    ck_assert_int_eq(strncmp(buf_str(&said), ".TH \"SAMPLER\" 1 ", 16), 0);
    says(&said, "\n.SH NAME\nsampler \\- take samples\n.SH SYNOPSIS\n");
    says(&said, "\n.SH \"DESCRIPTION\"\n");
    says(&said, "\n.SH \"ARGUMENTS\"\n");
    says(&said, "\n.SH \"OPTIONS\"\n");
    says(&said, "\\-d N, \\-\\-debug_level N");
    says(&said, "\n.SH \"EXIT STATUS\"\n");
    says(&said, "the moon is full\n");
    buf_free(&said);
}
END_TEST

/* A dot at a line's start would be a request, a backslash an escape. */
START_TEST(text_in_the_man_page_is_text)
{
    struct buf said = BUF_INIT;

    ck_assert_int_eq(run(&spec, "--man", &said), EXIT_OK);
    says(&said, "First paragraph.\n\\&.second line\n.PP\nSecond \\- "
                "paragraph\\e.\n");
    buf_free(&said);
}
END_TEST

START_TEST(the_version_is_the_packages)
{
    struct buf said = BUF_INIT;

    ck_assert_int_eq(run(&spec, "--version", &said), EXIT_OK);
    ck_assert_int_eq(strncmp(buf_str(&said), "sampler (quorate) ", 18), 0);
    buf_free(&said);
}
END_TEST

static void
add_tests(TCase *tc)
{
    tcase_add_test(tc, options_and_arguments_find_their_fields);
    tcase_add_loop_test(tc, options_are_spelt_as_people_do, 0,
                        ARRAY_LEN(lines));
    tcase_add_test(tc, words_of_options_may_look_like_options);
    tcase_add_loop_test(tc, wrong_usage_is_told_in_one_line, 0,
                        ARRAY_LEN(wrong));
    tcase_add_test(tc, help_names_every_option_argument_and_exit_status);
    tcase_add_test(tc, the_man_page_has_all_sections);
    tcase_add_test(tc, text_in_the_man_page_is_text);
    tcase_add_test(tc, the_version_is_the_packages);
}

int
main(void)
{
    return unit_main("cmdline", add_tests);
}
