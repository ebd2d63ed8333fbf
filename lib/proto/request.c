/* request.c - a scheduler request -> struct sched_request.
 *
 * dialect.c has made the document well-formed and cut out the opaque bodies;
 * here are tables of what the scheduler wants to know, and the few elements
 * that need code.  An element that no table names is skipped with all that is
 * in it (§2.3.9). */
#include "request.h"

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "dialect.h"
#include "fields.h"
#include "prefs.h"
#include "request_ability.h"
#include "request_facts.h"
#include "request_item.h"
#include "utf8.h"
#include "xml.h"

#define WORK_REQ_MAX (28 * 86400.0) /* s */
#define MAX_CPUS 65536.0
#define PREFS_MAX_BYTES 65535 /* a blob */
#define LOG_MAX_BYTES 1048576

#define TEXT(element, member)                                                  \
    FIELD_AT(element, FIELD_TEXT, sched_request, member, 0, 0)
#define INT(element, member, min, max)                                         \
    FIELD_AT(element, FIELD_INT, sched_request, member, min, max)
#define ID(element, member)                                                    \
    FIELD_AT(element, FIELD_I64, sched_request, member, 0, MAX_INT32)
#define REAL(element, member, min, max)                                        \
    FIELD_AT(element, FIELD_DOUBLE, sched_request, member, min, max)
#define AMOUNT(element, member) REAL(element, member, 0, MAX_REAL)
#define BOOL(element, member)                                                  \
    FIELD_AT(element, FIELD_BOOL, sched_request, member, 0, 0)

static const struct field scalars[] = {
    TEXT("authenticator", authenticator),
    ID("hostid", hostid),
    ID("rpc_seqno", rpc_seqno),
    INT("core_client_major_version", core_client_major_version, 0, 10000),
    INT("core_client_minor_version", core_client_minor_version, 0, 10000),
    INT("core_client_release", core_client_release, 0, 10000),
    REAL("resource_share_fraction", resource_share_fraction, 0, 1),
    REAL("rrs_fraction", rrs_fraction, 0, 1),
    REAL("prrs_fraction", prrs_fraction, 0, 1),
    AMOUNT("duration_correction_factor", host.duration_correction_factor),
    INT("allow_multiple_clients", allow_multiple_clients, -1, 1),
    INT("sandbox", sandbox, -1, 1),
    BOOL("dont_send_work", dont_send_work),
    REAL("work_req_seconds", work_req_seconds, 0, WORK_REQ_MAX),
    REAL("cpu_req_secs", cpu_req_secs, 0, WORK_REQ_MAX *MAX_CPUS),
    REAL("cpu_req_instances", cpu_req_instances, 0, MAX_CPUS),
    AMOUNT("estimated_delay", estimated_delay),
    BOOL("client_cap_plan_class", client_cap_plan_class),
    BOOL("dont_use_docker", ability.dont_use_docker),
    BOOL("dont_use_wsl", ability.dont_use_wsl),
    TEXT("platform_name", platform_name),
    TEXT("code_sign_key", code_sign_key),
    TEXT("cross_project_id", cross_project_id),
    TEXT("client_brand", client_brand),
    TEXT("global_prefs_source_email_hash", global_prefs_source_email_hash),
};

static const struct field time_stats[] = {
    REAL("on_frac", host.on_frac, 0, 1),
    REAL("connected_frac", host.connected_frac, -1, 1),
    REAL("active_frac", host.active_frac, 0, 1),
    REAL("gpu_active_frac", host.gpu_active_frac, 0, 1),
    REAL("cpu_efficiency", cpu_efficiency, 0, 1),
};

static const struct field net_stats[] = {
    AMOUNT("bwup", host.n_bwup),
    AMOUNT("bwdown", host.n_bwdown),
};

static const struct field disk_usage[] = {
    AMOUNT("d_boinc_used_total", host.d_boinc_used_total),
    AMOUNT("d_boinc_used_project", host.d_boinc_used_project),
    AMOUNT("d_boinc_max", host.d_boinc_max), /* old clients */
    AMOUNT("d_project_share", host.d_boinc_max),
};

