/* db_private.h - what db.c and the files that need no MySQL header share: the
 * value of a column, the address of a server.  Nobody else includes it. */
#ifndef QUORATE_DB_PRIVATE_H
#define QUORATE_DB_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct db;
struct db_query;

enum db_kind { KIND_INT, KIND_REAL, KIND_TEXT };

struct db_column { /* of the current row */
    enum db_kind kind;
    bool is_null;
    int64_t i;
    double d;
    char *text; /* malloc: the bytes and a NUL, or a number printed */
    size_t cap; /* of text, the NUL's place not counted */
    unsigned long len;
};

struct db_address {
    char *host, *socket; /* malloc, or NULL */
    unsigned port;       /* 0: the usual one */
};

/* Connect, or connect anew; all statements are gone.  0 or -1 (logged). */
int db_connect(struct db *);

/* Did a deadlock or a lock time-out end the transaction? */
bool db_is_doomed(const struct db *);

struct db_column *db_column(struct db_query *, unsigned i);

/* "" local; "/path" a socket; "host", "host:port", "[v6]:port", "host:/path".
 */
void db_parse_host(const char *text, struct db_address *ret);

/* "10.11.6-MariaDB", "5.5.5-10.11.6-MariaDB-0+deb12u1", "8.0.36-0ubuntu0". */
bool db_knows_skip_locked(const char *version);

#endif
