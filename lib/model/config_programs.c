/* config_programs.c - <daemons> and <tasks> of config.xml (operations §3). */
#include "config_read.h"

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "config.h"
#include "xml.h"

#define CONF_STRUCT struct config_program

/* A daemon's elements; a task has the last two besides. */
static const struct conf_option program_options[] = {
    OPTION(cmd, CONF_STRING, NULL, 0, 0, 0, "", "command line"),
    OPTION(host, CONF_STRING, NULL, 0, 0, 0, "", "where it runs"),
    OPTION(disabled, CONF_BOOL, NULL, 0, 0, 0, "", "not started"),
    OPTION(output, CONF_STRING, NULL, 0, 0, 0, "", "log file"),
    OPTION(pid_file, CONF_STRING, NULL, 0, 0, 0, "", "file of its pid"),
    OPTION(lock_file, CONF_STRING, NULL, 0, 0, 0, "", "file of its lock"),
    OPTION(use_shell, CONF_BOOL, NULL, 0, 0, 0, "", "run by sh"),
    OPTION(silent_start, CONF_BOOL, NULL, 0, 0, 0, "", "start says nothing"),
    OPTION(period, CONF_SECONDS, NULL, 0, 0, 0, "", "how often"),
    OPTION(always_run, CONF_BOOL, NULL, 0, 0, 0, "", "even if disabled"),
};

enum { N_DAEMON_OPTIONS = 8 };

/* A bare number counts minutes. */
static void
read_period(struct config_reader *r, const struct xml_node *node, int64_t *ret)
{
    struct buf text = BUF_INIT;

    xml_text(node, &text);
    if (conf_seconds(buf_str(&text), 60, ret) != 0 || *ret <= 0)
        config_fault(
            r, xml_line(node),
            "<period>: not a period such as \"5 min\", \"2 hours\", \"7 "
            "days\": %s",
            buf_str(&text));
    buf_free(&text);
}

/* Characters that only a shell understands, outside of quotes. */
static bool
needs_shell(const char *cmd)
{
    char quote = '\0';

    for (; *cmd != '\0'; cmd++) {
        if (quote == '\0' && strchr("|<>;&`", *cmd) != NULL)
            return true;
        if (quote == '\0' && (*cmd == '\'' || *cmd == '"'))
            quote = *cmd;
        else if (*cmd == quote)
            quote = '\0';
    }
    return false;
}

/* Two daemons of one program differ in their outputs, so the pid file is named
 * after "<name>.log"; after the program if the output is something else. */
static void
fill_pid_file(struct config_program *p, const char *prog)
{
    size_t n = strlen(p->output);
    bool is_log = n > 4 && strcmp(p->output + n - 4, ".log") == 0 &&
                  strchr(p->output, '/') == NULL;
    char *stem = xstrndup(p->output, is_log ? n - 4 : 0);

    config_set_default(&p->pid_file, is_log ? stem : prog, ".pid");
    free(stem);
}

/* operations §3: names from the program's, the lock's from the output's. */
static void
fill_program(struct config_program *p, const char *host, bool is_task)
{
    char *word = xstrndup(p->cmd, strcspn(p->cmd, " \t"));
    const char *slash = strrchr(word, '/');
    const char *prog = slash != NULL ? slash + 1 : word;

    config_set_default(&p->output, prog, is_task ? ".out" : ".log");
    if (strncmp(p->output, "/dev/", 5) == 0)
        config_set_default(&p->lock_file, prog, ".lock");
    else
        config_set_default(&p->lock_file, p->output, ".lock");
    config_set_default(&p->host, host, "");
    if (!is_task)
        fill_pid_file(p, prog);
    free(word);
}

static void
check_program(struct config_reader *r, const struct config_program *p,
              bool is_task)
{
    if (p->cmd[0] == '\0')
        config_fault(r, p->line, "<cmd> is missing");
    if (!p->use_shell && needs_shell(p->cmd))
        config_fault(
            r, p->line,
            "<cmd> has pipes or redirections, so it needs <use_shell>: %s",
            p->cmd);
    if (is_task && p->period == 0)
        config_fault(r, p->line, "<period> is missing");
}

static void
read_program(struct config_reader *r, const struct xml_node *node,
             struct config_program *p, bool is_task)
{
    size_t n_options = is_task ? ARRAY_LEN(program_options) : N_DAEMON_OPTIONS;
    bool period_given = false;

    conf_defaults(program_options, ARRAY_LEN(program_options), p);
    p->line = xml_line(node);
    for (const struct xml_node *n = xml_first(node); n != NULL;
         n = xml_next(n)) {
        const struct conf_option *o =
            conf_find(program_options, n_options, xml_name(n));

        if (o == NULL) {
            if (!config_is_foreign(r->cfg, xml_name(n)))
                config_unknown(r, n, program_options, n_options);
        } else if (strcmp(o->name, "period") == 0) {
            period_given = true;
            read_period(r, n, &p->period);
        } else {
            (void)config_set_field(r, o, n, p);
        }
    }
    if (period_given && p->period == 0)
        p->period = -1; /* bad, and said so */
    check_program(r, p, is_task);
}

/* All <daemon>s of <daemons>, or all <task>s of <tasks>. */
void
config_programs_read(struct config_reader *r, const struct xml_node *parent,
                     const char *name, struct config_program **list, size_t *n)
{
    for (const struct xml_node *node = xml_first(parent); node != NULL;
         node = xml_next(node)) {
        if (strcmp(xml_name(node), name) != 0) {
            if (!config_is_foreign(r->cfg, xml_name(node)))
                config_fault(r, xml_line(node),
                             "unknown element <%s>; only <%s> here",
                             xml_name(node), name);
            continue;
        }
        *list = xrealloc(*list, (*n + 1) * sizeof(**list));
        (*list)[*n] = (struct config_program){0};
        read_program(r, node, &(*list)[*n], strcmp(name, "task") == 0);
        (*n)++;
    }
}

/* A lock shared by two programs would let only one of them run. */
static void
check_locks(struct config_reader *r, const struct config_program *list,
            size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(list[i].lock_file, list[k].lock_file) == 0 &&
                strcmp(list[i].host, list[k].host) == 0)
                config_fault(
                    r, list[i].line,
                    "lock file %s is also that of line %d: give the two "
                    "programs different <output>s",
                    list[i].lock_file, list[k].line);
}

void
config_programs_fill(struct config_reader *r)
{
    struct config *cfg = r->cfg;

    for (size_t i = 0; i < cfg->n_daemons; i++)
        fill_program(&cfg->daemon[i], cfg->host, false);
    for (size_t i = 0; i < cfg->n_tasks; i++)
        fill_program(&cfg->task[i], cfg->host, true);
    check_locks(r, cfg->daemon, cfg->n_daemons);
    check_locks(r, cfg->task, cfg->n_tasks);
}

static void
free_programs(struct config_program *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        conf_free(program_options, ARRAY_LEN(program_options), &list[i]);
    free(list);
}

void
config_programs_free(struct config *cfg)
{
    free_programs(cfg->daemon, cfg->n_daemons);
    free_programs(cfg->task, cfg->n_tasks);
}
