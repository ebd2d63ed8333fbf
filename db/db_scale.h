/* db_scale.h - the feeder's periodic question: what do the versions of an app
 * usually claim, against each other (lifecycle §5.5)?
 *
 * May write: app_version.pfc_scale, app.min_avg_pfc. */
#ifndef QUORATE_DB_SCALE_H
#define QUORATE_DB_SCALE_H

#include <stddef.h>

struct db;

/* Compute the scales of all apps and versions that are not deprecated, and
 * store those that changed.  *ret_changed: how many rows did.  0 or -1. */
int db_scale_versions(struct db *, size_t *ret_changed);

#endif
