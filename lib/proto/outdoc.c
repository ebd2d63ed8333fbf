/* outdoc.c - the documents of new results: output templates, read once and
 * again when they change, and the key that signs upload certificates.
 *
 * A template that cannot be read is remembered too, with its message, so that
 * a thousand workunits with one bad template cost one reading. */
#include "outdoc.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "buf.h"
#include "config.h"
#include "log.h"
#include "sign.h"
#include "template.h"

struct entry {
    struct entry *next;
    char *file;
    struct timespec mtime;
    struct output_template *parsed; /* NULL: bad, see fault */
    char *fault;
};

struct outdoc {
    const struct config *cfg;
    struct sign_key *key; /* NULL: no certificates */
    struct entry *entries;
};

static struct sign_key *
read_key(const struct config *cfg)
{
    struct buf path = BUF_INIT, err = BUF_INIT;
    struct sign_key *key;

    buf_addf(&path, "%s/%s", cfg->key_dir,
             strcmp(cfg->upload_certificates, "ed25519") == 0
                 ? "upload_ed25519_private"
                 : "upload_private");
    key = sign_key_read(buf_str(&path), &err);
    if (key == NULL)
        log_critical("key %s: %s", buf_str(&path), buf_str(&err));
    buf_free(&path);
    buf_free(&err);
    return key;
}

struct outdoc *
outdoc_open(const struct config *cfg)
{
    struct outdoc *o = xcalloc(1, sizeof(*o));

    o->cfg = cfg;
    if (!cfg->dont_generate_upload_certificates) {
        o->key = read_key(cfg);
        if (o->key == NULL) {
            free(o);
            return NULL;
        }
    }
    return o;
}

static struct entry *
entry_of(struct outdoc *o, const char *file)
{
    struct entry *e = o->entries;

    while (e != NULL && strcmp(e->file, file) != 0)
        e = e->next;
    if (e == NULL) {
        e = xcalloc(1, sizeof(*e));
        e->file = xstrdup(file);
        e->next = o->entries;
        o->entries = e;
    }
    return e;
}

static void
forget(struct entry *e)
{
    output_template_free(e->parsed);
    free(e->fault);
    e->parsed = NULL;
    e->fault = NULL;
}

static void
read_entry(struct entry *e, const char *path)
{
    struct buf err = BUF_INIT;

    forget(e);
    e->parsed = output_template_read(path, &err);
    if (e->parsed == NULL)
        e->fault = buf_take(&err);
    buf_free(&err);
}

static const struct output_template *
find_template(struct outdoc *o, const char *file, struct buf *err)
{
    struct entry *e = entry_of(o, file);
    struct buf path = BUF_INIT;
    struct stat st;

    buf_addf(&path, "%s/%s", o->cfg->project_root, file);
    if (stat(buf_str(&path), &st) != 0) {
        forget(e);
        memset(&e->mtime, 0, sizeof(e->mtime));
        buf_addf(err, "%s: not there", buf_str(&path));
    } else if ((e->parsed == NULL && e->fault == NULL) ||
               memcmp(&e->mtime, &st.st_mtim, sizeof(e->mtime)) != 0) {
        read_entry(e, buf_str(&path));
        e->mtime = st.st_mtim;
    }
    if (e->fault != NULL)
        buf_add(err, e->fault);
    buf_free(&path);
    return e->parsed;
}

int
outdoc_make(struct outdoc *o, const char *template_file,
            const char *result_name, uint32_t random, struct buf *out,
            struct buf *err)
{
    const struct output_template *t = find_template(o, template_file, err);

    if (t == NULL)
        return -1;
    return output_template_document(t, result_name, random, o->cfg->upload_url,
                                    o->key, out, err);
}

void
outdoc_close(struct outdoc *o)
{
    if (o == NULL)
        return;
    while (o->entries != NULL) {
        struct entry *e = o->entries;

        o->entries = e->next;
        forget(e);
        free(e->file);
        free(e);
    }
    sign_key_free(o->key);
    free(o);
}
