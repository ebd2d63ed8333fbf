/* version_publish.c - an application version's files into the download folder,
 * and its document for clients. */
#include "version_dir.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "buf.h"
#include "config.h"
#include "digest.h"
#include "file.h"
#include "gzip.h"
#include "xml.h"

static int
fail(struct buf *err, const char *path, const char *why)
{
    buf_addf(err, "%s: %s\n", path, why);
    return -1;
}

/* ---- files: flat in the download folder, no fan-out -----------------------
 */

static void
place_of(const struct config *cfg, const struct version_file *f,
         struct buf *ret)
{
    buf_addf(ret, "%s/%s", cfg->download_dir, f->name);
}

static int
check_file(const struct version_file *f, const struct config *cfg,
           struct buf *err)
{
    struct buf place = BUF_INIT;
    char md5[MD5_HEX];
    int rc = 0;

    place_of(cfg, f, &place);
    if (file_exists(buf_str(&place)) &&
        (digest_md5_file(buf_str(&place), md5, NULL) != 0 ||
         strcmp(md5, f->md5) != 0))
        rc = fail(err, f->path,
                  "a file of this name with another content is published; "
                  "published files are immutable: take another name");
    buf_free(&place);
    return rc;
}

int
version_dir_check(const struct version_dir *v, const struct config *cfg,
                  struct buf *err)
{
    int rc = 0;

    for (size_t i = 0; i < v->n_files; i++)
        if (check_file(&v->file[i], cfg, err) != 0)
            rc = -1;
    return rc;
}

static int
compress_file(struct version_file *f, const char *place, struct buf *err)
{
    struct buf gz = BUF_INIT;
    struct stat st;
    int rc = 0;

    buf_addf(&gz, "%s.gz", place);
    if ((!file_exists(buf_str(&gz)) &&
         gzip_file(place, buf_str(&gz), 0664) != 0) ||
        stat(buf_str(&gz), &st) != 0)
        rc = fail(err, buf_str(&gz), strerror(errno));
    else
        f->gzipped_nbytes = st.st_size;
    buf_free(&gz);
    return rc;
}

int
version_dir_publish(struct version_dir *v, const struct config *cfg,
                    struct buf *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < v->n_files; i++) {
        struct version_file *f = &v->file[i];
        struct buf place = BUF_INIT;

        place_of(cfg, f, &place);
        if (!file_exists(buf_str(&place)) &&
            file_copy(f->path, buf_str(&place), f->executable ? 0775 : 0664) !=
                0)
            rc = fail(err, buf_str(&place), strerror(errno));
        if (rc == 0 && f->gzip)
            rc = compress_file(f, buf_str(&place), err);
        buf_free(&place);
    }
    return rc;
}

/* ---- the document ---------------------------------------------------------
 */

static void
put(struct buf *out, const char *element, const char *text)
{
    buf_addf(out, "    <%s>", element);
    xml_escape(out, text);
    buf_addf(out, "</%s>\n", element);
}

static void
put_flag(struct buf *out, const char *element, bool set)
{
    if (set)
        buf_addf(out, "    <%s/>\n", element);
}

static void
put_urls(const struct version_file *f, const struct config *cfg,
         struct buf *out)
{
    const char *suffix[2] = {"", ".gz"};
    const char *element[2] = {"url", "gzipped_url"};

    for (int z = 0; z <= (f->gzip ? 1 : 0); z++) {
        struct buf url = BUF_INIT;

        for (size_t i = 0; i < f->n_urls; i++) {
            buf_reset(&url);
            buf_addf(&url, "%s%s", f->url[i], suffix[z]);
            put(out, element[z], buf_str(&url));
        }
        if (f->n_urls == 0) {
            buf_addf(&url, "%s/%s%s", cfg->download_url, f->name, suffix[z]);
            put(out, element[z], buf_str(&url));
        }
        buf_free(&url);
    }
}

static void
put_file_info(const struct version_file *f, const struct config *cfg,
              struct buf *out)
{
    const char *end = strchr(f->signature, '.');
    size_t n =
        end != NULL ? (size_t)(end - f->signature) + 1 : strlen(f->signature);

    buf_add(out, "<file_info>\n");
    put(out, "name", f->name);
    put_urls(f, cfg, out);
    put_flag(out, "executable", f->executable || f->main_program);
    /* no blanks inside the block: its readers take none */
    buf_add(out, "    <file_signature>\n");
    buf_addn(out, f->signature, n);
    buf_add(out, "\n    </file_signature>\n");
    buf_addf(out, "    <nbytes>%" PRId64 "</nbytes>\n", f->nbytes);
    if (f->gzip)
        buf_addf(out, "    <gzipped_nbytes>%" PRId64 "</gzipped_nbytes>\n",
                 f->gzipped_nbytes);
    buf_add(out, "</file_info>\n");
}

static void
put_file_ref(const struct version_file *f, struct buf *out)
{
    buf_add(out, "<file_ref>\n");
    put(out, "file_name", f->name);
    if (f->logical[0] != '\0')
        put(out, "open_name", f->logical);
    put_flag(out, "copy_file", f->copy_file);
    put_flag(out, "main_program", f->main_program);
    buf_add(out, "</file_ref>\n");
}

void
version_dir_document(const struct version_dir *v, const struct config *cfg,
                     struct buf *out)
{
    for (size_t i = 0; i < v->n_files; i++)
        put_file_info(&v->file[i], cfg, out);
    buf_add(out, "<app_version>\n");
    put(out, "app_name", v->app);
    buf_addf(out, "    <version_num>%d</version_num>\n", v->version_num);
    if (v->api_version[0] != '\0')
        put(out, "api_version", v->api_version);
    for (size_t i = 0; i < v->n_files; i++)
        put_file_ref(&v->file[i], out);
    put_flag(out, "dont_throttle", v->dont_throttle);
    put_flag(out, "needs_network", v->needs_network);
    put_flag(out, "is_wrapper", v->is_wrapper);
    if (v->file_prefix[0] != '\0')
        put(out, "file_prefix", v->file_prefix);
    buf_add(out, "</app_version>\n");
}
