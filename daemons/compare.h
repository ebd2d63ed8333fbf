/* compare.h - the scientist's hooks, called for the results of one workunit:
 * read each once, compare pairs. */
#ifndef QUORATE_COMPARE_H
#define QUORATE_COMPARE_H

#include <stddef.h>
#include <stdint.h>

#include "quorum.h"
#include "result.h"
#include "validator.h"

struct config;

struct said {      /* by the hooks about one result, besides its value */
    double credit; /* as assigned; 0 if they do not assign any */
    enum runtime_kind runtime;
    bool long_term_fail;
};

struct compare { /* the values of n results */
    const struct validator_hooks *hooks;
    const struct workunit *wu;
    size_t n;
    size_t stride; /* bytes from one value to the next */
    unsigned char *value;
    enum read_verdict *read;
    struct said *said;
};

/* Read the outputs of results[0 … n - 1].  Of those with the outcome
 * CLIENT_ERROR only said[].long_term_fail is of use. */
void compare_read(const struct validator_hooks *, const struct config *,
                  const struct workunit *, const struct result *const *results,
                  size_t n, int64_t now, struct compare *ret);

/* Does j agree with i, seen from i?  Both must have been readable. */
enum match compare_pair(const struct compare *, size_t i, size_t j);

/* All pairs of readable ones, n × n (malloc); the other cells are MATCH_NO. */
enum match *compare_all(const struct compare *);

void compare_free(struct compare *);

#endif
