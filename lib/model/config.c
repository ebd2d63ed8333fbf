/* config.c - reads config.xml strictly: every fault is found, each with its
 * line, and none is passed over (a misspelt option must not be a missing
 * option). */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <regex.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "config_read.h"
#include "file.h"
#include "log.h"
#include "path.h"
#include "xml.h"

#define FILE_NAME "config.xml"
#define PASSWD_MAX 1024 /* bytes of a password file */

void
config_fault(struct config_reader *r, int line, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    buf_addf(r->err, "%s:%d: ", FILE_NAME, line);
    buf_vaddf(r->err, fmt, ap);
    buf_addc(r->err, '\n');
    va_end(ap);
}

/* ---- names --------------------------------------------------------------- */

bool
config_is_foreign(const struct config *cfg, const char *name)
{
    size_t n = strlen(name);

    for (const char *p = cfg->foreign_elements; *p != '\0';
         p += strcspn(p, " \t\r\n")) {
        p += strspn(p, " \t\r\n");
        if (strncmp(p, name, n) == 0 && strcspn(p, " \t\r\n") == n)
            return true;
    }
    return false;
}

/* tmp_HOST_dir, pid_HOST_dir, replicaN_db_name … */
static bool
has_variable_name(const char *name)
{
    static const char *const ends[] = {"_db_name", "_db_user", "_db_passwd",
                                       "_db_host"};
    size_t n = strlen(name);

    if (strncmp(name, "tmp_", 4) == 0 || strncmp(name, "pid_", 4) == 0)
        return n > 8 && strcmp(name + n - 4, "_dir") == 0;
    if (strncmp(name, "replica", 7) != 0 || !isdigit((unsigned char)name[7]))
        return false;
    name += 7 + strspn(name + 7, "0123456789");
    for (size_t i = 0; i < ARRAY_LEN(ends); i++)
        if (strcmp(name, ends[i]) == 0)
            return true;
    return false;
}

void
config_unknown(struct config_reader *r, const struct xml_node *node,
               const struct conf_option *options, size_t n)
{
    const struct conf_option *near =
        options != NULL ? conf_nearest(options, n, xml_name(node)) : NULL;

    if (near != NULL)
        config_fault(
            r, xml_line(node),
            "unknown element <%s>; did you mean <%s>? (If it is another "
            "program's, name it in <foreign_elements>.)",
            xml_name(node), conf_name(near));
    else
        config_fault(
            r, xml_line(node),
            "unknown element <%s>; if it is another program's, name it in "
            "<foreign_elements>",
            xml_name(node));
}

/* ---- <config> ------------------------------------------------------------ */

static void
check_regex(struct config_reader *r, int line, const char *name,
            const char *text)
{
    char why[128];
    regex_t regex;
    int rc = regcomp(&regex, text, REG_EXTENDED | REG_NOSUB);

    if (rc == 0) {
        regfree(&regex);
        return;
    }
    regerror(rc, &regex, why, sizeof(why));
    config_fault(r, line, "<%s>: not an extended regular expression: %s", name,
                 why);
}

static void
check_id(struct config_reader *r, int line, const char *name, const char *text)
{
    if (text[0] == '\0' || strspn(text, "0123456789") != strlen(text))
        config_fault(r, line, "<%s>: not an id: %s", name, text);
}

static void
check_certificates(struct config_reader *r, int line, const char *name,
                   const char *text)
{
    if (strcmp(text, "rsa") != 0 && strcmp(text, "ed25519") != 0)
        config_fault(r, line, "<%s>: neither rsa nor ed25519: %s", name, text);
}

/* What a type and bounds cannot say about an element's text. */
static const struct {
    const char *name;
    void (*check)(struct config_reader *, int line, const char *name,
                  const char *text);
} checks[] = {
    {"ban_os",                            check_regex       },
    {"ban_cpu",                           check_regex       },
    {"locality_scheduling_workunit_file", check_regex       },
    {"locality_scheduling_sticky_file",   check_regex       },
    {"dont_search_host_for_user",         check_id          },
    {"upload_certificates",               check_certificates},
};

/* grace_period_hours and report_grace_period are one value: the last counts. */
static void
couple_grace_period(struct config *cfg, const char *name)
{
    if (strcmp(name, "grace_period_hours") == 0)
        cfg->report_grace_period =
            (int64_t)(cfg->grace_period_hours * 3600.0 + 0.5);
    else if (strcmp(name, "report_grace_period") == 0)
        cfg->grace_period_hours = (double)cfg->report_grace_period / 3600.0;
}

bool
config_set_field(struct config_reader *r, const struct conf_option *o,
                 const struct xml_node *node, void *object)
{
    struct buf text = BUF_INIT, why = BUF_INIT;
    bool ok = false;

    xml_text(node, &text);
    if (!xml_is_leaf(node))
        config_fault(r, xml_line(node), "<%s> must not contain elements",
                     xml_name(node));
    else if (conf_set(o, object, buf_str(&text), &why) != 0)
        config_fault(r, xml_line(node), "<%s>: %s", xml_name(node),
                     buf_str(&why));
    else
        ok = true;
    for (size_t i = 0; ok && i < ARRAY_LEN(checks); i++)
        if (strcmp(checks[i].name, conf_name(o)) == 0)
            checks[i].check(r, xml_line(node), conf_name(o), buf_str(&text));
    buf_free(&text);
    buf_free(&why);
    return ok;
}

