/* request_item.c - the items of a request's lists: results, trickles, versions,
 * files. */
#include "request_item.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "dialect.h"
#include "fields.h"
#include "utf8.h"
#include "xml.h"

#define BLOB_MAX_BYTES 65535
#define TRICKLE_MAX_BYTES 262143

/* ---- opaque bodies ------------------------------------------------------ */

static const struct dialect_body *
body_of(const struct xml_node *node, const struct dialect *dialect)
{
    const char *n = xml_attr(node, "n");
    size_t i = n != NULL ? strtoul(n, NULL, 10) : dialect->n_bodies;

    return i < dialect->n_bodies ? &dialect->body[i] : NULL;
}

bool
item_body(const struct xml_node *node, const struct dialect *dialect,
          struct buf *out)
{
    const struct dialect_body *body = body_of(node, dialect);

    if (body != NULL)
        utf8_repair(body->bytes, body->len, out);
    return body != NULL;
}

/* Give the text away, cut at a character border. */
static char *
take_cut(struct buf *text, size_t max)
{
    if (text->len > max)
        buf_truncate(text, utf8_cut(buf_str(text), max));
    return text->len > 0 ? buf_take(text) : xstrdup("");
}

/* ---- results ------------------------------------------------------------ */

#define TEXT(element, member)                                                  \
    FIELD_AT(element, FIELD_TEXT, reported_result, member, 0, 0)
#define INT(element, member, min, max)                                         \
    FIELD_AT(element, FIELD_INT, reported_result, member, min, max)
#define AMOUNT(element, member)                                                \
    FIELD_AT(element, FIELD_DOUBLE, reported_result, member, 0, MAX_REAL)

static const struct field result_fields[] = {
    TEXT("name", name),
    AMOUNT("final_cpu_time", cpu_time),
    AMOUNT("final_elapsed_time", elapsed_time),
    INT("state", state, -MAX_INT32, MAX_INT32),
    TEXT("platform", platform),
    INT("version_num", version_num, 0, MAX_INT32),
    TEXT("plan_class", plan_class),
    INT("app_version_num", app_version_num, 0, MAX_INT32),
    AMOUNT("final_peak_working_set_size", peak_working_set_size),
    AMOUNT("final_peak_swap_size", peak_swap_size),
    AMOUNT("final_peak_disk_usage", peak_disk_usage),
};

#undef TEXT
#undef INT
#undef AMOUNT

/* The value of "&#N;" at p for a byte above ASCII, else -1.  The client writes
 * such bytes so, and no others: "&#60;" is what the application printed. */
static int
high_byte(const char *p, size_t n)
{
    int value = 0;

    if (n < 6 || p[1] != '#' || p[5] != ';')
        return -1;
    for (size_t i = 2; i < 5; i++) {
        if (p[i] < '0' || p[i] > '9')
            return -1;
        value = value * 10 + (p[i] - '0');
    }
    return value >= 128 && value <= 255 ? value : -1;
}

static void
decode_stderr(const char *p, size_t n, struct buf *out)
{
    size_t i = 0;

    while (i < n) {
        const char *amp = memchr(p + i, '&', n - i);
        size_t plain = amp != NULL ? (size_t)(amp - p) - i : n - i;
        int byte;

        buf_addn(out, p + i, plain);
        i += plain;
        if (i == n)
            break;
        byte = high_byte(p + i, n - i);
        buf_addc(out, byte < 0 ? '&' : (char)(unsigned char)byte);
        i += byte < 0 ? 1 : 6;
    }
}

static char *
read_stderr(const struct xml_node *node, const struct dialect *dialect)
{
    const struct dialect_body *body = body_of(node, dialect);
    struct buf bytes = BUF_INIT, text = BUF_INIT;
    const char *p;
    size_t n;
    char *ret;

    if (body == NULL)
        return xstrdup("");
    p = body->bytes;
    n = body->len;
    if (n > 0 && *p == '\n') { /* of the tag's line */
        p++;
        n--;
    }
    decode_stderr(p, n, &bytes);
    utf8_repair(buf_str(&bytes), bytes.len, &text);
    ret = take_cut(&text, BLOB_MAX_BYTES);
    buf_free(&bytes);
    buf_free(&text);
    return ret;
}

