/* auth.c - whose host is this? (protocol §7.4, dispatch §5)
 *
 *   known id, owner's key, rpc_seqno not behind    that record
 *   known id of another user, or rpc_seqno behind  a record that looks like
 * this (the client's folder was copied)               computer, else a new one
 *   no id, or unknown                              the record with the same
 * CPID, else as above
 *
 * Records are looked for and made with the user's row locked: a client whose
 * first reply was lost asks again, and must find what the first one made.
 * The record that is used is locked without waiting: two requests of one host
 * at a time are a copied client or a retry, and the second may come later. */
#include "auth.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "clock.h"
#include "config.h"
#include "digest.h"
#include "log.h"
#include "netaddr.h"

enum {
    FORWARD_MAX = 10, /* records merged one into the other */
    BAD_KEY_DELAY = 3600,
    BUSY_DELAY = 60,
    BLACKLIST_DELAY = 86400,
    LOCK_TRIES = 10,
};
static const double lock_wait = 0.05; /* s */

enum key_kind { KEY_WRONG, KEY_STRONG, KEY_WEAK };

static enum step_result
refuse(struct rpc *rpc, double delay)
{
    rpc->reply.minimal = true;
    reply_delay(&rpc->reply, delay);
    return STEP_END;
}

/* ---- keys ---- */

static enum key_kind
kind_of_key(const struct user *user, const char *key)
{
    char md5[MD5_HEX], weak[MD5_HEX + 24];

    if (key[0] == '\0' || user->authenticator[0] == '\0')
        return KEY_WRONG;
    if (digest_same(key, user->authenticator))
        return KEY_STRONG;
    digest_md5_of(md5, user->authenticator, user->passwd_hash, NULL);
    snprintf(weak, sizeof(weak), "%" PRId64 "_%s", user->id, md5);
    return digest_same(key, weak) ? KEY_WEAK : KEY_WRONG;
}

/* The account that a key names: rpc->user.  0, DB_NONE, -1. */
static int
find_user(struct rpc *rpc)
{
    const char *key = rpc->req->authenticator;
    const char *sep = strchr(key, '_');
    enum key_kind kind, want = sep != NULL ? KEY_WEAK : KEY_STRONG;
    int rc;

    if (key[0] == '\0')
        return DB_NONE;
    rc = sep != NULL
             ? db_sched_user_by_id(rpc->db, strtoll(key, NULL, 10), &rpc->user)
             : db_sched_user_by_key(rpc->db, key, &rpc->user);
    if (rc != 0)
        return rc;
    /* the database compares without regard to case, and user ids are no secret:
     * only this comparison counts */
    kind = kind_of_key(&rpc->user, key);
    rpc->weak_key = kind == KEY_WEAK;
    if (kind == want)
        return 0;
    db_sched_user_free(&rpc->user);
    return DB_NONE;
}

/* Has its address sent so many wrong keys that no other is looked up for it?  A
 * computer that brings its own id and key does not come here: it goes on
 * working, whatever others behind the same address do. */
static int
is_shut_out(struct rpc *rpc, bool *ret)
{
    char address[NETADDR_TEXT];
    int64_t failures;

    *ret = false;
    if (rpc->cfg->max_key_failures <= 0 || rpc->peer[0] == '\0')
        return 0;
    netaddr_group(rpc->peer, address);
    if (db_sched_key_failures(rpc->db, address, rpc->now, &failures) != 0)
        return -1;
    *ret = failures >= rpc->cfg->max_key_failures;
    return 0;
}

void
auth_count_failure(struct rpc *rpc)
{
    char address[NETADDR_TEXT];

    if (rpc->cfg->max_key_failures <= 0 || rpc->peer[0] == '\0')
        return;
    netaddr_group(rpc->peer, address);
    /* without the count the limit holds a little later */
    (void)db_sched_count_key_failure(rpc->db, address, rpc->now);
}

