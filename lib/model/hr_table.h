/* hr_table.h - classes of numerically equal hosts that a project defines itself
 * (homogeneous redundancy of type 3), from hr_classes.xml in its root. */
#ifndef QUORATE_HR_TABLE_H
#define QUORATE_HR_TABLE_H

#include <stddef.h>

struct buf;

enum {
    HR_TABLE_LEAST_ID = 1000, /* below lie the classes of types 1 and 2 */
    HR_TABLE_MOST_ID = 32767,
    HR_TABLE_CLASSES = 1000,
    HR_MAX_FEATURES = 8, /* of one class */
};

/* A host is of the first class all of whose texts it has; "" asks for nothing.
 * Case does not count. */
struct hr_class_rule {
    int id;
    char os[64];       /* in os_name */
    char vendor[64];   /* in p_vendor */
    char model[64];    /* in p_model */
    char platform[64]; /* in the name of the client's first platform */
    char feature[HR_MAX_FEATURES][32]; /* words of p_features */
    size_t n_features;
};

struct hr_table {
    struct hr_class_rule *rule;
    size_t n;
};

/* Read root/hr_classes.xml into *ret, to be given to hr_table_free().  No such
 * file: an empty table.  -1, and every fault as a line "hr_classes.xml:12:
 * text\n" in err. */
int hr_table_load(const char *root, struct hr_table *ret, struct buf *err);
void hr_table_free(struct hr_table *);

#endif