/* Only a whole number can say that a job succeeded. */
static void
read_exit_status(const struct xml_node *node, struct reported_result *ret)
{
    double value;

    ret->has_exit_status = node_number(node, &value) && value == floor(value);
    ret->exit_status = 0;
    if (ret->has_exit_status)
        ret->exit_status = value > INT_MAX   ? INT_MAX
                           : value < INT_MIN ? INT_MIN
                                             : (int)value;
}

/* A file that has no room is left out whole. */
static void
read_output(const struct xml_node *node, struct buf *out)
{
    size_t before = out->len;

    xml_dump(node, out);
    if (out->len > BLOB_MAX_BYTES)
        buf_truncate(out, before);
}

bool
item_result(const struct xml_node *result, const struct dialect *dialect,
            struct reported_result *ret)
{
    const struct xml_node *node = xml_first(result);
    struct buf outputs = BUF_INIT;

    for (; node != NULL; node = xml_next(node)) {
        const char *name = xml_name(node);

        if (strcmp(name, "file_info") == 0) {
            read_output(node, &outputs);
        } else if (strcmp(name, "exit_status") == 0) {
            read_exit_status(node, ret);
        } else if (strcmp(name, "stderr_out") == 0) {
            free(ret->stderr_out);
            ret->stderr_out = read_stderr(node, dialect);
        } else {
            field_read(result_fields, ARRAY_LEN(result_fields), node, ret);
        }
    }
    ret->xml_doc_out = take_cut(&outputs, BLOB_MAX_BYTES);
    buf_free(&outputs);
    if (ret->stderr_out == NULL)
        ret->stderr_out = xstrdup("");
    if (ret->name[0] == '\0')
        item_free(ret);
    return ret->name[0] != '\0';
}

void
item_free(struct reported_result *r)
{
    free(r->stderr_out);
    free(r->xml_doc_out);
    r->stderr_out = NULL;
    r->xml_doc_out = NULL;
}

static int
by_name_and_place(const void *a, const void *b)
{
    const struct reported_result *x = *(struct reported_result *const *)a;
    const struct reported_result *y = *(struct reported_result *const *)b;
    int c = strcmp(x->name, y->name);

    return c != 0 ? c : (x > y) - (x < y);
}

/* Sorting pointers keeps this n log n whatever the names are. */
size_t
item_drop_duplicates(struct reported_result *result, size_t n)
{
    struct reported_result **sorted = xcalloc(n + 1, sizeof *sorted);
    size_t kept = 0;

    for (size_t i = 0; i < n; i++)
        sorted[i] = &result[i];
    qsort(sorted, n, sizeof *sorted, by_name_and_place);
    for (size_t i = n; i-- > 1;) /* a freed one has no stderr_out */
        if (strcmp(sorted[i]->name, sorted[i - 1]->name) == 0)
            item_free(sorted[i]);
    free(sorted);
    for (size_t i = 0; i < n; i++)
        if (result[i].stderr_out != NULL)
            result[kept++] = result[i];
    return kept;
}

/* ---- the others --------------------------------------------------------- */

bool
item_other_result(const struct xml_node *node, struct other_result *ret)
{
    static const struct field fields[] = {
        FIELD_AT("name", FIELD_TEXT, other_result, name, 0, 0),
        FIELD_AT("app_version", FIELD_INT, other_result, app_version, -1,
                 MAX_INT32),
        FIELD_AT("plan_class", FIELD_TEXT, other_result, plan_class, 0, 0),
    };

    ret->app_version = -1;
    fields_read(fields, ARRAY_LEN(fields), node, ret);
    return ret->name[0] != '\0';
}

bool
item_queued_job(const struct xml_node *node, struct queued_job *ret)
{
    static const struct field fields[] = {
        FIELD_AT("report_deadline", FIELD_DOUBLE, queued_job, report_deadline,
                 0, MAX_REAL),
        FIELD_AT("cpu_time_remaining", FIELD_DOUBLE, queued_job, time_remaining,
                 0, MAX_REAL),
        FIELD_AT("time_remaining", FIELD_DOUBLE, queued_job, time_remaining, 0,
                 MAX_REAL),
    };

    fields_read(fields, ARRAY_LEN(fields), node, ret);
    return ret->report_deadline > 0 && xml_child(node, "ncudas") == NULL &&
           xml_child(node, "natis") == NULL &&
           xml_child(node, "nintel_gpus") == NULL;
}

