/* dialect.c - repairs the dialect of real clients to well-formed UTF-8 XML.
 *
 * The pass walks the input once, token by token, and knows three things only:
 * what a tag looks like, which elements are open, and where an opaque body
 * ends.  Whatever does not look like a tag is text.
 *
 * Linear time.  A tag ends before the next '<', so looking for its end never
 * reads a byte twice; every longer search ("where is the next ]]>?") is a
 * `struct seek`, which remembers its answer until the pass has gone by it.
 *
 * Bounded memory.  Text grows at most sixfold ('"' to "&quot;"), a start tag
 * brings at most one end tag of its own length plus one. */
#include "dialect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dialect_text.h"
#include "utf8.h"
#include "xml.h"

#define NAME_MAX_BYTES 128
#define TEXT_MAX_BYTES (1024 * 1024)   /* one run of text between two tags */
#define STDERR_MAX_BYTES (1024 * 1024) /* 63 KiB, each byte as "&#255;" */
#define MAX_ATTRIBUTES 8

/* The next place of a pattern at or behind a position that only grows. */
struct seek {
    const char *what;
    size_t at;
    bool known;
};

struct name { /* of an open element, in the input */
    const char *at;
    size_t len;
};

struct scan {
    const char *in;
    size_t n;
    size_t pos;
    struct dialect *out;
    struct xml_doc *doc; /* built instead of out->xml; NULL: it is written */
    struct buf *err;
    struct buf bytes; /* scratch: text with its references decoded */
    struct buf text;  /* scratch: the same as UTF-8 */
    struct name open[DIALECT_MAX_DEPTH];
    size_t depth;
    size_t n_elements;
    size_t n_pending; /* bytes of text before pos, not yet written */
    size_t cap_bodies;
    struct seek cdata_end, comment_end, stderr_cdata, stderr_end, stderr_tag;
    struct seek *closers; /* one for each row of opaque[] */
};

enum ending {
    ENDS_AT_TAG,
    ENDS_AS_STDERR, /* the safer rule of §0.2 */
};

/* Elements whose bodies are kept as bytes.  `must_end`: without an end tag the
 * request is refused (§2.6); the others are then taken for empty elements. */
#define OPAQUE(name, ...)                                                      \
    {                                                                          \
        name, "</" name ">", __VA_ARGS__                                       \
    }
static const struct opaque {
    const char *name;
    const char *end_tag;
    enum ending ending;
    bool top_level_only;
    bool must_end;
} opaque[] = {
    OPAQUE("stderr_out", ENDS_AS_STDERR, false, false),
    OPAQUE("msg_from_host", ENDS_AT_TAG, false, false),
    OPAQUE("time_stats_log", ENDS_AT_TAG, true, false),
    OPAQUE("job_log", ENDS_AT_TAG, true, false),
    OPAQUE("client_opaque", ENDS_AT_TAG, true, false),
    OPAQUE("global_preferences", ENDS_AT_TAG, true, true),
    OPAQUE("working_global_preferences", ENDS_AT_TAG, true, true),
};

static int
give_up(struct scan *s, const char *why)
{
    buf_add(s->err, why);
    return -1;
}

/* Where `what` begins at or behind `from`; n if nowhere. */
static size_t
find(const struct scan *s, const char *what, size_t from)
{
    const char *p = from < s->n
                        ? memmem(s->in + from, s->n - from, what, strlen(what))
                        : NULL;

    return p != NULL ? (size_t)(p - s->in) : s->n;
}

static size_t
seek(const struct scan *s, struct seek *k)
{
    if (!k->known || k->at < s->pos) {
        k->at = find(s, k->what, s->pos);
        k->known = true;
    }
    return k->at;
}

static bool
starts(const struct scan *s, size_t at, const char *what)
{
    size_t len = strlen(what);

    return s->n - at >= len && memcmp(s->in + at, what, len) == 0;
}

static bool
is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool
is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool
is_name_char(char c)
{
    return is_name_start(c) || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
           c == ':' || (unsigned char)c >= 0x80;
}

/* ---- text --------------------------------------------------------------- */

