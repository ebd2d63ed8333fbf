/* conf.c - reads any option table: one row knows its type, bounds, default and
 * text; the functions here are all that interprets rows. */
#include "conf.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"

/* Beyond this a bound only means "no limit". */
#define NO_LIMIT 1e15

static const struct {
    const char *name;
    int64_t seconds;
} time_units[] = {
    {"s",      1      },
    {"sec",    1      },
    {"second", 1      },
    {"min",    60     },
    {"minute", 60     },
    {"h",      3600   },
    {"hour",   3600   },
    {"d",      86400  },
    {"day",    86400  },
    {"w",      604800 },
    {"week",   604800 },
    {"month",  2592000},
};

/* The field of a row: the one place where an offset becomes a pointer. */
static void *
field_of(const struct conf_option *option, void *object)
{
    return (char *)object + option->offset;
}

static const void *
value_of(const struct conf_option *option, const void *object)
{
    return (const char *)object + option->offset;
}

/* Copy without the blanks at both ends; free() it. */
static char *
trimmed(const char *text)
{
    size_t n;

    text += strspn(text, " \t\r\n");
    n = strlen(text);
    while (n > 0 && strchr(" \t\r\n", text[n - 1]) != NULL)
        n--;
    return xstrndup(text, n);
}

/* ---- text -> value ------------------------------------------------------- */

static int
parse_int(const char *text, int base, int64_t *ret)
{
    char *end;

    if (base == 10 && strncasecmp(text + (*text == '-'), "0x", 2) == 0)
        base = 16;
    errno = 0;
    *ret = strtoll(text, &end, base);
    return *text != '\0' && *end == '\0' && errno == 0 ? 0 : -1;
}

static int
parse_double(const char *text, double *ret)
{
    char *end;

    *ret = strtod(text, &end);
    return *text != '\0' && *end == '\0' && isfinite(*ret) ? 0 : -1;
}

/* Seconds of a unit's name, plural accepted; 0 if there is no such unit. */
static int64_t
unit_seconds(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(time_units); i++) {
        size_t n = strlen(time_units[i].name);

        if (strncmp(name, time_units[i].name, n) == 0 &&
            (name[n] == '\0' || (n > 1 && strcmp(name + n, "s") == 0)))
            return time_units[i].seconds;
    }
    return 0;
}

int
conf_seconds(const char *text, int64_t bare, int64_t *ret)
{
    char *copy = trimmed(text);
    char *unit;
    double number = strtod(copy, &unit);
    int rc = -1;

    if (unit != copy) {
        unit += strspn(unit, " \t");
        if (*unit != '\0')
            bare = unit_seconds(unit);
        number *= (double)bare;
        if (bare != 0 && isfinite(number) && fabs(number) < NO_LIMIT) {
            *ret = (int64_t)(number < 0 ? number - 0.5 : number + 0.5);
            rc = 0;
        }
    }
    free(copy);
    return rc;
}

void
conf_bounds(const struct conf_option *option, struct buf *out)
{
    if (option->min == 0 && option->max == 0)
        return;
    if (option->type == CONF_OCTAL)
        buf_addf(out, "%" PRIo64 " to %" PRIo64, (uint64_t)option->min,
                 (uint64_t)option->max);
    else if (option->max >= NO_LIMIT)
        buf_addf(out, "at least %.15g", option->min);
    else
        buf_addf(out, "%.15g to %.15g", option->min, option->max);
}

static int
check_bounds(const struct conf_option *option, double value, struct buf *err)
{
    if ((option->min == 0 && option->max == 0) ||
        (value >= option->min && value <= option->max))
        return 0;
    buf_add(err, "must be ");
    conf_bounds(option, err);
    if (option->type == CONF_SECONDS)
        buf_add(err, " seconds");
    return -1;
}

static int
set_bool(bool *field, const char *text, struct buf *err)
{
    if (strcmp(text, "") == 0 || strcmp(text, "1") == 0)
        *field = true;
    else if (strcmp(text, "0") == 0)
        *field = false;
    else {
        buf_addf(err, "must be 1 or 0, not \"%s\"", text);
        return -1;
    }
    return 0;
}