static void
read_row(struct config_reader *r, const struct conf_option *o,
         const struct xml_node *node)
{
    int *line = &r->line[o - config_options];

    if (*line != 0 && o->type != CONF_LIST) {
        config_fault(r, xml_line(node), "<%s> again; it is in line %d already",
                     xml_name(node), *line);
        return;
    }
    *line = xml_line(node);
    if ((o->flags & CONF_DEPRECATED) != 0) {
        log_warning("%s:%d: <%s> has no effect any more", FILE_NAME, *line,
                    xml_name(node));
        return;
    }
    if (config_set_field(r, o, node, r->cfg))
        couple_grace_period(r->cfg, conf_name(o));
}

static void
read_extra(struct config_reader *r, const struct xml_node *node)
{
    static const struct conf_option row = {
        "extra", CONF_LIST, offsetof(struct config, extra), NULL, 0, 0, 0,
        "",      ""};
    struct buf text = BUF_INIT, err = BUF_INIT;

    xml_text(node, &text);
    (void)conf_set(&row, r->cfg, xml_name(node), &err);
    (void)conf_set(&row, r->cfg, buf_str(&text), &err);
    buf_free(&text);
    buf_free(&err);
}

static void
read_config(struct config_reader *r, const struct xml_node *config)
{
    for (const struct xml_node *n = xml_first(config); n != NULL;
         n = xml_next(n)) {
        const struct conf_option *o =
            conf_find(config_options, n_config_options, xml_name(n));

        if (o != NULL)
            read_row(r, o, n);
        else if (has_variable_name(xml_name(n)))
            read_extra(r, n);
        else if (!config_is_foreign(r->cfg, xml_name(n)))
            config_unknown(r, n, config_options, n_config_options);
    }
}

void
config_set_default(char **field, const char *base, const char *end)
{
    struct buf text = BUF_INIT;

    if ((*field)[0] != '\0')
        return;
    buf_addf(&text, "%s%s", base, end);
    free(*field);
    *field = buf_take(&text);
}

/* ---- the whole ----------------------------------------------------------- */

/* <foreign_elements> counts for what stands before it, too. */
static void
read_foreign(struct config *cfg, const struct xml_node *config)
{
    const struct xml_node *node = xml_child(config, "foreign_elements");
    struct buf text = BUF_INIT;

    if (node == NULL)
        return;
    xml_text(node, &text);
    free(cfg->foreign_elements);
    cfg->foreign_elements = buf_take(&text);
}

static void
read_sections(struct config_reader *r, const struct xml_node *root)
{
    struct config *cfg = r->cfg;
    bool found = false;

    for (const struct xml_node *n = xml_first(root); n != NULL;
         n = xml_next(n)) {
        const char *name = xml_name(n);

        if (strcmp(name, "config") == 0) {
            read_config(r, n);
            found = true;
        } else if (strcmp(name, "daemons") == 0) {
            config_programs_read(r, n, "daemon", &cfg->daemon, &cfg->n_daemons);
        } else if (strcmp(name, "tasks") == 0) {
            config_programs_read(r, n, "task", &cfg->task, &cfg->n_tasks);
        } else if (!config_is_foreign(cfg, name)) {
            config_unknown(r, n, NULL, 0);
        }
    }
    if (!found)
        config_fault(r, xml_line(root), "<config> is missing");
}

static int
line_of(const struct config_reader *r, const char *name)
{
    return r->line[conf_find(config_options, n_config_options, name) -
                   config_options];
}

static void
check_rows(struct config_reader *r, int root_line)
{
    for (size_t i = 0; i < n_config_options; i++)
        if ((config_options[i].flags & CONF_REQUIRED) != 0 && r->line[i] == 0)
            config_fault(r, root_line, "<%s> is missing",
                         config_options[i].name);
    if (r->cfg->size_classes && r->cfg->batch_accel)
        config_fault(r, line_of(r, "batch_accel"),
                     "<batch_accel> and <size_classes> (line %d) exclude each "
                     "other",
                     line_of(r, "size_classes"));
}

static char *
absolute(const char *root, const char *path)
{
    struct buf whole = BUF_INIT;

    if (path[0] == '/')
        return xstrdup(path);
    buf_addf(&whole, "%s/%s", root, path);
    return buf_take(&whole);
}

