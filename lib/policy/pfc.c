/* pfc.c - adaptive credit: what a result claims, what a set of claims is worth
 * (lifecycle §5.2-5.4). */
#include "pfc.h"

#include <math.h>

#include "credit.h"

#define USUAL_FLOPS 4.3e9     /* of a host that was not measured */
#define UNMEASURED_FLOPS 1e9  /* exactly: it says so */
#define LEAST_TIME 1e-6       /* s; below, the client did not measure it */
#define LARGEST_HOST_SCALE 10 /* a host claims at most this much too little */
#define LEAST_RATIO 1e-4      /* of raw FLOP to the estimate, to be a sample */
#define LARGEST_RATIO 1e4
#define OUTLIER_BELOW 0.01 /* of the usual ratio */
#define OUTLIER_ABOVE 100
#define LARGEST                                                                \
    1e100 /* FLOP; a product of two sane numbers may have no end               \
           */
#define NO_SAMPLE (-1.0)

static double
sane(double x)
{
    return isfinite(x) && x > 0 ? x : 0;
}

static double
product(double x, double y)
{
    return fmin(sane(x) * sane(y), LARGEST);
}

double
pfc_estimate(const struct workunit *wu, const struct app *app)
{
    double factor = sane(app->min_avg_pfc);

    return product(wu->rsc_fpops_est, factor > 0 ? factor : 1);
}

/* ---- one result -----------------------------------------------------------
 */

static double
elapsed_time(const struct result *r)
{
    double elapsed = sane(r->elapsed_time);

    return elapsed < LEAST_TIME ? sane(r->cpu_time) : elapsed;
}

static bool
is_measured(double flops)
{
    return sane(flops) > 0 && flops != UNMEASURED_FLOPS;
}

static bool
has_average(double n, double avg, double least)
{
    return n >= least && sane(avg) > 0;
}

/* The ratio that results of this version have, 0 if not known: the version's
 * own average, else the host's. */
static double
usual_ratio(const struct pfc_query *q)
{
    if (q->av != NULL &&
        has_average(q->av->pfc_n, q->av->pfc_avg, PFC_MIN_VERSION_SAMPLES))
        return q->av->pfc_avg;
    if (q->hav != NULL &&
        has_average(q->hav->pfc_n, q->hav->pfc_avg, PFC_MIN_HOST_SAMPLES))
        return q->hav->pfc_avg;
    return 0;
}

static bool
is_outlier(const struct pfc_query *q, double ratio)
{
    double usual = usual_ratio(q);

    switch (q->times) {
    case PFC_TIMES_USUAL:
        return false;
    case PFC_TIMES_OUTLIER:
        return true;
    case PFC_TIMES_AUTOMATIC:
        break;
    }
    return q->result->runtime_outlier ||
           (usual > 0 && ratio >= 0 &&
            (ratio < OUTLIER_BELOW * usual || ratio > OUTLIER_ABOVE * usual));
}

/* May the host's own scale count? */
static bool
host_counts(const struct pfc_query *q)
{
    return has_average(q->hav->pfc_n, q->hav->pfc_avg, PFC_MIN_HOST_SAMPLES) &&
           (!q->app->host_scale_check ||
            q->hav->consecutive_valid >= PFC_HOST_SCALE_VALID);
}

/* The volunteer's own program: nothing is known of it but what this host
 * usually claims with it. */
static void
claim_anonymous(const struct pfc_query *q, double raw, struct pfc *ret)
{
    double factor = sane(q->app->min_avg_pfc);

    ret->mode = PFC_APPROX;
    if (host_counts(q) && factor > 0)
        ret->flop = product(raw, factor / q->hav->pfc_avg);
    else
        ret->flop = pfc_estimate(q->wu, q->app);
}

static void
claim_version(const struct pfc_query *q, double raw, struct pfc *ret)
{
    const struct app_version *av = q->av;
    bool by_version = av != NULL && sane(av->pfc_scale) > 0;
    bool by_host = av != NULL && host_counts(q) &&
                   has_average(av->pfc_n, av->pfc_avg, PFC_MIN_VERSION_SAMPLES);

    ret->flop = raw;
    if (by_version)
        ret->flop = product(ret->flop, av->pfc_scale);
    if (by_host)
        ret->flop = product(
            ret->flop, fmin(LARGEST_HOST_SCALE, av->pfc_avg / q->hav->pfc_avg));
    ret->mode = by_version && by_host ? PFC_NORMAL : PFC_APPROX;
}

