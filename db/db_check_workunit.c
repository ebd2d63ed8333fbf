/* db_check_workunit.c - what audit promises about workunits: none is forgotten,
 * none is in a state that no program leads to. */
#include "db_check_rules.h"

#include "buf.h"

const struct audit_repair audit_look_again = {
    .what = "it is looked at now",
    .before = "UPDATE workunit SET transition_time = :now WHERE "
              "transition_time > :now AND transitioner_flags <> 1 AND id IN (",
    .after = ")",
};

/* What needs a validator, an assimilator or the file deleter has one to come;
 * all others must have a time.  A job for one host or user waits for it. */
#define FORGOTTEN                                                              \
    OURS " AND " NEVER " AND w.need_validate = 0 AND w.assimilate_state <> 1"  \
         " AND w.file_delete_state = 0 AND NOT (w.transitioner_flags = 2"      \
         "  AND EXISTS (SELECT 1 FROM assignment AS a"                         \
         "   WHERE a.workunitid = w.id))"

/* A set-aside row waits a day at most, a validator's retry 6 hours. */
#define STANDS_STILL                                                           \
    "w.transitioner_flags = 0 AND " NO_END " AND w.need_validate = 0"          \
    " AND w.transition_time > :now + 90000"                                    \
    " AND NOT (" NEVER ")"                                                     \
    " AND NOT EXISTS (SELECT 1 FROM result AS r WHERE r.workunitid = w.id"     \
    "  AND r.server_state <> 5)"

#define OLD "w.mod_time < FROM_UNIXTIME(UNIX_TIMESTAMP() - :age)"
#define BACKLOG                                                                \
    "(" OURS " AND w.transition_time < :now - :age"                            \
    " OR w.need_validate = 1 AND " OLD " OR w.assimilate_state = 1 AND " OLD   \
    " OR w.file_delete_state IN (1, 3) AND " OLD ")"

#define UNJUDGED                                                               \
    "EXISTS (SELECT 1 FROM result AS r WHERE r.workunitid = w.id"              \
    " AND r.server_state = 5 AND r.outcome = 1"                                \
    " AND r.validate_state IN (0, 4))"

#define HAS_UNSENT                                                             \
    "EXISTS (SELECT 1 FROM result AS r WHERE r.workunitid = w.id"              \
    " AND r.server_state IN (1, 2))"

static const struct audit_repair nothing_to_validate = {
    .what = "need_validate is cleared",
    .before = "UPDATE workunit AS w SET w.need_validate = 0, "
              "w.transition_time = LEAST(w.transition_time, :now) "
              "WHERE w.need_validate = 1 AND NOT " UNJUDGED " AND w.id IN (",
    .after = ")",
};

