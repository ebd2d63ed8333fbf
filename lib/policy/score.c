/* score.c - the order among the jobs that no rule refused (dispatch §9). */
#include "score.h"

#include "rules.h"

#define ACCELERATED 10
#define HAS_FILE 10
#define SAME_SIZE 5
#define JOB_TOO_LARGE (-2) /* the host is smaller than the job */
#define JOB_TOO_SMALL (-1)

static double
size_match(const struct score_facts *f)
{
    if (f->host_size < 0 || f->job_size < 0)
        return 0;
    if (f->host_size == f->job_size)
        return SAME_SIZE;
    return f->host_size < f->job_size ? JOB_TOO_LARGE : JOB_TOO_SMALL;
}

double
score(const struct score_facts *f)
{
    double sum = f->priority;

    sum += f->accelerated ? ACCELERATED : 0;
    sum += f->beta ? 1 : 0;
    sum -= f->not_preferred ? 1 : 0;
    sum += f->was_infeasible ? 1 : 0;
    sum += f->has_file ? HAS_FILE : 0;
    sum += size_match(f);
    sum += f->keywords;
    return sum;
}

/* The last pass is for apps that the user did not select. */
double
score_of_pass(const struct score_facts *f)
{
    if (f->not_preferred)
        return 0;
    if (f->need_reliable)
        return 5;
    if (f->beta)
        return 4;
    if (f->was_infeasible)
        return 3;
    return f->has_file ? 2 : 1;
}

int
score_host_size(double speed, const double *quantile, int n)
{
    int i = 0;

    while (i < n && !(quantile[i] > speed))
        i++;
    return i;
}

int
score_offer_size(const struct offer *o)
{
    double part = o->type == PROC_CPU ? o->host->available_frac
                                      : o->host->gpu_available_frac;

    if (o->app == NULL || o->app->n_size_quantiles == 0)
        return -1;
    return score_host_size(o->flops * part, o->app->size_quantile,
                           o->app->n_size_quantiles);
}
