/* plan_class.h - plan class + host -> how a version uses the host, or why not
 * (dispatch §7.2).
 *
 * How version choice uses it, for each version whose plan_class is not "":
 *
 *     spec = plan_class_find(set, version->plan_class, &scratch);
 *     plan_class_check(spec, &host, &verdict);      NULL is refused, too
 *     if (verdict.refusal == PLAN_CLASS_OK) ... verdict.usage
 *
 * A verdict holds for a host, not for a job.  A class that limits workunits or
 * batches must be asked for each job as well: plan_class_takes_job(). */
#ifndef QUORATE_PLAN_CLASS_H
#define QUORATE_PLAN_CLASS_H

#include "ability.h"
#include "account.h"
#include "host.h"
#include "plan_class_spec.h"
#include "usage.h"

#define PLAN_CLASS_WHY_SIZE 200

enum plan_class_refusal {
    PLAN_CLASS_OK,
    PLAN_CLASS_UNKNOWN, /* no such class, or a faulty one: the operator's */
    PLAN_CLASS_CHANCE,  /* infeasible_random: perhaps next time */
    PLAN_CLASS_USER,    /* another user, or this one's choice */
    PLAN_CLASS_JOB,     /* workunit or batch (plan_class_takes_job) */
    PLAN_CLASS_CLIENT,  /* another version of the client would do */
    PLAN_CLASS_DRIVER,  /* another driver or VirtualBox would do: a notice */
    PLAN_CLASS_HOST,    /* this kind of host cannot */
};

/* The host that asks. */
struct plan_class_host {
    const struct host *host;
    const struct ability *ability;
    const struct project_prefs *prefs; /* NULL: none */
    const char *primary_platform;
    int client_version;
    int ncpus;            /* processors that may compute */
    double usable_ram;    /* bytes */
    double flops_per_cpu; /* see plan_class_host_flops() */
    double draw;          /* 0 <= draw < 1, for infeasible_random */
};

struct plan_class_verdict {
    enum plan_class_refusal refusal;
    const char *element; /* of the class that refused, "min_ncpus"; or NULL */
    /* Why, with the numbers, to follow a colon: "needs 4 processors, 2 may be
     * used"; "" if it did not refuse. */
    char why[PLAN_CLASS_WHY_SIZE];
    struct host_usage usage; /* if PLAN_CLASS_OK */
};

/* The class of this name: the file's or, if there is no file, the built-in one,
 * made in *scratch.  NULL: no such class. */
const struct plan_class_spec *plan_class_find(const struct plan_class_set *,
                                              const char *name,
                                              struct plan_class_spec *scratch);

/* The first check of the class that fails decides. */
void plan_class_check(const struct plan_class_spec *,
                      const struct plan_class_host *,
                      struct plan_class_verdict *ret);

/* min_wu_id, max_wu_id, min_batch, max_batch. */
bool plan_class_limits_jobs(const struct plan_class_spec *);
bool plan_class_takes_job(const struct plan_class_spec *, int64_t wu_id,
                          int64_t batch);

/* A built-in class by its name; false if it is none. */
bool plan_class_builtin(const char *name, struct plan_class_spec *ret);

/* FLOPS of a CPU as plan classes reckon: the host's, but the median of all
 * hosts if it has none, and at most 1.1 times that of 95 of 100 hosts. */
double plan_class_host_flops(double p_fpops, double median, double p95);

/* The kind of processor that a class of this name uses, by its name alone (jobs
 * in progress of versions we do not know): contains cuda or nvidia, ati or amd,
 * intel_gpu, apple_gpu; else the CPU. */
enum proc_type plan_class_name_type(const char *name);

#endif
