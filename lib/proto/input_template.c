/* input_template.c - reads and checks input templates (protocol §6.1,
 * operations §8.1). */
#include "input_template.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "path.h"
#include "template_source.h"
#include "xml.h"

#define INT_MAX_VALUE 2147483647.0

/* Numbers of <workunit> that describe the job and do not go to the client.
 * Ints are 32-bit columns. */
static const struct number {
    const char *element;
    enum { REAL, INT, INT64 } type;
    size_t offset;
    double min, max;
} numbers[TEMPLATE_NUMBERS] = {
#define NUMBER(name, type, min, max)                                           \
    {                                                                          \
#name, type, offsetof(struct workunit, name), min, max                 \
    }
    NUMBER(rsc_fpops_est, REAL, 1, 1e30),
    NUMBER(rsc_fpops_bound, REAL, 1, 1e30),
    NUMBER(rsc_memory_bound, REAL, 0, 1e30),
    NUMBER(rsc_disk_bound, REAL, 1, 1e30),
    NUMBER(rsc_bandwidth_bound, REAL, 0, 1e30),
    NUMBER(batch, INT64, 0, INT_MAX_VALUE),
    NUMBER(delay_bound, INT64, 1, INT_MAX_VALUE),
    NUMBER(min_quorum, INT, 1, INT_MAX_VALUE),
    NUMBER(target_nresults, INT, 1, INT_MAX_VALUE),
    NUMBER(max_error_results, INT, 1, INT_MAX_VALUE),
    NUMBER(max_total_results, INT, 1, INT_MAX_VALUE),
    NUMBER(max_success_results, INT, 1, INT_MAX_VALUE),
    NUMBER(size_class, INT, -1, 32767),
};

static bool
is(const struct xml_node *node, const char *name)
{
    return strcmp(xml_name(node), name) == 0;
}

static char *
take(struct buf *b)
{
    return b->len > 0 ? buf_take(b) : xstrdup("");
}

static char *
text_of(const struct xml_node *node)
{
    struct buf text = BUF_INIT;

    xml_text(node, &text);
    return take(&text);
}

/* The node's text as a whole number from `min` on; -1 + err. */
static int
read_size(const struct template_source *s, const struct xml_node *parent,
          const struct xml_node *node, int64_t *ret)
{
    double value;

    if (!xml_get_double(parent, xml_name(node), &value) || value < 0 ||
        value > 9e15 || value != floor(value))
        return template_error(s, node, "%s must be a number of bytes",
                              xml_name(node));
    *ret = (int64_t)value;
    return 0;
}

/* ---- file_info ---------------------------------------------------------- */

static int
read_physical_name(const struct template_source *s, const struct xml_node *node,
                   struct template_file *ret)
{
    free(ret->physical_name);
    ret->physical_name = text_of(node);
    if (!path_good_name(ret->physical_name))
        return template_error(s, node, "\"%s\" cannot be a file name",
                              ret->physical_name);
    return 0;
}

static int
read_md5(const struct template_source *s, const struct xml_node *parent,
         const struct xml_node *node, struct template_file *ret)
{
    if (!xml_get_str(parent, "md5_cksum", ret->md5, sizeof ret->md5) ||
        strspn(ret->md5, "0123456789abcdef") != 32)
        return template_error(s, node,
                              "md5_cksum must be 32 hex digits in lower case");
    return 0;
}

static int
read_file_element(const struct template_source *s,
                  const struct xml_node *parent, const struct xml_node *node,
                  struct template_file *ret, struct buf *copied)
{
    if (is(node, "number") || is(node, "file_number"))
        return 0;
    if (is(node, "physical_name"))
        return read_physical_name(s, node, ret);
    if (is(node, "md5_cksum"))
        return read_md5(s, parent, node, ret);
    if (is(node, "nbytes"))
        return read_size(s, parent, node, &ret->nbytes);
    if (is(node, "gzipped_nbytes"))
        return read_size(s, parent, node, &ret->gzipped_nbytes);
    if (is(node, "url")) {
        ret->url = xrealloc(ret->url, (ret->n_urls + 1) * sizeof *ret->url);
        ret->url[ret->n_urls++] = text_of(node);
    } else if (is(node, "gzip")) {
        ret->gzip = true;
    } else if (is(node, "generate_locally") || is(node, "generated_locally")) {
        ret->kind = FILE_GENERATED; /* both tags are written for it */
    } else {
        ret->sticky = ret->sticky || is(node, "sticky");
        xml_dump(node, copied);
    }
    return 0;
}

