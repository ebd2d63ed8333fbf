/* output_template.c - output templates -> the documents of results.
 *
 * The transitioner makes thousands of documents from one template, so the
 * template is parsed once into pieces: text that stays, and holes.  The
 * placeholders <OUTFILE_k/> and <UPLOAD_URL/> are no XML of the document; they
 * become marks (private-use characters, which no template may hold) before the
 * XML is read, and the marks are the holes. */
#include "template.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "sign.h"
#include "template_source.h"
#include "upload.h"
#include "xml.h"

#define MARK_BEGIN "\xee\x80\x80" /* U+E000 */
#define MARK_END "\xee\x80\x81"   /* U+E001 */
#define MARK_BYTES 3

enum piece_kind {
    PIECE_TEXT,
    PIECE_OUTFILE,     /* base name and text (the index) */
    PIECE_URL,         /* of the upload handler */
    PIECE_CERTIFICATE, /* of output[index] */
};

struct piece {
    enum piece_kind kind;
    char *text;
    size_t index;
};

struct pieces {
    struct piece *piece;
    size_t n;
};

struct output { /* an output file */
    struct pieces name;
    int64_t max_nbytes;
};

struct output_template {
    struct pieces document;
    struct output *output;
    size_t n_outputs;
};

/* ---- placeholders -> marks -> pieces ------------------------------------ */

/* The placeholder at p: what stands in its mark, and its length; 0 none. */
static size_t
placeholder(const char *p, size_t n, const char **mark, size_t *mark_len)
{
    static const char outfile[] = "<OUTFILE_", url[] = "<UPLOAD_URL/>";
    const char *end;

    if (n >= sizeof url - 1 && memcmp(p, url, sizeof url - 1) == 0) {
        *mark = "U";
        *mark_len = 1;
        return sizeof url - 1;
    }
    if (n < sizeof outfile - 1 || memcmp(p, outfile, sizeof outfile - 1) != 0)
        return 0;
    end = memmem(p, n, "/>", 2);
    if (end == NULL)
        return 0;
    *mark = p + sizeof outfile - 2; /* "_0" */
    *mark_len = (size_t)(end - *mark);
    return (size_t)(end + 2 - p);
}

static void
mark_placeholders(const char *text, size_t n, struct buf *out)
{
    for (size_t i = 0; i < n;) {
        const char *next = memchr(text + i, '<', n - i), *mark = NULL;
        size_t plain = next != NULL ? (size_t)(next - text) - i : n - i, len,
               mark_len = 0;

        buf_addn(out, text + i, plain);
        i += plain;
        if (i == n)
            break;
        len = placeholder(text + i, n - i, &mark, &mark_len);
        if (len == 0) {
            buf_addc(out, text[i++]);
            continue;
        }
        buf_add(out, MARK_BEGIN);
        buf_addn(out, mark, mark_len);
        buf_add(out, MARK_END);
        i += len;
    }
}

static void
add_piece(struct pieces *to, enum piece_kind kind, const char *text, size_t n,
          size_t index)
{
    to->piece = xrealloc(to->piece, (to->n + 1) * sizeof *to->piece);
    to->piece[to->n++] = (struct piece){kind, xstrndup(text, n), index};
}

static void
split(const char *text, struct pieces *to)
{
    const char *begin, *end;

    while ((begin = strstr(text, MARK_BEGIN)) != NULL &&
           (end = strstr(begin, MARK_END)) != NULL) {
        const char *mark = begin + MARK_BYTES;

        if (begin > text)
            add_piece(to, PIECE_TEXT, text, (size_t)(begin - text), 0);
        if (*mark == 'U')
            add_piece(to, PIECE_URL, "", 0, 0);
        else
            add_piece(to, PIECE_OUTFILE, mark + 1, (size_t)(end - mark - 1), 0);
        text = end + MARK_BYTES;
    }
    if (*text != '\0')
        add_piece(to, PIECE_TEXT, text, strlen(text), 0);
}

/* ---- reading ------------------------------------------------------------ */

static int
read_name(const struct template_source *s, const struct xml_node *file,
          struct output *ret)
{
    const struct xml_node *node = xml_child(file, "name");
    struct buf name = BUF_INIT;

    if (node != NULL)
        xml_text(node, &name);
    if (name.len == 0) {
        buf_free(&name);
        return template_error(s, node != NULL ? node : file,
                              "a file_info needs a <name>, such as "
                              "<name><OUTFILE_0/></name>");
    }
    split(buf_str(&name), &ret->name);
    buf_free(&name);
    return 0;
}

