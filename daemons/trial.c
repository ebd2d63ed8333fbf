/* trial.c - what a validator would say of stored results, if nobody had judged
 * them yet. */
#include "trial.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "buf.h"
#include "db_validate.h"
#include "names.h"

struct trial {
    int64_t canonical; /* as stored */
    struct {
        enum outcome outcome;
        enum validate_state state;
    } was[];
};

struct trial *
trial_begin(struct validate_batch *b, size_t i)
{
    struct validate_wu *w = &b->wu[i];
    struct trial *t = xcalloc(1, sizeof(*t) + w->n * sizeof(t->was[0]));

    t->canonical = w->wu.canonical_resultid;
    w->wu.canonical_resultid = 0;
    w->wu.error_mask = 0;
    for (size_t k = 0; k < w->n; k++) {
        struct result *r = &b->result[w->first + k];

        t->was[k].outcome = r->outcome;
        t->was[k].state = r->validate_state;
        r->outcome = OUTCOME_SUCCESS;
        r->validate_state = VALIDATE_INIT;
    }
    return t;
}

static const char *
judgement(enum outcome outcome, enum validate_state state)
{
    return outcome == OUTCOME_VALIDATE_ERROR ? "VALIDATE_ERROR"
                                             : validate_state_name((int)state);
}

static void
print_result(const struct trial *t, const struct validate_batch *b, size_t i,
             size_t k)
{
    const struct result *r = &b->result[b->wu[i].first + k];
    const struct validate_change *c = &b->change[b->wu[i].first + k];

    printf("result %" PRId64 " %s: ", r->id, r->name);
    if (c->write)
        printf("%s", judgement(c->outcome, c->validate_state));
    else
        printf("%s", b->verdict[i].retry ? "unreadable now" : "undecided");
    if (c->write && c->validate_state == VALIDATE_VALID)
        printf(", credit %g", c->credit);
    if (b->verdict[i].canonical_resultid == r->id)
        printf(", canonical");
    printf(" (stored: %s%s)\n", judgement(t->was[k].outcome, t->was[k].state),
           t->canonical == r->id ? ", canonical" : "");
}

void
trial_print(struct trial *t, const struct validate_batch *b, size_t i)
{
    const struct validate_wu *w = &b->wu[i];
    const struct validate_verdict *v = &b->verdict[i];
    char names[160];

    printf("workunit %" PRId64 " %s: %zu successes, quorum %d\n", w->wu.id,
           w->wu.name, w->n, w->wu.min_quorum);
    for (size_t k = 0; k < w->n; k++)
        print_result(t, b, i, k);
    if (v->canonical_resultid == 0 && (int64_t)w->n >= w->wu.min_quorum)
        printf("no agreement%s\n", v->retry ? ", would look again" : "");
    if (v->new_errors != 0)
        printf("error %s\n",
               wu_error_names(v->new_errors, names, sizeof(names)));
    if (v->target_nresults != w->wu.target_nresults)
        printf("would ask for one result more: target_nresults %d\n",
               v->target_nresults);
    free(t);
}
