/* render.c - a document through a stylesheet to a page; the only user of
 * libxslt.
 *
 * Stylesheets are compiled once and kept until the file or one it imports has
 * changed.  They may read files of the two folders and nothing else: no
 * network, no writing. */
#include "render.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <libxml/parser.h>
#include <libxslt/documents.h>
#include <libxslt/security.h>
#include <libxslt/transform.h>
#include <libxslt/variables.h>
#include <libxslt/xslt.h>
#include <libxslt/xsltInternals.h>
#include <libxslt/xsltutils.h>

#include "buf.h"
#include "file.h"
#include "log.h"
#include "path.h"

#define MAX_SHEETS 32
#define MAX_FILES 8 /* of a stylesheet: itself and its imports */
#define MAX_PARAMS 8
#define PARSE_OPTIONS (XML_PARSE_NONET | XML_PARSE_NOBLANKS)

struct source {
    char *path;
    struct timespec mtime;
};

struct sheet {
    char *name;
    xsltStylesheetPtr compiled;
    struct source file[MAX_FILES];
    size_t n_files;
};

struct render {
    const char *folder[2];
    struct sheet sheet[MAX_SHEETS];
    size_t n;
    xsltSecurityPrefsPtr prefs;
};

/* libxslt's loader is one for the process and gets no pointer of ours. */
static struct render *loading;
static struct sheet *loading_sheet;

/* ---- messages -------------------------------------------------------------
 */

__attribute__((format(printf, 2, 3))) static void
on_message(void *context, const char *fmt, ...)
{
    struct buf text = BUF_INIT;
    va_list ap;

    (void)context;
    va_start(ap, fmt);
    buf_vaddf(&text, fmt, ap);
    va_end(ap);
    while (text.len > 0 && text.data[text.len - 1] == '\n')
        buf_truncate(&text, text.len - 1);
    if (text.len > 0)
        log_warning("stylesheet: %s", buf_str(&text));
    buf_free(&text);
}

/* ---- finding files --------------------------------------------------------
 */

/* The path of a stylesheet: the project's if it has one.  Only the last
 * component counts, so no name leads out of the folders. */
static bool
find_file(const struct render *r, const char *name, struct buf *ret)
{
    const char *slash = strrchr(name, '/');

    if (slash != NULL)
        name = slash + 1;
    for (size_t i = 0; i < ARRAY_LEN(r->folder); i++) {
        buf_reset(ret);
        buf_addf(ret, "%s/%s", r->folder[i], name);
        if (path_good_name(name) && file_exists(buf_str(ret)))
            return true;
    }
    return false;
}

static void
remember(struct sheet *s, const char *path)
{
    struct stat st;

    if (s->n_files == MAX_FILES || stat(path, &st) != 0)
        return;
    s->file[s->n_files].path = xstrdup(path);
    s->file[s->n_files].mtime = st.st_mtim;
    s->n_files++;
}

/* Called for <xsl:import>, <xsl:include> and document(). */
static xmlDocPtr
load(const xmlChar *uri, xmlDictPtr dict, int options, void *context,
     xsltLoadType type)
{
    struct buf path = BUF_INIT;
    xmlDocPtr doc = NULL;

    (void)dict;
    (void)options;
    (void)context;
    if (type == XSLT_LOAD_STYLESHEET && loading != NULL &&
        find_file(loading, (const char *)uri, &path)) {
        doc = xmlReadFile(buf_str(&path), NULL, XSLT_PARSE_OPTIONS);
        remember(loading_sheet, buf_str(&path));
    }
    buf_free(&path);
    return doc;
}

/* ---- compiled stylesheets -------------------------------------------------
 */

static bool
is_fresh(const struct render *r, const struct sheet *s)
{
    struct buf path = BUF_INIT;
    bool fresh = true;

    for (size_t i = 0; fresh && i < s->n_files; i++) {
        struct stat st;

        fresh = find_file(r, s->file[i].path, &path) &&
                strcmp(buf_str(&path), s->file[i].path) == 0 &&
                stat(s->file[i].path, &st) == 0 &&
                st.st_mtim.tv_sec == s->file[i].mtime.tv_sec &&
                st.st_mtim.tv_nsec == s->file[i].mtime.tv_nsec;
    }
    buf_free(&path);
    return fresh;
}

static void
drop(struct sheet *s)
{
    for (size_t i = 0; i < s->n_files; i++)
        free(s->file[i].path);
    free(s->name);
    xsltFreeStylesheet(s->compiled); /* NULL is fine */
    memset(s, 0, sizeof(*s));
}