bool
item_keyword(const struct xml_node *node, struct keyword_wish *ret)
{
    double id;

    ret->liked = strcmp(xml_name(node), "yes") == 0;
    if (!ret->liked && strcmp(xml_name(node), "no") != 0)
        return false;
    if (!node_number(node, &id) || id < 1 || id > MAX_INT32)
        return false;
    ret->id = (int)id;
    return true;
}

bool
item_file(const struct xml_node *node, struct client_file *ret)
{
    static const struct field fields[] = {
        FIELD_AT("name", FIELD_TEXT, client_file, name, 0, 0),
        FIELD_AT("nbytes", FIELD_DOUBLE, client_file, nbytes, 0, MAX_REAL),
    };

    fields_read(fields, ARRAY_LEN(fields), node, ret);
    return ret->name[0] != '\0';
}

void
item_app_version(const struct xml_node *node, struct client_app_version *ret)
{
    static const struct field fields[] = {
        FIELD_AT("app_name", FIELD_TEXT, client_app_version, app_name, 0, 0),
        FIELD_AT("version_num", FIELD_INT, client_app_version, version_num, 0,
                 MAX_INT32),
        FIELD_AT("platform", FIELD_TEXT, client_app_version, platform, 0, 0),
        FIELD_AT("plan_class", FIELD_TEXT, client_app_version, plan_class, 0,
                 0),
        FIELD_AT("avg_ncpus", FIELD_DOUBLE, client_app_version, avg_ncpus, 0,
                 MAX_REAL),
        FIELD_AT("flops", FIELD_DOUBLE, client_app_version, flops, 0, MAX_REAL),
        FIELD_AT("gpu_ram", FIELD_DOUBLE, client_app_version, gpu_ram, 0,
                 MAX_REAL),
        FIELD_AT("cmdline", FIELD_TEXT, client_app_version, cmdline, 0, 0),
    };
    static const struct field coproc[] = {
        FIELD_AT("type", FIELD_TEXT, client_app_version, coproc, 0, 0),
        FIELD_AT("count", FIELD_DOUBLE, client_app_version, coproc_count, 0,
                 ABILITY_MAX_INSTANCES),
    };

    fields_read(fields, ARRAY_LEN(fields), node, ret);
    fields_read(coproc, ARRAY_LEN(coproc), xml_child(node, "coproc"), ret);
}

/* The variety of a line that has one: up to the end tag or the line's end. */
static void
read_variety(const char *value, const char *line_end, char *ret, size_t size)
{
    struct buf text = BUF_INIT;
    const char *end =
        memmem(value, (size_t)(line_end - value), "</variety>", 10);

    if (end == NULL)
        end = line_end;
    while (value < end && (*value == ' ' || *value == '\t'))
        value++;
    while (value < end && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    buf_addn(&text, value, (size_t)(end - value));
    str_copy(ret, size, buf_str(&text));
    buf_free(&text);
}

/* Read by lines (§2.3.8): the first line that contains <variety> is that, the
 * others are the text, whatever is in them. */
bool
item_trickle(const struct xml_node *node, const struct dialect *dialect,
             struct trickle_up *ret)
{
    struct buf body = BUF_INIT, text = BUF_INIT;
    bool found = item_body(node, dialect, &body), has_variety = false;
    const char *p = buf_str(&body), *end;

    if (*p == '\n') /* of the tag's line */
        p++;
    for (; *p != '\0'; p = end) {
        size_t len = strcspn(p, "\n");
        const char *variety = memmem(p, len, "<variety>", 9);

        end = p + len + (p[len] == '\n' ? 1 : 0);
        if (variety != NULL && !has_variety) {
            read_variety(variety + 9, p + len, ret->variety,
                         sizeof ret->variety);
            has_variety = true;
        } else if (*end != '\0' || strspn(p, " \t") < len) {
            buf_addn(&text, p, (size_t)(end - p));
        } /* else: the blanks before the end tag */
    }
    if (found)
        ret->xml = take_cut(&text, TRICKLE_MAX_BYTES);
    buf_free(&body);
    buf_free(&text);
    return found;
}
