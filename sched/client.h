/* client.h - is this a client that gets work here?  Its version, its operating
 * system, its CPU: what can be said without asking the database (dispatch §4).
 */
#ifndef QUORATE_CLIENT_H
#define QUORATE_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

struct config;
struct sched_reply;
struct sched_request;

enum client_standing {
    CLIENT_SERVED,
    CLIENT_NO_WORK, /* but what it says is taken */
    CLIENT_REFUSED, /* without reports it need not be looked at */
};

/* Adds what the volunteer is to know, and how long the client stays away. */
enum client_standing client_judge(const struct config *,
                                  const struct sched_request *, int64_t now,
                                  struct sched_reply *);

#endif
