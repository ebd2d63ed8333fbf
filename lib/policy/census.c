/* census.c - what a project's hosts are like, from a list of them. */
#include "census.h"

#include <math.h>
#include <stdlib.h>

static int
by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* The value below which `fraction` of n > 0 values in order lie. */
static double
percentile(const double *value, size_t n, double fraction)
{
    size_t i = (size_t)(fraction * (double)n);

    return value[i < n ? i : n - 1];
}

void
census_speeds(double *flops, size_t n, struct host_speeds *ret)
{
    double sum = 0, squares = 0;

    if (n < CENSUS_MIN_HOSTS) {
        *ret = (struct host_speeds){
            .mean = 2.2e9,
            .stddev = 0.7e9,
            .median = 3.3e9,
            .percentile95 = 3.3e9,
        };
        return;
    }
    qsort(flops, n, sizeof(*flops), by_value);
    for (size_t i = 0; i < n; i++)
        sum += flops[i];
    ret->mean = sum / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (flops[i] - ret->mean) * (flops[i] - ret->mean);
    ret->stddev = sqrt(squares / (double)n);
    ret->median = percentile(flops, n, 0.5);
    ret->percentile95 = percentile(flops, n, 0.95);
}

bool
census_quantiles(double *speed, size_t n, size_t n_classes, double *ret)
{
    if (n < n_classes || n == 0)
        return false;
    qsort(speed, n, sizeof(*speed), by_value);
    for (size_t i = 1; i < n_classes; i++)
        ret[i - 1] = percentile(speed, n, (double)i / (double)n_classes);
    return true;
}
