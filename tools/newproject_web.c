/* newproject_web.c - configuration of web servers for a new project: lighttpd
 * (whole, and as a part to include), Apache, nginx.
 *
 *   /NAME_cgi/cgi, fcgi             scheduler             FastCGI
 *   /NAME_cgi/file_upload_handler   upload handler        FastCGI, streamed
 *   /NAME/download/…                files of download/    static
 *   /NAME/…                         pages and web RPCs    FastCGI (web)
 *
 * Scheduler and upload handler are separate groups of processes: slow uploads
 * must not keep requests for work waiting.  Upload bodies stream through; the
 * server would otherwise spool each of them before the handler sees a byte. */
#include "newproject.h"

#include <grp.h>
#include <inttypes.h>
#include <pwd.h>

#include "buf.h"

static void
fastcgi(const struct newproject *p, const char *program, const char *socket,
        int processes, struct buf *b)
{
    buf_addf(b,
             "    fastcgi.server = ( \"/\" => ((\n"
             "        \"bin-path\" => \"%s/cgi-bin/%s\",\n"
             "        \"socket\" => \"%s/tmp_%s/%s\",\n"
             "        \"max-procs\" => %d,\n"
             "        \"check-local\" => \"disable\",\n"
             "        \"bin-environment\" => (\n"
             "            \"QUORATE_PROJECT_DIR\" => \"%s\"\n"
             "        )\n"
             "    )))\n",
             p->root, program, p->root, p->host, socket, processes, p->root);
}

static void
lighttpd_part(const struct newproject *p, struct buf *b)
{
    buf_addf(b,
             "# The project %s in the machine's own lighttpd: write\n"
             "#     include \"%s/%s.lighttpd.conf\"\n"
             "# into its configuration, which must load mod_alias and "
             "mod_fastcgi.  Its user\n"
             "# needs the group of the project's files.\n\n",
             p->name, p->root, p->name);
    buf_addf(b, "$HTTP[\"url\"] =~ \"^/%s_cgi/(cgi|fcgi)$\" {\n", p->name);
    fastcgi(p, "fcgi", "scheduler", 4, b);
    buf_addf(b,
             "}\nelse $HTTP[\"url\"] =~ \"^/%s_cgi/file_upload_handler$\" {\n"
             "    # bodies stream through: nothing is spooled here\n"
             "    server.stream-request-body = 2\n",
             p->name);
    fastcgi(p, "file_upload_handler", "upload", 4, b);
    buf_addf(b,
             "}\nelse $HTTP[\"url\"] =~ \"^/%s/download/\" {\n"
             "    alias.url = ( \"/%s/download/\" => \"%s/download/\" )\n"
             "    mimetype.assign = ( \"\" => \"application/octet-stream\" )\n"
             "    url.access-deny = ( \".md5\" )\n"
             "}\nelse $HTTP[\"url\"] =~ \"^/%s/\" {\n",
             p->name, p->name, p->root, p->name);
    fastcgi(p, "web", "web", 2, b);
    buf_add(b, "}\n");
}

/* Started by root, it works as the project's owner. */
static void
put_owner(const struct newproject *p, struct buf *b)
{
    const struct passwd *pw = getpwnam(p->user_name);
    const struct group *gr = pw != NULL ? getgrgid(pw->pw_gid) : NULL;

    if (pw == NULL || gr == NULL || pw->pw_uid == 0)
        return;
    buf_addf(b,
             "server.username = \"%s\"\n"
             "server.groupname = \"%s\"\n",
             p->user_name, gr->gr_name);
}

/* A whole server, for a machine without another one (or beside it). */
static void
lighttpd_server(const struct newproject *p, struct buf *b)
{
    buf_addf(b,
             "# A web server for the project %s alone:\n"
             "#     lighttpd -D -f %s/lighttpd.conf\n\n"
             "server.modules = ( \"mod_access\", \"mod_alias\", "
             "\"mod_fastcgi\" )\n"
             "server.document-root = \"%s/html/static\"\n"
             "server.port = %" PRId64 "\n",
             p->name, p->root, p->root, p->http_port > 0 ? p->http_port : 80);
    put_owner(p, b);
    if (p->http_port > 0)
        buf_add(b, "server.bind = \"127.0.0.1\"\n");
    buf_addf(b,
             "server.errorlog = \"%s/log_%s/lighttpd.log\"\n"
             "server.breakagelog = \"%s/log_%s/cgi_stderr.log\"\n"
             "server.upload-dirs = ( \"%s/tmp_%s\" )\n"
             "server.tag = \"\"\n"
             "server.max-keep-alive-idle = 5\n\n"
             "include \"%s/%s.lighttpd.conf\"\n",
             p->root, p->host, p->root, p->host, p->root, p->host, p->root,
             p->name);
}

