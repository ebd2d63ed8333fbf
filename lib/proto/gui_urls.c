/* gui_urls.c - the project's links, filled in for one volunteer. */
#include "gui_urls.h"

#include <inttypes.h>
#include <string.h>

#include "account.h"
#include "buf.h"
#include "digest.h"
#include "host.h"
#include "xml.h"

#define IF_TEAM "<ifteam>"
#define END_IF_TEAM "</ifteam>"

/* ---- values ---- */

/* USERID_md5(authenticator, stored password hash, more) (protocol §7.1). */
static void
put_key(const struct user *user, const char *more, struct buf *out)
{
    char md5[MD5_HEX];

    digest_md5_of(md5, user->authenticator, user->passwd_hash, more, NULL);
    buf_addf(out, "%" PRId64 "_%s", user->id, md5);
}

static void
put_authenticator(const struct gui_url_values *v, struct buf *out)
{
    xml_escape(out, v->user->authenticator);
}

static void
put_hostid(const struct gui_url_values *v, struct buf *out)
{
    buf_addf(out, "%" PRId64, v->host->id);
}

static void
put_master_url(const struct gui_url_values *v, struct buf *out)
{
    xml_escape(out, v->master_url);
}

static void
put_project_name(const struct gui_url_values *v, struct buf *out)
{
    xml_escape(out, v->project_name);
}

static void
put_rss_auth(const struct gui_url_values *v, struct buf *out)
{
    put_key(v->user, "notify_rss", out);
}

static void
put_teamid(const struct gui_url_values *v, struct buf *out)
{
    buf_addf(out, "%" PRId64, v->team != NULL ? v->team->id : 0);
}

static void
put_team_name(const struct gui_url_values *v, struct buf *out)
{
    xml_escape(out, v->team != NULL ? v->team->name : "");
}

static void
put_userid(const struct gui_url_values *v, struct buf *out)
{
    buf_addf(out, "%" PRId64, v->user->id);
}

static void
put_user_name(const struct gui_url_values *v, struct buf *out)
{
    xml_escape(out, v->user->name);
}

static void
put_weak_auth(const struct gui_url_values *v, struct buf *out)
{
    put_key(v->user, "", out);
}

static const struct {
    const char *tag;
    void (*put)(const struct gui_url_values *, struct buf *);
} placeholders[] = {
    {"<authenticator/>", put_authenticator},
    {"<hostid/>",        put_hostid       },
    {"<master_url/>",    put_master_url   },
    {"<project_name/>",  put_project_name },
    {"<rss_auth/>",      put_rss_auth     },
    {"<teamid/>",        put_teamid       },
    {"<team_name/>",     put_team_name    },
    {"<userid/>",        put_userid       },
    {"<user_name/>",     put_user_name    },
    {"<weak_auth/>",     put_weak_auth    },
};

/* ---- the text ---- */

/* What a "<" begins: append what stands for it; returns what follows it. */
static const char *
expand_tag(const char *p, const struct gui_url_values *v, struct buf *out)
{
    for (size_t i = 0; i < ARRAY_LEN(placeholders); i++) {
        size_t n = strlen(placeholders[i].tag);

        if (strncmp(p, placeholders[i].tag, n) == 0) {
            placeholders[i].put(v, out);
            return p + n;
        }
    }
    if (strncmp(p, END_IF_TEAM, strlen(END_IF_TEAM)) == 0)
        return p + strlen(END_IF_TEAM);
    if (strncmp(p, IF_TEAM, strlen(IF_TEAM)) == 0) {
        const char *end = v->team == NULL ? strstr(p, END_IF_TEAM) : NULL;

        return (end != NULL ? end : p) + strlen(IF_TEAM) + (end != NULL);
    }
    buf_addc(out, *p);
    return p + 1;
}

void
gui_urls_expand(const char *text, const struct gui_url_values *v,
                struct buf *out)
{
    while (*text != '\0') {
        size_t plain = strcspn(text, "<");

        buf_addn(out, text, plain);
        text += plain;
        if (*text != '\0')
            text = expand_tag(text, v, out);
    }
}
