/* preferences.c - global preferences: which copy counts, who gets a new one. */
#include "preferences.h"

#include <string.h>

#include "config.h"
#include "digest.h"
#include "log.h"
#include "prefs.h"

/* A clock that is ahead must not win for ever. */
static double
clipped(double mod_time, int64_t now)
{
    return mod_time > (double)now ? (double)now : mod_time;
}

void
preferences_in_force(const struct rpc *rpc, struct global_prefs *ret)
{
    const struct sched_request *req = rpc->req;
    struct global_prefs master;
    bool has_stored;

    if (req->has_working_prefs) {
        *ret = req->working_prefs;
        return;
    }
    has_stored = prefs_parse(rpc->user.global_prefs, rpc->host.venue, ret) == 0;
    if (req->global_prefs_xml == NULL ||
        prefs_parse(req->global_prefs_xml, rpc->host.venue, &master) != 0)
        return;
    if (!has_stored ||
        clipped(master.mod_time, rpc->now) > clipped(ret->mod_time, rpc->now))
        *ret = master;
}

/* Is the master document that of this account, and may the client change it? */
static bool
is_own_document(const struct rpc *rpc)
{
    char hash[MD5_HEX];

    digest_md5_of(hash, rpc->user.email_addr, NULL);
    return !rpc->weak_key && rpc->req->global_prefs_xml != NULL &&
           strcmp(rpc->req->global_prefs_source_email_hash, hash) == 0;
}

/* Other computers get this document as it is, in a reply that they could not
 * read if it is no XML: the one they have is better, and the volunteer wants to
 * know why it stays. */
static enum step_result
take_over(struct rpc *rpc)
{
    const char *xml = rpc->req->global_prefs_xml;

    if (prefs_is_xml(xml))
        return db_sched_set_global_prefs(rpc->db, rpc->user.id, xml) == 0
                   ? STEP_NEXT
                   : STEP_FAILED;
    log_normal(TAG_HOST "global preferences are not XML, not stored",
               rpc->host.id);
    reply_message(&rpc->reply, MESSAGE_LOW,
                  "Your preferences are not passed on to your other computers: "
                  "they are not well-formed XML. Please save them again.");
    return STEP_NEXT;
}

enum step_result
preferences_step(struct rpc *rpc)
{
    const struct sched_request *req = rpc->req;
    struct global_prefs stored;
    double master = 0, working = 0;
    bool has_stored = prefs_parse(rpc->user.global_prefs, "", &stored) == 0;

    if (!has_stored)
        stored.mod_time = 0;
    stored.mod_time = clipped(stored.mod_time, rpc->now);
    if (req->global_prefs_xml != NULL)
        master = clipped(req->master_prefs.mod_time, rpc->now);
    if (req->has_working_prefs)
        working = clipped(req->working_prefs.mod_time, rpc->now);
    if (rpc->cfg->debug_prefs)
        log_normal(TAG_HOST "preferences of %.0f stored, %.0f sent, %.0f in "
                            "force there",
                   rpc->host.id, stored.mod_time, master, working);
    if (is_own_document(rpc) && (!has_stored || master > stored.mod_time))
        return take_over(rpc);
    rpc->reply.send_global_prefs = stored.mod_time > master &&
                                   stored.mod_time > working &&
                                   prefs_is_xml(rpc->user.global_prefs);
    return STEP_NEXT;
}
