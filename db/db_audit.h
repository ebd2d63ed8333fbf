/* db_audit.h - what operators did: a line in table x_audit, written in the
 * transaction that does it. */
#ifndef QUORATE_DB_AUDIT_H
#define QUORATE_DB_AUDIT_H

#include <stdint.h>

struct db;

struct audit_line {
    int64_t id; /* 0: not written yet */
    int64_t time;
    const char *actor;  /* who */
    const char *action; /* which tool */
    const char *object; /* on what */
    const char *detail; /* how many, … */
};

/* Insert the line (sets the id), or bring its detail up to date.  0, -1. */
int db_audit(struct db *, struct audit_line *);

#endif
