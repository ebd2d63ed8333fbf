/* cmdline.c - the command line of every program from one table: what is parsed
 * is what --help and the man page say. */
#include "cmdline.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "build-config.h"

static const struct cmdline_exit common_exits[] = {
    {EXIT_OK,       "success"                                                   },
    {EXIT_NO,       "the answer is no, or the work failed; the message says why"},
    {EXIT_USAGE,
     "wrong command line or configuration: trying again will not help"          },
    {EXIT_TEMPFAIL,
     "database, disk or network failed: trying again makes sense"               },
};

/* Options that every program has; handled here, shown at the end. */
static const struct conf_option common_options[] = {
    {"h|help",    CONF_BOOL, 0, NULL, 0, 0, 0, "", "show this text and exit"  },
    {"man",       CONF_BOOL, 0, NULL, 0, 0, 0, "",
     "print the man page in roff and exit"                                    },
    {"V|version", CONF_BOOL, 0, NULL, 0, 0, 0, "", "show the version and exit"},
};

/* ---- help and man page --------------------------------------------------- */

/* The page is written once, through these marks; help drops or replaces them.
 */
struct page {
    const struct cmdline *c;
    bool roff;
    struct buf text;
};

/* Text with roff's special characters made harmless. */
static void
put(struct page *p, const char *text)
{
    bool line_start = p->text.len == 0 || p->text.data[p->text.len - 1] == '\n';

    for (; *text != '\0'; text++) {
        if (p->roff && line_start && (*text == '.' || *text == '\''))
            buf_add(&p->text, "\\&");
        if (p->roff && *text == '\\')
            buf_add(&p->text, "\\e");
        else if (p->roff && *text == '-')
            buf_add(&p->text, "\\-");
        else
            buf_addc(&p->text, *text);
        line_start = *text == '\n';
    }
}

static void
put_heading(struct page *p, const char *roff_name, const char *help_name)
{
    if (p->roff)
        buf_addf(&p->text, ".SH \"%s\"\n", roff_name);
    else if (help_name != NULL)
        buf_addf(&p->text, "\n%s:\n", help_name);
}

static const char *
placeholder(const struct conf_option *option)
{
    bool is_text = option->type == CONF_STRING || option->type == CONF_LIST;

    if (is_text && option->unit != NULL && option->unit[0] != '\0')
        return option->unit;
    switch (option->type) {
    case CONF_BOOL:
        break;
    case CONF_INT:
        return "N";
    case CONF_DOUBLE:
        return "X";
    case CONF_SECONDS:
        return "TIME";
    case CONF_OCTAL:
        return "MODE";
    case CONF_STRING:
    case CONF_LIST:
        return "TEXT";
    }
    return "";
}

/* "-d N, --debug_level N", or the placeholder of an argument. */
static void
option_head(const struct conf_option *option, struct buf *out)
{
    const char *value = placeholder(option);
    const char *blank = value[0] != '\0' ? " " : "";
    int n = (int)strcspn(option->name, "|");

    if ((option->flags & CONF_POSITIONAL) != 0) {
        buf_add(out, conf_name(option));
        return;
    }
    if (option->name[n] == '|')
        buf_addf(out, "%s%.*s%s%s, ", n == 1 ? "-" : "--", n, option->name,
                 blank, value);
    buf_addf(out, "%s%s%s%s", strlen(conf_name(option)) == 1 ? "-" : "--",
             conf_name(option), blank, value);
}

/* "keep slots full (default 100; 1 to 1000)". */
static void
option_text(const struct conf_option *option, struct buf *out)
{
    bool bounded = option->min != 0 || option->max != 0;
    bool has_default = option->deflt != NULL && option->type != CONF_BOOL;
    bool has_unit = option->unit != NULL && option->unit[0] != '\0' &&
                    (option->type == CONF_INT || option->type == CONF_DOUBLE);

    buf_add(out, option->help);
    if (has_default || bounded || has_unit)
        buf_addf(out, " (%s%s%s%s", has_unit ? option->unit : "",
                 has_unit && (has_default || bounded) ? "; " : "",
                 has_default ? "default " : "",
                 has_default ? option->deflt : "");
    if (bounded) {
        buf_add(out, has_default ? "; " : "");
        conf_bounds(option, out);
    }
    if (has_default || bounded || has_unit)
        buf_addc(out, ')');
    if (option->type == CONF_LIST && (option->flags & CONF_POSITIONAL) == 0)
        buf_add(out, "; may be repeated");
    if ((option->flags & CONF_REQUIRED) != 0)
        buf_add(out, "; required");
    if ((option->flags & CONF_DEPRECATED) != 0)
        buf_add(out, "; has no effect any more");
}

/* One entry of a list: what, and beside or below it the text. */
static void
put_entry(struct page *p, const char *head, const char *text)
{
    if (p->roff) {
        buf_add(&p->text, ".TP\n\\fB");
        put(p, head);
        buf_add(&p->text, "\\fR\n");
        put(p, text);
        buf_addc(&p->text, '\n');
    } else if (strlen(head) < 20) {
        buf_addf(&p->text, "  %-20s  %s\n", head, text);
    } else {
        buf_addf(&p->text, "  %s\n  %20s  %s\n", head, "", text);
    }
}

