/* fields.h - a client's elements into the fields of a struct, by a table.
 *
 * Inside lib/proto only.  A number that is no finite number is 0, one out of
 * its range becomes the range's end; of text the first bytes are kept. */
#ifndef QUORATE_FIELDS_H
#define QUORATE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

struct xml_node;

enum field_kind { FIELD_TEXT, FIELD_INT, FIELD_I64, FIELD_DOUBLE, FIELD_BOOL };

struct field {
    const char *element;
    enum field_kind kind;
    size_t offset;
    size_t size;     /* text: of the field, NUL included */
    double min, max; /* numbers */
};

#define FIELD_AT(element, kind, type, member, min, max)                        \
    {                                                                          \
        element, kind, offsetof(struct type, member),                          \
            sizeof(((struct type *)0)->member), min, max                       \
    }

#define MAX_INT32 2147483647.0
#define MAX_REAL 1e30 /* sums and products of such numbers stay finite */

/* Store the node if the table has its name.  False if it has not. */
bool field_read(const struct field *, size_t n, const struct xml_node *,
                void *object);

/* field_read() of every child of `parent`; NULL has none. */
void fields_read(const struct field *, size_t n, const struct xml_node *parent,
                 void *object);

/* The node's number; false (and 0) if it has no finite one.  It must be
 * followed by nothing but blanks. */
bool node_number(const struct xml_node *, double *ret);

/* <x/> is true, so is every number but 0. */
bool node_bool(const struct xml_node *);

#endif