static int
read_max_nbytes(const struct template_source *s, const struct xml_node *file,
                struct output *ret)
{
    const struct xml_node *node = xml_child(file, "max_nbytes");
    double value = 0;

    if (node == NULL)
        return template_error(s, file, "a file_info needs <max_nbytes>");
    if (!xml_get_double(file, "max_nbytes", &value) || value < 1 ||
        value > 9e15)
        return template_error(s, node,
                              "max_nbytes must be a number of bytes, at "
                              "least 1");
    ret->max_nbytes = (int64_t)value;
    return 0;
}

/* The file_info as text, with a hole for the certificate before its end. */
static int
read_file(const struct template_source *s, const struct xml_node *node,
          struct output_template *t)
{
    static const char end[] = "</file_info>\n";
    struct buf text = BUF_INIT;
    struct output *output;

    t->output = xrealloc(t->output, (t->n_outputs + 1) * sizeof *t->output);
    output = &t->output[t->n_outputs++];
    *output = (struct output){.max_nbytes = 0};
    if (read_name(s, node, output) != 0 ||
        read_max_nbytes(s, node, output) != 0)
        return -1;
    xml_dump(node, &text);
    buf_truncate(&text, text.len - strlen(end));
    split(buf_str(&text), &t->document);
    add_piece(&t->document, PIECE_CERTIFICATE, "", 0, t->n_outputs - 1);
    add_piece(&t->document, PIECE_TEXT, end, strlen(end), 0);
    buf_free(&text);
    return 0;
}

static bool
has_file(const struct xml_node *root, const char *name)
{
    const struct xml_node *node = xml_first(root);
    char known[NAME_SIZE];

    for (; node != NULL; node = xml_next(node))
        if (strcmp(xml_name(node), "file_info") == 0 &&
            xml_get_str(node, "name", known, sizeof known) &&
            strcmp(known, name) == 0)
            return true;
    return false;
}

static int
check_file_ref(const struct template_source *s, const struct xml_node *root,
               const struct xml_node *ref)
{
    char name[NAME_SIZE], open_name[NAME_SIZE];

    if (!xml_get_str(ref, "file_name", name, sizeof name) || name[0] == '\0')
        return template_error(s, ref, "a file_ref needs a <file_name>");
    if (!has_file(root, name))
        return template_error(s, ref, "no file_info has this file_name");
    if (xml_child(ref, "copy_file") == NULL &&
        !xml_get_str(ref, "open_name", open_name, sizeof open_name))
        return template_error(s, ref, "a file_ref needs an <open_name>");
    return 0;
}

static int
read_result(const struct template_source *s, const struct xml_node *root,
            struct output_template *t)
{
    const struct xml_node *result = template_only_child(s, root, "result");
    const struct xml_node *node = result != NULL ? xml_first(result) : NULL;
    struct buf text = BUF_INIT;

    if (result == NULL)
        return -1;
    for (; node != NULL; node = xml_next(node))
        if (strcmp(xml_name(node), "file_ref") == 0 &&
            check_file_ref(s, root, node) != 0)
            return -1;
    if (xml_first(result) == NULL) /* the tags must be lines of their own */
        buf_add(&text, "<result>\n</result>\n");
    else
        xml_dump(result, &text);
    split(buf_str(&text), &t->document);
    buf_free(&text);
    return 0;
}

static int
read_template(const struct template_source *s, const struct xml_node *root,
              struct output_template *t)
{
    const struct xml_node *node = xml_first(root);

    for (; node != NULL; node = xml_next(node)) {
        const char *name = xml_name(node);

        if (strcmp(name, "file_info") == 0) {
            if (read_file(s, node, t) != 0)
                return -1;
        } else if (strcmp(name, "result") != 0) {
            return template_error(s, node,
                                  "<%s> is unknown here: a template has "
                                  "file_info and result",
                                  name);
        }
    }
    return read_result(s, root, t);
}

struct output_template *
output_template_parse(const char *text, size_t n, const char *what,
                      struct buf *err)
{
    struct template_source s = {what, err};
    struct output_template *t = xcalloc(1, sizeof *t);
    struct buf marked = BUF_INIT;
    const struct xml_node *root = NULL;
    struct xml_doc *doc = NULL;
    int rc = -1;

