/* credit.c - granted credit and decaying averages (lifecycle §5).
 *
 * Inputs come from clients, templates and old databases; whatever they are,
 * what leaves is finite and not negative, because one NaN in a total could
 * never be removed by adding. */
#include "credit.h"

#include <math.h>

#define DAY 86400.0 /* s */
#define LN2 0.69314718055994530942

/* A client without benchmarks says 1e9 FLOPS exactly; it computes with what the
 * usual processor has (§5.2). */
#define FLOPS_NOT_MEASURED 1e9
#define FLOPS_USUAL 4.3e9

/* Below this the decay is lost in rounding, and (1 - w) / diff with it. */
#define LEAST_DECAY 1e-6

static double
sane(double x)
{
    return isfinite(x) && x > 0 ? x : 0;
}

double
credit_max(double max)
{
    return isfinite(max) ? sane(max) : CREDIT_MAX_DEFAULT;
}

double
credit_cap(double credit, double max)
{
    return fmin(sane(credit), credit_max(max));
}

double
credit_from_wu(double canonical_credit, double rsc_fpops_est, double max)
{
    double credit = sane(canonical_credit);

    if (credit == 0)
        credit = sane(rsc_fpops_est) * COBBLESTONE_SCALE;
    return fmin(credit, credit_max(max));
}

double
credit_from_runtime(double flops_estimate, double elapsed,
                    double rsc_fpops_bound, double max)
{
    double flops =
        flops_estimate == FLOPS_NOT_MEASURED ? FLOPS_USUAL : flops_estimate;
    double work = sane(flops) * sane(elapsed);
    double bound = sane(rsc_fpops_bound);
    double credit;

    if (work > 2 * bound)
        work = bound;
    credit = work * COBBLESTONE_SCALE;
    return credit <= credit_max(max) ? credit : 0;
}

double
credit_low_average(const double *x, int n)
{
    double sum = 0;
    double average = 0;

    for (int i = 0; i < n; i++)
        sum += sane(x[i]);
    if (n == 1 || sum == 0)
        return sane(sum);
    for (int i = 0; i < n; i++)
        average += sane(x[i]) * ((sum - sane(x[i])) / sum) / (n - 1);
    return sane(average);
}

/* Credit per day after `diff` seconds without credit, then `credit`. */
static double
decay_and_add(double avg, double diff, double credit, double half_life)
{
    double decay = exp(-diff * LN2 / half_life);

    avg *= decay;
    if (1 - decay > LEAST_DECAY)
        return avg + (1 - decay) * credit / (diff / DAY);
    return avg + LN2 * credit * DAY / half_life;
}

void
credit_update_average(double now, double start, double credit, double half_life,
                      double *avg, double *avg_time)
{
    double work = sane(credit);
    double last = sane(*avg_time);
    double average = sane(*avg);

    if (sane(half_life) == 0)
        half_life = CREDIT_HALF_LIFE;
    if (last > 0)
        average = decay_and_add(average, fmax(0, now - last), work, half_life);
    else if (work > 0 && now > start)
        average = work / ((now - start) / DAY);
    else if (work > 0) /* begun now, or in the future: no time to divide by */
        average = decay_and_add(average, 0, work, half_life);
    *avg = sane(average);
    *avg_time = sane(now);
}