static int
set_integer(const struct conf_option *option, int64_t *field, const char *text,
            struct buf *err)
{
    int64_t value;
    int rc;

    if (option->type == CONF_SECONDS)
        rc = conf_seconds(text, 1, &value);
    else
        rc = parse_int(text, option->type == CONF_OCTAL ? 8 : 10, &value);
    if (rc != 0) {
        buf_addf(err, "not %s: %s",
                 option->type == CONF_SECONDS ? "a duration"
                 : option->type == CONF_OCTAL ? "an octal number"
                                              : "a whole number",
                 text);
        return -1;
    }
    if (check_bounds(option, (double)value, err) != 0)
        return -1;
    *field = value;
    return 0;
}

static int
set_double(const struct conf_option *option, double *field, const char *text,
           struct buf *err)
{
    double value;

    if (parse_double(text, &value) != 0) {
        buf_addf(err, "not a number: %s", text);
        return -1;
    }
    if (check_bounds(option, value, err) != 0)
        return -1;
    *field = value;
    return 0;
}

static void
append(struct conf_list *list, const char *text)
{
    list->item = xrealloc(list->item, (list->n + 1) * sizeof(*list->item));
    list->item[list->n++] = xstrdup(text);
}

static void
set_string(char **field, const char *text)
{
    free(*field);
    *field = xstrdup(text);
}

int
conf_set(const struct conf_option *option, void *object, const char *text,
         struct buf *err)
{
    void *field = field_of(option, object);
    char *copy = trimmed(text);
    int rc = 0;

    switch (option->type) {
    case CONF_BOOL:
        rc = set_bool(field, copy, err);
        break;
    case CONF_INT:
    case CONF_SECONDS:
    case CONF_OCTAL:
        rc = set_integer(option, field, copy, err);
        break;
    case CONF_DOUBLE:
        rc = set_double(option, field, copy, err);
        break;
    case CONF_STRING:
        set_string(field, text);
        break;
    case CONF_LIST:
        append(field, text);
        break;
    }
    free(copy);
    return rc;
}

static void
clear(const struct conf_option *option, void *object)
{
    void *field = field_of(option, object);

    switch (option->type) {
    case CONF_BOOL:
        *(bool *)field = false;
        break;
    case CONF_INT:
    case CONF_SECONDS:
        *(int64_t *)field = 0;
        break;
    case CONF_OCTAL:
        *(int64_t *)field = -1;
        break;
    case CONF_DOUBLE:
        *(double *)field = 0;
        break;
    case CONF_STRING:
        set_string(field, "");
        break;
    case CONF_LIST:
        *(struct conf_list *)field = (struct conf_list){NULL, 0};
        break;
    }
}

void
conf_defaults(const struct conf_option *options, size_t n, void *object)
{
    struct buf err = BUF_INIT;

    for (size_t i = 0; i < n; i++) {
        clear(&options[i], object);
        if (options[i].deflt != NULL &&
            conf_set(&options[i], object, options[i].deflt, &err) != 0)
            assert(0 && "an option's default is not a value of the option");
    }
    buf_free(&err);
}

void
conf_free(const struct conf_option *options, size_t n, void *object)
{
    for (size_t i = 0; i < n; i++) {
        if (options[i].type == CONF_STRING) {
            char **field = field_of(&options[i], object);

            free(*field);
            *field = NULL;
        } else if (options[i].type == CONF_LIST) {
            struct conf_list *list = field_of(&options[i], object);

            for (size_t k = 0; k < list->n; k++)
                free(list->item[k]);
            free(list->item);
            *list = (struct conf_list){NULL, 0};
        }
    }
}

/* ---- names --------------------------------------------------------------- */

const char *
conf_name(const struct conf_option *option)
{
    const char *bar = strchr(option->name, '|');

    return bar != NULL ? bar + 1 : option->name;
}

static bool
is_called(const struct conf_option *option, const char *name)
{
    size_t n = strcspn(option->name, "|");

    return strcmp(conf_name(option), name) == 0 ||
           (strlen(name) == n && strncmp(option->name, name, n) == 0);
}

const struct conf_option *
conf_find(const struct conf_option *options, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (is_called(&options[i], name))
            return &options[i];
    return NULL;
}

