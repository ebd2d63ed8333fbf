/* receive.c - take files from clients.
 *
 * The order of the checks is that of protocol §3.3.  Status -1 loses the output
 * for ever, so it is only for what no later try can mend. */
#include "receive.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "cgi.h"
#include "config.h"
#include "db.h"
#include "db_sched.h"
#include "digest.h"
#include "file.h"
#include "log.h"
#include "partfile.h"
#include "sign.h"
#include "template.h"
#include "upload.h"

enum {
    PIECE = 65536,
    MIN_FREE = 1000000000, /* bytes, before a big upload is begun */
    MAX_OUTPUTS = 1000,    /* of one result */
};

struct verdict {
    enum upload_status status;
    const char *why; /* for the client; NULL: it is done */
};

static const struct verdict done = {UPLOAD_OK, NULL};

static struct verdict
later(const char *why)
{
    return (struct verdict){UPLOAD_TRANSIENT, why};
}

static struct verdict
never(const char *why)
{
    return (struct verdict){UPLOAD_PERMANENT, why};
}

static bool
is_done(struct verdict v)
{
    return v.status == UPLOAD_OK && v.why == NULL;
}

/* ---- may it be stored? ---- */

static const struct sign_key *
key_of(struct receiver *r, struct sign_key **key, const char *name)
{
    struct buf path = BUF_INIT, err = BUF_INIT;

    if (*key == NULL) {
        buf_addf(&path, "%s/%s", r->cfg->key_dir, name);
        *key = sign_key_read(buf_str(&path), &err);
        if (*key == NULL)
            log_critical("%s", buf_str(&err));
    }
    buf_free(&path);
    buf_free(&err);
    return *key;
}

/* Not every project has a key for Ed25519. */
static bool
knows_ed25519(const struct receiver *r)
{
    struct buf path = BUF_INIT;
    bool known = strcmp(r->cfg->upload_certificates, "ed25519") == 0;

    buf_addf(&path, "%s/upload_ed25519_public", r->cfg->key_dir);
    known = known || r->ed25519 != NULL || file_exists(buf_str(&path));
    buf_free(&path);
    return known;
}

/* Either kind is good at any time: jobs that are on their way keep the
 * certificate that was the project's choice when they were made. */
static struct verdict
check_certificate(struct receiver *r, const struct upload_request *req)
{
    bool ed25519 = sign_is_ed25519(req->xml_signature);
    const struct sign_key *key;
    struct buf text = BUF_INIT;
    bool good;

    if (ed25519 && !knows_ed25519(r))
        return never("The upload certificate is wrong");
    key = ed25519 ? key_of(r, &r->ed25519, "upload_ed25519_public")
                  : key_of(r, &r->rsa, "upload_public");
    if (key == NULL)
        return later("The server's key cannot be read");
    if (req->xml_signature[0] == '\0' || !req->has_max_nbytes)
        return never("The upload certificate is missing");
    upload_certificate_text(req->name, req->max_nbytes, &text);
    good = sign_verify(key, buf_str(&text), text.len, req->xml_signature);
    buf_free(&text);
    return good ? done : never("The upload certificate is wrong");
}

/* "RESULT_r123_0" is the first output of RESULT: its name, in place. */
static bool
result_of_output(char *name)
{
    for (int part = 0; part < 2; part++) {
        char *sep = strrchr(name, '_');
        const char *digits;

        if (sep == NULL)
            return false;
        digits = sep + (part == 1 ? 2 : 1);
        if ((part == 1 && sep[1] != 'r') || digits[0] == '\0' ||
            strspn(digits, "0123456789") != strlen(digits))
            return false;
        *sep = '\0';
    }
    return name[0] != '\0';
}

/* The result's document says which files it brings, and how large. */
static struct verdict
check_document(const char *doc, const struct upload_request *req)
{
    struct output_file *file = xcalloc(MAX_OUTPUTS, sizeof(*file));
    int n = result_document_files(doc, file, MAX_OUTPUTS);
    struct verdict v = never("The file is not expected");

    if (n > MAX_OUTPUTS)
        n = MAX_OUTPUTS;
    for (int i = 0; i < n; i++)
        if (strcmp(file[i].name, req->name) == 0)
            v = req->nbytes <= file[i].max_nbytes
                    ? done
                    : never("The file is too large");
    free(file);
    return v;
}

/* Certificates are off: then the database must know of the file, or anybody
 * could fill the disk. */
