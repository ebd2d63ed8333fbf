/* idset.h - a set of ids that grows: is this result in the array? */
#ifndef QUORATE_IDSET_H
#define QUORATE_IDSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct idset {   /* all zero: empty */
    int64_t *id; /* 0 = free */
    size_t size; /* a power of two, at least twice n */
    size_t n;
};

void idset_add(struct idset *, int64_t id); /* id > 0 */
bool idset_has(const struct idset *, int64_t id);
void idset_clear(struct idset *);
void idset_free(struct idset *);

#endif
