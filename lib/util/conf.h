/* conf.h - reads any option table: types, units, bounds, defaults, print-out.
 *
 * One row declares an option; the parser, its default, its bounds, --help, the
 * man page and the reference page all come from the row.  Rows serve both
 * config.xml (element names) and command lines (cmdline.h). */
#ifndef QUORATE_CONF_H
#define QUORATE_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

enum conf_type {
    CONF_BOOL,    /* bool: present-empty, 1 = true; 0 = false */
    CONF_INT,     /* int64_t: decimal, 0x… accepted */
    CONF_DOUBLE,  /* double: finite */
    CONF_SECONDS, /* int64_t, seconds: "90", "5 min", "2 hours", "7 days" */
    CONF_STRING,  /* char *: allocated, never NULL (default "") */
    CONF_OCTAL,   /* int64_t: octal file mode; -1 = not given */
    CONF_LIST,    /* struct conf_list: repeated element or option */
};

struct conf_list {
    char **item;
    size_t n;
};

enum conf_flag {
    CONF_SECRET = 1,     /* print-out shows ****** */
    CONF_DEPRECATED = 2, /* accepted with a warning, has no effect */
    CONF_REQUIRED = 4,
    CONF_POSITIONAL = 8, /* command line: not an option, an argument in turn */
    CONF_TAKES_2 = 16,   /* command line: option with two words, e.g. --mod n i;
                            CONF_LIST gets both, as two items */
    CONF_TAKES_3 = 32,   /* likewise three: --remote_file url nbytes md5 */
};

struct conf_option {
    const char *name; /* element or option name, no dashes; "d|debug_level" for
                         an option with a second spelling */
    enum conf_type type;
    size_t offset;     /* of the field in the struct */
    const char *deflt; /* as text; NULL: "", 0, false */
    double min, max;   /* numbers; both 0: no bounds */
    unsigned flags;    /* enum conf_flag */
    const char *unit;  /* "s", "bytes", "FLOP"; "" none; for a string option:
                          the placeholder in help ("NAME", "FILE") */
    const char *help;  /* one sentence, lower case start, no full stop */
};

/* struct x with OPTION rows:
 *   #define CONF_STRUCT struct config
 *   OPTION(shmem_work_items, CONF_INT, "100", 1, 100000, 0, "", "slots …") */
#define OPTION(field, type, deflt, min, max, flags, unit, help)                \
    {                                                                          \
#field, type, offsetof(CONF_STRUCT, field), deflt, min, max, flags,    \
            unit, help                                                         \
    }

/* Set every field to its default.  Fields must be zeroed or conf_free()d. */
void conf_defaults(const struct conf_option *, size_t n, void *object);

/* Set one field from text.  0; -1 and a text in `err` ("not a number: abc",
 * "must be 1 to 100000") that names neither file nor line: the caller does. */
int conf_set(const struct conf_option *, void *object, const char *text,
             struct buf *err);

/* A duration: "90", "5 min", "2 hours", "7 days", "2 weeks", "1 month" (30
 * days); a bare number counts `bare` seconds.  0; -1: not a duration. */
int conf_seconds(const char *text, int64_t bare, int64_t *ret);

/* The row with this name (either spelling), or NULL. */
const struct conf_option *conf_find(const struct conf_option *, size_t n,
                                    const char *name);

/* The row whose name is most like `name` (edit distance up to a third of its
 * length; a swap counts one), or NULL: for "unknown element <x>; did you mean
 * <y>?" */
const struct conf_option *conf_nearest(const struct conf_option *, size_t n,
                                       const char *name);

/* The row's long name: "debug_level" of "d|debug_level". */
const char *conf_name(const struct conf_option *);

/* ", 1 to 100" as conf_print and the man page say it; nothing if unbounded. */
void conf_bounds(const struct conf_option *, struct buf *);

/* Effective value as text (CONF_SECRET hidden). */
void conf_value(const struct conf_option *, const void *object, struct buf *);

/* All rows as "name = value   # help (unit, default, bounds)" lines. */
void conf_print(const struct conf_option *, size_t n, const void *object,
                struct buf *);

void conf_free(const struct conf_option *, size_t n, void *object);

#endif
