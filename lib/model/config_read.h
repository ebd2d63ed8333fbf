/* config_read.h - what config.c and config_programs.c share while they read one
 * config.xml; for nobody else. */
#ifndef QUORATE_CONFIG_READ_H
#define QUORATE_CONFIG_READ_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct conf_option;
struct config;
struct config_program;
struct xml_node;

struct config_reader {
    struct config *cfg;
    struct buf *err;
    int *line; /* by row: where the element stands, 0 = absent */
};

/* Note a fault; reading goes on, so that all of them are found. */
void config_fault(struct config_reader *, int line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The fault "unknown element", with the nearest name; options may be NULL. */
void config_unknown(struct config_reader *, const struct xml_node *,
                    const struct conf_option *options, size_t n);

/* Is it one of the names in <foreign_elements>? */
bool config_is_foreign(const struct config *, const char *name);

/* Set one field of `object` from an element.  False: a fault was noted. */
bool config_set_field(struct config_reader *, const struct conf_option *,
                      const struct xml_node *, void *object);

/* Make an empty string "<base><end>". */
void config_set_default(char **field, const char *base, const char *end);

/* Append all <daemon>s of <daemons>, or all <task>s of <tasks>. */
void config_programs_read(struct config_reader *, const struct xml_node *parent,
                          const char *name, struct config_program **list,
                          size_t *n);
/* Give them their default names, once <host> is known; see that no lock is
 * shared. */
void config_programs_fill(struct config_reader *);
void config_programs_free(struct config *);

#endif