static struct verdict
check_expected(struct receiver *r, const struct upload_request *req)
{
    char result[NAME_SIZE];
    struct verdict v;
    char *doc = NULL;
    int rc;

    str_copy(result, sizeof(result), req->name);
    if (!result_of_output(result))
        return never("The file is not expected");
    if (r->db == NULL)
        r->db = db_open(r->cfg, DB_ACCOUNT_UPLOAD_HANDLER);
    else if (db_is_lost(r->db) && db_reconnect(r->db, NULL, 1) != 0)
        return later("The project's database is not available");
    if (r->db == NULL)
        return later("The project's database is not available");
    rc = db_sched_upload_document(r->db, result, &doc);
    if (rc < 0)
        return later("The project's database is not available");
    v = rc == 0 ? check_document(doc, req) : never("The file is not expected");
    free(doc);
    return v;
}

/* All that the header alone decides. */
static struct verdict
check_header(struct receiver *r, const struct upload_request *req,
             bool cut_short)
{
    struct verdict v = done;

    if (!req->has_data && cut_short)
        return later("The request ends in its header");
    if (req->name[0] == '\0')
        return never("The file's name is missing");
    if (!req->has_data)
        return never("There is no data");
    if (!r->cfg->ignore_upload_certificates)
        v = check_certificate(r, req);
    if (!is_done(v))
        return v;
    if (!req->has_nbytes || req->nbytes < 0 || req->offset < 0)
        return never("The file's size is missing or wrong");
    if (req->has_max_nbytes && req->nbytes > req->max_nbytes)
        return never("The file is too large");
    if (!partfile_good_name(req->name))
        return never("The file's name is not allowed");
    if (r->cfg->ignore_upload_certificates)
        v = check_expected(r, req);
    return v;
}

/* ---- the bytes ---- */

struct body {
    struct cgi *cgi;
    const char *first; /* what was read together with the header */
    size_t n_first;
    char piece[PIECE];
};

/* The next bytes, at most `max`: 0 at the end, -1 failed. */
static ssize_t
next_bytes(struct body *b, int64_t max, const char **ret)
{
    size_t n = max < PIECE ? (size_t)max : PIECE;

    if (b->n_first > 0) {
        if (n > b->n_first)
            n = b->n_first;
        *ret = b->first;
        b->first += n;
        b->n_first -= n;
        return (ssize_t)n;
    }
    *ret = b->piece;
    return cgi_read(b->cgi, b->piece, n);
}

static struct verdict
finish(struct receiver *r, struct partfile *p, const struct upload_request *req,
       const char *md5)
{
    char whole[MD5_HEX];

    if (req->md5[0] != '\0') {
        if (md5 == NULL) {
            if (partfile_md5(p, whole) != 0)
                return later("The file cannot be read again");
            md5 = whole;
        }
        if (strcmp(md5, req->md5) != 0) {
            log_warning("%s: MD5 is %s, not %s: dropped", req->name, md5,
                        req->md5);
            partfile_discard(p);
            return later("The file was damaged on its way");
        }
    }
    if (partfile_finish(p, r->cfg) != 0)
        return later("The file cannot be stored");
    return done;
}

/* Append what comes until the file is whole. */
static struct verdict
take_bytes(struct receiver *r, struct partfile *p,
           const struct upload_request *req, struct body *body)
{
    struct digest *digest = req->offset == 0 ? digest_new_md5() : NULL;
    char md5[MD5_HEX] = "";
    const char *bytes;
    ssize_t n;

    while (p->size < req->nbytes) {
        int64_t left = req->nbytes - p->size;

        n = next_bytes(body, left, &bytes);
        if (n <= 0) { /* what arrived stays: the client goes on from there */
            digest_free(digest);
            return later("The connection ended early");
        }
        if (digest != NULL)
            digest_add(digest, bytes, (size_t)n);
        if (partfile_append(p, bytes, (size_t)n, n == left) != 0) {
            digest_free(digest);
            return later("The server's disk cannot take the file");
        }
    }
    if (digest != NULL)
        digest_hex(digest, md5);
    return finish(r, p, req, md5[0] != '\0' ? md5 : NULL);
}

static struct verdict
store_locked(struct receiver *r, struct partfile *p,
             const struct upload_request *req, struct body *body)
{
    if (p->size < req->offset)
        return later("The server has less of the file");
    if (partfile_free_space(r->cfg) < req->nbytes - req->offset)
        return later("The server's disk is full");
    if (partfile_seek(p, req->offset) != 0)
        return later("The file cannot be written");
    return take_bytes(r, p, req, body);
}