static size_t
least_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Least number of letters inserted, removed, replaced, or swapped with their
 * neighbour, that makes a into b (optimal string alignment); the matrix row by
 * row, of which the last three are kept. */
static size_t
edit_distance(const char *a, const char *b)
{
    size_t n = strlen(b);
    size_t *rows = xcalloc(3 * (n + 1), sizeof(*rows));
    size_t *before = rows, *last = rows + n + 1, *row = rows + 2 * (n + 1);
    size_t distance;

    for (size_t k = 0; k <= n; k++)
        last[k] = k;
    for (size_t i = 0; a[i] != '\0'; i++) {
        size_t *oldest = before;

        row[0] = i + 1;
        for (size_t k = 1; k <= n; k++) {
            row[k] = least_of(least_of(last[k], row[k - 1]) + 1,
                              last[k - 1] + (a[i] != b[k - 1]));
            if (i > 0 && k > 1 && a[i] == b[k - 2] && a[i - 1] == b[k - 1])
                row[k] = least_of(row[k], before[k - 2] + 1);
        }
        before = last;
        last = row;
        row = oldest;
    }
    distance = last[n];
    free(rows);
    return distance;
}

const struct conf_option *
conf_nearest(const struct conf_option *options, size_t n, const char *name)
{
    const struct conf_option *nearest = NULL;
    size_t least = strlen(name) / 3 + 1;

    for (size_t i = 0; i < n; i++) {
        size_t d = edit_distance(name, conf_name(&options[i]));

        if (d < least) {
            least = d;
            nearest = &options[i];
        }
    }
    return nearest;
}

/* ---- value -> text ------------------------------------------------------- */

static void
print_list(const struct conf_list *list, struct buf *out)
{
    for (size_t i = 0; i < list->n; i++)
        buf_addf(out, "%s%s", i > 0 ? ", " : "", list->item[i]);
}

static void
print_octal(int64_t value, struct buf *out)
{
    if (value >= 0)
        buf_addf(out, "0%" PRIo64, (uint64_t)value);
}

void
conf_value(const struct conf_option *option, const void *object,
           struct buf *out)
{
    const void *field = value_of(option, object);
    size_t start = out->len;

    switch (option->type) {
    case CONF_BOOL:
        buf_addc(out, *(const bool *)field ? '1' : '0');
        break;
    case CONF_INT:
    case CONF_SECONDS:
        buf_addf(out, "%" PRId64, *(const int64_t *)field);
        break;
    case CONF_OCTAL:
        print_octal(*(const int64_t *)field, out);
        break;
    case CONF_DOUBLE:
        buf_addf(out, "%.15g", *(const double *)field);
        break;
    case CONF_STRING:
        buf_add(out, *(char *const *)field);
        break;
    case CONF_LIST:
        print_list(field, out);
        break;
    }
    if ((option->flags & CONF_SECRET) != 0 && out->len > start) {
        buf_truncate(out, start);
        buf_add(out, "******");
    }
}

/* "(s, default 0, 0 to 100)", what there is of it. */
static void
print_facts(const struct conf_option *option, struct buf *out)
{
    struct buf facts = BUF_INIT;

    if (option->unit != NULL && option->unit[0] != '\0')
        buf_addf(&facts, "%s, ", option->unit);
    if (option->deflt != NULL)
        buf_addf(&facts, "default %s, ", option->deflt);
    if (option->min != 0 || option->max != 0) {
        conf_bounds(option, &facts);
        buf_add(&facts, ", ");
    }
    if (facts.len > 0) {
        buf_truncate(&facts, facts.len - 2);
        buf_addf(out, " (%s)", buf_str(&facts));
    }
    buf_free(&facts);
}

void
conf_print(const struct conf_option *options, size_t n, const void *object,
           struct buf *out)
{
    for (size_t i = 0; i < n; i++) {
        buf_addf(out, "%s = ", conf_name(&options[i]));
        conf_value(&options[i], object, out);
        buf_addf(out, "   # %s%s",
                 (options[i].flags & CONF_DEPRECATED) != 0 ? "ignored: " : "",
                 options[i].help);
        print_facts(&options[i], out);
        buf_addc(out, '\n');
    }
}