static enum step_result
require_user(struct rpc *rpc, bool known_host)
{
    bool shut_out;
    int rc = is_shut_out(rpc, &shut_out);

    if (rc == 0 && shut_out) {
        log_warning("too many wrong account keys from %s", rpc->peer);
        reply_message(&rpc->reply, MESSAGE_LOW,
                      "Too many wrong account keys came from your address; "
                      "your computer will try again later.");
        return refuse(rpc, BAD_KEY_DELAY);
    }
    if (rc == 0)
        rc = find_user(rpc);
    if (rc < 0)
        return STEP_FAILED;
    if (rc == 0)
        return STEP_NEXT;
    rpc->wrong_key = true;
    log_normal(TAG_HOST "wrong account key from %s", rpc->req->hostid,
               rpc->peer);
    reply_message(&rpc->reply, known_host ? MESSAGE_NOTICE : MESSAGE_LOW,
                  "The account key is missing or wrong. To fix this, remove "
                  "the project and add it again.");
    return refuse(rpc, BAD_KEY_DELAY);
}

/* ---- the host's fields ---- */

static void
copy_text(char to[NAME_SIZE], const char *from)
{
    str_copy(to, DB_TEXT_SIZE, from);
}

static void
stored_cpid(const struct rpc *rpc, char ret[MD5_HEX])
{
    ret[0] = '\0';
    if (rpc->req->host.host_cpid[0] != '\0')
        digest_md5_of(ret, rpc->req->host.host_cpid, rpc->user.email_addr,
                      NULL);
}

static void
describe_machine(const struct host *sent, struct host *host)
{
    host->timezone = sent->timezone;
    copy_text(host->domain_name, sent->domain_name);
    copy_text(host->serialnum, sent->serialnum);
    host->p_ncpus = sent->p_ncpus;
    copy_text(host->p_vendor, sent->p_vendor);
    copy_text(host->p_model, sent->p_model);
    host->p_fpops = sent->p_fpops;
    host->p_iops = sent->p_iops;
    host->p_membw = sent->p_membw;
    copy_text(host->os_name, sent->os_name);
    copy_text(host->os_version, sent->os_version);
    host->m_nbytes = sent->m_nbytes;
    host->m_cache = sent->m_cache;
    host->m_swap = sent->m_swap;
    copy_text(host->product_name, sent->product_name);
}

static void
describe_gpus(const struct ability *a, struct host *host)
{
    host->p_ngpus = 0;
    host->p_gpu_fpops = 0;
    for (int t = PROC_CPU + 1; t < N_PROC_TYPES; t++) {
        host->p_ngpus += a->gpu[t].count;
        host->p_gpu_fpops += a->gpu[t].count * a->gpu[t].peak_flops;
    }
}

static void
describe_state(const struct host *sent, struct host *host)
{
    host->on_frac = sent->on_frac;
    host->connected_frac = sent->connected_frac;
    host->active_frac = sent->active_frac;
    host->gpu_active_frac = sent->gpu_active_frac;
    host->duration_correction_factor = sent->duration_correction_factor;
    host->d_total = sent->d_total;
    host->d_free = sent->d_free;
    host->d_boinc_used_total = sent->d_boinc_used_total;
    host->d_boinc_used_project = sent->d_boinc_used_project;
    host->d_boinc_max = sent->d_boinc_max;
    host->n_bwup = sent->n_bwup;
    host->n_bwdown = sent->n_bwdown;
}

void
auth_describe_host(const struct rpc *rpc, struct host *host)
{
    const struct host *sent = &rpc->req->host;
    char cpid[MD5_HEX];

    describe_machine(sent, host);
    describe_gpus(&rpc->req->ability, host);
    describe_state(sent, host);
    if (strcmp(host->last_ip_addr, sent->last_ip_addr) == 0)
        host->nsame_ip_addr++;
    else
        host->nsame_ip_addr = 0;
    copy_text(host->last_ip_addr, sent->last_ip_addr);
    copy_text(host->external_ip_addr, rpc->peer);
    stored_cpid(rpc, cpid);
    if (cpid[0] != '\0')
        copy_text(host->host_cpid, cpid);
    host->rpc_time = rpc->now;
}

/* ---- the record ---- */

/* Another request of this host, or a daemon that credits it, holds the row for
 * milliseconds; a client that is sent away comes back after a minute. */
static int
lock_host(struct rpc *rpc, int64_t id)
{
    int rc = DB_BUSY;

    for (int i = 0; i < LOCK_TRIES && rc == DB_BUSY; i++) {
        if (i > 0)
            clock_sleep(lock_wait);
        rc = db_sched_lock_host(rpc->db, id, &rpc->old_host);
    }
    if (rc == 0 && rpc->old_host.userid != rpc->user.id)
        rc = DB_BUSY; /* merged away since it was looked for */
    return rc;
}

