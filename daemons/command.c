/* command.c - the command line of a daemon: the options of the loop, those of
 * the daemon, and words for a scientist's hooks. */
#include "command.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "daemon.h"
#include "log.h"

#define CONF_STRUCT struct loop_options
static const struct conf_option loop_rows[] = {
    {"d|debug_level", CONF_INT, offsetof(struct loop_options, debug_level), "3",
     1, 4, 0, "",
     "log level: 1 critical, 2 warning, 3 normal, 4 debug (with SQL)"},
    OPTION(one_pass, CONF_BOOL, NULL, 0, 0, 0, "", "do what is due, then exit"),
    OPTION(mod, CONF_LIST, NULL, 0, 0, CONF_TAKES_2, "n i",
           "handle only rows with id mod n = i"),
    OPTION(show_config, CONF_BOOL, NULL, 0, 0, 0, "",
           "print every option of config.xml with its value, then exit"),
};
/* These two differ from daemon to daemon. */
static const struct conf_option sleep_row =
    OPTION(sleep_interval, CONF_DOUBLE, "5", 0.01, 86400, 0, "s",
           "wait this long when nothing is due");
static const struct conf_option app_row =
    OPTION(app, CONF_STRING, NULL, 0, 0, CONF_REQUIRED, "NAME",
           "short name of the application");
#undef CONF_STRUCT

/* One object holds the loop's options and behind them the daemon's own. */
#define OWN_OFFSET                                                             \
    ((sizeof(struct loop_options) + _Alignof(max_align_t) - 1) /               \
     _Alignof(max_align_t) * _Alignof(max_align_t))

static void
make_rows(const struct daemon_spec *spec, struct command *c)
{
    size_t n = ARRAY_LEN(loop_rows);

    c->rows = xcalloc(n + 2 + spec->n_options, sizeof(*c->rows));
    memcpy(c->rows, loop_rows, sizeof(loop_rows));
    c->rows[n] = sleep_row;
    if (spec->idle_seconds > 0) {
        snprintf(c->sleep_text, sizeof(c->sleep_text), "%g",
                 spec->idle_seconds);
        c->rows[n].deflt = c->sleep_text;
    }
    n++;
    if (spec->needs_app)
        c->rows[n++] = app_row;
    for (size_t i = 0; i < spec->n_options; i++, n++) {
        c->rows[n] = spec->options[i];
        c->rows[n].offset += OWN_OFFSET;
    }
    c->n_rows = n;
    c->object = xcalloc(1, OWN_OFFSET + spec->options_size);
    c->loop = (struct loop_options *)(void *)c->object;
    c->own = c->object + OWN_OFFSET;
}

void
command_free(struct command *c)
{
    conf_free(c->rows, c->n_rows, c->object);
    free(c->object);
    free(c->rows);
}

/* How many words of argv does this one take, itself included?  0: it is in no
 * table.  --help and its like are the parser's. */
static int
words_of_option(const struct command *c, const char *word)
{
    static const char *const parsers[] = {"h", "help", "man", "V", "version"};
    char name[128];
    const char *equals = strchr(word, '=');
    const struct conf_option *row;

    if (word[0] != '-' || word[1] == '\0')
        return 0;
    word += word[1] == '-' ? 2 : 1;
    snprintf(name, sizeof(name), "%.*s",
             equals != NULL ? (int)(equals - word) : (int)strlen(word), word);
    for (size_t i = 0; i < ARRAY_LEN(parsers); i++)
        if (strcmp(name, parsers[i]) == 0)
            return 1;
    row = conf_find(c->rows, c->n_rows, name);
    if (row == NULL)
        return 0;
    if (row->type == CONF_BOOL || equals != NULL)
        return 1;
    return (row->flags & CONF_TAKES_3)   ? 4
           : (row->flags & CONF_TAKES_2) ? 3
                                         : 2;
}

/* Move the words that are in no table from argv to `extra` (argv[0] is in
 * both).  Both must have room for argc + 1 pointers. */
static void
split_args(const struct command *c, int argc, char **argv, char **known,
           int *n_known, char **extra, int *n_extra)
{
    *n_known = *n_extra = 0;
    known[(*n_known)++] = extra[(*n_extra)++] = argv[0];
    for (int i = 1; i < argc;) {
        int words = words_of_option(c, argv[i]);

        if (words == 0)
            extra[(*n_extra)++] = argv[i++];
        for (; words > 0 && i < argc; words--)
            known[(*n_known)++] = argv[i++];
    }
    known[*n_known] = extra[*n_extra] = NULL;
}

const char *
command_program(const char *argv0)
{
    const char *slash = strrchr(argv0, '/');

    return slash != NULL ? slash + 1 : argv0;
}

void
command_parse(const struct daemon_spec *spec, int argc, char **argv,
              struct command *c)
{
    struct cmdline cmdline = {
        .name = command_program(argv[0]),
        .section = 8,
        .summary = spec->summary,
        .description = spec->description,
    };
    size_t n = (size_t)argc + 1;
    char **known = xcalloc(n, sizeof(*known));
    char **extra = xcalloc(n, sizeof(*extra));
    int n_known = argc, n_extra = 0;

    make_rows(spec, c);
    cmdline.options = c->rows;
    cmdline.n_options = c->n_rows;
    if (spec->extra_args != NULL)
        split_args(c, argc, argv, known, &n_known, extra, &n_extra);
    else
        memcpy(known, argv, (size_t)argc * sizeof(*argv));
    if (cmdline_parse(&cmdline, n_known, known, c->object) < n_known) {
        fprintf(stderr, "%s: too many arguments; try --help\n", cmdline.name);
        exit(EXIT_USAGE);
    }
    log_set_level((enum log_level)c->loop->debug_level);
    if (spec->extra_args != NULL && spec->extra_args(n_extra, extra) != 0)
        exit(EXIT_USAGE);
    free(known);
    free(extra);
}

static bool
whole_number(const char *text, int *ret)
{
    char *end;
    long n;

    errno = 0;
    n = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || n < 0 || n > INT_MAX)
        return false;
    *ret = (int)n;
    return true;
}

int
command_apply(const struct command *c, struct daemon *d)
{
    const struct conf_list *mod = &c->loop->mod;

    d->one_pass = c->loop->one_pass;
    d->sleep_interval = c->loop->sleep_interval;
    d->app =
        c->loop->app != NULL && c->loop->app[0] != '\0' ? c->loop->app : NULL;
    d->options = c->own;
    if (mod->n < 2)
        return 0;
    /* given twice, the last one counts */
    if (!whole_number(mod->item[mod->n - 2], &d->mod_n) ||
        !whole_number(mod->item[mod->n - 1], &d->mod_i) || d->mod_n < 1 ||
        d->mod_i >= d->mod_n) {
        log_critical("--mod %s %s: give n >= 1 and i from 0 to n - 1",
                     mod->item[mod->n - 2], mod->item[mod->n - 1]);
        return -1;
    }
    return 0;
}