static void
fill_folders(struct config *cfg)
{
    const char *root =
        cfg->project_dir[0] != '\0' ? cfg->project_dir : cfg->project_root;
    struct buf log_dir = BUF_INIT;

    buf_addf(&log_dir, "log_%s", path_short_host());
    const struct {
        char **field;
        const char *deflt;
    } folders[] = {
        {&cfg->key_dir,      "keys"           },
        {&cfg->download_dir, "download"       },
        {&cfg->upload_dir,   "upload"         },
        {&cfg->app_dir,      "apps"           },
        {&cfg->log_dir,      buf_str(&log_dir)},
        {&cfg->bin_dir,      "bin"            },
        {&cfg->cgi_bin_dir,  "cgi-bin"        },
    };
    for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
        char *given = *folders[i].field;

        *folders[i].field =
            absolute(root, given[0] != '\0' ? given : folders[i].deflt);
        free(given);
    }
    buf_free(&log_dir);
}

static void
fill_hosts(struct config *cfg)
{
    char name[HOST_NAME_MAX + 1] = "";

    (void)gethostname(name, sizeof(name) - 1);
    config_set_default(&cfg->host, path_short_host(), "");
    if (strcmp(cfg->db_host, name) == 0 ||
        strcmp(cfg->db_host, path_short_host()) == 0) {
        free(cfg->db_host);
        cfg->db_host = xstrdup("localhost");
    }
}

/* A program of the web server may be one that must not read the password: it
 * goes on, and has no database. */
static void
fill_password(struct config_reader *r)
{
    struct config *cfg = r->cfg;
    const char *told = getenv("QUORATE_DB_PASSWD");
    struct buf text = BUF_INIT;
    char *path;

    if (told != NULL) {
        buf_add(&text, told);
    } else if (cfg->db_passwd_file[0] != '\0') {
        path = absolute(cfg->project_root, cfg->db_passwd_file);
        if (file_read(path, PASSWD_MAX, &text) == 0)
            buf_truncate(&text, strcspn(buf_str(&text), "\r\n"));
        else if (errno == EACCES)
            log_debug("%s: %s; no database password", path, strerror(errno));
        else
            config_fault(r, 1, "<db_passwd_file>: %s: %s", path,
                         strerror(errno));
        free(path);
    } else {
        return;
    }
    free(cfg->db_passwd);
    cfg->db_passwd = buf_take(&text);
}

/* 7 and 705 were ways to write 70000 and 70500. */
static int64_t
client_version(int64_t version)
{
    return version < 10000 ? version * 100 : version;
}

static void
fill_derived(struct config_reader *r)
{
    struct config *cfg = r->cfg;

    fill_folders(cfg);
    fill_hosts(cfg);
    fill_password(r);
    cfg->min_core_client_version = client_version(cfg->min_core_client_version);
    cfg->min_core_client_version_announced =
        client_version(cfg->min_core_client_version_announced);
    config_programs_fill(r);
}

static void
read_document(struct config_reader *r, const struct xml_node *root)
{
    if (strcmp(xml_name(root), "boinc") != 0) {
        config_fault(r, xml_line(root),
                     "the file must begin with <boinc>, not <%s>",
                     xml_name(root));
        return;
    }
    read_foreign(r->cfg, xml_child(root, "config"));
    read_sections(r, root);
    check_rows(r, xml_line(root));
    fill_derived(r);
}

struct config *
config_load(const char *root, struct buf *err)
{
    struct config *cfg = xcalloc(1, sizeof(*cfg));
    struct config_reader r = {cfg, err, NULL};
    size_t start = err->len;
    char *real = realpath(root, NULL);
    char *path = absolute(real != NULL ? real : root, FILE_NAME);
    struct xml_doc *doc = xml_parse_file(path, err);

    conf_defaults(config_options, n_config_options, cfg);
    cfg->project_root = real;
    if (doc != NULL) {
        r.line = xcalloc(n_config_options, sizeof(*r.line));
        read_document(&r, xml_root(doc));
        free(r.line);
    } else {
        buf_addc(err, '\n');
    }
    xml_free(doc);
    free(path);
    if (err->len == start)
        return cfg;
    config_free(cfg);
    return NULL;
}

void
config_free(struct config *cfg)
{
    if (cfg == NULL)
        return;
    conf_free(config_options, n_config_options, cfg);
    config_programs_free(cfg);
    for (size_t i = 0; i < cfg->extra.n; i++)
        free(cfg->extra.item[i]);
    free(cfg->extra.item);
    free(cfg->project_root);
    free(cfg);
}

const char *
config_extra(const struct config *cfg, const char *name)
{
    for (size_t i = 0; i + 1 < cfg->extra.n; i += 2)
        if (strcmp(cfg->extra.item[i], name) == 0)
            return cfg->extra.item[i + 1];
    return NULL;
}

void
config_print(const struct config *cfg, struct buf *out)
{
    conf_print(config_options, n_config_options, cfg, out);
    for (size_t i = 0; i + 1 < cfg->extra.n; i += 2) {
        bool secret = strstr(cfg->extra.item[i], "_db_passwd") != NULL;

        buf_addf(out, "%s = %s\n", cfg->extra.item[i],
                 secret ? "******" : cfg->extra.item[i + 1]);
    }
}
