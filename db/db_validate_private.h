/* db_validate_private.h - what the files share that store the validator's
 * verdicts.  Nobody else includes it. */
#ifndef QUORATE_DB_VALIDATE_PRIVATE_H
#define QUORATE_DB_VALIDATE_PRIVATE_H

#include "db_validate.h"

/* A workunit as it is under our lock. */
struct locked_wu {
    bool good; /* as it was compared: its verdict is stored */
    enum assimilate_state assimilate_state;
    int64_t transition_time;
    unsigned error_mask;
    size_t seen; /* results that are as read */
};

struct unsent {
    int64_t id;
    size_t wu;
};

struct store {
    struct validate_batch *b;
    struct locked_wu *locked;
    struct unsent *unsent; /* results that nobody has yet */
    size_t n_unsent, room_for_unsent;
    const struct validate_terms *terms;
};

/* One result whose verdict is stored. */
struct judged {
    size_t wu; /* s->b->wu[wu] */
    const struct result *r;
    const struct validate_change *c;
};

/* Inside the transaction, in the order of locks; each 0 or -1. */

/* db_validate_credit.c: users, teams, hosts; credit by application; the teams'
 * names in the results; credited_job. */
int db_validate_grant(struct db *, const struct store *, const struct judged *,
                      size_t n);

/* db_validate_averages.c: host_app_version, app_version. */
int db_validate_mark_hosts(struct db *, const struct store *,
                           const struct judged *, size_t n);
int db_validate_mark_versions(struct db *, const struct store *,
                              const struct judged *, size_t n);

/* db_validate_averages.c: read them for the results of a batch, unlocked. */
int db_validate_read_averages(struct db *, struct validate_batch *);

#endif