/* Bytes of the input as UTF-8 without references: in s->text. */
static void
clean_text(struct scan *s, const char *p, size_t n, bool references)
{
    buf_reset(&s->text);
    if (!references) {
        utf8_repair(p, n, &s->text);
        return;
    }
    buf_reset(&s->bytes);
    dialect_decode(p, n, &s->bytes);
    utf8_repair(buf_str(&s->bytes), s->bytes.len, &s->text);
}

/* Bytes of the input as text of the document. */
static void
put_text(struct scan *s, const char *p, size_t n, bool references)
{
    bool plain = dialect_is_plain(p, n);

    if (!plain)
        clean_text(s, p, n, references);
    if (s->doc != NULL)
        xml_build_text(s->doc, plain ? p : buf_str(&s->text),
                       plain ? n : s->text.len);
    else if (plain)
        buf_addn(&s->out->xml, p, n);
    else
        xml_escape(&s->out->xml, buf_str(&s->text));
}

/* Write the text that ends at s->pos.  Runs are collected, as what looks like
 * many tags may turn out to be one text. */
static int
flush_text(struct scan *s)
{
    size_t n = s->n_pending;

    s->n_pending = 0;
    if (n > TEXT_MAX_BYTES)
        return give_up(s, "a text is too long");
    if (n > 0)
        put_text(s, s->in + s->pos - n, n, true);
    return 0;
}

/* A name of the input.  A conforming parser wants no ':' without a namespace;
 * names with letters beyond ASCII are nobody's, so they may look alike. */
static void
put_name(struct buf *out, struct name name)
{
    size_t at = out->len;

    buf_addn(out, name.at, name.len);
    for (; at < out->len; at++)
        if (out->data[at] == ':' || (unsigned char)out->data[at] >= 0x80)
            out->data[at] = '_';
}

/* ---- tags --------------------------------------------------------------- */

struct tag {
    bool end;   /* </x> */
    bool empty; /* <x/>: a '/' anywhere behind the name (§0.1) */
    struct name name;
    const char *attrs; /* what stands behind the name */
    size_t attrs_len;
    size_t len; /* of the whole token */
};

/* Is there a tag at the '<' of s->pos? */
static bool
read_tag(const struct scan *s, struct tag *t)
{
    const char *p = s->in + s->pos + 1, *end = s->in + s->n, *close;

    memset(t, 0, sizeof *t);
    if (p < end && *p == '/') {
        t->end = true;
        p++;
    }
    if (p == end || !is_name_start(*p))
        return false;
    t->name.at = p;
    while (p < end && is_name_char(*p))
        p++;
    t->name.len = (size_t)(p - t->name.at);
    if (t->name.len > NAME_MAX_BYTES || p == end ||
        (!is_blank(*p) && *p != '/' && *p != '>'))
        return false;
    for (close = p; close < end && *close != '>' && *close != '<';)
        close++;
    if (close == end || *close == '<')
        return false;
    t->attrs = p;
    t->attrs_len = (size_t)(close - p);
    t->empty = memchr(p, '/', t->attrs_len) != NULL;
    t->len = (size_t)(close + 1 - (s->in + s->pos));
    return true;
}

static bool
same_name(struct name a, const char *b, size_t len)
{
    return a.len == len && memcmp(a.at, b, len) == 0;
}

/* Read one name="value" at *p, or step over one byte.  Returns whether there
 * was one. */
static bool
read_attribute(const char **p, const char *end, struct name *name,
               struct name *value)
{
    const char *q = *p, *close;

    if (!is_name_start(*q)) {
        ++*p;
        return false;
    }
    name->at = q;
    while (q < end && is_name_char(*q) && *q != ':' && (unsigned char)*q < 0x80)
        q++;
    name->len = (size_t)(q - name->at);
    *p = q;
    while (q < end && is_blank(*q))
        q++;
    if (q == end || *q != '=')
        return false;
    for (q++; q < end && is_blank(*q);)
        q++;
    if (q == end || (*q != '"' && *q != '\''))
        return false;
    close = memchr(q + 1, *q, (size_t)(end - q - 1));
    if (close == NULL)
        return false;
    value->at = q + 1;
    value->len = (size_t)(close - value->at);
    *p = close + 1;
    return true;
}