static struct verdict
store(struct receiver *r, const struct upload_request *req, struct body *body)
{
    struct verdict v = later("The file cannot be written");
    struct partfile p;

    if (req->offset >= req->nbytes && req->nbytes > 0)
        return done; /* the client has nothing to send */
    switch (partfile_open(&p, r->cfg, req->name)) {
    case PART_OK:
        v = store_locked(r, &p, req, body);
        break;
    case PART_COMPLETE: /* and stays as it is */
        v = done;
        break;
    case PART_BUSY:
        v = later("Another upload of the file is at work");
        break;
    case PART_ABSENT:
    case PART_FAILED:
        break;
    }
    partfile_close(&p);
    return v;
}

/* ---- requests ---- */

static void
answer_size(struct receiver *r, const char *name, struct buf *reply)
{
    int64_t size = 0;

    if (!partfile_good_name(name)) {
        upload_reply(UPLOAD_PERMANENT, "The file's name is not allowed", reply);
        return;
    }
    if (partfile_free_space(r->cfg) < MIN_FREE) {
        log_warning("upload: less than %d bytes are free", MIN_FREE);
        upload_reply(UPLOAD_TRANSIENT, "The server's disk is full", reply);
        return;
    }
    switch (partfile_look(r->cfg, name, &size)) {
    case PART_OK:
    case PART_COMPLETE:
    case PART_ABSENT:
        upload_reply_size(size, reply);
        break;
    case PART_BUSY:
        upload_reply(UPLOAD_TRANSIENT, "Another upload of the file is at work",
                     reply);
        break;
    case PART_FAILED:
        upload_reply(UPLOAD_TRANSIENT, "The file cannot be read", reply);
        break;
    }
}

static void
answer_file(struct receiver *r, const struct upload_request *req,
            bool cut_short, struct body *body, struct buf *reply)
{
    struct verdict v = check_header(r, req, cut_short);

    if (is_done(v))
        v = store(r, req, body);
    log_normal("%s: %" PRId64 " bytes, %s at %" PRId64 ": %s", req->name,
               req->nbytes, req->offset > 0 ? "resumed" : "begun", req->offset,
               is_done(v) ? "done" : v.why);
    upload_reply(v.status, v.why, reply);
}

/* Read until the header is there; true if the body ended before its announced
 * length. */
static bool
read_header(struct cgi *cgi, struct buf *head)
{
    while (head->len < UPLOAD_HEADER_MAX &&
           !upload_header_complete(buf_str(head), head->len)) {
        size_t room = UPLOAD_HEADER_MAX - head->len;
        ssize_t n = cgi_read(cgi, buf_reserve(head, room), room);

        if (n <= 0)
            return (int64_t)head->len < cgi_content_length(cgi);
        head->len += (size_t)n;
        head->data[head->len] = '\0';
    }
    return false;
}

static bool
is_stopped(const struct config *cfg)
{
    struct buf path = BUF_INIT;
    bool stopped;

    buf_addf(&path, "%s/stop_upload", cfg->project_root);
    stopped = file_exists(buf_str(&path));
    buf_free(&path);
    return stopped;
}

void
receive_request(struct receiver *r, struct cgi *cgi, struct buf *reply)
{
    struct body *body = xcalloc(1, sizeof(*body));
    struct buf head = BUF_INIT;
    struct upload_request req;
    bool cut_short = read_header(cgi, &head);

    upload_parse(buf_str(&head), head.len, &req);
    body->cgi = cgi;
    body->first = buf_str(&head) + req.header_size;
    body->n_first = head.len - req.header_size;
    if (is_stopped(r->cfg))
        upload_reply(UPLOAD_TRANSIENT, "Uploads are stopped for maintenance",
                     reply);
    else if (req.kind == UPLOAD_SIZE)
        answer_size(r, req.name, reply);
    else if (req.kind == UPLOAD_FILE)
        answer_file(r, &req, cut_short, body, reply);
    else
        upload_reply(UPLOAD_TRANSIENT, "No request was found", reply);
    free(body);
    buf_free(&head);
}

void
receive_close(struct receiver *r)
{
    sign_key_free(r->rsa);
    sign_key_free(r->ed25519);
    if (r->db != NULL)
        db_close(r->db);
    r->rsa = NULL;
    r->ed25519 = NULL;
    r->db = NULL;
}