    if (memmem(text, n, MARK_BEGIN, MARK_BYTES) != NULL ||
        memmem(text, n, MARK_END, MARK_BYTES) != NULL)
        buf_addf(err, "%s: private-use characters are not allowed\n", what);
    else {
        mark_placeholders(text, n, &marked);
        doc = template_xml(&s, buf_str(&marked), marked.len, "output_template",
                           &root);
    }
    if (doc != NULL)
        rc = read_template(&s, root, t);
    xml_free(doc);
    buf_free(&marked);
    if (rc == 0)
        return t;
    output_template_free(t);
    return NULL;
}

struct output_template *
output_template_read(const char *path, struct buf *err)
{
    struct buf text = BUF_INIT;
    struct output_template *t = NULL;

    if (template_file(path, &text, err) == 0)
        t = output_template_parse(buf_str(&text), text.len, path, err);
    buf_free(&text);
    return t;
}

static void
free_pieces(struct pieces *p)
{
    for (size_t i = 0; i < p->n; i++)
        free(p->piece[i].text);
    free(p->piece);
}

void
output_template_free(struct output_template *t)
{
    if (t == NULL)
        return;
    free_pieces(&t->document);
    for (size_t i = 0; i < t->n_outputs; i++)
        free_pieces(&t->output[i].name);
    free(t->output);
    free(t);
}

/* ---- writing ------------------------------------------------------------ */

struct filling {
    const struct output_template *template;
    const char *base;     /* "<result>_r<random>_" */
    const char *base_xml; /* the same, escaped */
    const char *url_xml;
    const struct sign_key *key;
    struct buf *err;
};

/* The name as the client will send it back: what its text means. */
static void
put_name(const struct filling *f, const struct pieces *name, struct buf *out)
{
    for (size_t i = 0; i < name->n; i++) {
        if (name->piece[i].kind == PIECE_OUTFILE)
            buf_add(out, f->base);
        buf_add(out, name->piece[i].text);
    }
}

static int
put_certificate(const struct filling *f, const struct output *output,
                struct buf *out)
{
    struct buf name = BUF_INIT, text = BUF_INIT;
    int rc;

    if (f->key == NULL)
        return 0;
    put_name(f, &output->name, &name);
    upload_certificate_text(buf_str(&name), output->max_nbytes, &text);
    buf_add(out, "<xml_signature>\n");
    rc = sign_data(f->key, buf_str(&text), text.len, out);
    buf_add(out, "</xml_signature>\n");
    if (rc != 0)
        buf_add(f->err, "the upload certificate could not be signed");
    buf_free(&name);
    buf_free(&text);
    return rc;
}

static int
put_piece(const struct filling *f, const struct piece *p, struct buf *out)
{
    switch (p->kind) {
    case PIECE_TEXT:
        buf_add(out, p->text);
        break;
    case PIECE_OUTFILE:
        buf_add(out, f->base_xml);
        buf_add(out, p->text);
        break;
    case PIECE_URL:
        buf_add(out, f->url_xml);
        break;
    case PIECE_CERTIFICATE:
        return put_certificate(f, &f->template->output[p->index], out);
    }
    return 0;
}

int
output_template_document(const struct output_template *t,
                         const char *result_name, uint32_t random,
                         const char *upload_url, const struct sign_key *key,
                         struct buf *out, struct buf *err)
{
    struct buf base = BUF_INIT, base_xml = BUF_INIT, url_xml = BUF_INIT;
    struct filling f = {.template = t, .key = key, .err = err};
    size_t before = out->len;
    int rc = 0;

    buf_addf(&base, "%s_r%" PRIu32 "_", result_name, random);
    xml_escape(&base_xml, buf_str(&base));
    xml_escape(&url_xml, upload_url);
    f.base = buf_str(&base);
    f.base_xml = buf_str(&base_xml);
    f.url_xml = buf_str(&url_xml);
    for (size_t i = 0; rc == 0 && i < t->document.n; i++)
        rc = put_piece(&f, &t->document.piece[i], out);
    if (rc == 0 && out->len - before > DOCUMENT_MAX_BYTES) {
        buf_addf(err, "the document of %s has %zu bytes, %d are allowed",
                 result_name, out->len - before, DOCUMENT_MAX_BYTES);
        rc = -1;
    }
    buf_free(&base);
    buf_free(&base_xml);
    buf_free(&url_xml);
    return rc;
}
