/* reply.c - struct sched_reply -> the bytes of a scheduler reply.
 *
 * Clients read replies with tokenizers of their own, old ones line by line
 * (protocol §0.1): so no XML declaration, one element a line, containers alone
 * on their lines, keys without indentation, and the reference's order. */
#include "reply.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "digest.h"
#include "log.h"
#include "mirror.h"
#include "utf8.h"
#include "workunit.h"
#include "xml.h"

#define MESSAGE_MAX_BYTES 1000 /* as written, escaped (§14.10) */
#define DELAY_MAX 172800.0

/* Client versions: 10000·major + 100·minor + release. */
#define KNOWS_NO_RSC_APPS 70040
#define KNOWS_DONT_USE_DCF 70028
#define KNOWS_NOTICES 61100
#define KNOWS_NVIDIA 70000 /* earlier ones call it CUDA */
#define KNOWS_MANY_MESSAGES 42000

void
reply_init(struct sched_reply *r)
{
    memset(r, 0, sizeof *r);
}

static void
free_workunit(struct workunit *wu)
{
    if (wu == NULL)
        return;
    free(wu->xml_doc);
    free(wu);
}

static void
free_result(struct result *result)
{
    if (result == NULL)
        return;
    free(result->xml_doc_in);
    free(result->xml_doc_out);
    free(result->stderr_out);
    free(result);
}

void
reply_free(struct sched_reply *r)
{
    for (size_t i = 0; i < r->n_messages; i++)
        free(r->message[i].text);
    for (size_t i = 0; i < r->n_jobs; i++) {
        free_workunit(r->job[i].wu);
        free_result(r->job[i].result);
    }
    for (size_t i = 0; i < r->n_to_host; i++)
        free(r->to_host[i]);
    free(r->message);
    free(r->ack);
    free(r->abort);
    free(r->abort_if_not_started);
    free(r->delete_file);
    free(r->job);
    free(r->to_host);
    reply_init(r);
}

/* ---- queue -------------------------------------------------------------- */

/* Bytes of a character of text when escaped. */
static size_t
escaped_length(char c)
{
    switch (c) {
    case '&':
    case '\r':
        return 5;
    case '<':
    case '>':
        return 4;
    case '"':
        return 6;
    }
    return 1;
}

/* Cut so that the escaped text has at most MESSAGE_MAX_BYTES. */
static void
cut_message(struct buf *text)
{
    size_t written = 0;

    for (size_t i = 0; i < text->len; i++) {
        written += escaped_length(text->data[i]);
        if (written > MESSAGE_MAX_BYTES) {
            buf_truncate(text, utf8_cut(text->data, i));
            return;
        }
    }
}

/* One line of valid UTF-8: old clients read a message up to its line's end. */
static void
make_line(struct buf *text)
{
    for (size_t i = 0; i < text->len; i++)
        if (text->data[i] == '\n' || text->data[i] == '\r')
            text->data[i] = ' ';
}

void
reply_message(struct sched_reply *r, enum message_priority priority,
              const char *fmt, ...)
{
    struct buf raw = BUF_INIT, text = BUF_INIT;
    struct reply_message *m;
    va_list ap;

    va_start(ap, fmt);
    buf_vaddf(&raw, fmt, ap);
    va_end(ap);
    utf8_repair(buf_str(&raw), raw.len, &text);
    make_line(&text);
    cut_message(&text);
    r->message = xrealloc(r->message, (r->n_messages + 1) * sizeof *r->message);
    m = &r->message[r->n_messages++];
    m->priority = priority;
    m->text = text.len > 0 ? buf_take(&text) : xstrdup("");
    buf_free(&raw);
    buf_free(&text);
}

static void
add_name(char (**list)[NAME_SIZE], size_t *n, const char *name)
{
    if ((*n & (*n - 1)) == 0) /* 0 or a power of two: full */
        *list = xrealloc(*list, (*n == 0 ? 1 : 2 * *n) * sizeof **list);
    str_copy((*list)[(*n)++], NAME_SIZE, name);
}

void
reply_ack(struct sched_reply *r, const char *name)
{
    add_name(&r->ack, &r->n_acks, name);
}

void
reply_abort(struct sched_reply *r, const char *name, bool if_not_started)
{
    if (if_not_started)
        add_name(&r->abort_if_not_started, &r->n_aborts_if_not_started, name);
    else
        add_name(&r->abort, &r->n_aborts, name);
}

void
reply_delete_file(struct sched_reply *r, const char *name)
{
    add_name(&r->delete_file, &r->n_delete_files, name);
}

