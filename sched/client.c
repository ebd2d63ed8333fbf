/* client.c - is this a client that gets work here? */
#include "client.h"

#include <inttypes.h>
#include <regex.h>
#include <string.h>

#include "buf.h"
#include "config.h"
#include "reply.h"
#include "request.h"

enum {
    OUTDATED_DELAY = 86400,
    SOON = 3 * 86400, /* s before an announced date */
    DAY = 86400,
    HOUR = 3600,
};

#define VERSION "%" PRId64 ".%" PRId64 ".%" PRId64
#define VERSION_OF(v) (v) / 10000, (v) / 100 % 100, (v) % 100

/* ---- version ---- */

static bool
is_too_old(const struct config *cfg, const struct sched_request *req,
           struct sched_reply *reply)
{
    int64_t least = cfg->min_core_client_version;

    if (req->client_version >= least)
        return false;
    reply_message(reply, MESSAGE_NOTICE,
                  "Your BOINC is too old for this project: please install "
                  "version " VERSION " or later.",
                  VERSION_OF(least));
    return true;
}

static bool
is_other_major(const struct config *cfg, const struct sched_request *req,
               struct sched_reply *reply)
{
    int64_t major = cfg->require_same_major;

    if (major == 0 || req->core_client_major_version == major)
        return false;
    reply_message(reply, MESSAGE_NOTICE,
                  "This project needs version %" PRId64 " of BOINC; yours is "
                  "version %d.",
                  major, req->core_client_major_version);
    return true;
}

/* It will be too old from an announced date on. */
static void
announce(const struct config *cfg, const struct sched_request *req, int64_t now,
         struct sched_reply *reply)
{
    int64_t least = cfg->min_core_client_version_announced;
    int64_t left = cfg->min_core_client_upgrade_deadline - now;
    bool days = left >= DAY;
    int64_t n = days ? left / DAY : left / HOUR;

    if (req->client_version >= least || left <= 0)
        return;
    reply_message(
        reply, left < SOON ? MESSAGE_NOTICE : MESSAGE_LOW,
        "In %" PRId64 " %s this project will need version " VERSION
        " of BOINC or later: please install it.",
        n, days ? (n == 1 ? "day" : "days") : (n == 1 ? "hour" : "hours"),
        VERSION_OF(least));
}

/* ---- operating system and CPU ---- */

/* Does one of these expressions match?  config_load() refuses bad ones. */
static bool
matches(const struct conf_list *list, const char *text)
{
    bool found = false;

    for (size_t i = 0; i < list->n && !found; i++) {
        regex_t re;

        if (regcomp(&re, list->item[i], REG_EXTENDED | REG_NOSUB) != 0)
            continue;
        found = regexec(&re, text, 0, NULL, 0) == 0;
        regfree(&re);
    }
    return found;
}

static bool
is_banned(const struct conf_list *list, const char *first, const char *second)
{
    struct buf text = BUF_INIT;
    bool banned;

    if (list->n == 0)
        return false;
    buf_addf(&text, "%s\t%s", first, second);
    banned = matches(list, buf_str(&text));
    buf_free(&text);
    return banned;
}

static bool
has_banned_part(const struct config *cfg, const struct host *host,
                struct sched_reply *reply)
{
    bool os = is_banned(&cfg->ban_os, host->os_name, host->os_version);
    bool cpu = !os && is_banned(&cfg->ban_cpu, host->p_vendor, host->p_model);

    if (os)
        reply_message(reply, MESSAGE_NOTICE,
                      "This project does not support your computer's operating "
                      "system, %s %s.",
                      host->os_name, host->os_version);
    if (cpu)
        reply_message(reply, MESSAGE_NOTICE,
                      "This project does not support your computer's CPU, "
                      "%s %s.",
                      host->p_vendor, host->p_model);
    return os || cpu;
}

/* It goes on without: only what depends on it is not sent. */
static void
note_missing(const struct host *host, struct sched_reply *reply)
{
    if (host->p_vendor[0] == '\0')
        reply_message(reply, MESSAGE_NOTICE,
                      "Your BOINC does not tell the kind of CPU.");
    if (host->os_name[0] == '\0')
        reply_message(reply, MESSAGE_NOTICE,
                      "Your BOINC does not tell the operating system.");
}

enum client_standing
client_judge(const struct config *cfg, const struct sched_request *req,
             int64_t now, struct sched_reply *reply)
{
    enum client_standing standing = CLIENT_SERVED;

    if (is_too_old(cfg, req, reply) || has_banned_part(cfg, &req->host, reply))
        standing = CLIENT_REFUSED;
    else if (is_other_major(cfg, req, reply))
        standing = CLIENT_NO_WORK;
    if (standing != CLIENT_SERVED) {
        reply_delay(reply, OUTDATED_DELAY);
        return standing;
    }
    note_missing(&req->host, reply);
    announce(cfg, req, now, reply);
    return standing;
}
