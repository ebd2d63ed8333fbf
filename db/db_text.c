/* db_text.c - text around SQL: placeholders, addresses, server versions. */
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
