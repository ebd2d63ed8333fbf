/* create_work.c - submit jobs: one from the command line, or one per line of
 * standard input, thousands in a transaction. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "clock.h"
#include "cmdline.h"
#include "create_work.h"
#include "log.h"
#include "tool.h"
#include "words.h"

#define MAX_LINE 4095
#define JOBS_PER_TRANSACTION 2000

struct options {
    char *appname;
    char *wu_name, *wu_template, *result_template;
    int64_t batch, priority, hr_class, size_class, app_version_num;
    double credit, opaque;
    char *keywords, *sub_appname;
    int64_t delay_bound;
    int64_t min_quorum, target_nresults, max_error_results, max_total_results;
    int64_t max_success_results;
    double rsc_fpops_est, rsc_fpops_bound, rsc_memory_bound, rsc_disk_bound;
    double rsc_bandwidth_bound;
    char *command_line;
    int64_t target_host, target_user, target_team;
    int64_t broadcast_user, broadcast_team;
    bool broadcast;
    struct conf_list remote_file;
    bool from_stdin, continue_on_error, verbose, ids;
    char *config_dir;
    int64_t debug_level;
    struct conf_list file;
};

#define INT_LIMIT 2147483647

#define CONF_STRUCT struct options
static const struct conf_option rows[] = {
    OPTION(appname, CONF_STRING, NULL, 0, 0, CONF_REQUIRED, "NAME",
           "short name of the application"),
    OPTION(wu_name, CONF_STRING, NULL, 0, 0, 0, "NAME",
           "unique name of the workunit (default: APP_PID_TIME; with --stdin "
           "_LINE is added)"),
    OPTION(wu_template, CONF_STRING, NULL, 0, 0, 0, "FILE",
           "input template (default: templates/APP_in)"),
    OPTION(result_template, CONF_STRING, NULL, 0, 0, 0, "FILE",
           "output template (default: templates/APP_out)"),
    OPTION(batch, CONF_INT, "0", 0, 9007199254740992.0, 0, "N",
           "batch number; 0: none"),
    OPTION(priority, CONF_INT, "0", -INT_LIMIT, INT_LIMIT, 0, "N",
           "higher is sent first"),
    OPTION(credit, CONF_DOUBLE, "0", 0, 1e12, 0, "CREDIT",
           "what each valid result is granted, for validators that run with "
           "--credit_from_wu; 0: from rsc_fpops_est"),
    OPTION(opaque, CONF_DOUBLE, "0", -1e300, 1e300, 0, "NUMBER",
           "a number of yours that the server keeps with the workunit"),
    OPTION(hr_class, CONF_INT, "0", 0, INT_LIMIT, 0, "N",
           "send to hosts of this class alone; 0: of any"),
    OPTION(size_class, CONF_INT, "-1", -1, 1000, 0, "N",
           "size class; -1: none"),
    OPTION(app_version_num, CONF_INT, "0", 0, INT_LIMIT, 0, "N",
           "use this version of the application alone; 0: any"),
    OPTION(keywords, CONF_STRING, NULL, 0, 0, 0, "'N N ...'",
           "numbers of keywords"),
    OPTION(sub_appname, CONF_STRING, NULL, 0, 0, 0, "TEXT",
           "shown by clients behind the application's name"),
    OPTION(delay_bound, CONF_SECONDS, "-1", -1, INT_LIMIT, 0, "s",
           "time between sending and deadline (default: 604800)"),
    OPTION(min_quorum, CONF_INT, "-1", -1, 1000, 0, "N",
           "so many results must agree (default: 1)"),
    OPTION(target_nresults, CONF_INT, "-1", -1, 1000, 0, "N",
           "so many results are made at first; at least min_quorum (default: "
           "min_quorum)"),
    OPTION(max_error_results, CONF_INT, "-1", -1, 10000, 0, "N",
           "more failed results end the workunit (default: 1)"),
    OPTION(max_total_results, CONF_INT, "-1", -1, 10000, 0, "N",
           "more results end the workunit (default: the largest of the "
           "others)"),
    OPTION(max_success_results, CONF_INT, "-1", -1, 10000, 0, "N",
           "more successes without agreement end the workunit (default: "
           "target_nresults)"),
    OPTION(rsc_fpops_est, CONF_DOUBLE, "-1", -1, 1e30, 0, "FLOP",
           "expected number of operations (default: 3.6e12)"),
    OPTION(rsc_fpops_bound, CONF_DOUBLE, "-1", -1, 1e30, 0, "FLOP",
           "after so many the client stops the job (default: 8.64e13)"),
    OPTION(rsc_memory_bound, CONF_DOUBLE, "-1", -1, 1e18, 0, "bytes",
           "memory that the job needs (default: 5e8)"),
    OPTION(rsc_disk_bound, CONF_DOUBLE, "-1", -1, 1e18, 0, "bytes",
           "disk space for input, output and scratch files (default: 1e9)"),
    OPTION(rsc_bandwidth_bound, CONF_DOUBLE, "0", 0, 1e18, 0, "bytes/s",
           "least download speed of a host; 0: any"),
    OPTION(command_line, CONF_STRING, NULL, 0, 0, 0, "TEXT",
           "arguments for the application; a line's own are added"),
    OPTION(target_host, CONF_INT, "0", 0, INT_LIMIT, 0, "ID",
           "for this host alone"),
    OPTION(target_user, CONF_INT, "0", 0, INT_LIMIT, 0, "ID",
           "for hosts of this user alone"),
    OPTION(target_team, CONF_INT, "0", 0, INT_LIMIT, 0, "ID",
           "for hosts of this team alone"),
    OPTION(broadcast, CONF_BOOL, NULL, 0, 0, 0, "", "once for every host"),
    OPTION(broadcast_user, CONF_INT, "0", 0, INT_LIMIT, 0, "ID",
           "once for every host of this user"),
    OPTION(broadcast_team, CONF_INT, "0", 0, INT_LIMIT, 0, "ID",
           "once for every host of this team"),
    OPTION(remote_file, CONF_LIST, NULL, 0, 0, CONF_TAKES_3, "URL NBYTES MD5",
           "an input file that lies elsewhere; follows the named ones"),
    {"stdin",         CONF_BOOL, offsetof(struct options, from_stdin),  NULL, 0, 0, 0,
       "",                                                                                   "one job per line: options --command_line, --wu_name, --wu_template, "
     "--result_template, --remote_file, --target_host, --target_user, "
     "--priority, and file names"                                                                                                       },
    OPTION(continue_on_error, CONF_BOOL, NULL, 0, 0, 0, "",
           "with --stdin: leave out refused jobs, go on with the others"),
    OPTION(ids, CONF_BOOL, NULL, 0, 0, 0, "", "print the workunits' ids, too"),
    OPTION(verbose, CONF_BOOL, NULL, 0, 0, 0, "",
           "the same, and say what was there already"),
    OPTION(config_dir, CONF_STRING, NULL, 0, 0, 0, "DIR",
           "root of the project (default: this folder or the one above)"),
    {"d|debug_level", CONF_INT,  offsetof(struct options, debug_level), "2",  1,
       4,                                                                             0, "", "log level: 1 critical, 2 warning, 3 normal, 4 debug"},
    OPTION(file, CONF_LIST, NULL, 0, 0, CONF_POSITIONAL, "FILE",
           "staged input files, in the order of the input template"),
};
#undef CONF_STRUCT

static const struct cmdline cmdline = {
    .name = "create_work",
    .section = 1,
    .summary = "submit jobs",
    .description =
        "Makes workunits from an input template, an output template and "
        "staged input files (stage_file).  Values in the input template win "
        "over the options here.\n\n"
        "Prints \"workunit name: NAME\" for each.  A name that is in use is "
        "refused, unless the workunit is the same: then nothing is done, so a "
        "submission that was interrupted can be repeated.\n\n"
        "With --stdin each line is a job; lines are read in groups of 2000, "
        "each written in one transaction.  Blank lines and lines that begin "
        "with # are left out.  A refused line ends the run, with its number, "
        "before its group is written.",
    .options = rows,
    .n_options = ARRAY_LEN(rows),
};

/* What a line may say.  The same names as above. */
struct line_options {
    char *command_line, *wu_name, *wu_template, *result_template;
    int64_t target_host, target_user, priority;
    bool has_priority;
};