/* clang-format off */
const struct audit_rule audit_workunit_rules[] = {
    {
        .name = "wu-forgotten",
        .promise = "a workunit that is not final has a future event",
        .table = AUDIT_WORKUNIT,
        .weight = AUDIT_BREACH,
        .breach = FORGOTTEN,
        .detail = "CONCAT('nothing will happen: assimilate_state ', "
            "w.assimilate_state, ', error_mask ', w.error_mask, "
            "', canonical result ', w.canonical_resultid)",
        .repair = &audit_look_again,
    },
    {
        .name = "wu-stands-still",
        .promise = "an open workunit has a result that is out or may be sent, "
            "or is looked at within a day",
        .table = AUDIT_WORKUNIT,
        .weight = AUDIT_BREACH,
        .breach = STANDS_STILL,
        .detail = "CONCAT('all results are over, next look in ', "
            "w.transition_time - :now, ' s')",
        .repair = &audit_look_again,
    },
    {
        .name = "wu-backlog",
        .promise = "what is due is done within --age",
        .table = AUDIT_WORKUNIT,
        .weight = AUDIT_BREACH,
        .breach = BACKLOG,
        .detail = "CONCAT_WS(', ', IF(w.transition_time < :now - :age, "
            "'for the transitioner', NULL), "
            "IF(w.need_validate = 1, 'for the validator', NULL), "
            "IF(w.assimilate_state = 1, 'for the assimilator', NULL), "
            "IF(w.file_delete_state IN (1, 3), 'for the file deleter', "
            "NULL), CONCAT('unchanged since ', w.mod_time))",
        .repair = NULL,
    },
    {
        .name = "wu-success-waits",
        .promise = "a success that can be judged is, or will be asked for "
            "within 6 hours",
        .table = AUDIT_WORKUNIT,
        .weight = AUDIT_BREACH,
        .breach = OURS " AND w.error_mask = 0 AND w.need_validate = 0"
            " AND w.assimilate_state <> 1"
            " AND w.transition_time > :now + 25200"
            " AND NOT (" NEVER " AND w.file_delete_state = 0)"
            " AND EXISTS (SELECT 1 FROM result AS r"
            "  WHERE r.workunitid = w.id AND r.server_state = 5"
            "  AND r.outcome = 1 AND r.validate_state = 0)"
            " AND (w.canonical_resultid <> 0 OR w.min_quorum <="
            "  (SELECT COUNT(*) FROM result AS r"
            "   WHERE r.workunitid = w.id AND r.server_state = 5"
            "   AND r.outcome = 1 AND r.validate_state <> 2))",
        .detail = "'a success is unjudged, and nobody is asked'",
        .repair = &audit_look_again,
    },
    {
        .name = "wu-nothing-to-validate",
        .promise = "need_validate is set only while a success is unjudged",
        .table = AUDIT_WORKUNIT,
        .weight = AUDIT_BREACH,
        .breach = "w.need_validate = 1 AND NOT " UNJUDGED,
        .detail = "'need_validate, and no success is unjudged'",
        .repair = &nothing_to_validate,
    },
    {
        .name = "wu-error-told",
        .promise = "a failed workunit goes to the assimilator",
        .table = AUDIT_WORKUNIT,
        .weight = AUDIT_BREACH,
        .breach = OURS " AND w.error_mask <> 0 AND w.assimilate_state = 0"
            " AND " NOT_DUE " AND NOT (" NEVER ")",
        .detail = "CONCAT('error_mask ', w.error_mask, "
            "', assimilate_state INIT')",
        .repair = &audit_look_again,
    },
    {
        .name = "wu-error-unsent",
        .promise = "nothing of a failed workunit may be sent",
        .table = AUDIT_WORKUNIT,
        .weight = AUDIT_BREACH,
        .breach = OURS " AND w.error_mask <> 0 AND " NOT_DUE " AND " HAS_UNSENT,
        .detail = "CONCAT('error_mask ', w.error_mask, "
            "', and unsent results')",
        .repair = &audit_look_again,
    },
    {
        .name = "wu-no-results",
        .promise = "a workunit has results within --age",
        .table = AUDIT_WORKUNIT,
        .weight = AUDIT_BREACH,
        .breach = "w.transitioner_flags = 0 AND w.error_mask = 0"
            " AND w.create_time < :now - :age"
            " AND NOT EXISTS (SELECT 1 FROM result AS r"
            "  WHERE r.workunitid = w.id)",
        .detail = "CONCAT('no result since ', FROM_UNIXTIME(w.create_time))",
        .repair = NULL,
    },
    {
        .name = "wu-assimilated-what",
        .promise = "only a workunit with a canonical result or an error is "
            "assimilated",
        .table = AUDIT_WORKUNIT,
        .weight = AUDIT_BREACH,
        .breach = "w.assimilate_state <> 0 AND " NO_END,
        .detail = "CONCAT('assimilate_state ', w.assimilate_state, "
            "' with neither')",
        .repair = NULL,
    },
    {
        .name = "wu-deleted-early",
        .promise = "files are released after the assimilator is done",
        .table = AUDIT_WORKUNIT,
        .weight = AUDIT_BREACH,
        .breach = "w.file_delete_state <> 0 AND w.assimilate_state <> 2",
        .detail = "CONCAT('file_delete_state ', w.file_delete_state, "
            "', assimilate_state ', w.assimilate_state)",
        .repair = NULL,
    },
    {
        .name = "wu-released-early",
        .promise = "input files are released when all results are over",
        .table = AUDIT_WORKUNIT,
        .weight = AUDIT_BREACH,
        .breach = OURS " AND w.file_delete_state <> 0"
            " AND EXISTS (SELECT 1 FROM result AS r"
            "  WHERE r.workunitid = w.id AND r.server_state <> 5)",
        .detail = "CONCAT('file_delete_state ', w.file_delete_state, "
            "', and a result is not over')",
        .repair = NULL,
    },
    {
        .name = "wu-states",
        .promise = "states of workunits are values that mean something",
        .table = AUDIT_WORKUNIT,
        .weight = AUDIT_BREACH,
        .breach = "w.need_validate NOT IN (0, 1)"
            " OR w.assimilate_state NOT BETWEEN 0 AND 2"
            " OR w.file_delete_state NOT BETWEEN 0 AND 3"
            " OR w.transitioner_flags NOT BETWEEN 0 AND 2"
            " OR w.error_mask NOT BETWEEN 0 AND 63",
        .detail = "CONCAT_WS(' ', 'need_validate', w.need_validate, "
            "'assimilate_state', w.assimilate_state, "
            "'file_delete_state', w.file_delete_state, "
            "'transitioner_flags', w.transitioner_flags, "
            "'error_mask', w.error_mask)",
        .repair = NULL,
    },
    {
        .name = "wu-limits",
        .promise = "a workunit's target reaches its quorum, and both and its "
            "delay_bound are positive",
        .table = AUDIT_WORKUNIT,
        .weight = AUDIT_BREACH,
        .breach = NO_END " AND (w.target_nresults < w.min_quorum"
            " OR w.min_quorum < 1 OR w.delay_bound < 1)",
        .detail = "CONCAT('min_quorum ', w.min_quorum, ', target_nresults ', "
            "w.target_nresults, ', delay_bound ', w.delay_bound)",
        .repair = NULL,
    },
    {
        .name = "wu-app",
        .promise = "the application of a workunit exists",
        .table = AUDIT_WORKUNIT,
        .weight = AUDIT_BREACH,
        .breach = "NOT EXISTS (SELECT 1 FROM app AS p WHERE p.id = w.appid)",
        .detail = "CONCAT('there is no application ', w.appid)",
        .repair = NULL,
    },
    {
        .name = "wu-canonical-and-error",
        .promise = "a workunit has a canonical result or an error (both: it was "
            "cancelled late)",
        .table = AUDIT_WORKUNIT,
        .weight = AUDIT_NOTE,
        .breach = "w.canonical_resultid <> 0 AND w.error_mask <> 0",
        .detail = "CONCAT('canonical result ', w.canonical_resultid, "
            "', error_mask ', w.error_mask)",
        .repair = NULL,
    },
    {
        .name = "wu-over",
        .promise = "in a drained project every workunit is assimilated and its "
            "input files are deleted",
        .table = AUDIT_WORKUNIT,
        .weight = AUDIT_DRAINED,
        .breach = OURS " AND (w.need_validate <> 0 OR w.assimilate_state <> 2"
            " OR w.file_delete_state <> 2)",
        .detail = "CONCAT('need_validate ', w.need_validate, "
            "', assimilate_state ', w.assimilate_state, "
            "', file_delete_state ', w.file_delete_state)",
        .repair = NULL,
    },
};
/* clang-format on */
const size_t audit_n_workunit_rules = ARRAY_LEN(audit_workunit_rules);
