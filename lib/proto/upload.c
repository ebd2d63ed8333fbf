/* upload.c - upload and file-size requests, their replies.
 *
 * The header is read by lines, as clients write it (protocol §3.1); a line that
 * is not known is ignored.  The values may be anything: the handler decides
 * what to do with a name or a size. */
#include "upload.h"

#include <inttypes.h>
#include <string.h>

#include "buf.h"
#include "xml.h"

#define MESSAGE_MAX_BYTES 255

struct line {
    const char *at;
    size_t len; /* without blanks at both ends and the line's end */
    bool ended; /* by a newline */
};

struct header {
    const char *bytes;
    size_t n;
    size_t pos;
    bool in_file_info;
    bool md5_of_upload; /* md5 comes from the upload, not from file_info */
    int major, minor, release; /* of the client */
    struct upload_request *ret;
};

static bool
is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool
next_line(struct header *h, struct line *ret)
{
    const char *p = h->bytes + h->pos, *end;
    size_t left = h->n - h->pos;

    if (left == 0)
        return false;
    end = memchr(p, '\n', left);
    ret->ended = end != NULL;
    if (end == NULL)
        end = p + left;
    h->pos += (size_t)(end - p) + (ret->ended ? 1 : 0);
    while (p < end && is_blank(*p))
        p++;
    while (p < end && is_blank(end[-1]))
        end--;
    ret->at = p;
    ret->len = (size_t)(end - p);
    return true;
}

static const char *
find_in(struct line line, const char *what)
{
    return memmem(line.at, line.len, what, strlen(what));
}

static bool
line_is(struct line line, const char *what)
{
    return line.len == strlen(what) && memcmp(line.at, what, line.len) == 0;
}

/* Is the line "<tag>value</tag>"?  The end tag may be missing. */
static bool
value_of(struct line line, const char *tag, struct line *ret)
{
    size_t len = strlen(tag);
    const char *end;

    if (line.len < len + 2 || line.at[0] != '<' ||
        memcmp(line.at + 1, tag, len) != 0 || line.at[len + 1] != '>')
        return false;
    ret->at = line.at + len + 2;
    ret->len = line.len - len - 2;
    end = memchr(ret->at, '<', ret->len);
    if (end != NULL)
        ret->len = (size_t)(end - ret->at);
    while (ret->len > 0 && is_blank(*ret->at)) {
        ret->at++;
        ret->len--;
    }
    while (ret->len > 0 && is_blank(ret->at[ret->len - 1]))
        ret->len--;
    return true;
}

/* A double without exponent, as clients print sizes; decimals are cut off.
 * What has no place in 64 bits is the largest number there is. */
static bool
parse_size(struct line v, int64_t *ret)
{
    bool negative = v.len > 0 && *v.at == '-';
    size_t i = negative ? 1 : 0, first = i;
    int64_t n = 0;

    for (; i < v.len && v.at[i] >= '0' && v.at[i] <= '9'; i++) {
        int digit = v.at[i] - '0';

        n = n > (INT64_MAX - digit) / 10 ? INT64_MAX : n * 10 + digit;
    }
    if (i == first)
        return false;
    if (i < v.len && v.at[i] == '.')
        for (i++; i < v.len && v.at[i] >= '0' && v.at[i] <= '9';)
            i++;
    if (i < v.len)
        return false;
    *ret = negative ? -n : n;
    return true;
}

static int
parse_version(struct line v)
{
    int64_t n;

    return parse_size(v, &n) && n >= 0 && n <= 10000 ? (int)n : 0;
}

static void
parse_name(struct line v, char ret[NAME_SIZE])
{
    ret[0] = '\0';
    if (v.len >= NAME_SIZE || memchr(v.at, '\0', v.len) != NULL)
        return;
    memcpy(ret, v.at, v.len);
    ret[v.len] = '\0';
}

static bool
parse_md5(struct line v, char ret[33])
{
    char hex[33] = "";

    if (v.len != 32)
        return false;
    for (size_t i = 0; i < 32; i++) {
        char c = v.at[i];

        if (c >= 'A' && c <= 'F')
            c = (char)(c - 'A' + 'a');
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
            return false;
        hex[i] = c;
    }
    memcpy(ret, hex, sizeof hex);
    return true;
}

/* Lines up to the one with the end tag; one that is too long is none. */
static void
read_signature(struct header *h, struct line line)
{
    char *to = h->ret->xml_signature;
    size_t n = 0;
    const char *end = NULL;
    struct line rest = {line.at + strlen("<xml_signature>"),
                        line.len - strlen("<xml_signature>"), line.ended};

    do {
        end = find_in(rest, "</xml_signature>");
        if (end != NULL)
            rest.len = (size_t)(end - rest.at);
        if (n + rest.len + 2 > sizeof h->ret->xml_signature) {
            n = 0;
            break;
        }
        memcpy(to + n, rest.at, rest.len);
        n += rest.len;
        if (rest.len > 0)
            to[n++] = '\n';
    } while (end == NULL && next_line(h, &rest));
    to[end != NULL ? n : 0] = '\0';
}

