/* create_work.h - submit jobs from a program of your own.
 *
 *     #include <quorate/create_work.h>
 *
 *     struct create_work *w;
 *     struct job job;
 *
 *     if (create_work_open(NULL, "uppercase", &w) != 0)
 *         return fprintf(stderr, "%s", create_work_error(w));
 *     create_work_stage(w, "/tmp/in_1", 0);
 *     job_init(&job);
 *     job.name = "first";
 *     job.file = (const struct job_file[]){{.name = "in_1"}};
 *     job.n_files = 1;
 *     if (create_work(w, &job, &id) != 0)
 *         fprintf(stderr, "%s", create_work_error(w));
 *     create_work_close(w);
 *
 * The same checks as those of the program create_work(1), which is a caller of
 * these functions.  A name that is in use is refused, unless the workunit is
 * the same job: then nothing is done, so a submission that was interrupted can
 * be repeated.
 *
 * Functions return 0, CREATE_WORK_REFUSED (the job, the file or the application
 * is not as it must be; create_work_error() says why) or CREATE_WORK_FAILED
 * (database, disk; logged on standard error, too).  A handle is not to be used
 * by two threads at once. */
#ifndef QUORATE_CREATE_WORK_H
#define QUORATE_CREATE_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum create_work_status {
    CREATE_WORK_REFUSED = 1,
    CREATE_WORK_FAILED = -1,
};

/* An input file: a staged one, by its name, or one that lies elsewhere. */
struct job_file {
    const char *name; /* staged; NULL: elsewhere */
    const char *url;
    int64_t nbytes;
    const char *md5; /* 32 lower-case hex digits */
};

enum job_target { /* for whom the job is */
                  JOB_FOR_ANYBODY,
                  JOB_FOR_HOST,
                  JOB_FOR_USER, /* any of the user's hosts */
                  JOB_FOR_TEAM,
};

/* A job.  job_init() sets "not said" everywhere; the input template says more
 * and wins, and what nobody says has the default in brackets. */
struct job {
    const char *name; /* unique, 1 to 160 printable characters [made up] */
    const char *wu_template;     /* paths, absolute or relative to the */
    const char *result_template; /* project's root [templates/APP_in, _out] */
    const struct job_file *file; /* in the order of the input template */
    size_t n_files;
    const char *command_line; /* NULL: the template's */
    const char *sub_appname;  /* shown by clients; NULL: none */
    const char *keywords;     /* "N N N"; NULL: none */

    int64_t batch;       /* 0: none */
    int priority;        /* higher is sent first [0] */
    double credit;       /* of each valid result, for validators that run with
                            --credit_from_wu; 0: from rsc_fpops_est */
    double opaque;       /* a number of yours that the server keeps */
    int hr_class;        /* for hosts of this class alone; 0: any */
    int size_class;      /* -1: none */
    int app_version_num; /* this version alone; 0: any */

    int64_t delay_bound;     /* s from sending to deadline; -1 [604800] */
    int min_quorum;          /* so many must agree; -1 [1] */
    int target_nresults;     /* so many at first; -1 [min_quorum] */
    int max_error_results;   /* more errors end the workunit; -1 [1] */
    int max_total_results;   /* more results end it; -1 [as the others want] */
    int max_success_results; /* more without agreement end it; -1 [target] */
    double rsc_fpops_est;    /* FLOP expected; -1 [3.6e12] */
    double rsc_fpops_bound;  /* FLOP, then the client stops it; -1 [8.64e13] */
    double rsc_memory_bound; /* bytes; -1 [5e8] */
    double rsc_disk_bound;   /* bytes; -1 [1e9] */
    double rsc_bandwidth_bound; /* bytes/s, least download speed; 0: any */

    enum job_target target; /* a job for one, or with `broadcast` once for */
    int64_t target_id;      /* every host of these; ids of host, user, team */
    bool broadcast;

    int64_t tag; /* the caller's; comes back in struct created_job */
};

void job_init(struct job *);

/* What became of a job. */
struct created_job {
    const char *name;
    int64_t wu_id; /* of the workunit; of the one that has the name, if taken */
    bool was_there; /* the same job was there already: nothing done */
    bool taken;     /* refused: the name is another job's */
    int64_t tag;
};

struct create_work;

/* Ready to submit jobs of an application.  project_dir NULL: the project of
 * QUORATE_PROJECT_DIR, of this folder or of the one above.  *ret is to be
 * closed whatever the answer, and tells create_work_error(). */
int create_work_open(const char *project_dir, const char *appname,
                     struct create_work **ret);
void create_work_close(struct create_work *);

/* Submit one job, at once; *ret_wu_id (may be NULL) is its workunit's id. */
int create_work(struct create_work *, const struct job *, int64_t *ret_wu_id);

/* Many jobs: check and keep each of them, then write all that were kept in one
 * transaction (a few thousand at a time are best).  With `all`, one name that
 * is taken refuses all: nothing is written, and `done` (may be NULL) is called
 * for those with taken names alone; else it is called for each, in order. */
typedef void created(void *arg, const struct created_job *);
int create_work_add(struct create_work *, const struct job *);
int create_work_commit(struct create_work *, bool all, created *done,
                       void *arg);
size_t create_work_pending(const struct create_work *);
/* Is there a kept job of this name? */
bool create_work_has(const struct create_work *, const char *name);

/* Bring an input file into the download folders, under the last part of its
 * path; or write one with these bytes.  A file of that name that is there must
 * have the same content: files of jobs never change. */
enum {
    STAGE_COPY = 1, /* leave the source where it is (else it is moved) */
    STAGE_GZIP = 2, /* make a compressed copy for clients, too */
};
int create_work_stage(struct create_work *, const char *path, unsigned flags);
int create_work_stage_bytes(struct create_work *, const char *name,
                            const void *bytes, size_t n, unsigned flags);

/* Why the last call was not 0: lines, each with its '\n'; "" if it was. */
const char *create_work_error(const struct create_work *);
/* Advice that the last call had, likewise; each is given once. */
const char *create_work_advice(const struct create_work *);

#ifdef __cplusplus
}
#endif

#endif
