/* db_column.c - the values of the current row, converted as the caller asks. */
#include "db.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "buf.h"
#include "db_private.h"

enum { NUMBER_SIZE = 40 }; /* longest number as text */

static struct db_column *
column(struct db_query *q, unsigned i)
{
    assert(i < q->n_columns);
    return &q->column[i];
}

bool
db_col_is_null(struct db_query *q, unsigned i)
{
    return column(q, i)->is_null;
}

int64_t
db_col_i64(struct db_query *q, unsigned i)
{
    struct db_column *c = column(q, i);

    if (c->is_null)
        return 0;
    switch (c->kind) {
    case KIND_INT:
        return c->i;
    case KIND_REAL:
        if (c->d >= 9.2e18)
            return INT64_MAX;
        return c->d <= -9.2e18 ? INT64_MIN : (int64_t)c->d;
    case KIND_TEXT:
        break;
    }
    return strtoll(c->text, NULL, 10);
}

double
db_col_double(struct db_query *q, unsigned i)
{
    struct db_column *c = column(q, i);

    if (c->is_null)
        return 0;
    switch (c->kind) {
    case KIND_INT:
        return (double)c->i;
    case KIND_REAL:
        return c->d;
    case KIND_TEXT:
        break;
    }
    return strtod(c->text, NULL);
}

/* A number asked for as text is printed where the text of others lies. */
static void
print_number(struct db_column *c)
{
    int n;

    if (c->text == NULL) {
        c->text = xmalloc(NUMBER_SIZE + 1);
        c->cap = NUMBER_SIZE;
    }
    if (c->kind == KIND_INT)
        n = snprintf(c->text, c->cap + 1, "%" PRId64, c->i);
    else
        n = snprintf(c->text, c->cap + 1, "%.17g", c->d);
    c->len = (unsigned long)n;
}

const void *
db_col_blob(struct db_query *q, unsigned i, size_t *ret_len)
{
    struct db_column *c = column(q, i);

    *ret_len = 0;
    if (c->is_null)
        return "";
    if (c->kind != KIND_TEXT)
        print_number(c);
    *ret_len = c->len;
    return c->text;
}

const char *
db_col_text(struct db_query *q, unsigned i)
{
    size_t len;

    return db_col_blob(q, i, &len);
}

void
db_col_copy(struct db_query *q, unsigned i, char *ret, size_t size)
{
    str_copy(ret, size, db_col_text(q, i));
}

char *
db_col_dup(struct db_query *q, unsigned i)
{
    size_t len;
    const char *bytes = db_col_blob(q, i, &len);

    return xstrndup(bytes, len);
}