#define CONF_STRUCT struct line_options
static const struct conf_option line_rows[] = {
    OPTION(command_line, CONF_STRING, NULL, 0, 0, 0, "", ""),
    OPTION(wu_name, CONF_STRING, NULL, 0, 0, 0, "", ""),
    OPTION(wu_template, CONF_STRING, NULL, 0, 0, 0, "", ""),
    OPTION(result_template, CONF_STRING, NULL, 0, 0, 0, "", ""),
    OPTION(target_host, CONF_INT, "0", 0, INT_LIMIT, 0, "", ""),
    OPTION(target_user, CONF_INT, "0", 0, INT_LIMIT, 0, "", ""),
    OPTION(priority, CONF_INT, "0", -INT_LIMIT, INT_LIMIT, 0, "", ""),
};
#undef CONF_STRUCT

struct run {
    const struct options *o;
    struct create_work *work;
    struct job base; /* from the command line */
    struct job_file *base_file;
    size_t n_base_files;
    char base_name[256];
    bool refused; /* some job was */
    bool failed;  /* the world failed */
};

/* ---- from options to a job -----------------------------------------------
 */

static bool
number(const char *text, int64_t *ret)
{
    char *end;

    errno = 0;
    *ret = strtoll(text, &end, 10);
    return errno == 0 && end != text && *end == '\0' && *ret >= 0;
}

