/* handle.h - one scheduler request: parse, run the table of steps in one
 * transaction, answer.
 *
 *   parse -> maintenance? -> nothing to do? -> [ authenticate, report,
 *   preferences, work, advise, resend, dispatch, messages, remember ] -> COMMIT
 *   -> settle claims -> reply
 *
 * What the reply promises was committed before.  Every request gets a
 * well-formed reply, whatever its bytes are. */
#ifndef QUORATE_HANDLE_H
#define QUORATE_HANDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rule_files.h"
#include "sitefiles.h"

struct buf;
struct config;
struct db;
struct outdoc;
struct segment;

/* What a worker keeps from one request to the next. */
struct server {
    const struct config *cfg;
    struct db *db;   /* NULL: not connected */
    double db_again; /* clock_monotonic_fine() before which it is not tried */
    struct segment *segment; /* NULL: not attached */
    struct sitefiles files;
    struct outdoc *outdoc; /* NULL: not needed so far */
    struct rule_files rule_files;
    bool any_seqno, mark_jobs_done; /* many.h */
};

/* Answer the request of these bytes. */
void handle_request(struct server *, const char *peer, const void *bytes,
                    size_t n, struct buf *out);

/* Answer one that is not read at all: "why" is for the volunteer. */
void handle_refusal(const struct config *, double delay, const char *why,
                    struct buf *out);

/* Answer one for which there is no time: come again, not all at once. */
void handle_overload(const struct config *, struct buf *out);

/* Answer while there is no configuration, or work must not be done. */
void handle_maintenance(const struct config *, const char *why,
                        struct buf *out);

void handle_close(struct server *);

#endif