/* A parser takes line ends and tabs in a value for blanks. */
static void
build_attribute(struct scan *s, struct name name, struct name value)
{
    struct buf text = BUF_INIT;

    clean_text(s, value.at, value.len, true);
    put_name(&text, name);
    for (size_t i = 0; i < s->text.len; i++)
        if (s->text.data[i] == '\n' || s->text.data[i] == '\t')
            s->text.data[i] = ' ';
    xml_build_attr(s->doc, buf_str(&text), buf_str(&s->text), s->text.len);
    buf_free(&text);
}

static void
put_attribute(struct scan *s, struct name name, struct name value)
{
    if (s->doc != NULL) {
        build_attribute(s, name, value);
        return;
    }
    buf_addc(&s->out->xml, ' ');
    put_name(&s->out->xml, name);
    buf_add(&s->out->xml, "=\"");
    put_text(s, value.at, value.len, true);
    buf_addc(&s->out->xml, '"');
}

static void
put_attributes(struct scan *s, const struct tag *t)
{
    const char *p = t->attrs, *end = t->attrs + t->attrs_len;
    struct name seen[MAX_ATTRIBUTES], name, value;
    size_t n = 0;

    while (p < end && n < MAX_ATTRIBUTES) {
        bool dup = false;

        if (!read_attribute(&p, end, &name, &value))
            continue;
        for (size_t i = 0; i < n; i++)
            dup = dup || same_name(seen[i], name.at, name.len);
        if (dup || same_name(name, "n", 1) || /* ours, of the bodies */
            (name.len >= 3 && memcmp(name.at, "xml", 3) == 0))
            continue;
        seen[n++] = name;
        put_attribute(s, name, value);
    }
}

/* The name of an element as it stands in the document: in s->bytes. */
static const char *
clean_name(struct scan *s, struct name name)
{
    buf_reset(&s->bytes);
    put_name(&s->bytes, name);
    return buf_str(&s->bytes);
}

static void
put_open(struct scan *s, const struct tag *t)
{
    if (s->doc != NULL) {
        xml_build_open(s->doc, clean_name(s, t->name));
        put_attributes(s, t);
        if (t->empty)
            xml_build_close(s->doc);
        return;
    }
    buf_addc(&s->out->xml, '<');
    put_name(&s->out->xml, t->name);
    put_attributes(s, t);
    buf_add(&s->out->xml, t->empty ? "/>" : ">");
}

static void
put_close(struct scan *s, struct name name)
{
    if (s->doc != NULL) {
        xml_build_close(s->doc);
        return;
    }
    buf_add(&s->out->xml, "</");
    put_name(&s->out->xml, name);
    buf_addc(&s->out->xml, '>');
}

/* An empty element that stands for a body; number NULL: without one. */
static void
put_stand_in(struct scan *s, const char *name, const char *number)
{
    if (s->doc != NULL) {
        xml_build_open(s->doc, name);
        if (number != NULL)
            xml_build_attr(s->doc, "n", number, strlen(number));
        xml_build_close(s->doc);
    } else if (number != NULL) {
        buf_addf(&s->out->xml, "<%s n=\"%s\"/>", name, number);
    } else {
        buf_addf(&s->out->xml, "<%s/>", name);
    }
}

static int
open_element(struct scan *s, const struct tag *t)
{
    put_open(s, t);
    if (t->empty)
        return 0;
    if (s->depth == DIALECT_MAX_DEPTH)
        return give_up(s, "elements are nested too deeply");
    s->open[s->depth++] = t->name;
    return 0;
}

/* An end tag closes its element and those still open inside; one that belongs
 * to none is dropped. */
static void
close_element(struct scan *s, struct name name)
{
    size_t at = s->depth;

    while (at > 0 && !same_name(s->open[at - 1], name.at, name.len))
        at--;
    while (at > 0 && s->depth >= at)
        put_close(s, s->open[--s->depth]);
}

/* ---- opaque bodies ------------------------------------------------------ */

/* Does a regular end of a stderr with CDATA stand at `at`?  Clients write
 * "\n]]>\n</stderr_out>\n" and then <file_info> or </result>. */
