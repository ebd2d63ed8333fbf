/* db_text.c - around SQL: placeholders, addresses, versions, error numbers. */
#include "db.h"

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "db_private.h"

/* "" local; "/path" a socket; "host", "host:port", "[v6]:port", "host:/path".
 */
void
db_parse_host(const char *text, struct db_address *ret)
{
    const char *colon = strrchr(text, ':');
    const char *first = strchr(text, ':');
    size_t n = strlen(text);

    if (*text == '/') {
        ret->socket = xstrdup(text);
        return;
    }
    if (*text == '[' && strchr(text, ']') != NULL) {
        n = (size_t)(strchr(text, ']') - text);
        first = colon = text[n + 1] == ':' ? text + n + 1 : NULL;
        text++;
        n--;
    } else if (colon != NULL && colon == first) {
        n = (size_t)(colon - text);
    }
    if (colon != NULL && colon == first) {
        if (colon[1] == '/')
            ret->socket = xstrdup(colon + 1);
        else
            ret->port = (unsigned)strtoul(colon + 1, NULL, 10);
    }
    if (n > 0)
        ret->host = xstrndup(text, n);
}

bool
db_knows_skip_locked(const char *version)
{
    bool mariadb = strstr(version, "MariaDB") != NULL;
    long major, minor = 0;
    char *end;

    if (mariadb && strncmp(version, "5.5.5-", 6) == 0)
        version += 6; /* said for the sake of old replicas */
    major = strtol(version, &end, 10);
    if (*end == '.')
        minor = strtol(end + 1, NULL, 10);
    return mariadb ? major > 10 || (major == 10 && minor >= 6) : major >= 8;
}

void
db_placeholders(struct buf *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        buf_add(out, i == 0 ? "?" : ", ?");
}

void
db_placeholder_rows(struct buf *out, size_t rows, size_t columns)
{
    for (size_t i = 0; i < rows; i++) {
        buf_add(out, i == 0 ? "(" : ", (");
        db_placeholders(out, columns);
        buf_addc(out, ')');
    }
}

/* Numbers of server and client; the headers of the two libraries do not name
 * all of them. */
enum db_error
db_error_kind(unsigned code)
{
    switch (code) {
    case 1053: /* server shuts down */
    case 1927: /* connection killed */
    case 2002: /* no server at the socket */
    case 2003: /* no server at the host */
    case 2006: /* server has gone */
    case 2013: /* lost during a query */
    case 2055: /* the same, with a system error */
    case 4031: /* unused for too long */
        return DB_ERROR_LOST;
    case 1205: /* lock time-out */
    case 1213: /* deadlock */
        return DB_ERROR_COLLISION;
    case 1062: /* duplicate entry */
    case 1586: /* the same, with the key's name */
        return DB_ERROR_EXISTS;
    case 1050: /* table */
    case 1060: /* column */
    case 1061: /* index */
        return DB_ERROR_THERE;
    default:
        return DB_ERROR_OTHER;
    }
}

bool
db_error_is_deadlock(unsigned code)
{
    return code == 1213;
}

bool
db_error_means_locked(unsigned code)
{
    return code == 1205 || code == 3572; /* MariaDB, MySQL */
}
