/* db_daemon.h - what the loop that all daemons share asks the database.
 *
 * Writes nothing. */
#ifndef QUORATE_DB_DAEMON_H
#define QUORATE_DB_DAEMON_H

#include <stdint.h>

struct db;

/* The id of the application with this short name.  0; DB_NONE; -1 (logged). */
int db_app_id(struct db *, const char *name, int64_t *ret_id);

#endif