static int
compile(struct render *r, const char *name, struct sheet *s)
{
    struct buf path = BUF_INIT;
    xmlDocPtr doc = NULL;

    memset(s, 0, sizeof(*s));
    s->name = xstrdup(name);
    if (!find_file(r, name, &path)) {
        log_critical("no stylesheet %s", name);
        goto out;
    }
    remember(s, buf_str(&path));
    doc = xmlReadFile(buf_str(&path), NULL, XSLT_PARSE_OPTIONS);
    loading = r;
    loading_sheet = s;
    if (doc != NULL)
        s->compiled = xsltParseStylesheetDoc(doc);
    loading = NULL;
    if (s->compiled == NULL) {
        xmlFreeDoc(doc); /* else the stylesheet has it */
        log_critical("%s is no stylesheet", buf_str(&path));
    } else if (s->compiled->errors != 0) {
        log_critical("%s: the stylesheet has faults", buf_str(&path));
        xsltFreeStylesheet(s->compiled);
        s->compiled = NULL;
    }
out:
    buf_free(&path);
    if (s->compiled != NULL)
        return 0;
    drop(s);
    return -1;
}

static const struct sheet *
get_sheet(struct render *r, const char *name)
{
    size_t i = 0;

    while (i < r->n && strcmp(r->sheet[i].name, name) != 0)
        i++;
    if (i < r->n && is_fresh(r, &r->sheet[i]))
        return &r->sheet[i];
    if (i < r->n) {
        drop(&r->sheet[i]);
        r->sheet[i] = r->sheet[--r->n];
        memset(&r->sheet[r->n], 0, sizeof(r->sheet[0]));
    }
    if (r->n == MAX_SHEETS) {
        log_critical("more than %d stylesheets", MAX_SHEETS);
        return NULL;
    }
    return compile(r, name, &r->sheet[r->n]) == 0 ? &r->sheet[r->n++] : NULL;
}

/* ---- rendering ------------------------------------------------------------
 */

static int
transform(const struct render *r, xsltStylesheetPtr style, xmlDocPtr doc,
          const struct render_param *param, size_t n, struct buf *out)
{
    const char *list[2 * MAX_PARAMS + 1] = {NULL};
    xsltTransformContextPtr context = xsltNewTransformContext(style, doc);
    xmlDocPtr page = NULL;
    xmlChar *text = NULL;
    int len = 0, rc = -1;

    for (size_t i = 0; i < n && i < MAX_PARAMS; i++) {
        list[2 * i] = param[i].name;
        list[2 * i + 1] = param[i].value;
    }
    if (context == NULL)
        return -1;
    xsltSetCtxtSecurityPrefs(r->prefs, context);
    /* quoted: the values are texts, not XPath */
    if (xsltQuoteUserParams(context, list) == 0)
        page = xsltApplyStylesheetUser(style, doc, NULL, NULL, NULL, context);
    if (page != NULL && context->state == XSLT_STATE_OK &&
        xsltSaveResultToString(&text, &len, page, style) == 0 && text != NULL) {
        buf_addn(out, text, (size_t)len);
        rc = 0;
    }
    xmlFree(text);
    xmlFreeDoc(page);
    xsltFreeTransformContext(context);
    return rc;
}

int
render_page(struct render *r, const char *stylesheet, const char *xml, size_t n,
            const struct render_param *param, size_t n_params, struct buf *out)
{
    const struct sheet *s = get_sheet(r, stylesheet);
    xmlDocPtr doc;
    int rc;

    if (s == NULL || n > INT_MAX)
        return -1;
    doc = xmlReadMemory(xml, (int)n, stylesheet, "UTF-8", PARSE_OPTIONS);
    if (doc == NULL) {
        log_critical("the document for %s is not well-formed", stylesheet);
        return -1;
    }
    rc = transform(r, s->compiled, doc, param, n_params, out);
    if (rc != 0)
        log_critical("rendering with %s failed", stylesheet);
    xmlFreeDoc(doc);
    return rc;
}

struct render *
render_open(const char *project_pages, const char *installed_pages)
{
    struct render *r = xcalloc(1, sizeof(*r));

    r->folder[0] = project_pages;
    r->folder[1] = installed_pages;
    xmlInitParser();
    xmlSetGenericErrorFunc(NULL, on_message);
    xsltSetGenericErrorFunc(NULL, on_message);
    xsltSetLoaderFunc(load);
    r->prefs = xsltNewSecurityPrefs();
    xsltSetSecurityPrefs(r->prefs, XSLT_SECPREF_WRITE_FILE, xsltSecurityForbid);
    xsltSetSecurityPrefs(r->prefs, XSLT_SECPREF_CREATE_DIRECTORY,
                         xsltSecurityForbid);
    xsltSetSecurityPrefs(r->prefs, XSLT_SECPREF_READ_NETWORK,
                         xsltSecurityForbid);
    xsltSetSecurityPrefs(r->prefs, XSLT_SECPREF_WRITE_NETWORK,
                         xsltSecurityForbid);
    return r;
}

void
render_close(struct render *r)
{
    if (r == NULL)
        return;
    for (size_t i = 0; i < r->n; i++)
        drop(&r->sheet[i]);
    xsltFreeSecurityPrefs(r->prefs);
    xsltCleanupGlobals();
    xmlCleanupParser();
    free(r);
}