void
reply_no_apps(struct sched_reply *r, const bool has_apps[N_PROC_TYPES],
              const bool host[N_PROC_TYPES])
{
    bool any = false;

    for (int i = 0; i < N_PROC_TYPES; i++)
        any = any || (has_apps[i] && host[i]);
    for (int i = 0; i < N_PROC_TYPES; i++)
        r->no_apps[i] = any && !has_apps[i];
}

void
reply_job(struct sched_reply *r, const struct reply_job *job)
{
    r->job = xrealloc(r->job, (r->n_jobs + 1) * sizeof *r->job);
    r->job[r->n_jobs++] = *job;
}

void
reply_delay(struct sched_reply *r, double seconds)
{
    if (seconds > DELAY_MAX)
        seconds = DELAY_MAX;
    if (seconds > r->request_delay)
        r->request_delay = seconds;
}

/* ---- small pieces ------------------------------------------------------- */

/* "<x></x>" of an empty text, for clients <x/> is something else. */
static void
put_text(struct buf *out, const char *name, const char *text)
{
    buf_addf(out, "<%s>", name);
    xml_escape(out, text);
    buf_addf(out, "</%s>\n", name);
}

/* Text that is XML already, with a line's end behind it. */
static void
put_verbatim(struct buf *out, const char *text)
{
    size_t len = strlen(text);

    buf_addn(out, text, len);
    if (len > 0 && text[len - 1] != '\n')
        buf_addc(out, '\n');
}

/* A key or signature: tags alone on their lines, nothing indented. */
static void
put_block(struct buf *out, const char *name, const char *text)
{
    xml_open(out, name);
    put_verbatim(out, text);
    xml_close(out, name);
}

static void
put_names(struct buf *out, const char *element, char (*name)[NAME_SIZE],
          size_t n)
{
    for (size_t i = 0; i < n; i++) {
        xml_open(out, element);
        buf_add(out, "    ");
        put_text(out, "name", name[i]);
        xml_close(out, element);
    }
}

/* ---- header ------------------------------------------------------------- */

static bool
is_old(const struct sched_reply *r, int version)
{
    return r->client_version > 0 && r->client_version < version;
}

static const char *
priority_name(const struct sched_reply *r, enum message_priority priority)
{
    if (priority == MESSAGE_LOW)
        return "low";
    return is_old(r, KNOWS_NOTICES) ? "high" : "notice";
}

static void
put_message(const struct sched_reply *r, enum message_priority priority,
            const char *text, struct buf *out)
{
    buf_addf(out, "<message priority=\"%s\">", priority_name(r, priority));
    xml_escape(out, text);
    buf_add(out, "</message>\n");
}

/* Clients up to 4.19 show one message only. */
static void
put_one_message(const struct sched_reply *r, struct buf *out)
{
    struct buf all = BUF_INIT;
    enum message_priority priority = MESSAGE_LOW;

    for (size_t i = 0; i < r->n_messages; i++) {
        buf_addf(&all, "%s%s", i == 0 ? "" : " ", r->message[i].text);
        if (r->message[i].priority == MESSAGE_NOTICE)
            priority = MESSAGE_NOTICE;
    }
    cut_message(&all);
    if (r->n_messages > 0)
        put_message(r, priority, buf_str(&all), out);
    buf_free(&all);
}

static void
put_messages(const struct sched_reply *r, struct buf *out)
{
    if (is_old(r, KNOWS_MANY_MESSAGES)) {
        put_one_message(r, out);
        return;
    }
    for (size_t i = 0; i < r->n_messages; i++)
        put_message(r, r->message[i].priority, r->message[i].text, out);
}

static void
put_header(const struct sched_reply *r, struct buf *out)
{
    xml_put_i64(out, "scheduler_version", SCHEDULER_VERSION);
    if (r->client_version >= KNOWS_DONT_USE_DCF)
        xml_put_empty(out, "dont_use_dcf");
    if (r->master_url != NULL)
        put_text(out, "master_url", r->master_url);
    if (r->ended)
        xml_put_i64(out, "ended", 1);
    if (r->request_delay > 0)
        xml_put_double(out, "request_delay", r->request_delay);
    put_messages(r, out);
    if (r->project_name != NULL)
        put_text(out, "project_name", r->project_name);
    if (r->time_stats_log > 0)
        xml_put_i64(out, "send_time_stats_log", r->time_stats_log);
    if (r->project_is_down)
        xml_put_empty(out, "project_is_down");
    if (r->send_full_workload)
        xml_put_empty(out, "send_full_workload");
}

