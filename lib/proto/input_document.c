/* input_document.c - input template + files of a job -> the workunit's
 * document. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "buf.h"
#include "file.h"
#include "input_template.h"
#include "path.h"
#include "template_source.h"
#include "xml.h"

struct writer {
    const struct input_template *template;
    const struct input_paths *paths;
    struct buf *out;
    struct buf *err;
};

/* What the document says of one file. */
struct described {
    const char *name;
    char md5[33];
    int64_t nbytes;
    int64_t gzipped_nbytes; /* 0: no .gz */
};

static int
fail(const struct writer *w, const char *name, const char *why)
{
    buf_addf(w->err, "%s: %s\n", name, why);
    return -1;
}

static void
put(struct buf *out, const char *element, const char *text)
{
    buf_addf(out, "    <%s>", element);
    xml_escape(out, text);
    buf_addf(out, "</%s>\n", element);
}

static void
put_url(const struct writer *w, const char *url, bool gzipped)
{
    struct buf text = BUF_INIT;

    buf_addf(&text, "%s%s", url, gzipped ? ".gz" : "");
    put(w->out, gzipped ? "gzipped_url" : "url", buf_str(&text));
    buf_free(&text);
}

static void
put_checks(const struct writer *w, const struct described *d)
{
    if (d->gzipped_nbytes > 0)
        buf_addf(w->out, "    <gzipped_nbytes>%" PRId64 "</gzipped_nbytes>\n",
                 d->gzipped_nbytes);
    put(w->out, "md5_cksum", d->md5);
    buf_addf(w->out, "    <nbytes>%" PRId64 "</nbytes>\n", d->nbytes);
}

/* A file of ours: the URL follows from its name. */
static void
put_staged(const struct writer *w, const struct described *d)
{
    struct buf url = BUF_INIT;

    path_hier_url(w->paths->download_url, d->name, w->paths->fanout, &url);
    put_url(w, buf_str(&url), false);
    if (d->gzipped_nbytes > 0)
        put_url(w, buf_str(&url), true);
    put_checks(w, d);
    buf_free(&url);
}

/* A URL that ends in '/' is the folder the file lies in. */
static void
put_remote(const struct writer *w, const struct template_file *f)
{
    struct described d = {.name = f->physical_name,
                          .nbytes = f->nbytes,
                          .gzipped_nbytes = f->gzipped_nbytes};
    struct buf url = BUF_INIT;

    memcpy(d.md5, f->md5, sizeof d.md5);
    for (int gzipped = 0; gzipped <= (f->gzipped_nbytes > 0); gzipped++)
        for (size_t i = 0; i < f->n_urls; i++) {
            size_t len = strlen(f->url[i]);

            buf_reset(&url);
            buf_add(&url, f->url[i]);
            if (len > 0 && f->url[i][len - 1] == '/')
                buf_add(&url, d.name);
            put_url(w, buf_str(&url), gzipped == 1);
        }
    put_checks(w, &d);
    buf_free(&url);
}

/* ---- constant files ----------------------------------------------------- */

/* "MD5 SPACE NBYTES", the size as integer or with an exponent (§4). */
static bool
parse_md5_file(const char *text, struct described *ret)
{
    double nbytes;
    char *end;

    if (strspn(text, "0123456789abcdef") != 32 || text[32] != ' ')
        return false;
    memcpy(ret->md5, text, 32);
    ret->md5[32] = '\0';
    nbytes = strtod(text + 33, &end);
    if (end == text + 33 || !(nbytes >= 0 && nbytes < 9e15) ||
        strspn(end, " \r\n") != strlen(end))
        return false;
    ret->nbytes = (int64_t)nbytes;
    return true;
}

/* A .md5 that is older than its file says nothing about it. */
static bool
is_fresh(const struct stat *md5, const struct stat *file)
{
    return md5->st_mtim.tv_sec != file->st_mtim.tv_sec
               ? md5->st_mtim.tv_sec > file->st_mtim.tv_sec
               : md5->st_mtim.tv_nsec >= file->st_mtim.tv_nsec;
}

static int
describe_staged(const struct writer *w, const char *path, bool gzip,
                struct described *ret)
{
    struct buf md5_path = BUF_INIT, gz_path = BUF_INIT, text = BUF_INIT;
    struct stat file, md5, gz;
    int rc = 0;

    buf_addf(&md5_path, "%s.md5", path);
    buf_addf(&gz_path, "%s.gz", path);
    if (stat(path, &file) != 0)
        rc = fail(w, path, "not staged (see stage_file)");
    else if (stat(buf_str(&md5_path), &md5) != 0 ||
             file_read(buf_str(&md5_path), 256, &text) != 0)
        rc = fail(w, buf_str(&md5_path), strerror(errno));
    else if (!is_fresh(&md5, &file))
        rc = fail(w, buf_str(&md5_path), "older than the file");
    else if (!parse_md5_file(buf_str(&text), ret))
        rc = fail(w, buf_str(&md5_path), "not a line \"MD5 NBYTES\"");
    else if (gzip && stat(buf_str(&gz_path), &gz) != 0)
        rc = fail(w, buf_str(&gz_path), strerror(errno));
    else if (gzip)
        ret->gzipped_nbytes = gz.st_size;
    buf_free(&md5_path);
    buf_free(&gz_path);
    buf_free(&text);
    return rc;
}

static int
put_constant(const struct writer *w, const struct template_file *f)
{
    struct described d = {.name = f->physical_name};
    struct buf path = BUF_INIT;
    int rc = -1;

    if (path_hier(w->paths->download_dir, d.name, w->paths->fanout, false,
                  &path) == 0)
        rc = describe_staged(w, buf_str(&path), f->gzip, &d);
    if (rc == 0)
        put_staged(w, &d);
    buf_free(&path);
    return rc;
}