/* Old clients put an md5_cksum and more into file_info, too; what stands
 * outside is of this upload. */
static void
read_md5(struct header *h, struct line v)
{
    if (h->in_file_info && h->md5_of_upload)
        return;
    if (parse_md5(v, h->ret->md5) && !h->in_file_info)
        h->md5_of_upload = true;
}

static void
read_numbers(struct header *h, struct line line)
{
    struct upload_request *u = h->ret;
    struct line v;

    if (value_of(line, "max_nbytes", &v))
        u->has_max_nbytes = parse_size(v, &u->max_nbytes);
    else if (value_of(line, "nbytes", &v) && !h->in_file_info)
        u->has_nbytes = parse_size(v, &u->nbytes);
    else if (value_of(line, "offset", &v) && !parse_size(v, &u->offset))
        u->offset = -1;
    else if (value_of(line, "core_client_major_version", &v))
        h->major = parse_version(v);
    else if (value_of(line, "core_client_minor_version", &v))
        h->minor = parse_version(v);
    else if (value_of(line, "core_client_release", &v))
        h->release = parse_version(v);
}

static void
read_line(struct header *h, struct line line)
{
    struct upload_request *u = h->ret;
    struct line v;

    if (line_is(line, "<file_upload>")) {
        u->kind = UPLOAD_FILE;
    } else if (line_is(line, "<file_info>")) {
        h->in_file_info = true;
    } else if (line_is(line, "</file_info>")) {
        h->in_file_info = false;
    } else if (value_of(line, "get_file_size", &v)) {
        u->kind = UPLOAD_SIZE;
        parse_name(v, u->name);
    } else if (value_of(line, "name", &v)) {
        parse_name(v, u->name);
    } else if (value_of(line, "xml_signature", &v)) {
        read_signature(h, line);
    } else if (value_of(line, "md5_cksum", &v)) {
        read_md5(h, v);
    } else {
        read_numbers(h, line);
    }
}

bool
upload_header_complete(const char *bytes, size_t n)
{
    struct header h = {.bytes = bytes,
                       .n = n < UPLOAD_HEADER_MAX ? n : UPLOAD_HEADER_MAX};
    struct line line;

    while (next_line(&h, &line)) {
        if (line.ended && line_is(line, "<data>"))
            return true;
        if (find_in(line, "</get_file_size>") != NULL ||
            find_in(line, "</data_server_request>") != NULL)
            return true;
    }
    return false;
}

void
upload_parse(const char *bytes, size_t n, struct upload_request *ret)
{
    struct header h = {.bytes = bytes,
                       .n = n < UPLOAD_HEADER_MAX ? n : UPLOAD_HEADER_MAX,
                       .ret = ret};
    struct line line;

    memset(ret, 0, sizeof *ret);
    while (!ret->has_data && next_line(&h, &line)) {
        if (line.ended && line_is(line, "<data>"))
            ret->has_data = true;
        else
            read_line(&h, line);
    }
    ret->client_version = 10000 * h.major + 100 * h.minor + h.release;
    ret->header_size = h.pos;
}

void
upload_certificate_text(const char *name, int64_t max_nbytes, struct buf *out)
{
    buf_addf(out, "<name>%s</name><max_nbytes>%" PRId64 "</max_nbytes>", name,
             max_nbytes);
}

/* Clients search for "<status>" and the like in the text: no '<' in it. */
void
upload_reply(enum upload_status status, const char *message, struct buf *out)
{
    struct buf line = BUF_INIT;

    buf_addf(out, "<data_server_reply>\n    <status>%d</status>\n",
             (int)status);
    if (status != UPLOAD_OK && message != NULL) {
        for (size_t i = 0; message[i] != '\0' && i < MESSAGE_MAX_BYTES; i++)
            buf_addc(&line, message[i] == '<' || message[i] == '\n'
                                ? ' '
                                : message[i]);
        buf_add(out, "    <message>");
        xml_escape(out, buf_str(&line));
        buf_add(out, "</message>\n");
        buf_free(&line);
    }
    buf_add(out, "</data_server_reply>\n");
}

void
upload_reply_size(int64_t size, struct buf *out)
{
    buf_addf(out,
             "<data_server_reply>\n"
             "    <status>0</status>\n"
             "    <file_size>%" PRId64 "</file_size>\n"
             "</data_server_reply>\n",
             size);
}
