/* reply.h - struct sched_reply -> the bytes of a scheduler reply (protocol
 * §2.5): no XML declaration, one element a line, the reference's order. */
#ifndef QUORATE_REPLY_H
#define QUORATE_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "account.h"
#include "app.h"
#include "host.h"
#include "result.h"
#include "usage.h"

struct buf;
struct mirrors;

#define SCHEDULER_VERSION 803 /* the protocol level spoken */

enum message_priority { MESSAGE_LOW, MESSAGE_NOTICE };

struct reply_message {
    enum message_priority priority;
    char *text; /* malloc; valid UTF-8 */
};

/* One job to send: documents as stored, tags inserted by the writer. */
struct reply_job {
    const struct app *app;
    const struct app_version *version;
    bool own_version;        /* the client's (anonymous platform): not sent */
    const char *platform;    /* name */
    struct host_usage usage; /* of the host by the version */
    double fpops_scale;      /* times the workunit's FLOP numbers; 0 as 1 */
    struct workunit *wu;     /* with xml_doc; owned by the reply */
    struct result *result;   /* with xml_doc_in; owned by the reply */
    int64_t report_deadline; /* as told to the client (without grace) */
};

struct sched_reply {
    int client_version; /* of the request: decides old forms */
    const char *master_url, *project_name; /* borrowed from the config */
    double request_delay;                  /* s; 0 none */
    double next_rpc_delay;                 /* s; 0 none */
    bool project_is_down;
    bool ended;
    int64_t time_stats_log; /* Unix s: send the availability log since then; 0
                               no */
    bool send_full_workload;
    const char *symstore; /* URL, or NULL */
    bool minimal;         /* stop after the header (§2.5) */
    struct reply_message *message;
    size_t n_messages;
    const struct user *user; /* borrowed; NULL in minimal replies */
    const struct host *host; /* borrowed */
    const struct team *team; /* borrowed, or NULL */
    bool send_hostid;        /* (re)assigned */
    bool send_global_prefs;
    char (*ack)[NAME_SIZE];
    size_t n_acks;
    char (*abort)[NAME_SIZE];
    size_t n_aborts;
    char (*abort_if_not_started)[NAME_SIZE];
    size_t n_aborts_if_not_started;
    struct reply_job *job;
    size_t n_jobs;
    const char *code_sign_key;           /* text, or NULL */
    const char *code_sign_key_signature; /* text, or NULL */
    bool message_ack;
    char **to_host; /* verbatim XML messages */
    size_t n_to_host;
    char (*delete_file)[NAME_SIZE];
    size_t n_delete_files;
    bool no_apps[N_PROC_TYPES];    /* this project has nothing for it; see
                                      reply_no_apps() */
    const char *gui_urls;          /* XML, or NULL */
    const char *project_files;     /* XML, or NULL */
    const struct mirrors *mirrors; /* of download URLs, or NULL */
    bool verify_files_on_app_start, strict_memory_bound, non_cpu_intensive;
};

void reply_init(struct sched_reply *);
void reply_free(struct sched_reply *);

/* Queue things (copied).  A message longer than 1000 bytes is cut. */
void reply_message(struct sched_reply *, enum message_priority, const char *fmt,
                   ...) __attribute__((format(printf, 3, 4)));
void reply_ack(struct sched_reply *, const char *name);
void reply_abort(struct sched_reply *, const char *name, bool if_not_started);
void reply_delete_file(struct sched_reply *, const char *name); /* sticky */
void reply_job(struct sched_reply *, const struct reply_job *);
/* The project has no versions for the types that has_apps does not name, so the
 * client need not ask for them; `host` are those that the client has.  Says
 * nothing unless one of those has: a client that need not ask for anything
 * would never call again. */
void reply_no_apps(struct sched_reply *, const bool has_apps[N_PROC_TYPES],
                   const bool host[N_PROC_TYPES]);
/* Do the stored documents have the lines that the writer needs?  To be asked
 * before a result is promised: reply_write() leaves a broken one out (logged
 * here, as critical). */
bool reply_documents_whole(const struct workunit *, const struct result *);
/* request_delay = max(it, seconds), at most 172800. */
void reply_delay(struct sched_reply *, double seconds);

void reply_write(const struct sched_reply *, struct buf *out);

#endif