/* ---- account and host --------------------------------------------------- */

static void
put_ids(const struct user *u, struct buf *out)
{
    char md5[MD5_HEX];

    if (u->email_addr[0] != '\0') {
        digest_md5_of(md5, u->email_addr, NULL);
        put_text(out, "email_hash", md5);
    }
    if (u->cross_project_id[0] != '\0') {
        put_text(out, "cross_project_id", u->cross_project_id);
        digest_md5_of(md5, u->cross_project_id, u->email_addr, NULL);
        put_text(out, "external_cpid", md5);
    }
}

static void
put_user(const struct sched_reply *r, struct buf *out)
{
    const struct user *u = r->user;

    xml_put_i64(out, "userid", u->id);
    put_text(out, "user_name", u->name);
    xml_put_double(out, "user_total_credit", u->total_credit);
    xml_put_double(out, "user_expavg_credit", u->expavg_credit);
    xml_put_i64(out, "user_create_time", u->create_time);
    put_ids(u, out);
    if (r->send_global_prefs && u->global_prefs != NULL)
        put_verbatim(out, u->global_prefs);
    if (u->project_prefs != NULL && u->project_prefs[0] != '\0') {
        put_verbatim(out, u->project_prefs);
    } else { /* always sent: the server's copy replaces the client's */
        xml_open(out, "project_preferences");
        xml_put_i64(out, "resource_share", 100);
        xml_close(out, "project_preferences");
    }
}

/* An empty venue would reset the client's (§2.5). */
static void
put_host(const struct sched_reply *r, struct buf *out)
{
    const struct host *h = r->host;

    if (r->send_hostid)
        xml_put_i64(out, "hostid", h->id);
    xml_put_double(out, "host_total_credit", h->total_credit);
    xml_put_double(out, "host_expavg_credit", h->expavg_credit);
    if (h->venue[0] != '\0')
        put_text(out, "host_venue", h->venue);
    xml_put_i64(out, "host_create_time", h->create_time);
}

static void
put_team(const struct sched_reply *r, struct buf *out)
{
    if (r->team != NULL)
        xml_put_i64(out, "teamid", r->team->id);
    put_text(out, "team_name", r->team != NULL ? r->team->name : "");
}

/* ---- jobs --------------------------------------------------------------- */

/* The stored document up to and with the line `tag` alone, or NULL. */
static const char *
behind_line(const char *doc, const char *tag)
{
    const char *p = doc != NULL ? strstr(doc, tag) : NULL;

    if (p == NULL)
        return NULL;
    p += strlen(tag);
    while (*p == ' ' || *p == '\t' || *p == '\r')
        p++;
    return *p == '\n' ? p + 1 : p;
}

/* The last place of `tag`, at the start of its line if only blanks precede. */
static const char *
before_last(const char *doc, const char *tag)
{
    const char *last = NULL, *p = doc;

    while (p != NULL && (p = strstr(p, tag)) != NULL)
        last = p++;
    while (last != NULL && last > doc && (last[-1] == ' ' || last[-1] == '\t'))
        last--;
    return last;
}

bool
reply_documents_whole(const struct workunit *wu, const struct result *result)
{
    if (behind_line(wu->xml_doc, "<workunit>") != NULL &&
        behind_line(result->xml_doc_in, "<result>") != NULL &&
        before_last(result->xml_doc_in, "</result>") != NULL)
        return true;
    log_critical(TAG_RESULT "not sent: the stored document of its workunit or "
                            "of its outputs is broken",
                 result->id, result->name);
    return false;
}

static bool
is_complete(const struct reply_job *job)
{
    if (!job->own_version &&
        before_last(job->version->xml_doc, "</app_version>") == NULL) {
        log_critical(TAG_RESULT "not sent: the stored document of its app "
                                "version is broken",
                     job->result->id, job->result->name);
        return false;
    }
    return reply_documents_whole(job->wu, job->result);
}

/* `    <name>text</name>`, the indentation of embedded documents. */
static void
put_inner(struct buf *out, const char *name, const char *text)
{
    buf_add(out, "    ");
    put_text(out, name, text);
}

static void
put_inner_double(struct buf *out, const char *name, double value)
{
    buf_add(out, "    ");
    xml_put_double(out, name, value);
}

static void
put_inner_i64(struct buf *out, const char *name, int64_t value)
{
    buf_add(out, "    ");
    xml_put_i64(out, name, value);
}

