/* newproject_text.c - the texts of a new project: config.xml and its
 * neighbours.
 */
#include "newproject.h"

#include <inttypes.h>

#include "buf.h"
#include "xml.h"

/* One element, indented as people write config.xml. */
static void
put(struct buf *b, const char *name, const char *text)
{
    buf_addf(b, "        <%s>", name);
    xml_escape(b, text);
    buf_addf(b, "</%s>\n", name);
}

static void
put_path(struct buf *b, const char *name, const char *base, const char *rest)
{
    struct buf text = BUF_INIT;

    buf_addf(&text, "%s%s", base, rest);
    put(b, name, buf_str(&text));
    buf_free(&text);
}

static void
put_program(struct buf *b, const char *cmd)
{
    buf_addf(b,
             "        <daemon>\n"
             "            <cmd>%s</cmd>\n"
             "        </daemon>\n",
             cmd);
}

static void
put_task(struct buf *b, const char *cmd, const char *period)
{
    buf_addf(b,
             "        <task>\n"
             "            <cmd>%s</cmd>\n"
             "            <period>%s</period>\n"
             "        </task>\n",
             cmd, period);
}

/* What a new project has, where that differs from an option's default. */
static void
put_policies(struct buf *b)
{
    static const char *const policy[][2] = {
        {"uldl_dir_fanout",                   "1024"},
        {"cache_md5_info",                    "1"   },
        {"ignore_upload_certificates",        "0"   },
        {"dont_generate_upload_certificates", "0"   },
        {"one_result_per_user_per_wu",        "1"   },
        {"resend_lost_results",               "1"   },
        {"send_result_abort",                 "1"   },
        {"max_wus_to_send",                   "50"  },
        {"daily_result_quota",                "500" },
        {"min_sendwork_interval",             "6"   },
        {"min_passwd_length",                 "6"   },
    };

    for (size_t i = 0; i < ARRAY_LEN(policy); i++)
        put(b, policy[i][0], policy[i][1]);
}

static void
put_identity(const struct newproject *p, struct buf *b)
{
    struct buf cgi = BUF_INIT;

    buf_addf(&cgi, "%s%s_cgi/file_upload_handler", p->url_base, p->name);
    put(b, "master_url", p->master_url);
    put(b, "long_name", p->long_name);
    put(b, "host", p->host);
    put(b, "project_user_name", p->user_name);
    put(b, "db_name", p->db_name);
    put(b, "db_host", p->db_host);
    put(b, "db_user", p->db_user);
    put(b, "db_passwd", p->db_passwd);
    put(b, "key_dir", p->key_dir);
    put_path(b, "upload_dir", p->root, "/upload");
    put(b, "upload_url", buf_str(&cgi));
    put_path(b, "download_dir", p->root, "/download");
    put_path(b, "download_url", p->master_url, "download");
    buf_free(&cgi);
}

void
newproject_config_xml(const struct newproject *p, struct buf *b)
{
    buf_add(b, "<boinc>\n    <config>\n");
    put_identity(p, b);
    put_policies(b);
    buf_add(b, "    </config>\n    <daemons>\n");
    put_program(b, "feeder");
    put_program(b, "transitioner");
    if (p->test_app) {
        put_program(b, "uppercase_validator --app uppercase --credit_from_wu");
        put_program(b, "sample_copy_assimilator --app uppercase");
    }
    put_program(b, "file_deleter");
    put_program(b, "db_purge --min_age_days 7");
    buf_add(b, "    </daemons>\n    <tasks>\n");
    put_task(b, "antique_file_deleter", "24 hours");
    buf_add(b, "    </tasks>\n</boinc>\n");
}

