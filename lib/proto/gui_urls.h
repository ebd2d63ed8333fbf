/* gui_urls.h - the project's file gui_urls.xml with its placeholders filled in
 * for one volunteer (protocol §10.1). */
#ifndef QUORATE_GUI_URLS_H
#define QUORATE_GUI_URLS_H

struct buf;
struct host;
struct team;
struct user;

struct gui_url_values {
    const char *master_url, *project_name;
    const struct user *user;
    const struct host *host;
    const struct team *team; /* NULL: none */
};

/* Append the text with <authenticator/>, <hostid/>, <master_url/>,
 * <project_name/>, <rss_auth/>, <teamid/>, <team_name/>, <userid/>,
 * <user_name/> and <weak_auth/> replaced (escaped), what stands between
 * <ifteam> and </ifteam> only if there is a team, and those tags left out. */
void gui_urls_expand(const char *text, const struct gui_url_values *,
                     struct buf *out);

#endif
