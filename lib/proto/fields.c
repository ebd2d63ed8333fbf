/* fields.c - a client's elements into the fields of a struct, by a table. */
#include "fields.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "xml.h"

bool
node_number(const struct xml_node *node, double *ret)
{
    struct buf text = BUF_INIT;
    const char *s;
    char *end;
    bool ok;

    xml_text(node, &text);
    s = buf_str(&text);
    *ret = strtod(s, &end);
    ok = end != s && *end == '\0' && isfinite(*ret);
    if (!ok)
        *ret = 0;
    buf_free(&text);
    return ok;
}

bool
node_bool(const struct xml_node *node)
{
    struct buf text = BUF_INIT;
    double value;
    bool empty;

    xml_text(node, &text);
    empty = text.len == 0;
    buf_free(&text);
    return empty || (node_number(node, &value) && value != 0);
}

static void
node_text(const struct xml_node *node, char *to, size_t size)
{
    struct buf text = BUF_INIT;

    xml_text(node, &text);
    str_copy(to, size, buf_str(&text));
    buf_free(&text);
}

/* A whole number with a fraction is none. */
static double
number_in_range(const struct field *f, const struct xml_node *node)
{
    double value;

    node_number(node, &value);
    if (f->kind != FIELD_DOUBLE && value != floor(value))
        value = 0;
    return value < f->min ? f->min : value > f->max ? f->max : value;
}

static void
store(const struct field *f, const struct xml_node *node, void *object)
{
    char *at = (char *)object + f->offset;

    switch (f->kind) {
    case FIELD_TEXT:
        node_text(node, at, f->size);
        break;
    case FIELD_INT:
        *(int *)(void *)at = (int)number_in_range(f, node);
        break;
    case FIELD_I64:
        *(int64_t *)(void *)at = (int64_t)number_in_range(f, node);
        break;
    case FIELD_DOUBLE:
        *(double *)(void *)at = number_in_range(f, node);
        break;
    case FIELD_BOOL:
        *(bool *)(void *)at = node_bool(node);
        break;
    }
}

bool
field_read(const struct field *f, size_t n, const struct xml_node *node,
           void *object)
{
    const char *name = xml_name(node);

    for (size_t i = 0; i < n; i++)
        if (strcmp(f[i].element, name) == 0) {
            store(&f[i], node, object);
            return true;
        }
    return false;
}

void
fields_read(const struct field *f, size_t n, const struct xml_node *parent,
            void *object)
{
    const struct xml_node *node = parent != NULL ? xml_first(parent) : NULL;

    for (; node != NULL; node = xml_next(node))
        field_read(f, n, node, object);
}
