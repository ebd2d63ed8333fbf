/* request_facts.h - what a request says of its computer that no column of table
 * host holds: client, platforms, coprocessors, virtual machines, preferences in
 * force.  Kept for support: with the host's row it makes a request like the
 * last one.  Inside lib/proto only. */
#ifndef QUORATE_REQUEST_FACTS_H
#define QUORATE_REQUEST_FACTS_H

struct buf;
struct sched_request;
struct xml_node;

/* Append them as elements of a request.  Nothing that differs from one request
 * of an unchanged computer to the next (times, free memory, what is asked for)
 * and nothing that is nobody's business (keys, names, addresses, results). */
void request_facts(const struct sched_request *, const struct xml_node *root,
                   struct buf *out);

#endif
