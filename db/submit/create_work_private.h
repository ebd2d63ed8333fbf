/* create_work_private.h - the handle for jobs on a database connection that is
 * there already. */
#ifndef QUORATE_CREATE_WORK_PRIVATE_H
#define QUORATE_CREATE_WORK_PRIVATE_H

struct config;
struct create_work;
struct db;

/* As create_work_open(); cfg and db must outlive the handle. */
int create_work_attach(const struct config *cfg, struct db *db,
                       const char *appname, struct create_work **ret);

#endif