static const struct field host_info[] = {
    INT("timezone", host.timezone, -86400, 86400),
    TEXT("domain_name", host.domain_name),
    TEXT("ip_addr", host.last_ip_addr),
    TEXT("host_cpid", host.host_cpid),
    INT("p_ncpus", host.p_ncpus, 1, MAX_CPUS),
    TEXT("p_vendor", host.p_vendor),
    TEXT("p_model", host.p_model),
    AMOUNT("p_fpops", host.p_fpops),
    AMOUNT("p_iops", host.p_iops),
    AMOUNT("p_membw", host.p_membw),
    AMOUNT("m_nbytes", host.m_nbytes),
    AMOUNT("m_cache", host.m_cache),
    AMOUNT("m_swap", host.m_swap),
    AMOUNT("d_total", host.d_total),
    AMOUNT("d_free", host.d_free),
    TEXT("os_name", host.os_name),
    TEXT("os_version", host.os_version),
    TEXT("product_name", host.product_name),
};

struct reader {
    const struct dialect *dialect;
    struct sched_request *request;
    size_t cap_results, cap_app_versions, cap_other_results, cap_alt_platforms,
        cap_trickles, cap_files, cap_keywords, cap_queue;
};

/* Room for one more, zeroed.  `cap` is the list's room so far. */
static void *
grow(void *list, size_t n, size_t *cap, size_t size)
{
    if (n == *cap) {
        *cap = *cap == 0 ? 8 : 2 * *cap;
        list = xrealloc(list, *cap * size);
    }
    memset((char *)list + n * size, 0, size);
    return list;
}

#define GROW(r, list, n, cap)                                                  \
    ((r)->request->list = grow((r)->request->list, (r)->request->n, &(r)->cap, \
                               sizeof *(r)->request->list),                    \
     &(r)->request->list[(r)->request->n])

static void
read_time_stats(struct reader *r, const struct xml_node *node)
{
    fields_read(time_stats, ARRAY_LEN(time_stats), node, r->request);
}

static void
read_net_stats(struct reader *r, const struct xml_node *node)
{
    fields_read(net_stats, ARRAY_LEN(net_stats), node, r->request);
}

static void
read_disk_usage(struct reader *r, const struct xml_node *node)
{
    fields_read(disk_usage, ARRAY_LEN(disk_usage), node, r->request);
}

static void
read_host_info(struct reader *r, const struct xml_node *node)
{
    fields_read(host_info, ARRAY_LEN(host_info), node, r->request);
    ability_read_host_info(node, &r->request->ability);
}

static void
read_alt_platform(struct reader *r, const struct xml_node *node)
{
    char(*to)[NAME_SIZE] =
        GROW(r, alt_platform, n_alt_platforms, cap_alt_platforms);

    if (xml_get_str(node, "name", *to, sizeof *to))
        r->request->n_alt_platforms++;
}

/* The position of a version is its index, so none may be left out. */
static void
read_app_versions(struct reader *r, const struct xml_node *list)
{
    const struct xml_node *node = xml_first(list);

    for (; node != NULL; node = xml_next(node)) {
        if (strcmp(xml_name(node), "app_version") != 0 ||
            r->request->n_app_versions == REQUEST_MAX_APP_VERSIONS)
            continue;
        item_app_version(
            node, GROW(r, app_version, n_app_versions, cap_app_versions));
        r->request->n_app_versions++;
    }
}

static void
read_other_results(struct reader *r, const struct xml_node *list)
{
    const struct xml_node *node = xml_first(list);

    r->request->has_other_results = true;
    for (; node != NULL; node = xml_next(node))
        if (strcmp(xml_name(node), "other_result") == 0 &&
            item_other_result(node, GROW(r, other_result, n_other_results,
                                         cap_other_results)))
            r->request->n_other_results++;
}

static void
read_keywords(struct reader *r, const struct xml_node *list)
{
    for (const struct xml_node *node = xml_first(list); node != NULL;
         node = xml_next(node))
        if (item_keyword(node, GROW(r, keyword, n_keywords, cap_keywords)))
            r->request->n_keywords++;
}