static int
remote(char *const word[3], struct job_file *ret)
{
    ret->url = word[0];
    ret->md5 = word[2];
    if (number(word[1], &ret->nbytes))
        return 0;
    tool_error("--remote_file %s: %s is no size in bytes", word[0], word[1]);
    return -1;
}

static const char *
text_or_null(const char *text)
{
    return text[0] != '\0' ? text : NULL;
}

static void
copy_numbers(const struct options *o, struct job *job)
{
    job->batch = o->batch;
    job->priority = (int)o->priority;
    job->credit = o->credit;
    job->opaque = o->opaque;
    job->hr_class = (int)o->hr_class;
    job->size_class = (int)o->size_class;
    job->app_version_num = (int)o->app_version_num;
    job->delay_bound = o->delay_bound;
    job->min_quorum = (int)o->min_quorum;
    job->target_nresults = (int)o->target_nresults;
    job->max_error_results = (int)o->max_error_results;
    job->max_total_results = (int)o->max_total_results;
    job->max_success_results = (int)o->max_success_results;
    job->rsc_fpops_est = o->rsc_fpops_est;
    job->rsc_fpops_bound = o->rsc_fpops_bound;
    job->rsc_memory_bound = o->rsc_memory_bound;
    job->rsc_disk_bound = o->rsc_disk_bound;
    job->rsc_bandwidth_bound = o->rsc_bandwidth_bound;
}

/* At most one target.  0, -1 (told). */
static int
set_target(const struct options *o, struct job *job)
{
    const struct {
        int64_t id;
        enum job_target target;
        bool broadcast;
    } given[] = {
        {o->target_host,    JOB_FOR_HOST,    false},
        {o->target_user,    JOB_FOR_USER,    false},
        {o->target_team,    JOB_FOR_TEAM,    false},
        {o->broadcast,      JOB_FOR_ANYBODY, true },
        {o->broadcast_user, JOB_FOR_USER,    true },
        {o->broadcast_team, JOB_FOR_TEAM,    true },
    };
    int n = 0;

    for (size_t i = 0; i < ARRAY_LEN(given); i++) {
        if (given[i].id == 0)
            continue;
        if (++n > 1) {
            tool_error("give one of --target_... and --broadcast..., not two");
            return -1;
        }
        job->broadcast = given[i].broadcast;
        job->target = given[i].target;
        job->target_id = given[i].target == JOB_FOR_ANYBODY ? 0 : given[i].id;
    }
    return 0;
}

static int
set_base_files(struct run *r)
{
    const struct options *o = r->o;
    size_t n = o->file.n + o->remote_file.n / 3;

    r->base_file = xcalloc(n + 1, sizeof(*r->base_file));
    for (size_t i = 0; i < o->file.n; i++)
        r->base_file[r->n_base_files++].name = o->file.item[i];
    for (size_t i = 0; i + 3 <= o->remote_file.n; i += 3)
        if (remote(&o->remote_file.item[i], &r->base_file[r->n_base_files++]) !=
            0)
            return -1;
    return 0;
}

static int
set_base(struct run *r)
{
    const struct options *o = r->o;
    struct job *job = &r->base;

    job_init(job);
    copy_numbers(o, job);
    job->keywords = text_or_null(o->keywords);
    job->wu_template = text_or_null(o->wu_template);
    job->result_template = text_or_null(o->result_template);
    job->command_line = text_or_null(o->command_line);
    job->sub_appname = text_or_null(o->sub_appname);
    if (o->wu_name[0] == '\0')
        snprintf(r->base_name, sizeof(r->base_name), "%.100s_%ld_%" PRId64,
                 o->appname, (long)getpid(), clock_now());
    else if (!str_copy(r->base_name, sizeof(r->base_name), o->wu_name)) {
        tool_error("--wu_name: longer than 255 bytes");
        return -1;
    }
    if (set_target(o, job) != 0 || set_base_files(r) != 0)
        return -1;
    job->file = r->base_file;
    job->n_files = r->n_base_files;
    return 0;
}