static enum step_result
use_host(struct rpc *rpc, int64_t id, int64_t seqno)
{
    int rc = lock_host(rpc, id);

    if (rc < 0)
        return STEP_FAILED;
    if (rc > 0) {
        log_normal(TAG_HOST "another request of it is at work", id);
        reply_message(&rpc->reply, MESSAGE_LOW,
                      "Another request of this computer is being handled.");
        return refuse(rpc, BUSY_DELAY);
    }
    if (rpc->old_host.max_results_day == -1) {
        reply_message(&rpc->reply, MESSAGE_LOW,
                      "This computer is not accepted by the project.");
        return refuse(rpc, BLACKLIST_DELAY);
    }
    rpc->host = rpc->old_host;
    rpc->host.rpc_seqno = seqno;
    return STEP_NEXT;
}

/* The client has lost its id, and maybe its jobs. */
static enum step_result
reuse_host(struct rpc *rpc, int64_t id)
{
    const struct sched_request *req = rpc->req;
    enum step_result step = use_host(rpc, id, 0);

    if (step != STEP_NEXT)
        return step;
    rpc->reply.send_hostid = true;
    if (req->allow_multiple_clients != 1 && req->n_other_results == 0 &&
        req->n_results_seen == 0 && db_sched_detach(rpc->db, id, rpc->now) != 0)
        return STEP_FAILED;
    return STEP_NEXT;
}

static enum step_result
new_host(struct rpc *rpc)
{
    struct host *host = &rpc->host;

    *host = (struct host){
        .create_time = rpc->now,
        .userid = rpc->user.id,
        .expavg_time = (double)rpc->now,
    };
    copy_text(host->venue, rpc->user.venue);
    auth_describe_host(rpc, host);
    if (db_sched_add_host(rpc->db, host) != 0)
        return STEP_FAILED;
    log_normal(TAG_HOST "new, of user %" PRId64, host->id, rpc->user.id);
    rpc->old_host = *host;
    rpc->new_host = true;
    rpc->reply.send_hostid = true;
    return STEP_NEXT;
}

static bool
skips_search(const struct rpc *rpc)
{
    const struct conf_list *users = &rpc->cfg->dont_search_host_for_user;

    if (rpc->req->allow_multiple_clients == 1)
        return true;
    for (size_t i = 0; i < users->n; i++)
        if (strtoll(users->item[i], NULL, 10) == rpc->user.id)
            return true;
    return false;
}

/* A record above `above` that looks like this computer, else a new one. */
static enum step_result
similar_or_new_host(struct rpc *rpc, int64_t above)
{
    struct host like = {0};
    int64_t id;
    int rc = DB_NONE;

    auth_describe_host(rpc, &like);
    if (!skips_search(rpc))
        rc = db_sched_similar_host(rpc->db, rpc->user.id, above, &like, &id);
    if (rc < 0)
        return STEP_FAILED;
    return rc == 0 ? reuse_host(rpc, id) : new_host(rpc);
}

static bool
same_machine(const struct host *a, const struct host *b)
{
    return a->p_ncpus == b->p_ncpus && strcmp(a->p_vendor, b->p_vendor) == 0 &&
           strcmp(a->p_model, b->p_model) == 0 &&
           strcmp(a->os_name, b->os_name) == 0 &&
           strcmp(a->os_version, b->os_version) == 0;
}

/* A computer that brings no id: known by its CPID? */
static enum step_result
host_by_cpid(struct rpc *rpc)
{
    struct host like = {0}, found;
    char cpid[MD5_HEX];
    int64_t id;
    int rc = DB_NONE;

    stored_cpid(rpc, cpid);
    if (cpid[0] != '\0')
        rc = db_sched_host_by_cpid(rpc->db, rpc->user.id, cpid, &id);
    if (rc == 0)
        rc = db_sched_host(rpc->db, id, &found);
    if (rc < 0)
        return STEP_FAILED;
    auth_describe_host(rpc, &like);
    if (rc == 0 && same_machine(&like, &found))
        return reuse_host(rpc, id);
    return similar_or_new_host(rpc, 0);
}

static int
lock_user(struct rpc *rpc)
{
    return db_sched_lock_user(rpc->db, rpc->user.id) == 0 ? 0 : -1;
}

