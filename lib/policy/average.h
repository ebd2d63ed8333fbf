/* average.h - running averages of samples, and their variance (lifecycle §5.2).
 *
 * The mean of the first samples; from then on a fixed part of each new one, so
 * that the average follows a host or program that changes.  A sample counts at
 * most `limit` times the average: one absurd value moves it little. */
#ifndef QUORATE_AVERAGE_H
#define QUORATE_AVERAGE_H

struct average_rule {
    double samples; /* the n-th and later ones count by weight */
    double weight;
    double limit;
};

/* Of a host with one app version: 20, 1 %, 10. */
extern const struct average_rule average_of_host;
/* Of an app version: 100, 0.1 %, 10. */
extern const struct average_rule average_of_version;

/* Add x.  Passed over: less than 0, not a number, or more than 1e100.  An
 * average that is none (not finite, below 0) begins anew. */
void average_add(const struct average_rule *, double x, double *n, double *avg);

/* The same with variance; *q is the running sum of squares of the first
 * samples. */
void average_add_spread(const struct average_rule *, double x, double *n,
                        double *avg, double *var, double *q);

#endif