static void
read_queue(struct reader *r, const struct xml_node *list)
{
    r->request->has_queue = true;
    for (const struct xml_node *node = xml_first(list); node != NULL;
         node = xml_next(node))
        if (item_queued_job(node, GROW(r, queue, n_queue, cap_queue)))
            r->request->n_queue++;
}

static void
read_result(struct reader *r, const struct xml_node *node)
{
    struct reported_result *result = GROW(r, result, n_results, cap_results);

    if (item_result(node, r->dialect, result))
        r->request->n_results++;
}

static void
read_trickle(struct reader *r, const struct xml_node *node)
{
    struct trickle_up *trickle = GROW(r, trickle, n_trickles, cap_trickles);

    if (item_trickle(node, r->dialect, trickle))
        r->request->n_trickles++;
}

static void
read_file(struct reader *r, const struct xml_node *node)
{
    struct client_file *file = GROW(r, file, n_files, cap_files);

    if (item_file(node, file))
        r->request->n_files++;
}

static void
read_stats_log(struct reader *r, const struct xml_node *node)
{
    struct buf text = BUF_INIT;

    if (item_body(node, r->dialect, &text) && text.len <= LOG_MAX_BYTES) {
        free(r->request->time_stats_log);
        r->request->time_stats_log = buf_take(&text);
    }
    buf_free(&text);
}

static void
read_coprocs(struct reader *r, const struct xml_node *list)
{
    ability_read_coprocs(list, &r->request->ability);
}

static void
read_cpu_request(struct reader *r, const struct xml_node *node)
{
    r->request->has_cpu_req = true;
    field_read(scalars, ARRAY_LEN(scalars), node, r->request);
}

static void
read_working_prefs(struct reader *r, const struct xml_node *node)
{
    struct buf text = BUF_INIT;

    if (item_body(node, r->dialect, &text))
        r->request->has_working_prefs =
            prefs_parse(buf_str(&text), "", &r->request->working_prefs) == 0;
    buf_free(&text);
}

/* The master document is kept as it came, but as valid UTF-8. */
static void
read_master_prefs(struct reader *r, const struct xml_node *node)
{
    struct sched_request *q = r->request;
    struct buf text = BUF_INIT;
    bool ok;

    buf_add(&text, "<global_preferences>");
    ok = item_body(node, r->dialect, &text);
    buf_add(&text, "</global_preferences>\n");
    if (ok && text.len <= PREFS_MAX_BYTES &&
        prefs_parse(buf_str(&text), "", &q->master_prefs) == 0) {
        free(q->global_prefs_xml);
        q->global_prefs_xml = buf_take(&text);
    }
    buf_free(&text);
}

static const struct {
    const char *element;
    void (*read)(struct reader *, const struct xml_node *);
} readers[] = {
    {"result",                     read_result       },
    {"file_info",                  read_file         },
    {"msg_from_host",              read_trickle      },
    {"host_info",                  read_host_info    },
    {"time_stats",                 read_time_stats   },
    {"time_stats_log",             read_stats_log    },
    {"net_stats",                  read_net_stats    },
    {"disk_usage",                 read_disk_usage   },
    {"coprocs",                    read_coprocs      },
    {"alt_platform",               read_alt_platform },
    {"app_versions",               read_app_versions },
    {"other_results",              read_other_results},
    {"in_progress_results",        read_queue        },
    {"user_keywords",              read_keywords     },
    {"cpu_req_secs",               read_cpu_request  },
    {"working_global_preferences", read_working_prefs},
    {"global_preferences",         read_master_prefs },
};

static void
read_element(struct reader *r, const struct xml_node *node)
{
    const char *name = xml_name(node);

    for (size_t i = 0; i < ARRAY_LEN(readers); i++)
        if (strcmp(readers[i].element, name) == 0) {
            readers[i].read(r, node);
            return;
        }
    field_read(scalars, ARRAY_LEN(scalars), node, r->request);
}

/* ---- what stands for elements that are absent, and what follows --------- */