static enum step_result
unknown_host(struct rpc *rpc)
{
    enum step_result step = require_user(rpc, false);

    if (step != STEP_NEXT)
        return step;
    return lock_user(rpc) == 0 ? host_by_cpid(rpc) : STEP_FAILED;
}

/* Follow merged records; rpc->user and team are the owner's.  DB_NONE also for
 * a chain that has no end. */
static int
find_host(struct rpc *rpc, struct host *ret)
{
    int64_t id = rpc->req->hostid;

    for (int i = 0; i < FORWARD_MAX; i++) {
        int rc = db_sched_owner(rpc->db, id, ret, &rpc->user, &rpc->team);

        if (rc != 0 || ret->userid != 0)
            return rc;
        db_sched_user_free(&rpc->user);
        id = ret->rpc_seqno;
    }
    log_warning(TAG_HOST "merged records that lead nowhere", rpc->req->hostid);
    return DB_NONE;
}

static enum step_result
known_host(struct rpc *rpc, const struct host *found)
{
    const struct sched_request *req = rpc->req;
    bool forwarded = found->id != req->hostid;
    enum key_kind kind = KEY_WRONG;

    if (rpc->user.id != 0)
        kind = kind_of_key(&rpc->user, req->authenticator);
    rpc->weak_key = kind == KEY_WEAK;
    if (kind == KEY_WRONG) {
        enum step_result step;

        db_sched_user_free(&rpc->user);
        step = require_user(rpc, true);
        if (step != STEP_NEXT)
            return step;
    }
    /* A sequence number counts for the record that it was given with. */
    if (found->userid != rpc->user.id ||
        (!forwarded && !rpc->any_seqno && req->rpc_seqno < found->rpc_seqno)) {
        log_normal(TAG_HOST "not this computer's record: owner %" PRId64
                            ", sequence number %" PRId64 " after %" PRId64,
                   found->id, found->userid, req->rpc_seqno, found->rpc_seqno);
        return lock_user(rpc) == 0 ? similar_or_new_host(rpc, found->id)
                                   : STEP_FAILED;
    }
    rpc->reply.send_hostid = forwarded;
    return use_host(rpc, found->id, forwarded ? 0 : req->rpc_seqno);
}

static bool
is_cpid(const char *text)
{
    return strlen(text) == 32 && strspn(text, "0123456789abcdef") == 32;
}

/* The volunteer's id among projects converges to that of the oldest account. */
static int
adopt_cpid(struct rpc *rpc)
{
    const char *sent = rpc->req->cross_project_id;

    if (rpc->weak_key || !is_cpid(sent) ||
        strcmp(sent, rpc->user.cross_project_id) == 0)
        return 0;
    str_copy(rpc->user.cross_project_id, sizeof(rpc->user.cross_project_id),
             sent);
    return db_sched_set_cpid(rpc->db, rpc->user.id, sent);
}

static int
read_team(struct rpc *rpc)
{
    int rc = DB_NONE;

    if (rpc->user.teamid != 0 && rpc->team.id == rpc->user.teamid)
        rc = 0; /* read with its host */
    else if (rpc->user.teamid != 0)
        rc = db_sched_team(rpc->db, rpc->user.teamid, &rpc->team);
    if (rc == 0)
        rpc->reply.team = &rpc->team;
    return rc < 0 ? -1 : 0;
}

enum step_result
auth_step(struct rpc *rpc)
{
    struct host found;
    enum step_result step;
    int rc = DB_NONE;

    if (rpc->req->hostid > 0) {
        rc = find_host(rpc, &found);
        if (rc < 0)
            return STEP_FAILED;
        if (rc == DB_NONE)
            reply_message(&rpc->reply, MESSAGE_LOW,
                          "The project has no record of this computer; it "
                          "gets a new one.");
    }
    step = rc == 0 ? known_host(rpc, &found) : unknown_host(rpc);
    if (step != STEP_NEXT)
        return step;
    if (adopt_cpid(rpc) != 0 || read_team(rpc) != 0)
        return STEP_FAILED;
    if (!rpc->new_host)
        auth_describe_host(rpc, &rpc->host);
    rpc->reply.user = &rpc->user;
    rpc->reply.host = &rpc->host;
    return STEP_NEXT;
}