/* ---- writing and telling --------------------------------------------------
 */

static void
tell_line(int64_t line, const char *text)
{
    if (line > 0)
        tool_error("line %" PRId64 ": %s", line, text);
    else
        tool_error("%s", text);
}

/* Each line of `text` as a complaint about an input line. */
static void
tell(int64_t line, const char *text)
{
    char *all = xstrdup(text);
    char *rest = all;

    for (char *one; rest != NULL && (one = strsep(&rest, "\n")) != NULL;)
        if (one[0] != '\0')
            tell_line(line, one);
    free(all);
}

static void
done(void *arg, const struct created_job *job)
{
    const struct run *r = arg;
    struct buf text = BUF_INIT;

    if (job->taken) {
        buf_addf(&text,
                 "the name %s is in use: workunit %" PRId64
                 " has it, and is another job",
                 job->name, job->wu_id);
        tell_line(job->tag, buf_str(&text));
        buf_free(&text);
        return;
    }
    printf("workunit name: %s\n", job->name);
    if (r->o->ids || r->o->verbose)
        printf("workunit id: %" PRId64 "\n", job->wu_id);
    if (r->o->verbose && job->was_there)
        printf("was there already: %s\n", job->name);
}

/* False: do not go on. */
static bool
flush_jobs(struct run *r)
{
    switch (create_work_commit(r->work, !r->o->continue_on_error, done, r)) {
    case 0:
        return true;
    case CREATE_WORK_REFUSED:
        r->refused = true;
        return r->o->continue_on_error;
    default:
        r->failed = true;
        return false;
    }
}

static bool
add(struct run *r, const struct job *job)
{
    int rc;

    /* the second job of a name is compared with the first, in the database */
    if (create_work_has(r->work, job->name) && !flush_jobs(r))
        return false;
    rc = create_work_add(r->work, job);
    tell(job->tag, create_work_advice(r->work));
    tell(job->tag, create_work_error(r->work));
    if (rc != 0)
        r->refused = true;
    return rc == 0 || r->o->continue_on_error;
}

/* ---- lines ----------------------------------------------------------------
 */

/* "--name value" of a line.  How many words it took; -1 and a text in err. */
static int
line_option(char **word, struct line_options *lo, struct job_file *file,
            size_t *n_files, struct buf *err)
{
    const char *name = word[0] + (word[0][1] == '-' ? 2 : 1);
    const struct conf_option *row;

    if (strcmp(name, "remote_file") == 0) {
        if (word[1] == NULL || word[2] == NULL || word[3] == NULL) {
            buf_add(err, "--remote_file wants URL, NBYTES, MD5");
            return -1;
        }
        return remote(&word[1], &file[(*n_files)++]) == 0 ? 4 : -1;
    }
    row = conf_find(line_rows, ARRAY_LEN(line_rows), name);
    if (row == NULL) {
        buf_addf(err, "no option of a line: %s", word[0]);
        return -1;
    }
    if (word[1] == NULL) {
        buf_addf(err, "%s wants a value", word[0]);
        return -1;
    }
    if (conf_set(row, lo, word[1], err) != 0)
        return -1;
    if (strcmp(name, "priority") == 0)
        lo->has_priority = true;
    return 2;
}

static int
read_words(char **word, struct line_options *lo, struct job_file *file,
           size_t *n_files, struct buf *err)
{
    while (*word != NULL) {
        int n = 1;

        if ((*word)[0] == '-' && (*word)[1] != '\0')
            n = line_option(word, lo, file, n_files, err);
        else
            file[(*n_files)++].name = *word;
        if (n < 0)
            return -1;
        word += n;
    }
    return 0;
}

/* What the line says goes over what the command line said. */
static int
apply_line(const struct run *r, const struct line_options *lo, int64_t line,
           struct job *job, struct buf *name, struct buf *command,
           struct buf *err)
{
    job->tag = line;
    if (lo->wu_name[0] != '\0')
        buf_add(name, lo->wu_name);
    else
        buf_addf(name, "%.200s_%" PRId64, r->base_name, line);
    job->name = buf_str(name);
    if (lo->wu_template[0] != '\0')
        job->wu_template = lo->wu_template;
    if (lo->result_template[0] != '\0')
        job->result_template = lo->result_template;
    if (lo->command_line[0] != '\0') {
        buf_addf(command, "%s%s%s", r->o->command_line,
                 r->o->command_line[0] != '\0' ? " " : "", lo->command_line);
        job->command_line = buf_str(command);
    }
    if (lo->has_priority)
        job->priority = (int)lo->priority;
    if (lo->target_host > 0 && lo->target_user > 0) {
        buf_add(err, "give one of --target_host and --target_user, not both");
        return -1;
    }
    if (lo->target_host > 0 || lo->target_user > 0) {
        job->broadcast = false;
        job->target = lo->target_host > 0 ? JOB_FOR_HOST : JOB_FOR_USER;
        job->target_id =
            lo->target_host > 0 ? lo->target_host : lo->target_user;
    }
    return 0;
}