void
newproject_lighttpd(const struct newproject *p, struct buf *server,
                    struct buf *part)
{
    lighttpd_server(p, server);
    lighttpd_part(p, part);
}

void
newproject_apache(const struct newproject *p, struct buf *b)
{
    buf_addf(b,
             "# The project %s in Apache 2.4 with mod_fcgid (a2enmod fcgid "
             "alias):\n"
             "# include this file in a virtual host.\n\n"
             "FcgidInitialEnv QUORATE_PROJECT_DIR %s\n"
             "FcgidMaxRequestLen 1073741824\n"
             "FcgidIOTimeout 600\n\n"
             "Alias /%s/download/ %s/download/\n"
             "ScriptAlias /%s_cgi/ %s/cgi-bin/\n"
             "ScriptAliasMatch ^/%s/ %s/cgi-bin/web\n\n",
             p->name, p->root, p->name, p->root, p->name, p->root, p->name,
             p->root);
    buf_addf(b,
             "<Directory %s/download>\n"
             "    Require all granted\n"
             "    Options None\n"
             "    AllowOverride None\n"
             "    ForceType application/octet-stream\n"
             "</Directory>\n"
             "<Directory %s/cgi-bin>\n"
             "    Require all granted\n"
             "    Options +ExecCGI +FollowSymLinks\n"
             "    AllowOverride None\n"
             "    SetHandler fcgid-script\n"
             "</Directory>\n",
             p->root, p->root);
}

static void
nginx_location(const struct newproject *p, const char *match,
               const char *socket, const char *more, struct buf *b)
{
    buf_addf(b,
             "location %s {\n"
             "    include fastcgi_params;\n"
             "    fastcgi_param QUORATE_PROJECT_DIR %s;\n"
             "%s"
             "    fastcgi_pass unix:%s/tmp_%s/%s.sock;\n"
             "}\n",
             match, p->root, more, p->root, p->host, socket);
}

void
newproject_nginx(const struct newproject *p, struct buf *b)
{
    static const char *const program[][3] = {
        {"scheduler", "fcgi",                "4"},
        {"upload",    "file_upload_handler", "4"},
        {"web",       "web",                 "2"},
    };
    struct buf match = BUF_INIT;

    buf_addf(b,
             "# The project %s in nginx: include this file in a server "
             "block.\n"
             "# nginx starts no FastCGI programs; these lines do, as the "
             "project's user:\n#\n",
             p->name);
    for (size_t i = 0; i < ARRAY_LEN(program); i++)
        buf_addf(b,
                 "#   QUORATE_PROJECT_DIR=%s spawn-fcgi -M 0660 -F %s \\\n"
                 "#       -s %s/tmp_%s/%s.sock -- %s/cgi-bin/%s\n",
                 p->root, program[i][2], p->root, p->host, program[i][0],
                 p->root, program[i][1]);
    buf_add(b, "\n");
    buf_addf(&match, "~ ^/%s_cgi/(cgi|fcgi)$", p->name);
    nginx_location(p, buf_str(&match), "scheduler",
                   "    client_max_body_size 64m;\n", b);
    buf_reset(&match);
    buf_addf(&match, "= /%s_cgi/file_upload_handler", p->name);
    nginx_location(p, buf_str(&match), "upload",
                   "    client_max_body_size 0;\n"
                   "    fastcgi_request_buffering off;\n",
                   b);
    buf_addf(b,
             "location ^~ /%s/download/ {\n"
             "    alias %s/download/;\n"
             "    default_type application/octet-stream;\n"
             "}\n",
             p->name, p->root);
    buf_reset(&match);
    buf_addf(&match, "/%s/", p->name);
    nginx_location(p, buf_str(&match), "web", "", b);
    buf_free(&match);
}
