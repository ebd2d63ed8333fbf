/* db_generate.h - the work generator's question: how much is left to be sent?
 *
 * Writes nothing. */
#ifndef QUORATE_DB_GENERATE_H
#define QUORATE_DB_GENERATE_H

#include <stdint.h>

struct db;

/* Results of the application that are unsent, and those that the transitioner
 * is about to make for new workunits; counted to `enough` at least.  0 or -1.
 */
int db_generate_unsent(struct db *, int64_t appid, int64_t now, int64_t enough,
                       int64_t *ret);

#endif