static void
put_app(const struct app *app, struct buf *out)
{
    xml_open(out, "app");
    put_inner(out, "name", app->name);
    put_inner(out, "user_friendly_name", app->user_friendly_name);
    put_inner_i64(out, "non_cpu_intensive", app->non_cpu_intensive);
    put_inner_i64(out, "fraction_done_exact", app->fraction_done_exact);
    xml_close(out, "app");
}

/* The name of a kind of coprocessor, as this client knows it. */
static const char *
gpu_name(const struct sched_reply *r, const struct host_usage *usage)
{
    if (usage->other_coproc[0] != '\0')
        return usage->other_coproc;
    if (usage->type == PROC_NVIDIA && is_old(r, KNOWS_NVIDIA))
        return "CUDA";
    return proc_type_name((int)usage->type);
}

static void
put_usage(const struct sched_reply *r, const struct host_usage *usage,
          struct buf *out)
{
    put_inner_double(out, "avg_ncpus", usage->avg_ncpus);
    put_inner_double(out, "flops", usage->projected_flops);
    if (usage->cmdline[0] != '\0')
        put_inner(out, "cmdline", usage->cmdline);
    if (usage->gpu_usage <= 0)
        return;
    buf_add(out, "    <coproc>\n    ");
    put_inner(out, "type", gpu_name(r, usage));
    buf_add(out, "    ");
    put_inner_double(out, "count", usage->gpu_usage);
    buf_add(out, "    </coproc>\n");
    if (usage->gpu_ram > 0)
        put_inner_double(out, "gpu_ram", usage->gpu_ram);
}

static void
put_version(const struct sched_reply *r, const struct reply_job *job,
            struct buf *out)
{
    const char *doc = job->version->xml_doc;
    const char *end;

    if (job->own_version)
        return;
    end = before_last(doc, "</app_version>");
    buf_addn(out, doc, (size_t)(end - doc));
    if (end > doc && end[-1] != '\n')
        buf_addc(out, '\n');
    put_inner(out, "platform", job->platform);
    if (job->version->plan_class[0] != '\0')
        put_inner(out, "plan_class", job->version->plan_class);
    put_usage(r, &job->usage, out);
    put_verbatim(out, end);
}

static void
put_workunit(const struct reply_job *job, struct buf *out)
{
    const struct workunit *wu = job->wu;
    double scale = job->fpops_scale > 0 ? job->fpops_scale : 1;
    double memory =
        job->usage.mem_usage > 0 ? job->usage.mem_usage : wu->rsc_memory_bound;
    const char *rest = behind_line(wu->xml_doc, "<workunit>");

    buf_addn(out, wu->xml_doc, (size_t)(rest - wu->xml_doc));
    if (rest[-1] != '\n')
        buf_addc(out, '\n');
    put_inner_double(out, "rsc_fpops_est", wu->rsc_fpops_est * scale);
    put_inner_double(out, "rsc_fpops_bound", wu->rsc_fpops_bound * scale);
    put_inner_double(out, "rsc_memory_bound", memory);
    put_inner_double(out, "rsc_disk_bound", wu->rsc_disk_bound);
    put_inner(out, "name", wu->name);
    put_inner(out, "app_name", job->app->name);
    put_verbatim(out, rest);
}

static void
put_result(const struct reply_job *job, struct buf *out)
{
    const char *doc = job->result->xml_doc_in;
    const char *rest = behind_line(doc, "<result>");
    const char *end = before_last(doc, "</result>");

    buf_addn(out, doc, (size_t)(rest - doc));
    if (rest[-1] != '\n')
        buf_addc(out, '\n');
    xml_put_i64(out, "report_deadline", job->report_deadline);
    put_text(out, "wu_name", job->wu->name);
    put_text(out, "name", job->result->name);
    if (end > rest) {
        buf_addn(out, rest, (size_t)(end - rest));
        if (end[-1] != '\n')
            buf_addc(out, '\n');
    }
    put_inner(out, "platform", job->platform);
    put_inner_i64(out, "version_num", job->version->version_num);
    put_inner(out, "plan_class", job->version->plan_class);
    put_verbatim(out, end);
}

enum part { PART_APP, PART_VERSION, PART_WORKUNIT };

static bool
same_part(const struct reply_job *a, const struct reply_job *b, enum part part)
{
    switch (part) {
    case PART_APP:
        return a->app->id == b->app->id;
    case PART_VERSION:
        return a->version->id == b->version->id;
    case PART_WORKUNIT:
        return a->wu->id == b->wu->id;
    }
    return false;
}