static void
put_options(struct page *p, const struct conf_option *options, size_t n,
            bool positional)
{
    for (size_t i = 0; i < n; i++) {
        struct buf head = BUF_INIT, text = BUF_INIT;

        if (((options[i].flags & CONF_POSITIONAL) != 0) == positional) {
            option_head(&options[i], &head);
            option_text(&options[i], &text);
            put_entry(p, buf_str(&head), buf_str(&text));
        }
        buf_free(&head);
        buf_free(&text);
    }
}

static void
put_exits(struct page *p, const struct cmdline_exit *exits, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char status[16];

        (void)snprintf(status, sizeof(status), "%d", exits[i].status);
        put_entry(p, status, exits[i].meaning);
    }
}

static void
make_synopsis(const struct cmdline *c, struct buf *out)
{
    buf_add(out, "[options]");
    for (size_t i = 0; i < c->n_options; i++) {
        const struct conf_option *o = &c->options[i];
        bool required = (o->flags & CONF_REQUIRED) != 0;

        if ((o->flags & CONF_POSITIONAL) != 0)
            buf_addf(out, " %s%s%s%s", required ? "" : "[", conf_name(o),
                     o->type == CONF_LIST ? "..." : "", required ? "" : "]");
    }
}

static void
put_synopsis(struct page *p)
{
    struct buf made = BUF_INIT;

    if (p->c->synopsis != NULL)
        buf_add(&made, p->c->synopsis);
    else
        make_synopsis(p->c, &made);
    if (p->roff)
        buf_addf(&p->text, ".SH SYNOPSIS\n.B ");
    else
        buf_add(&p->text, "Usage: ");
    put(p, p->c->name);
    buf_addc(&p->text, p->roff ? '\n' : ' ');
    put(p, buf_str(&made));
    buf_addc(&p->text, '\n');
    buf_free(&made);
}

/* Paragraphs are separated by empty lines in the table. */
static void
put_description(struct page *p)
{
    const char *text = p->c->description;
    const char *end;

    if (text == NULL || text[0] == '\0')
        return;
    put_heading(p, "DESCRIPTION", NULL);
    if (!p->roff)
        buf_addc(&p->text, '\n');
    while ((end = strstr(text, "\n\n")) != NULL) {
        char *paragraph = xstrndup(text, (size_t)(end - text));

        put(p, paragraph);
        buf_add(&p->text, p->roff ? "\n.PP\n" : "\n\n");
        free(paragraph);
        text = end + 2;
    }
    put(p, text);
    buf_addc(&p->text, '\n');
}

static void
put_name(struct page *p)
{
    if (p->roff) {
        buf_add(&p->text, ".TH \"");
        for (const char *s = p->c->name; *s != '\0'; s++)
            buf_addc(&p->text, (char)toupper((unsigned char)*s));
        buf_addf(&p->text, "\" %d \"\" \"%s %s\"\n.SH NAME\n", p->c->section,
                 PACKAGE_NAME, PACKAGE_VERSION);
        put(p, p->c->name);
        buf_add(&p->text, " \\- ");
    } else {
        buf_addf(&p->text, "%s: ", p->c->name);
    }
    put(p, p->c->summary);
    buf_addc(&p->text, '\n');
}

static bool
has_arguments(const struct cmdline *c)
{
    for (size_t i = 0; i < c->n_options; i++)
        if ((c->options[i].flags & CONF_POSITIONAL) != 0)
            return true;
    return false;
}

static void
print_page(const struct cmdline *c, bool roff)
{
    struct page p = {c, roff, BUF_INIT};

    if (roff)
        put_name(&p);
    put_synopsis(&p);
    if (!roff)
        put_name(&p);
    put_description(&p);
    if (has_arguments(c)) {
        put_heading(&p, "ARGUMENTS", "Arguments");
        put_options(&p, c->options, c->n_options, true);
    }
    put_heading(&p, "OPTIONS", "Options");
    put_options(&p, c->options, c->n_options, false);
    put_options(&p, common_options, ARRAY_LEN(common_options), false);
    put_heading(&p, "EXIT STATUS", "Exit status");
    put_exits(&p, common_exits, 2);
    put_exits(&p, c->exits, c->n_exits);
    put_exits(&p, common_exits + 2, 2);
    (void)fputs(buf_str(&p.text), stdout);
    buf_free(&p.text);
}

/* ---- parsing ------------------------------------------------------------- */

struct parse {
    const struct cmdline *c;
    int argc;
    char **argv;
    int i; /* the word being looked at */
    void *object;
    bool *given; /* by row */
};

static _Noreturn void
wrong_usage(const struct cmdline *c, const struct buf *text)
{
    (void)fprintf(stderr, "%s: %s; try %s --help\n", c->name, buf_str(text),
                  c->name);
    exit(EXIT_USAGE);
}

static _Noreturn void
done(struct parse *p)
{
    free(p->given);
    conf_free(p->c->options, p->c->n_options, p->object);
    exit(fflush(stdout) == 0 ? EXIT_OK : EXIT_TEMPFAIL);
}

