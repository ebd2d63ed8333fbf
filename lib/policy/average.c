/* average.c - running averages of samples, and their variance (lifecycle §5.2).
 */
#include "average.h"

#include <math.h>
#include <stdbool.h>

/* The square of a larger one would have no end. */
#define LARGEST 1e100

const struct average_rule average_of_host = {20, 0.01, 10};
const struct average_rule average_of_version = {100, 0.001, 10};

static bool
is_sample(double x)
{
    return x >= 0 && x <= LARGEST; /* false for NaN */
}

void
average_add_spread(const struct average_rule *rule, double x, double *n,
                   double *avg, double *var, double *q)
{
    double d;

    if (!is_sample(x))
        return;
    if (!is_sample(*n) || !is_sample(*avg))
        *n = *avg = *var = *q = 0;
    if (!isfinite(*var) || !isfinite(*q))
        *var = *q = 0;
    if (*n > 0 && *avg > 0)
        x = fmin(x, rule->limit * *avg);
    *n += 1;
    d = x - *avg;
    if (*n < rule->samples) {
        *avg += d / *n;
        *q += d * (x - *avg);
        *var = *q / *n;
    } else {
        *avg += rule->weight * d;
        *var += rule->weight * (d * d - *var);
    }
}

void
average_add(const struct average_rule *rule, double x, double *n, double *avg)
{
    double var = 0, q = 0;

    average_add_spread(rule, x, n, avg, &var, &q);
}
