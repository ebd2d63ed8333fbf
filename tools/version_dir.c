/* version_dir.c - apps/APP/VERSION/PLATFORM[__PLANCLASS]: an application
 * version on disk, read and checked. */
#include "version_dir.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "buf.h"
#include "digest.h"
#include "file.h"
#include "path.h"
#include "sign.h"
#include "xml.h"

#define MAX_PROGRAM_SCAN (64 << 20) /* bytes searched for API_VERSION_ */

static int
fail(struct buf *err, const char *path, const char *why)
{
    buf_addf(err, "%s: %s\n", path, why);
    return -1;
}

int
version_dir_number(const char *text)
{
    char *end;
    long major, minor;

    if (!isdigit((unsigned char)text[0]))
        return -1;
    major = strtol(text, &end, 10);
    if (*end == '\0')
        return major <= INT_MAX ? (int)major : -1;
    if (*end != '.' || !isdigit((unsigned char)end[1]))
        return -1;
    minor = strtol(end + 1, &end, 10);
    if (*end != '\0' || minor > 99 || major > 1000000)
        return -1;
    return (int)(100 * major + minor);
}

/* ---- the path -------------------------------------------------------------
 */

/* The last three components are application, version, platform__class. */
static int
read_path(struct version_dir *v, struct buf *err)
{
    char copy[PATH_MAX];
    char *part[3] = {NULL, NULL, NULL};
    char *class;

    snprintf(copy, sizeof(copy), "%s", v->path);
    for (int i = 2; i >= 0; i--) {
        char *slash = strrchr(copy, '/');

        if (slash == NULL)
            return fail(err, v->path, "is no apps/APP/VERSION/PLATFORM");
        part[i] = slash + 1;
        *slash = '\0';
    }
    class = strstr(part[2], "__");
    if (class != NULL) {
        *class = '\0';
        class += 2;
    }
    v->version_num = version_dir_number(part[1]);
    if (v->version_num < 0)
        return fail(err, v->path,
                    "the version must be MAJOR.MINOR (0 to 99) "
                    "or a number");
    if (!str_copy(v->app, sizeof(v->app), part[0]) ||
        !str_copy(v->platform, sizeof(v->platform), part[2]) ||
        !str_copy(v->plan_class, sizeof(v->plan_class),
                  class != NULL ? class : ""))
        return fail(err, v->path, "a name is too long");
    return 0;
}

/* ---- version.xml ----------------------------------------------------------
 */

static char *
child_text(const struct xml_node *node, const char *name)
{
    const struct xml_node *child = xml_child(node, name);
    struct buf text = BUF_INIT;

    if (child != NULL)
        xml_text(child, &text);
    return text.len > 0 ? buf_take(&text) : xstrdup("");
}

static struct version_file *
add_file(struct version_dir *v, const char *name)
{
    struct buf path = BUF_INIT;
    struct version_file *f;

    v->file = xrealloc(v->file, (v->n_files + 1) * sizeof(*v->file));
    f = &v->file[v->n_files++];
    memset(f, 0, sizeof(*f));
    f->name = xstrdup(name);
    buf_addf(&path, "%s/%s", v->path, name);
    f->path = buf_take(&path);
    return f;
}

static void
add_url(struct version_file *f, const struct xml_node *node)
{
    struct buf url = BUF_INIT;

    xml_text(node, &url);
    f->url = xrealloc(f->url, (f->n_urls + 1) * sizeof(*f->url));
    f->url[f->n_urls++] = xstrdup(buf_str(&url));
    buf_free(&url);
}

static int
read_file_element(struct version_dir *v, const struct xml_node *node,
                  const char *source, struct buf *err)
{
    char *name = child_text(node, "physical_name");
    struct version_file *f;

    if (!path_good_name(name)) {
        buf_addf(err, "%s:%d: <file> needs a good <physical_name>\n", source,
                 xml_line(node));
        free(name);
        return -1;
    }
    f = add_file(v, name);
    free(name);
    f->logical = child_text(node, "logical_name");
    xml_get_bool(node, "main_program", &f->main_program);
    xml_get_bool(node, "copy_file", &f->copy_file);
    xml_get_bool(node, "gzip", &f->gzip);
    for (const struct xml_node *c = xml_first(node); c != NULL; c = xml_next(c))
        if (strcmp(xml_name(c), "url") == 0)
            add_url(f, c);
    return 0;
}