static void
set_defaults(struct sched_request *q)
{
    q->resource_share_fraction = 1;
    q->rrs_fraction = 1;
    q->prrs_fraction = 1;
    q->allow_multiple_clients = -1;
    q->sandbox = -1;
    q->host.p_ncpus = 1;
    prefs_defaults(&q->working_prefs);
    prefs_defaults(&q->master_prefs);
}

static void
cut(char *text, size_t n)
{
    if (strlen(text) > n)
        text[utf8_cut(text, n)] = '\0';
}

/* These columns are varchar(254). */
static void
fit_columns(struct sched_request *q)
{
    char *text[] = {
        q->cross_project_id,  q->host.domain_name, q->host.last_ip_addr,
        q->host.host_cpid,    q->host.p_vendor,    q->host.p_model,
        q->host.product_name, q->host.os_name,     q->host.os_version,
    };

    for (size_t i = 0; i < ARRAY_LEN(text); i++)
        cut(text[i], 254);
}

static void
finish(struct sched_request *q)
{
    q->authenticator[strcspn(q->authenticator, "'\"")] = '\0';
    q->client_version = 10000 * q->core_client_major_version +
                        100 * q->core_client_minor_version +
                        q->core_client_release;
    q->n_results_seen = q->n_results;
    q->n_results = item_drop_duplicates(q->result, q->n_results);
    fit_columns(q);
}

/* FNV-1a: nobody gains by making two computers look alike. */
static int64_t
hash_of(const struct buf *text)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < text->len; i++)
        h = (h ^ (unsigned char)text->data[i]) * UINT64_C(0x100000001b3);
    return h == 0 ? 1 : (int64_t)h;
}

static void
keep_facts(struct sched_request *q, const struct xml_node *root)
{
    struct buf text = BUF_INIT;

    request_facts(q, root, &text);
    q->facts_hash = hash_of(&text);
    q->facts = text.len > 0 ? buf_take(&text) : xstrdup("");
    buf_free(&text); /* empty, it may hold memory all the same */
}

static struct sched_request *
read_document(const struct xml_doc *doc, const struct dialect *dialect)
{
    struct reader r = {.dialect = dialect};
    const struct xml_node *node = xml_first(xml_root(doc));

    r.request = xcalloc(1, sizeof *r.request);
    set_defaults(r.request);
    for (; node != NULL; node = xml_next(node))
        read_element(&r, node);
    finish(r.request);
    keep_facts(r.request, xml_root(doc));
    return r.request;
}

int
request_parse(const void *bytes, size_t n, struct sched_request **ret,
              struct buf *err)
{
    size_t before = err->len;
    struct dialect d;
    struct xml_doc *doc;

    buf_add(err, "Your client's request could not be read: ");
    if (n > REQUEST_MAX_BYTES) {
        buf_add(err, "it is too long");
        return -1;
    }
    if (dialect_read(bytes, n, "scheduler_request", &d, &doc, err) != 0)
        return -1;
    *ret = read_document(doc, &d);
    buf_truncate(err, before);
    xml_free(doc);
    dialect_free(&d);
    return 0;
}

void
request_free(struct sched_request *q)
{
    if (q == NULL)
        return;
    for (size_t i = 0; i < q->n_results; i++)
        item_free(&q->result[i]);
    for (size_t i = 0; i < q->n_trickles; i++)
        free(q->trickle[i].xml);
    free(q->result);
    free(q->trickle);
    free(q->alt_platform);
    free(q->app_version);
    free(q->other_result);
    free(q->keyword);
    free(q->queue);
    free(q->file);
    free(q->global_prefs_xml);
    free(q->time_stats_log);
    free(q->facts);
    free(q);
}

bool
request_wants_coproc(const struct sched_request *q)
{
    const struct ability *a = &q->ability;

    for (int i = PROC_CPU + 1; i < N_PROC_TYPES; i++)
        if (a->gpu[i].req_secs > 0)
            return true;
    for (int i = 0; i < a->n_coprocs; i++)
        if (a->coproc[i].gpu.req_secs > 0)
            return true;
    return false;
}

bool
request_wants_work(const struct sched_request *q)
{
    return !q->dont_send_work &&
           (q->work_req_seconds > 0 || q->cpu_req_secs > 0 ||
            request_wants_coproc(q));
}