/* One line.  False: do not go on. */
static bool
add_line(struct run *r, const char *text, int64_t line)
{
    struct job job = r->base;
    struct line_options lo = {.command_line = NULL};
    struct job_file *file = NULL;
    struct buf name = BUF_INIT;
    struct buf command = BUF_INIT;
    struct buf err = BUF_INIT;
    char **word = words_split(text, "", &err);
    size_t n_words = 0, n_files = 0;
    bool go_on = false;

    conf_defaults(line_rows, ARRAY_LEN(line_rows), &lo);
    while (word != NULL && word[n_words] != NULL)
        n_words++;
    file = xcalloc(n_words + 1, sizeof(*file));
    if (word != NULL && read_words(word, &lo, file, &n_files, &err) == 0 &&
        apply_line(r, &lo, line, &job, &name, &command, &err) == 0) {
        if (n_files > 0) {
            job.file = file;
            job.n_files = n_files;
        }
        go_on = add(r, &job);
    } else {
        tell(line, buf_str(&err));
        r->refused = true;
        go_on = r->o->continue_on_error;
    }
    words_free(word);
    free(file);
    conf_free(line_rows, ARRAY_LEN(line_rows), &lo);
    buf_free(&name);
    buf_free(&command);
    buf_free(&err);
    return go_on;
}

static bool
is_blank(const char *text)
{
    text += strspn(text, " \t\r\n");
    return text[0] == '\0' || text[0] == '#';
}

static void
read_stdin(struct run *r)
{
    char *text = NULL;
    size_t size = 0;
    ssize_t n;
    bool go_on = true;

    for (int64_t line = 1; go_on && (n = getline(&text, &size, stdin)) >= 0;
         line++) {
        while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == '\r'))
            text[--n] = '\0';
        if (n > MAX_LINE) {
            tell_line(line, "longer than 4095 bytes");
            r->refused = true;
            go_on = r->o->continue_on_error;
        } else if (strlen(text) != (size_t)n) {
            tell_line(line, "holds a NUL byte");
            r->refused = true;
            go_on = r->o->continue_on_error;
        } else if (!is_blank(text)) {
            go_on = add_line(r, text, line);
        }
        if (go_on && create_work_pending(r->work) >= JOBS_PER_TRANSACTION)
            go_on = flush_jobs(r);
    }
    if (ferror(stdin)) {
        tool_error("reading standard input failed");
        r->failed = true;
    }
    if (go_on)
        flush_jobs(r);
    free(text);
}

/* ---- main -----------------------------------------------------------------
 */

static void
one_job(struct run *r)
{
    r->base.name = r->base_name;
    if (add(r, &r->base))
        flush_jobs(r);
}

static int
run(const char *root, const struct options *o)
{
    struct run r = {.o = o};
    int rc = EXIT_USAGE;

    if (set_base(&r) != 0)
        goto out;
    rc = create_work_open(root, o->appname, &r.work);
    if (rc != 0) {
        tell(0, create_work_error(r.work));
        rc = rc == CREATE_WORK_REFUSED ? EXIT_NO : EXIT_TEMPFAIL;
        goto out;
    }
    if (o->from_stdin)
        read_stdin(&r);
    else
        one_job(&r);
    rc = r.failed ? EXIT_TEMPFAIL : r.refused ? EXIT_NO : EXIT_OK;
    if (fflush(stdout) != 0 && rc == EXIT_OK)
        rc = EXIT_TEMPFAIL;
out:
    create_work_close(r.work);
    free(r.base_file);
    return rc;
}

int
main(int argc, char **argv)
{
    struct options o = {.appname = NULL};
    char *root;
    int rc = EXIT_USAGE;

    tool_begin(argv[0]);
    cmdline_parse(&cmdline, argc, argv, &o);
    log_set_level((enum log_level)o.debug_level);
    root = tool_root(o.config_dir, argv[0]);
    if (root != NULL)
        rc = run(root, &o);
    free(root);
    conf_free(rows, ARRAY_LEN(rows), &o);
    return rc;
}