static bool
ends_stderr(const struct scan *s, size_t at)
{
    at += strlen("\n]]>\n</stderr_out>\n");
    while (at < s->n && (s->in[at] == ' ' || s->in[at] == '\t'))
        at++;
    return starts(s, at, "<file_info>") || starts(s, at, "</result>");
}

static size_t
seek_stderr_end(struct scan *s)
{
    struct seek *k = &s->stderr_end;

    if (k->known && k->at >= s->pos)
        return k->at;
    k->at = find(s, k->what, s->pos);
    while (k->at < s->n && !ends_stderr(s, k->at))
        k->at = find(s, k->what, k->at + 1);
    k->known = true;
    return k->at;
}

/* Where the text of a <stderr_out> that begins at s->pos ends: its end tag. */
static size_t
stderr_end(struct scan *s)
{
    size_t tag = seek(s, &s->stderr_tag);
    size_t strict;

    if (seek(s, &s->stderr_cdata) > tag)
        return tag; /* no CDATA section */
    strict = seek_stderr_end(s);
    if (strict < s->n && strict - s->pos <= STDERR_MAX_BYTES)
        return strict + strlen("\n]]>\n");
    return tag;
}

static void
add_body(struct scan *s, const char *bytes, size_t len)
{
    struct dialect *d = s->out;

    if (d->n_bodies == s->cap_bodies) {
        s->cap_bodies = s->cap_bodies == 0 ? 16 : 2 * s->cap_bodies;
        d->body = xrealloc(d->body, s->cap_bodies * sizeof *d->body);
    }
    d->body[d->n_bodies].bytes = bytes;
    d->body[d->n_bodies].len = len;
    d->n_bodies++;
}

static const struct opaque *
is_opaque(const struct scan *s, const struct tag *t)
{
    if (t->empty)
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(opaque); i++)
        if (same_name(t->name, opaque[i].name, strlen(opaque[i].name)))
            return opaque[i].top_level_only && s->depth != 1 ? NULL
                                                             : &opaque[i];
    return NULL;
}

/* Cut out the body that begins at s->pos.  1 done, 0 it has no end, -1. */
static int
cut_body(struct scan *s, const struct opaque *o)
{
    size_t end = o->ending == ENDS_AS_STDERR ? stderr_end(s)
                                             : seek(s, &s->closers[o - opaque]);
    char number[24];

    if (end == s->n) {
        if (!o->must_end)
            return 0;
        buf_addf(s->err, "there is no %s tag", o->end_tag);
        return -1;
    }
    snprintf(number, sizeof(number), "%zu", s->out->n_bodies);
    put_stand_in(s, o->name, number);
    add_body(s, s->in + s->pos, end - s->pos);
    s->pos = end + strlen(o->end_tag);
    return 1;
}

/* ---- the pass ----------------------------------------------------------- */

static int
take_tag(struct scan *s, const struct tag *t)
{
    const struct opaque *o;

    if (flush_text(s) != 0)
        return -1;
    s->pos += t->len;
    if (t->end) {
        close_element(s, t->name);
        return 0;
    }
    if (++s->n_elements > DIALECT_MAX_ELEMENTS)
        return give_up(s, "there are too many elements");
    o = is_opaque(s, t);
    if (o != NULL) {
        int rc = cut_body(s, o);

        if (rc != 0)
            return rc < 0 ? -1 : 0;
        put_stand_in(s, o->name, NULL);
        return 0;
    }
    return open_element(s, t);
}

/* The end of the CDATA section, comment, <?…> or <!…> at s->pos; 0: it is none
 * of them. */
static size_t
markup_end(struct scan *s)
{
    size_t end;

    if (starts(s, s->pos, "<![CDATA[") && (end = seek(s, &s->cdata_end)) < s->n)
        return end + strlen("]]>");
    if (starts(s, s->pos, "<!--") && (end = seek(s, &s->comment_end)) < s->n)
        return end + strlen("-->");
    if (!starts(s, s->pos, "<?") && !starts(s, s->pos, "<!"))
        return 0;
    for (end = s->pos + 1;
         end < s->n && s->in[end] != '<' && s->in[end] != '>';)
        end++;
    return end < s->n && s->in[end] == '>' ? end + 1 : 0;
}