/* One part of all jobs, each once. */
static void
put_part(const struct sched_reply *r, const struct reply_job *const *job,
         size_t n, enum part part, struct buf *out)
{
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;

        while (k < i && !same_part(job[k], job[i], part))
            k++;
        if (k < i)
            continue;
        switch (part) {
        case PART_APP:
            put_app(job[i]->app, out);
            break;
        case PART_VERSION:
            put_version(r, job[i], out);
            break;
        case PART_WORKUNIT:
            put_workunit(job[i], out);
            break;
        }
    }
}

static void
put_jobs(const struct sched_reply *r, struct buf *out)
{
    const struct reply_job **job = xcalloc(r->n_jobs + 1, sizeof *job);
    size_t n = 0;

    for (size_t i = 0; i < r->n_jobs; i++)
        if (is_complete(&r->job[i]))
            job[n++] = &r->job[i];
    put_part(r, job, n, PART_APP, out);
    put_part(r, job, n, PART_VERSION, out);
    put_part(r, job, n, PART_WORKUNIT, out);
    for (size_t i = 0; i < n; i++)
        put_result(job[i], out);
    free(job);
}

/* With the download URLs of mirrors near the host (dispatch §16). */
static void
put_jobs_mirrored(const struct sched_reply *r, struct buf *out)
{
    struct buf part = BUF_INIT;

    if (r->mirrors == NULL || r->host == NULL) {
        put_jobs(r, out);
        return;
    }
    put_jobs(r, &part);
    mirrors_replace(r->mirrors, buf_str(&part), r->host->timezone, r->host->id,
                    out);
    buf_free(&part);
}

/* ---- the whole ---------------------------------------------------------- */

static void
put_flags(const struct sched_reply *r, struct buf *out)
{
    if (r->non_cpu_intensive)
        xml_put_empty(out, "non_cpu_intensive");
    if (r->strict_memory_bound)
        xml_put_empty(out, "strict_memory_bound");
    if (r->verify_files_on_app_start)
        xml_put_empty(out, "verify_files_on_app_start");
    for (size_t i = 0; i < r->n_delete_files; i++)
        put_text(out, "delete_file_info", r->delete_file[i]);
}

/* What the project has no versions for; old clients know three types. */
static void
put_no_apps(const struct sched_reply *r, struct buf *out)
{
    bool any = false;

    for (int i = 0; i < N_PROC_TYPES; i++)
        any = any || r->no_apps[i];
    if (!any)
        return;
    if (is_old(r, KNOWS_NO_RSC_APPS)) {
        xml_put_i64(out, "no_cpu_apps", r->no_apps[PROC_CPU]);
        xml_put_i64(out, "no_cuda_apps", r->no_apps[PROC_NVIDIA]);
        xml_put_i64(out, "no_ati_apps", r->no_apps[PROC_AMD]);
        return;
    }
    for (int i = 0; i < N_PROC_TYPES; i++)
        if (r->no_apps[i])
            put_text(out, "no_rsc_apps", proc_type_name(i));
}

static void
put_body(const struct sched_reply *r, struct buf *out)
{
    if (r->symstore != NULL && r->symstore[0] != '\0')
        put_text(out, "symstore", r->symstore);
    if (r->next_rpc_delay > 0)
        xml_put_double(out, "next_rpc_delay", r->next_rpc_delay);
    if (r->user != NULL)
        put_user(r, out);
    if (r->host != NULL)
        put_host(r, out);
    if (r->user != NULL)
        put_team(r, out);
    put_names(out, "result_ack", r->ack, r->n_acks);
    put_names(out, "result_abort", r->abort, r->n_aborts);
    put_names(out, "result_abort_if_not_started", r->abort_if_not_started,
              r->n_aborts_if_not_started);
    put_jobs_mirrored(r, out);
    if (r->code_sign_key != NULL)
        put_block(out, "code_sign_key", r->code_sign_key);
    if (r->code_sign_key_signature != NULL)
        put_block(out, "code_sign_key_signature", r->code_sign_key_signature);
    if (r->message_ack)
        xml_put_empty(out, "message_ack");
    for (size_t i = 0; i < r->n_to_host; i++)
        put_verbatim(out, r->to_host[i]);
    put_flags(r, out);
    put_no_apps(r, out);
    if (r->gui_urls != NULL)
        put_verbatim(out, r->gui_urls);
    if (r->project_files != NULL)
        put_verbatim(out, r->project_files);
}

void
reply_write(const struct sched_reply *r, struct buf *out)
{
    xml_open(out, "scheduler_reply");
    put_header(r, out);
    if (!r->minimal)
        put_body(r, out);
    xml_close(out, "scheduler_reply");
}
