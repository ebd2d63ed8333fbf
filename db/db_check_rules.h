/* db_check_rules.h - the parts that audit's table of rules is made of.  Nobody
 * but db_check.c includes it, and those that make the parts. */
#ifndef QUORATE_DB_CHECK_RULES_H
#define QUORATE_DB_CHECK_RULES_H

#include "db_check.h"

extern const struct audit_rule audit_workunit_rules[];
extern const size_t audit_n_workunit_rules;
extern const struct audit_rule audit_canonical_rules[];
extern const size_t audit_n_canonical_rules;
extern const struct audit_rule audit_result_rules[];
extern const size_t audit_n_result_rules;
extern const struct audit_rule audit_owner_rules[];
extern const size_t audit_n_owner_rules;
extern const struct audit_rule audit_project_rules[];
extern const size_t audit_n_project_rules;

/* The transitioner's decision is repeatable, so looking once more is never
 * wrong.  Of workunits, and of the workunits of results. */
extern const struct audit_repair audit_look_again;
extern const struct audit_repair audit_look_again_at_its_workunit;

/* Conditions on a workunit w. */
#define OURS "w.transitioner_flags <> 1"
#define NEVER "w.transition_time = 2147483647"
#define NOT_DUE "w.transition_time > :now + 60"
#define NO_END "w.canonical_resultid = 0 AND w.error_mask = 0"

#endif