static void
take_samples(const struct pfc_query *q, double ratio, double elapsed,
             struct pfc *ret)
{
    const struct result *r = q->result;
    double estimate = sane(q->wu->rsc_fpops_est);

    if (ratio >= LEAST_RATIO && ratio <= LARGEST_RATIO) {
        ret->host_pfc = ratio;
        if (q->av != NULL)
            ret->version_pfc = ratio;
    }
    /* no time at all would make the host endlessly fast */
    if (elapsed > 0 && estimate > 0 && elapsed / estimate <= LARGEST)
        ret->host_et = elapsed / estimate;
    if (r->sent_time > 0 && r->received_time >= r->sent_time)
        ret->turnaround = (double)(r->received_time - r->sent_time);
}

void
pfc_of_result(const struct pfc_query *q, struct pfc *ret)
{
    double elapsed = elapsed_time(q->result);
    double flops = q->result->flops_estimate;
    bool measured = is_measured(flops);
    double raw = product(elapsed, measured ? flops : USUAL_FLOPS);
    double estimate = sane(q->wu->rsc_fpops_est);
    double ratio = estimate > 0 ? raw / estimate : NO_SAMPLE;

    *ret = (struct pfc){
        .mode = PFC_WU_EST,
        .flop = pfc_estimate(q->wu, q->app),
        .outlier = !measured || is_outlier(q, ratio),
        .host_pfc = NO_SAMPLE,
        .host_et = NO_SAMPLE,
        .turnaround = NO_SAMPLE,
        .version_pfc = NO_SAMPLE,
    };
    if (q->hav == NULL)
        return;
    if (q->result->app_version_id < 0)
        claim_anonymous(q, raw, ret);
    else
        claim_version(q, raw, ret);
    if (!ret->outlier)
        take_samples(q, ratio, elapsed, ret);
}

/* ---- several results ------------------------------------------------------
 */

/* Average of values, each weighted by how near it is to `peg`: weights
 * 1 / (0.1 peg + |peg - x|) (§5.1). */
struct pegged {
    double peg;
    size_t n;
    double only; /* the value, while n = 1 */
    double weights, sum;
    bool exact; /* peg and a value are both 0: its weight would be endless */
};

static void
pegged_add(struct pegged *p, double x)
{
    double distance = 0.1 * p->peg + fabs(p->peg - x);

    p->n++;
    p->only = x;
    if (distance > 0) {
        p->weights += 1 / distance;
        p->sum += x / distance;
    } else {
        p->exact = true;
    }
}

static double
pegged_average(const struct pegged *p)
{
    if (p->n == 1)
        return p->only;
    return p->exact || p->weights <= 0 ? p->peg : sane(p->sum / p->weights);
}

/* In bounds; PFC_INVALID if above the maximum. */
static double
bounded(const struct pfc *p, const struct workunit *wu, double max,
        enum pfc_mode *ret_mode)
{
    double flop = fmin(sane(p->flop), sane(wu->rsc_fpops_bound));

    *ret_mode = p->mode;
    if (flop * COBBLESTONE_SCALE <= max)
        return flop;
    *ret_mode = PFC_INVALID;
    return max / COBBLESTONE_SCALE;
}

double
pfc_claim(const struct pfc *p, const struct workunit *wu, double max)
{
    enum pfc_mode mode;

    return credit_cap(
        bounded(p, wu, credit_max(max), &mode) * COBBLESTONE_SCALE, max);
}

double
pfc_credit(const struct pfc *p, size_t n, const struct workunit *wu,
           const struct app *app, double max)
{
    double most = credit_max(max);
    double estimate = fmin(pfc_estimate(wu, app), most / COBBLESTONE_SCALE);
    struct pegged normal = {.peg = estimate}, all = {.peg = estimate};
    double flop = estimate;

    for (size_t i = 0; i < n; i++) {
        enum pfc_mode mode;
        double x = bounded(&p[i], wu, most, &mode);

        if (mode == PFC_NORMAL) {
            pegged_add(&normal, x);
            pegged_add(&all, x); /* alone among approximate ones it counts */
            pegged_add(&all, x); /* twice */
        } else if (mode == PFC_APPROX) {
            pegged_add(&all, x);
        }
    }
    if (normal.n >= 2)
        flop = pegged_average(&normal);
    else if (all.n > 0)
        flop = pegged_average(&all);
    return credit_cap(flop * COBBLESTONE_SCALE, max);
}
