/* db_credit_base.h - the part of users', hosts' and teams' total_credit that no
 * row of table result stands for; audit adds it to the rows' sum.
 *
 * Who changes total_credit without a granted_credit of the same worth, or makes
 * rows with granted_credit vanish, changes this table in the same transaction:
 * db_purge by db_credit_base_keep(), a grant for a message or a merge of hosts
 * by db_credit_base_add().
 *
 * Writes x_credit_base. */
#ifndef QUORATE_DB_CREDIT_BASE_H
#define QUORATE_DB_CREDIT_BASE_H

#include <stddef.h>
#include <stdint.h>

struct db;

enum credit_owner { CREDIT_USER = 1, CREDIT_HOST = 2, CREDIT_TEAM = 3 };

/* In the transaction that deletes the results of these workunits, before that:
 * keep what they were granted.  0, -1. */
int db_credit_base_keep(struct db *, const int64_t *wu_ids, size_t n);

/* In the transaction that adds credit to an owner's total: the same amount, or
 * its negative if it was taken away.  id 0: nothing.  0, -1. */
int db_credit_base_add(struct db *, enum credit_owner, int64_t id,
                       double credit);

#endif