void
newproject_project_xml(const struct newproject *p, struct buf *b)
{
    static const char *const platform[][2] = {
        {"windows_x86_64",                "Microsoft Windows on a 64-bit x86 computer"},
        {"windows_intelx86",              "Microsoft Windows on a 32-bit x86 computer"},
        {"windows_arm64",                 "Microsoft Windows on a 64-bit ARM computer"},
        {"x86_64-pc-linux-gnu",           "Linux on a 64-bit x86 computer"            },
        {"i686-pc-linux-gnu",             "Linux on a 32-bit x86 computer"            },
        {"aarch64-unknown-linux-gnu",     "Linux on a 64-bit ARM computer"            },
        {"arm-unknown-linux-gnueabihf",   "Linux on a 32-bit ARM computer"            },
        {"powerpc64le-unknown-linux-gnu", "Linux on a 64-bit POWER computer"          },
        {"riscv64-unknown-linux-gnu",     "Linux on a 64-bit RISC-V computer"         },
        {"x86_64-apple-darwin",           "macOS on a 64-bit x86 computer"            },
        {"arm64-apple-darwin",            "macOS on an Apple processor"               },
        {"aarch64-android-linux-gnu",     "Android on a 64-bit ARM device"            },
        {"arm-android-linux-gnu",         "Android on a 32-bit ARM device"            },
    };

    buf_add(b, "<boinc>\n");
    for (size_t i = 0; i < ARRAY_LEN(platform); i++)
        buf_addf(b,
                 "    <platform>\n"
                 "        <name>%s</name>\n"
                 "        <user_friendly_name>%s</user_friendly_name>\n"
                 "    </platform>\n",
                 platform[i][0], platform[i][1]);
    if (p->test_app)
        buf_add(b, "    <app>\n"
                   "        <name>uppercase</name>\n"
                   "        <user_friendly_name>Upper case (example)"
                   "</user_friendly_name>\n"
                   "    </app>\n");
    buf_add(b, "</boinc>\n");
}

/* Where the pages take the scheduler's address from; each on its own line, in
 * the form that clients look for in the master page. */
void
newproject_schedulers(const struct newproject *p, struct buf *b)
{
    buf_addf(b, "<scheduler>%s%s_cgi/cgi</scheduler>\n", p->url_base, p->name);
}

void
newproject_cronjob(const struct newproject *p, struct buf *b)
{
    buf_addf(b,
             "# Install with: crontab %s.cronjob\n"
             "# Makes sure that the supervisor is alive; it restarts daemons "
             "by itself.\n"
             "*/5 * * * * cd %s && bin/start --cron\n",
             p->name, p->root);
}

void
newproject_unit(const struct newproject *p, struct buf *b)
{
    buf_addf(b,
             "# Install as /etc/systemd/system/%s.service; then no crontab is "
             "needed.\n"
             "[Unit]\n"
             "Description=Daemons of the project %s\n"
             "After=network.target mariadb.service\n"
             "\n"
             "[Service]\n"
             "User=%s\n"
             "WorkingDirectory=%s\n"
             "ExecStart=%s/bin/start --foreground\n"
             "KillMode=mixed\n"
             "TimeoutStopSec=120\n"
             "Restart=on-failure\n"
             "RestartPreventExitStatus=100\n"
             "\n"
             "[Install]\n"
             "WantedBy=multi-user.target\n",
             p->name, p->name, p->user_name, p->root, p->root);
}

static void
readme_web(const struct newproject *p, struct buf *b)
{
    buf_addf(b, "1. Web server.  One of\n");
    if (p->http_port > 0)
        buf_addf(b,
                 "     lighttpd -D -f %s/lighttpd.conf\n"
                 "       (an own server on 127.0.0.1:%" PRId64 ")\n",
                 p->root, p->http_port);
    else
        buf_addf(b,
                 "     lighttpd -D -f %s/lighttpd.conf\n"
                 "       (an own server on port 80)\n",
                 p->root);
    buf_addf(b,
             "     %s.lighttpd.conf  to be included by the machine's lighttpd\n"
             "     %s.httpd.conf     the same for Apache\n"
             "     %s.nginx.conf     the same for nginx\n\n",
             p->name, p->name, p->name);
}

void
newproject_readme(const struct newproject *p, struct buf *b)
{
    buf_addf(b,
             "%s (%s)\n\n"
             "master URL   %s\n"
             "root         %s\n"
             "database     %s\n\n"
             "What is left to do\n\n",
             p->long_name, p->name, p->master_url, p->root, p->db_name);
    readme_web(p, b);
    buf_addf(
        b,
        "2. Platforms and applications\n"
        "     cd %s\n"
        "     bin/xadd               platforms and applications of "
        "project.xml\n"
        "     bin/update_versions    application versions under apps/\n\n"
        "3. Daemons\n"
        "     bin/start              bin/status, bin/stop\n"
        "     crontab %s.cronjob     or the systemd unit %s.service\n\n"
        "4. Keys\n"
        "     %s/code_sign_private signs your applications.  Move it to a\n"
        "     machine without network, sign there with sign_executable, "
        "and\n"
        "     put the signatures beside the files (FILE.sig).\n\n"
        "config.xml holds the database password; its mode is 0640 on "
        "purpose.\n"
        "The web server's user must be in the group of this folder's "
        "files.\n",
        p->root, p->name, p->name, p->key_dir);
}