static int
read_elements(struct version_dir *v, const struct xml_node *root,
              const char *source, struct buf *err)
{
    static const char *const known[] = {
        "file", "dont_throttle", "needs_network", "is_wrapper",
        "beta", "file_prefix",   "api_version",
    };
    int rc = 0;

    for (const struct xml_node *c = xml_first(root); c != NULL;
         c = xml_next(c)) {
        bool found = false;

        for (size_t i = 0; i < ARRAY_LEN(known); i++)
            found = found || strcmp(xml_name(c), known[i]) == 0;
        if (!found) {
            buf_addf(err, "%s:%d: unknown element <%s>\n", source, xml_line(c),
                     xml_name(c));
            rc = -1;
        } else if (strcmp(xml_name(c), "file") == 0 &&
                   read_file_element(v, c, source, err) != 0) {
            rc = -1;
        }
    }
    xml_get_bool(root, "dont_throttle", &v->dont_throttle);
    xml_get_bool(root, "needs_network", &v->needs_network);
    xml_get_bool(root, "is_wrapper", &v->is_wrapper);
    xml_get_bool(root, "beta", &v->beta);
    v->file_prefix = child_text(root, "file_prefix");
    v->api_version = child_text(root, "api_version");
    return rc;
}

static int
read_version_xml(struct version_dir *v, struct buf *err)
{
    struct buf path = BUF_INIT;
    struct xml_doc *doc;
    int rc = 0;

    buf_addf(&path, "%s/version.xml", v->path);
    if (file_exists(buf_str(&path))) {
        doc = xml_parse_file(buf_str(&path), err);
        if (doc != NULL) {
            rc = read_elements(v, xml_root(doc), buf_str(&path), err);
        } else {
            buf_addc(err, '\n');
            rc = -1;
        }
        xml_free(doc);
    }
    buf_free(&path);
    return rc;
}

/* ---- the files ------------------------------------------------------------
 */

static bool
ends_in(const char *name, const char *end)
{
    size_t n = strlen(name), k = strlen(end);

    return n > k && strcmp(name + n - k, end) == 0;
}

static bool
is_listed(const struct version_dir *v, const char *name)
{
    for (size_t i = 0; i < v->n_files; i++)
        if (strcmp(v->file[i].name, name) == 0)
            return true;
    return false;
}

/* Files that version.xml does not list belong to the version, too. */
static int
add_unlisted(struct version_dir *v, struct buf *err)
{
    struct dirent **entry;
    int n = scandir(v->path, &entry, NULL, alphasort);
    int rc = 0;

    if (n < 0)
        return fail(err, v->path, strerror(errno));
    for (int i = 0; i < n; i++) {
        const char *name = entry[i]->d_name;
        struct buf path = BUF_INIT;

        buf_addf(&path, "%s/%s", v->path, name);
        if (name[0] != '.' && strcmp(name, "version.xml") != 0 &&
            !ends_in(name, ".sig") && !file_is_dir(buf_str(&path)) &&
            !is_listed(v, name)) {
            if (path_good_name(name))
                add_file(v, name);
            else
                rc = fail(err, buf_str(&path), "no good name for a file");
        }
        buf_free(&path);
        free(entry[i]);
    }
    free(entry);
    return rc;
}

static int
measure(struct version_file *f, struct buf *err)
{
    struct buf path = BUF_INIT;
    struct buf block = BUF_INIT;
    struct stat st;
    int rc = 0;

    if (f->logical == NULL)
        f->logical = xstrdup("");
    if (stat(f->path, &st) != 0 || !S_ISREG(st.st_mode) ||
        digest_md5_file(f->path, f->md5, &f->nbytes) != 0)
        return fail(err, f->path, "cannot be read");
    f->executable = (st.st_mode & S_IXUSR) != 0;
    buf_addf(&path, "%s.sig", f->path);
    if (file_exists(buf_str(&path))) {
        if (file_read(buf_str(&path), 4096, &block) == 0)
            f->signature = buf_take(&block);
        else
            rc = fail(err, buf_str(&path), strerror(errno));
    }
    buf_free(&path);
    buf_free(&block);
    return rc;
}

