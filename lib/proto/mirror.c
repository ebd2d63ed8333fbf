/* mirror.c - download servers near a host, instead of the project's own URL. */
#include "mirror.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "digest.h"
#include "xml.h"

enum { DAY = 86400, MAX_SERVERS = 1000 };

struct server {
    int offset; /* s east of UTC */
    char *url;  /* without a slash at its end */
};

struct mirrors {
    char *old_url;
    size_t max;
    struct server *server;
    size_t n;
};

/* ---- the file ---- */

static char *
without_slash(const char *url, size_t n)
{
    while (n > 0 && url[n - 1] == '/')
        n--;
    return xstrndup(url, n);
}

/* One line, without its end.  What is wrong with it, or NULL. */
static const char *
read_line(struct mirrors *m, const char *line, size_t n)
{
    char *end;
    long offset = strtol(line, &end, 10);
    const char *url = end + strspn(end, " \t");
    size_t len;

    /* strtol() may have gone on to the next line */
    if (end == line || url == end || url >= line + n)
        return "not \"OFFSET URL\"";
    len = (size_t)(line + n - url);
    while (len > 0 && isspace((unsigned char)url[len - 1]))
        len--;
    if (offset < -DAY || offset > DAY)
        return "the offset is more than a day";
    if (strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0)
        return "not an http URL";
    if (memchr(url, ' ', len) != NULL)
        return "a blank in the URL";
    if (m->n == MAX_SERVERS)
        return "too many servers";
    m->server = xrealloc(m->server, (m->n + 1) * sizeof(*m->server));
    m->server[m->n++] = (struct server){(int)offset, without_slash(url, len)};
    return NULL;
}

struct mirrors *
mirrors_parse(const char *text, const char *what, const char *old_url,
              size_t max, struct buf *err)
{
    struct mirrors *m = xcalloc(1, sizeof(*m));

    m->old_url = without_slash(old_url, strlen(old_url));
    m->max = max;
    for (int number = 1; *text != '\0'; number++) {
        size_t n = strcspn(text, "\n");
        const char *first = text + strspn(text, " \t\r");
        const char *fault = NULL;

        if (first < text + n && *first != '#')
            fault = read_line(m, text, n);
        if (fault != NULL)
            buf_addf(err, "%s:%d: %s\n", what, number, fault);
        text += n + (text[n] == '\n' ? 1 : 0);
    }
    if (m->n > 0 && m->old_url[0] != '\0')
        return m;
    mirrors_free(m);
    return NULL;
}

void
mirrors_free(struct mirrors *m)
{
    if (m == NULL)
        return;
    for (size_t i = 0; i < m->n; i++)
        free(m->server[i].url);
    free(m->server);
    free(m->old_url);
    free(m);
}

/* ---- the order for a host ---- */

struct choice {
    const char *url;
    int distance; /* s */
    char rank[MD5_HEX];
};

static int
nearest_first(const void *a, const void *b)
{
    const struct choice *x = a, *y = b;

    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return strcmp(x->rank, y->rank);
}

static int
distance(int a, int b)
{
    int d = abs(a - b) % DAY;

    return d > DAY / 2 ? DAY - d : d;
}

/* m->n of them, sorted; malloc'ed. */
static struct choice *
choices_for(const struct mirrors *m, int timezone, int64_t hostid)
{
    struct choice *c = xcalloc(m->n, sizeof(*c));
    char id[24];

    snprintf(id, sizeof(id), "%" PRId64, hostid);
    for (size_t i = 0; i < m->n; i++) {
        c[i].url = m->server[i].url;
        c[i].distance = distance(timezone, m->server[i].offset);
        digest_md5_of(c[i].rank, c[i].url, id, NULL);
    }
    qsort(c, m->n, sizeof(*c), nearest_first);
    return c;
}

/* ---- the documents ---- */

static const char *const tags[] = {"<url>", "<download_url>", "<gzipped_url>"};

/* The tag that begins here, or NULL. */
static const char *
tag_at(const char *p)
{
    for (size_t i = 0; i < ARRAY_LEN(tags); i++)
        if (strncmp(p, tags[i], strlen(tags[i])) == 0)
            return tags[i];
    return NULL;
}

/* If the element at p holds the old URL: what stands behind that URL, and where
 * the element ends.  URLs of documents are escaped, as the old one is here. */
static bool
is_old(const struct mirrors *m, const char *p, const char *tag,
       const char **rest, size_t *rest_len, const char **end)
{
    struct buf old = BUF_INIT;
    const char *value = p + strlen(tag);
    bool found;

    value += strspn(value, " \t\r\n");
    xml_escape(&old, m->old_url);
    found = strncmp(value, buf_str(&old), old.len) == 0;
    *rest = value + old.len;
    buf_free(&old);
    if (!found || (**rest != '/' && **rest != '<'))
        return false;
    *rest_len = strcspn(*rest, "<");
    if ((*rest)[*rest_len] == '\0')
        return false;
    *end = *rest + *rest_len;
    *end += strcspn(*end, ">");
    if (**end == '>')
        (*end)++;
    while (*rest_len > 0 && isspace((unsigned char)(*rest)[*rest_len - 1]))
        (*rest_len)--;
    return true;
}

static void
put_choices(const struct mirrors *m, const struct choice *c, const char *tag,
            const char *rest, size_t rest_len, struct buf *out)
{
    size_t n = m->max > 0 && m->max < m->n ? m->max : m->n;
    size_t line = out->len;

    /* elements of clients that read by lines: each on its own, as the first */
    while (line > 0 &&
           (out->data[line - 1] == ' ' || out->data[line - 1] == '\t'))
        line--;
    for (size_t i = 0; i < n; i++) {
        if (i > 0) {
            buf_addc(out, '\n');
            for (size_t k = line;
                 k < out->len && (out->data[k] == ' ' || out->data[k] == '\t');
                 k++)
                buf_addc(out, out->data[k]);
        }
        buf_add(out, tag);
        xml_escape(out, c[i].url);
        buf_addn(out, rest, rest_len);
        buf_addf(out, "</%s", tag + 1);
    }
}

void
mirrors_replace(const struct mirrors *m, const char *documents, int timezone,
                int64_t hostid, struct buf *out)
{
    struct choice *c = choices_for(m, timezone, hostid);
    const char *p = documents, *at = documents;

    while ((at = strchr(at, '<')) != NULL) {
        const char *tag = tag_at(at), *rest, *end;
        size_t rest_len;

        if (tag == NULL || !is_old(m, at, tag, &rest, &rest_len, &end)) {
            at++;
            continue;
        }
        buf_addn(out, p, (size_t)(at - p));
        put_choices(m, c, tag, rest, rest_len, out);
        p = at = end;
    }
    buf_add(out, p);
    free(c);
}
