/* census.h - what a project's hosts are like, from a list of them. */
#ifndef QUORATE_CENSUS_H
#define QUORATE_CENSUS_H

#include <stdbool.h>
#include <stddef.h>

#include "speeds.h"

#define CENSUS_MIN_CREDIT 10.0 /* recent credit of a host that counts */
#define CENSUS_MIN_HOSTS 10    /* fewer say nothing */

/* Statistics of n benchmarks (FLOPS), which are put in order.  Fewer than
 * CENSUS_MIN_HOSTS: the assumptions of dispatch §1.1. */
void census_speeds(double *flops, size_t n, struct host_speeds *ret);

/* The n_classes - 1 quantiles that divide these speeds into classes of equally
 * many hosts, for size_census_<app>: ret[i] is the speed below which
 * (i + 1) / n_classes of them lie.  The speeds are put in order.  False if
 * there are fewer speeds than classes. */
bool census_quantiles(double *speed, size_t n, size_t n_classes, double *ret);

#endif
