/* rng.h - random numbers that follow from a seed alone (splitmix64). */
#ifndef QUORATE_RNG_H
#define QUORATE_RNG_H

#include <stdbool.h>
#include <stdint.h>

static inline uint64_t
rng_next(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* 0 ... 1 */
static inline double
rng_fraction(uint64_t *state)
{
    return (double)(rng_next(state) >> 11) / 9007199254740992.0;
}

static inline double
rng_between(uint64_t *state, double from, double to)
{
    return from + (to - from) * rng_fraction(state);
}

static inline bool
rng_happens(uint64_t *state, double probability)
{
    return rng_fraction(state) < probability;
}

#endif