static int
check_file(const struct template_source *s, const struct xml_node *node,
           struct template_file *f)
{
    if (f->kind == FILE_GENERATED) {
        if (f->physical_name[0] == '\0')
            return template_error(s, node,
                                  "a file that is generated locally needs a "
                                  "<physical_name>");
        if (f->n_urls > 0 || f->md5[0] != '\0' || f->nbytes > 0 || f->gzip)
            return template_error(
                s, node,
                "a file that is generated locally has no url, "
                "md5_cksum, nbytes or gzip");
        return 0;
    }
    if (f->n_urls > 0) {
        f->kind = FILE_REMOTE;
        if (f->md5[0] == '\0' || xml_child(node, "nbytes") == NULL)
            return template_error(
                s, node, "a file with <url> needs <md5_cksum> and <nbytes>");
        return 0;
    }
    if (f->md5[0] != '\0')
        return template_error(s, node, "<md5_cksum> without <url>");
    f->kind = f->physical_name[0] != '\0' ? FILE_CONSTANT : FILE_OF_JOB;
    return 0;
}

/* The physical name of a remote file is made from its MD5 (§6.1). */
static void
name_remote(struct template_file *f)
{
    struct buf name = BUF_INIT;

    if (f->kind != FILE_REMOTE || f->physical_name[0] != '\0')
        return;
    buf_addf(&name, "jf_%s", f->md5);
    free(f->physical_name);
    f->physical_name = buf_take(&name);
}

static int
read_file(const struct template_source *s, const struct xml_node *file,
          struct input_template *t)
{
    const struct xml_node *node = xml_first(file);
    struct buf copied = BUF_INIT;
    struct template_file *f;
    int rc = 0;

    t->file = xrealloc(t->file, (t->n_files + 1) * sizeof *t->file);
    f = &t->file[t->n_files++];
    *f = (struct template_file){.line = xml_line(file),
                                .physical_name = xstrdup("")};
    for (; rc == 0 && node != NULL; node = xml_next(node))
        rc = read_file_element(s, file, node, f, &copied);
    f->copied = take(&copied);
    if (rc == 0)
        rc = check_file(s, file, f);
    if (rc == 0)
        name_remote(f);
    return rc;
}

/* ---- workunit ----------------------------------------------------------- */

static int
read_ref(const struct template_source *s, const struct xml_node *ref,
         struct input_template *t)
{
    const struct xml_node *node = xml_first(ref);
    struct buf copied = BUF_INIT;
    struct template_ref *r;

    t->ref = xrealloc(t->ref, (t->n_refs + 1) * sizeof *t->ref);
    r = &t->ref[t->n_refs++];
    *r = (struct template_ref){.line = xml_line(ref), .open_name = xstrdup("")};
    for (; node != NULL; node = xml_next(node)) {
        if (is(node, "file_number") || is(node, "file_name"))
            continue;
        if (is(node, "open_name")) {
            free(r->open_name);
            r->open_name = text_of(node);
            continue;
        }
        r->copy_file = r->copy_file || is(node, "copy_file");
        r->optional = r->optional || is(node, "optional");
        xml_dump(node, &copied);
    }
    r->copied = take(&copied);
    if (r->open_name[0] == '\0' && !r->copy_file)
        return template_error(s, ref,
                              "a file_ref needs an <open_name>, or "
                              "<copy_file/>");
    return 0;
}

static int
read_number(const struct template_source *s, const struct xml_node *parent,
            const struct xml_node *node, size_t i, struct input_template *t)
{
    const struct number *n = &numbers[i];
    double value;

    if (!xml_get_double(parent, n->element, &value) || value < n->min ||
        value > n->max || (n->type != REAL && value != floor(value)))
        return template_error(s, node, "%s must be a%s number from %g to %g",
                              n->element, n->type == REAL ? "" : " whole",
                              n->min, n->max);
    t->number[i].given = true;
    t->number[i].value = value;
    return 0;
}

static int
read_job_element(const struct template_source *s, const struct xml_node *wu,
                 const struct xml_node *node, struct input_template *t,
                 struct buf *copied)
{
    if (is(node, "file_ref"))
        return read_ref(s, node, t);
    if (is(node, "command_line")) {
        if (t->command_line != NULL)
            return template_error(s, node, "a second <command_line>");
        t->command_line = text_of(node);
        return 0;
    }
    for (size_t i = 0; i < TEMPLATE_NUMBERS; i++)
        if (is(node, numbers[i].element)) {
            if (t->number[i].given)
                return template_error(s, node, "a second <%s>",
                                      numbers[i].element);
            return read_number(s, wu, node, i, t);
        }
    xml_dump(node, copied);
    return 0;
}

static int
read_workunit(const struct template_source *s, const struct xml_node *root,
              struct input_template *t)
{
    const struct xml_node *wu = template_only_child(s, root, "workunit");
    const struct xml_node *node = wu != NULL ? xml_first(wu) : NULL;
    struct buf copied = BUF_INIT;
    int rc = wu != NULL ? 0 : -1;