static int
find_main_program(struct version_dir *v, struct buf *err)
{
    size_t n = 0;

    if (v->n_files == 0)
        return fail(err, v->path, "holds no files");
    if (v->n_files == 1)
        v->file[0].main_program = true;
    for (size_t i = 0; i < v->n_files; i++)
        n += v->file[i].main_program ? 1 : 0;
    if (n == 1)
        return 0;
    return fail(err, v->path,
                n == 0 ? "version.xml names no <main_program/>"
                       : "version.xml names more than one <main_program/>");
}

/* API_VERSION_7.20.0 in the program's text. */
static void
find_api_version(struct version_dir *v)
{
    static const char mark[] = "API_VERSION_";
    struct buf text = BUF_INIT;
    const char *p = NULL;
    size_t n;

    for (size_t i = 0; i < v->n_files && p == NULL; i++) {
        buf_reset(&text);
        if (v->file[i].main_program &&
            file_read(v->file[i].path, MAX_PROGRAM_SCAN, &text) == 0)
            p = memmem(buf_str(&text), text.len, mark, sizeof(mark) - 1);
    }
    if (p != NULL) {
        p += sizeof(mark) - 1;
        n = strspn(p, "0123456789.");
        if (n > 0 && n < 32) {
            free(v->api_version);
            v->api_version = xstrndup(p, n);
        }
    }
    buf_free(&text);
}

int
version_dir_read(const char *path, struct version_dir *ret, struct buf *err)
{
    int rc = 0;

    memset(ret, 0, sizeof(*ret));
    if (!str_copy(ret->path, sizeof(ret->path), path))
        return fail(err, path, "the path is too long");
    if (read_path(ret, err) != 0 || read_version_xml(ret, err) != 0 ||
        add_unlisted(ret, err) != 0)
        return -1;
    for (size_t i = 0; i < ret->n_files; i++)
        if (measure(&ret->file[i], err) != 0)
            rc = -1;
    if (rc == 0)
        rc = find_main_program(ret, err);
    if (ret->file_prefix == NULL)
        ret->file_prefix = xstrdup("");
    if (ret->api_version == NULL)
        ret->api_version = xstrdup("");
    if (rc == 0 && ret->api_version[0] == '\0')
        find_api_version(ret);
    return rc;
}

void
version_dir_free(struct version_dir *v)
{
    for (size_t i = 0; i < v->n_files; i++) {
        struct version_file *f = &v->file[i];

        for (size_t k = 0; k < f->n_urls; k++)
            free(f->url[k]);
        free(f->url);
        free(f->path);
        free(f->name);
        free(f->logical);
        free(f->signature);
    }
    free(v->file);
    free(v->file_prefix);
    free(v->api_version);
    memset(v, 0, sizeof(*v));
}

/* ---- signatures -----------------------------------------------------------
 */

static int
sign_file(struct version_file *f, const struct sign_key *key, struct buf *err)
{
    struct buf block = BUF_INIT;

    if (f->signature != NULL)
        return 0;
    if (key == NULL)
        return fail(err, f->path,
                    "has no FILE.sig, and there is no private key to sign it "
                    "with; see sign_executable");
    if (sign_md5(key, f->md5, &block) != 0) {
        buf_free(&block);
        return fail(err, f->path, "cannot be signed with this key");
    }
    f->signature = buf_take(&block);
    return 0;
}

int
version_dir_sign(struct version_dir *v, const struct sign_key *private_key,
                 const struct sign_key *public_key, struct buf *err)
{
    int rc = 0;

    for (size_t i = 0; i < v->n_files; i++) {
        struct version_file *f = &v->file[i];

        if (sign_file(f, private_key, err) != 0)
            rc = -1;
        else if (!sign_verify_md5(public_key, f->md5, f->signature))
            rc = fail(err, f->path,
                      "its signature does not fit code_sign_public: clients "
                      "would refuse it");
    }
    return rc;
}