/* ---- files of the job --------------------------------------------------- */

static int
put_job_file(const struct writer *w, const struct template_file *f,
             const struct input_file *in, const char *name)
{
    struct described d = {.name = name, .nbytes = in->nbytes};

    if (strspn(in->md5, "0123456789abcdef") != 32 || in->nbytes < 0)
        return fail(w, name, "no MD5 or size is known");
    if (f->gzip && in->gzipped_nbytes <= 0)
        return fail(w, name, "the template says <gzip/>, but there is no .gz");
    memcpy(d.md5, in->md5, sizeof d.md5);
    if (f->gzip)
        d.gzipped_nbytes = in->gzipped_nbytes;
    if (in->url == NULL) {
        put_staged(w, &d);
        return 0;
    }
    put_url(w, in->url, false);
    if (d.gzipped_nbytes > 0)
        put_url(w, in->url, true);
    put_checks(w, &d);
    return 0;
}

/* Physical name of a file of the job; a remote one without is jf_<md5>. */
static int
name_job_file(const struct writer *w, const struct input_file *in,
              struct buf *name)
{
    if (in->name != NULL && in->name[0] != '\0')
        buf_add(name, in->name);
    else if (in->url != NULL)
        buf_addf(name, "jf_%s", in->md5);
    if (!path_good_name(buf_str(name)))
        return fail(w, buf_str(name), "cannot be a file name");
    return 0;
}

/* ---- the document ------------------------------------------------------- */

static int
put_description(const struct writer *w, const struct template_file *f,
                const struct input_file *in, const char *name)
{
    switch (f->kind) {
    case FILE_OF_JOB:
        return put_job_file(w, f, in, name);
    case FILE_CONSTANT:
        return put_constant(w, f);
    case FILE_REMOTE:
        put_remote(w, f);
        return 0;
    case FILE_GENERATED: /* old clients know the one, older the other */
        buf_add(w->out, "    <generate_locally/>\n    <generated_locally/>\n");
        return 0;
    }
    return -1;
}

static int
put_file(const struct writer *w, const struct template_file *f,
         const struct input_file *in, const char *name)
{
    buf_add(w->out, "<file_info>\n");
    buf_add(w->out, f->copied);
    put(w->out, "name", name);
    if (put_description(w, f, in, name) != 0)
        return -1;
    buf_add(w->out, "</file_info>\n");
    return 0;
}

static void
put_ref(struct buf *out, const struct template_ref *r, const char *name)
{
    buf_add(out, "<file_ref>\n");
    put(out, "file_name", name);
    put(out, "open_name", r->open_name[0] != '\0' ? r->open_name : name);
    buf_add(out, r->copied);
    buf_add(out, "</file_ref>\n");
}

/* Files go to the document at once, references to `refs`, to follow. */
static int
put_files(const struct writer *w, const struct input_file *in, struct buf *refs)
{
    const struct input_template *t = w->template;
    struct buf name = BUF_INIT;
    int rc = 0;

    for (size_t i = 0, k = 0; rc == 0 && i < t->n_files; i++) {
        const struct input_file *mine = NULL;

        buf_reset(&name);
        if (t->file[i].kind == FILE_OF_JOB) {
            mine = &in[k++];
            rc = name_job_file(w, mine, &name);
        } else {
            buf_add(&name, t->file[i].physical_name);
        }
        if (rc == 0)
            rc = put_file(w, &t->file[i], mine, buf_str(&name));
        put_ref(refs, &t->ref[i], buf_str(&name));
    }
    buf_free(&name);
    return rc;
}

static void
put_job(const struct writer *w, const char *command_line, const char *refs)
{
    buf_add(w->out, "<workunit>\n");
    if (command_line != NULL && command_line[0] != '\0') {
        buf_add(w->out, "<command_line>\n");
        xml_escape(w->out, command_line);
        buf_add(w->out, "\n</command_line>\n");
    }
    buf_add(w->out, refs);
    buf_add(w->out, w->template->copied);
    buf_add(w->out, "</workunit>\n");
}

static int
check_arguments(const struct writer *w, size_t n_files,
                const char *command_line)
{
    size_t want = input_template_n_files(w->template);

    if (n_files != want) {
        buf_addf(w->err,
                 "%s: %zu input files were given, the template has "
                 "%zu\n",
                 w->template->what, n_files, want);
        return -1;
    }
    if (command_line != NULL && w->template->command_line != NULL)
        return fail(w, w->template->what,
                    "the template has a command line: none can be given");
    return 0;
}

int
input_template_document(const struct input_template *t,
                        const struct input_file *files, size_t n_files,
                        const char *command_line,
                        const struct input_paths *paths, struct buf *out,
                        struct buf *err)
{
    struct writer w = {t, paths, out, err};
    size_t before = out->len;
    struct buf refs = BUF_INIT;
    int rc = check_arguments(&w, n_files, command_line);

    if (rc == 0)
        rc = put_files(&w, files, &refs);
    if (rc == 0)
        put_job(&w, command_line != NULL ? command_line : t->command_line,
                buf_str(&refs));
    if (rc == 0 && out->len - before > DOCUMENT_MAX_BYTES) {
        buf_addf(err, "%s: the document has %zu bytes, %d are allowed\n",
                 t->what, out->len - before, DOCUMENT_MAX_BYTES);
        rc = -1;
    }
    buf_free(&refs);
    return rc;
}