    for (; rc == 0 && node != NULL; node = xml_next(node))
        rc = read_job_element(s, wu, node, t, &copied);
    t->copied = take(&copied);
    if (rc == 0 && t->n_refs != t->n_files)
        rc = template_error(s, wu,
                            "%zu file_ref, but %zu file_info: each file needs "
                            "one of both, in the same order",
                            t->n_refs, t->n_files);
    return rc;
}

static int
read_template(const struct template_source *s, const struct xml_node *root,
              struct input_template *t)
{
    const struct xml_node *node = xml_first(root);

    for (; node != NULL; node = xml_next(node)) {
        if (is(node, "file_info")) {
            if (read_file(s, node, t) != 0)
                return -1;
        } else if (!is(node, "workunit")) {
            return template_error(s, node,
                                  "<%s> is unknown here: a template has "
                                  "file_info and workunit",
                                  xml_name(node));
        }
    }
    return read_workunit(s, root, t);
}

/* ---- the public side ---------------------------------------------------- */

struct input_template *
input_template_parse(const char *text, size_t n, const char *what,
                     struct buf *err)
{
    struct template_source s = {what, err};
    const struct xml_node *root = NULL;
    struct xml_doc *doc = template_xml(&s, text, n, "input_template", &root);
    struct input_template *t;
    int rc;

    if (doc == NULL)
        return NULL;
    t = xcalloc(1, sizeof *t);
    t->what = xstrdup(what);
    rc = read_template(&s, root, t);
    xml_free(doc);
    if (rc == 0)
        return t;
    input_template_free(t);
    return NULL;
}

struct input_template *
input_template_read(const char *path, struct buf *err)
{
    struct buf text = BUF_INIT;
    struct input_template *t = NULL;

    if (template_file(path, &text, err) == 0)
        t = input_template_parse(buf_str(&text), text.len, path, err);
    buf_free(&text);
    return t;
}

void
input_template_free(struct input_template *t)
{
    if (t == NULL)
        return;
    for (size_t i = 0; i < t->n_files; i++) {
        for (size_t k = 0; k < t->file[i].n_urls; k++)
            free(t->file[i].url[k]);
        free(t->file[i].url);
        free(t->file[i].physical_name);
        free(t->file[i].copied);
    }
    for (size_t i = 0; i < t->n_refs; i++) {
        free(t->ref[i].open_name);
        free(t->ref[i].copied);
    }
    free(t->file);
    free(t->ref);
    free(t->command_line);
    free(t->copied);
    free(t->what);
    free(t);
}

size_t
input_template_n_files(const struct input_template *t)
{
    size_t n = 0;

    for (size_t i = 0; i < t->n_files; i++)
        n += t->file[i].kind == FILE_OF_JOB;
    return n;
}

/* A client from 7.0 on waits for ever for a file without a URL, unless it is
 * optional; without sticky it would be gone before the next job. */
static void
warn_generated(const struct input_template *t, size_t i, struct buf *warn)
{
    const struct template_file *f = &t->file[i];
    const struct template_ref *r = &t->ref[i];

    if (f->kind != FILE_GENERATED)
        return;
    if (!r->optional || r->copy_file)
        buf_addf(warn,
                 "%s:%d: %s is generated locally: its file_ref needs "
                 "<optional/> and no <copy_file/>, or clients wait for it for "
                 "ever\n",
                 t->what, r->line, f->physical_name);
    if (!f->sticky)
        buf_addf(warn,
                 "%s:%d: %s is generated locally: without <sticky/> it is "
                 "deleted with the job that made it\n",
                 t->what, f->line, f->physical_name);
}

static void
apply_number(const struct number *n, double value, struct workunit *wu)
{
    char *at = (char *)wu + n->offset;

    switch (n->type) {
    case REAL:
        *(double *)(void *)at = value;
        break;
    case INT:
        *(int *)(void *)at = (int)value;
        break;
    case INT64:
        *(int64_t *)(void *)at = (int64_t)value;
        break;
    }
}

void
input_template_apply(const struct input_template *t, struct workunit *wu,
                     struct buf *warn)
{
    for (size_t i = 0; i < TEMPLATE_NUMBERS; i++)
        if (t->number[i].given)
            apply_number(&numbers[i], t->number[i].value, wu);
    if (wu->max_success_results < wu->target_nresults)
        wu->max_success_results = wu->target_nresults;
    if (wu->max_total_results < wu->target_nresults)
        wu->max_total_results = wu->target_nresults;
    for (size_t i = 0; i < t->n_files; i++)
        warn_generated(t, i, warn);
}