/* CDATA is text as it stands, the rest is dropped. */
static int
take_markup(struct scan *s, size_t end)
{
    size_t from = s->pos + strlen("<![CDATA[");

    if (flush_text(s) != 0)
        return -1;
    if (starts(s, s->pos, "<![CDATA[") &&
        starts(s, end - strlen("]]>"), "]]>")) {
        size_t len = end - strlen("]]>") - from;

        if (len > TEXT_MAX_BYTES)
            return give_up(s, "a text is too long");
        put_text(s, s->in + from, len, false);
    }
    s->pos = end;
    return 0;
}

/* Text goes on to the next '<'; one that stands here is text itself. */
static void
take_text(struct scan *s)
{
    const char *p = s->in + s->pos;
    const char *next = memchr(p + 1, '<', s->n - s->pos - 1);
    size_t len = next != NULL ? (size_t)(next - p) : s->n - s->pos;

    s->pos += len;
    s->n_pending += len;
}

static int
take_token(struct scan *s)
{
    struct tag t;
    size_t end;

    if (s->in[s->pos] == '<') {
        if (read_tag(s, &t))
            return take_tag(s, &t);
        if ((end = markup_end(s)) > 0)
            return take_markup(s, end);
    }
    take_text(s);
    return 0;
}

/* Go to the root's start tag and open it. */
static int
find_root(struct scan *s, const char *root)
{
    size_t len = strlen(root);
    struct tag t;

    for (const char *p; s->pos < s->n; s->pos++) {
        p = memchr(s->in + s->pos, '<', s->n - s->pos);
        if (p == NULL)
            break;
        s->pos = (size_t)(p - s->in);
        if (!starts(s, s->pos + 1, root) || !read_tag(s, &t) ||
            !same_name(t.name, root, len))
            continue;
        t.empty = t.attrs_len == 1 && t.attrs[0] == '/';
        t.attrs_len = 0;
        s->pos += t.len;
        return open_element(s, &t);
    }
    buf_addf(s->err, "there is no <%s> tag", root);
    return -1;
}

static int
pass(struct scan *s, const char *root)
{
    if (find_root(s, root) != 0)
        return -1;
    while (s->depth > 0 && s->pos < s->n)
        if (take_token(s) != 0)
            return -1;
    if (s->depth == 0)
        return 0;
    buf_addf(s->err, "there is no </%s> tag", root);
    return -1;
}

static int
run(const char *bytes, size_t n, const char *root, struct dialect *ret,
    struct xml_doc *doc, struct buf *err)
{
    struct seek closers[ARRAY_LEN(opaque)];
    struct scan s = {
        .in = bytes,
        .n = n,
        .out = ret,
        .doc = doc,
        .err = err,
        .cdata_end = {"]]>",                    0, false},
        .comment_end = {"-->",                    0, false},
        .stderr_cdata = {"<![CDATA[",              0, false},
        .stderr_end = {"\n]]>\n</stderr_out>\n", 0, false},
        .stderr_tag = {"</stderr_out>",          0, false},
        .closers = closers,
    };
    int rc;

    for (size_t i = 0; i < ARRAY_LEN(opaque); i++)
        closers[i] = (struct seek){opaque[i].end_tag, 0, false};
    memset(ret, 0, sizeof *ret);
    rc = pass(&s, root);
    buf_free(&s.bytes);
    buf_free(&s.text);
    if (rc != 0)
        dialect_free(ret);
    return rc;
}

int
dialect_repair(const char *bytes, size_t n, const char *root,
               struct dialect *ret, struct buf *err)
{
    return run(bytes, n, root, ret, NULL, err);
}

int
dialect_read(const char *bytes, size_t n, const char *root, struct dialect *ret,
             struct xml_doc **ret_doc, struct buf *err)
{
    struct xml_doc *doc = xml_build();

    if (run(bytes, n, root, ret, doc, err) != 0) {
        xml_free(doc);
        return -1;
    }
    *ret_doc = doc;
    return 0;
}

void
dialect_free(struct dialect *d)
{
    buf_free(&d->xml);
    free(d->body);
    memset(d, 0, sizeof *d);
}
