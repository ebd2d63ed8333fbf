/* plan_class_rows.h - the elements of a plan class as a table, and what must go
 * together.  Inside lib/proto only. */
#ifndef QUORATE_PLAN_CLASS_ROWS_H
#define QUORATE_PLAN_CLASS_ROWS_H

#include "plan_class_spec.h"

enum { PLAN_CLASS_MOST_ROWS = 96 };

enum plan_class_row_kind {
    ROW_BOOL,
    ROW_INT,
    ROW_I64,
    ROW_REAL,
    ROW_WORD,
    ROW_REGEX,
    ROW_FEATURE,  /* cpu_feature */
    ROW_EXCLUDED, /* exclude_vbox_version */
    ROW_GPU_TYPE, /* gpu_type */
};

struct plan_class_row {
    const char *name;
    enum plan_class_row_kind kind;
    size_t offset;     /* in struct plan_class_spec */
    double min, max;   /* of a number */
    const char *needs; /* element without which it means nothing, or NULL */
    const char *deflt; /* as text, NULL: nothing is asked */
    const char *help;
};

extern const struct plan_class_row plan_class_rows[];
extern const size_t n_plan_class_rows;

/* Index of a row; n_plan_class_rows if there is none. */
size_t plan_class_row_named(const char *name);

struct plan_class_clash {
    int line;
    char text[160];
};

/* The next pair of elements that do not go together: one without the one that
 * it needs, a least value above the most, a GPU's limit for another maker's
 * GPU.  lines[i] is where row i stands, 0 absent.  *at is 0 at first.  False:
 * no more. */
bool plan_class_next_clash(const struct plan_class_spec *, const int *lines,
                           int *at, struct plan_class_clash *ret);

#endif
