/* catalog.h - read-only platforms, apps and versions in a generation's segment;
 * published whole, so a reader never sees half of a change.  Plain data and
 * offsets, no pointers: texts lie in an arena, offset 0 is "". */
#ifndef QUORATE_CATALOG_H
#define QUORATE_CATALOG_H

#include <stddef.h>
#include <stdint.h>

#include "app.h"
#include "speeds.h"

/* What the feeder read from the database. */
struct catalog_source {
    const struct platform *platform;
    size_t n_platforms;
    const struct app *app;
    size_t n_apps;
    const struct app_version *version; /* with xml_doc */
    size_t n_versions;
    struct host_speeds speeds;
};

struct catalog; /* lies inside the segment */

size_t catalog_size(const struct catalog_source *); /* bytes, 64-aligned */
void catalog_write(void *where, const struct catalog_source *);
/* NULL if the bytes are no catalog of this layout or offsets leave `size`. */
const struct catalog *catalog_check(const void *where, size_t size);

/* Reading copies rows out into the model's structs; xml_doc points into the
 * segment (do not free). */
size_t catalog_n_platforms(const struct catalog *);
size_t catalog_n_apps(const struct catalog *);
size_t catalog_n_versions(const struct catalog *);
void catalog_platform(const struct catalog *, size_t i, struct platform *ret);
void catalog_app(const struct catalog *, size_t i, struct app *ret);
void catalog_version(const struct catalog *, size_t i, struct app_version *ret);

/* How fast the project's hosts are: what a host says of itself is measured by
 * it. */
struct host_speeds catalog_speeds(const struct catalog *);

/* Index of an app by id, a platform by name; -1 if unknown. */
ptrdiff_t catalog_find_app(const struct catalog *, int64_t id);
ptrdiff_t catalog_find_platform(const struct catalog *, const char *name);

#endif