/* --help, --man, --version.  A program's own row of that name wins. */
static void
run_common(struct parse *p, const char *name)
{
    const struct conf_option *o =
        conf_find(common_options, ARRAY_LEN(common_options), name);

    if (o == NULL)
        return;
    if (strcmp(conf_name(o), "version") == 0)
        (void)printf("%s (%s) %s\n", p->c->name, PACKAGE_NAME, PACKAGE_VERSION);
    else
        print_page(p->c, strcmp(conf_name(o), "man") == 0);
    done(p);
}

static _Noreturn void
unknown_option(const struct parse *p, const char *name)
{
    const struct conf_option *near =
        conf_nearest(p->c->options, p->c->n_options, name);
    struct buf text = BUF_INIT;

    buf_addf(&text, "unknown option --%s", name);
    if (near != NULL && (near->flags & CONF_POSITIONAL) == 0)
        buf_addf(&text, "; did you mean --%s?", conf_name(near));
    wrong_usage(p->c, &text);
}

static void
set(struct parse *p, const struct conf_option *o, const char *text)
{
    struct buf err = BUF_INIT, why = BUF_INIT;

    if (conf_set(o, p->object, text, &why) != 0) {
        buf_addf(&err, "%s%s: %s",
                 (o->flags & CONF_POSITIONAL) != 0 ? "" : "--", conf_name(o),
                 buf_str(&why));
        wrong_usage(p->c, &err);
    }
    p->given[o - p->c->options] = true;
    buf_free(&why);
}

static int
words_wanted(const struct conf_option *o)
{
    if ((o->flags & CONF_TAKES_3) != 0)
        return 3;
    return (o->flags & CONF_TAKES_2) != 0 ? 2 : 1;
}

static void
set_words(struct parse *p, const struct conf_option *o)
{
    int n = words_wanted(o);

    if (p->argc - p->i <= n) {
        struct buf err = BUF_INIT;

        buf_addf(&err, "--%s needs %d more word%s", conf_name(o), n,
                 n > 1 ? "s" : "");
        wrong_usage(p->c, &err);
    }
    while (n-- > 0)
        set(p, o, p->argv[++p->i]);
}

static void
parse_option(struct parse *p)
{
    const char *word = p->argv[p->i] + (p->argv[p->i][1] == '-' ? 2 : 1);
    const char *equals = strchr(word, '=');
    size_t len = equals != NULL ? (size_t)(equals - word) : strlen(word);
    char name[128]; /* on the stack, because --help and faults do not return */
    const struct conf_option *o;

    /* one that is too long is cut, and so unknown */
    snprintf(name, sizeof(name), "%.*s", len < 127 ? (int)len : 127, word);
    o = conf_find(p->c->options, p->c->n_options, name);
    if (o == NULL || (o->flags & CONF_POSITIONAL) != 0) {
        run_common(p, name);
        unknown_option(p, name);
    }
    if (equals != NULL && words_wanted(o) == 1)
        set(p, o, equals + 1);
    else if (o->type == CONF_BOOL)
        set(p, o, "1");
    else
        set_words(p, o);
}

/* "-", "-1" and "-.5" are arguments, unless a row is called so. */
static bool
is_option(const struct parse *p)
{
    const char *word = p->argv[p->i];

    if (word[0] != '-' || word[1] == '\0')
        return false;
    if (isdigit((unsigned char)word[1]) || word[1] == '.')
        return conf_find(p->c->options, p->c->n_options, word + 1) != NULL;
    return true;
}

/* The row that takes the next argument, or NULL. */
static const struct conf_option *
next_positional(const struct parse *p)
{
    for (size_t i = 0; i < p->c->n_options; i++) {
        const struct conf_option *o = &p->c->options[i];

        if ((o->flags & CONF_POSITIONAL) != 0 &&
            (!p->given[i] || o->type == CONF_LIST))
            return o;
    }
    return NULL;
}

static void
check_required(const struct parse *p)
{
    for (size_t i = 0; i < p->c->n_options; i++) {
        const struct conf_option *o = &p->c->options[i];
        struct buf err = BUF_INIT;

        if ((o->flags & CONF_REQUIRED) == 0 || p->given[i])
            continue;
        buf_addf(&err, "%s%s is missing",
                 (o->flags & CONF_POSITIONAL) != 0 ? "" : "--", conf_name(o));
        wrong_usage(p->c, &err);
    }
}

int
cmdline_parse(const struct cmdline *c, int argc, char **argv, void *object)
{
    struct parse p = {c, argc, argv, 1, object, NULL};
    bool only_arguments = false;

    p.given = xcalloc(c->n_options, sizeof(*p.given));
    conf_defaults(c->options, c->n_options, object);
    for (; p.i < argc; p.i++) {
        const struct conf_option *o;

        if (!only_arguments && strcmp(argv[p.i], "--") == 0)
            only_arguments = true;
        else if (!only_arguments && is_option(&p))
            parse_option(&p);
        else if ((o = next_positional(&p)) != NULL)
            set(&p, o, argv[p.i]);
        else
            break;
    }
    check_required(&p);
    free(p.given);
    return p.i;
}
