/* db_apps.h - platforms, applications and their versions: what xadd and
 * update_versions ask and write.
 *
 * Writes: platform (all), app (all but min_avg_pfc), app_version (all at
 * creation). */
#ifndef QUORATE_DB_APPS_H
#define QUORATE_DB_APPS_H

#include <stddef.h>
#include <stdint.h>

#include "app.h"

struct db;

/* What a put did. */
enum db_put { DB_PUT_SAME, DB_PUT_ADDED, DB_PUT_CHANGED };

/* Insert the platform, or change its user_friendly_name.  0, -1. */
int db_platform_put(struct db *, const char *name,
                    const char *user_friendly_name, int64_t now,
                    enum db_put *ret);

/* The columns of app that a project may set, in the table's order. */
enum db_column_kind { DB_COLUMN_TEXT, DB_COLUMN_INT, DB_COLUMN_DOUBLE };
struct db_app_column {
    const char *name;
    enum db_column_kind kind;
    double min, max; /* numbers */
};
extern const struct db_app_column db_app_columns[];
extern const size_t n_db_app_columns;

struct db_app_value {
    const struct db_app_column *column;
    const char *text; /* DB_COLUMN_TEXT */
    double number;    /* the others */
};

/* Insert the application, or change those of its columns that are given and
 * differ.  0, -1. */
int db_app_put(struct db *, const char *name, const struct db_app_value *,
               size_t n, int64_t now, enum db_put *ret);

/* 0 and *ret; DB_NONE; -1. */
int db_app_by_name(struct db *, const char *name, struct app *ret);
int db_platform_by_name(struct db *, const char *name, struct platform *ret);

/* Is there a version with this application, number, platform and plan class?
 * 0 and its id, DB_NONE, -1. */
int db_app_version_find(struct db *, const struct app_version *,
                        int64_t *ret_id);

/* Insert.  0 and *ret_id; DB_EXISTS; -1. */
int db_app_version_add(struct db *, const struct app_version *, int64_t now,
                       int64_t *ret_id);

#endif
