/* db_check_result.c - what audit promises about results: each is in a state
 * that some program leads to. */
#include "db_check_rules.h"

#include "buf.h"

const struct audit_repair audit_look_again_at_its_workunit = {
    .what = "its workunit is looked at now",
    .before = "UPDATE workunit AS w JOIN result AS r ON r.workunitid = w.id "
              "SET w.transition_time = :now WHERE w.transition_time > :now "
              "AND w.transitioner_flags <> 1 AND r.id IN (",
    .after = ")",
};

/* r and its workunit w, which may be missing. */
#define OF_WORKUNIT(condition)                                                 \
    "EXISTS (SELECT 1 FROM workunit AS w WHERE w.id = r.workunitid"            \
    " AND " condition ")"

static const struct audit_repair copy_again = {
    .what = "application and batch are copied from its workunit",
    .before = "UPDATE result AS r JOIN workunit AS w ON w.id = r.workunitid "
              "SET r.appid = w.appid, r.batch = w.batch "
              "WHERE (r.appid <> w.appid OR r.batch <> w.batch) AND r.id IN (",
    .after = ")",
};

static const struct audit_repair look_at_deadline = {
    .what = "its workunit is looked at then",
    .before = "UPDATE workunit AS w JOIN result AS r ON r.workunitid = w.id "
              "SET w.transition_time = "
              "LEAST(w.transition_time, r.report_deadline) "
              "WHERE r.server_state = 4 AND r.id IN (",
    .after = ")",
};

#define STATES                                                                 \
    "CONCAT('server_state ', r.server_state, ', outcome ', r.outcome, "        \
    "', validate_state ', r.validate_state)"

/* clang-format off */
const struct audit_rule audit_result_rules[] = {
    {
        .name = "result-states",
        .promise = "states of results are values that mean something",
        .table = AUDIT_RESULT,
        .weight = AUDIT_BREACH,
        .breach = "r.server_state NOT IN (1, 2, 4, 5)"
            " OR r.outcome NOT BETWEEN 0 AND 7"
            " OR r.validate_state NOT BETWEEN 0 AND 5"
            " OR r.client_state NOT BETWEEN 0 AND 7"
            " OR r.file_delete_state NOT BETWEEN 0 AND 3",
        .detail = "CONCAT(" STATES ", ', client_state ', r.client_state, "
            "', file_delete_state ', r.file_delete_state)",
        .repair = NULL,
    },
    {
        .name = "result-workunit",
        .promise = "a result belongs to a workunit",
        .table = AUDIT_RESULT,
        .weight = AUDIT_BREACH,
        .breach = "NOT EXISTS (SELECT 1 FROM workunit AS w"
            " WHERE w.id = r.workunitid)",
        .detail = "CONCAT('there is no workunit ', r.workunitid)",
        .repair = NULL,
    },
    {
        .name = "result-unsent",
        .promise = "an unsent result has no host and no past",
        .table = AUDIT_RESULT,
        .weight = AUDIT_BREACH,
        .breach = "r.server_state IN (1, 2) AND (r.hostid <> 0"
            " OR r.userid <> 0 OR r.sent_time <> 0"
            " OR r.received_time <> 0 OR r.outcome <> 0"
            " OR r.validate_state <> 0 OR r.file_delete_state <> 0)",
        .detail = "CONCAT('host ', r.hostid, ', user ', r.userid, ', sent ', "
            "r.sent_time, ', ', " STATES ")",
        .repair = NULL,
    },
    {
        .name = "result-sent",
        .promise = "a result in progress was sent to a host, has a deadline and "
            "was not reported",
        .table = AUDIT_RESULT,
        .weight = AUDIT_BREACH,
        .breach = "r.server_state = 4 AND (r.hostid = 0 OR r.userid = 0"
            " OR r.sent_time = 0 OR r.report_deadline = 0"
            " OR r.received_time <> 0 OR r.outcome <> 0"
            " OR r.validate_state <> 0 OR r.file_delete_state <> 0)",
        .detail = "CONCAT('host ', r.hostid, ', user ', r.userid, ', sent ', "
            "r.sent_time, ', deadline ', r.report_deadline, "
            "', received ', r.received_time, ', ', " STATES ")",
        .repair = NULL,
    },
    {
        .name = "result-deadline-watched",
        .promise = "the workunit of a result in progress is looked at when its "
            "deadline passes",
        .table = AUDIT_RESULT,
        .weight = AUDIT_BREACH,
        .breach = "r.server_state = 4 AND r.report_deadline <> 0 AND "
            OF_WORKUNIT(
            OURS " AND w.assimilate_state <> 1"
            " AND w.transition_time > r.report_deadline"
            " AND " NOT_DUE),
        .detail = "CONCAT('deadline ', r.report_deadline, "
            "', its workunit is looked at later')",
        .repair = &look_at_deadline,
    },
    {
        .name = "result-outcome",
        .promise = "a result that is over has an outcome",
        .table = AUDIT_RESULT,
        .weight = AUDIT_BREACH,
        .breach = "r.server_state = 5 AND r.outcome = 0",
        .detail = STATES,
        .repair = NULL,
    },
    {
        .name = "result-reported",
        .promise = "what was reported has a host and a time, what timed out a "
            "host and no time",
        .table = AUDIT_RESULT,
        .weight = AUDIT_BREACH,
        .breach = "r.server_state = 5 AND (r.outcome IN (1, 3, 6, 7)"
            "  AND (r.hostid = 0 OR r.received_time = 0)"
            " OR r.outcome = 4"
            "  AND (r.hostid = 0 OR r.received_time <> 0))",
        .detail = "CONCAT('outcome ', r.outcome, ', host ', r.hostid, "
            "', received ', r.received_time)",
        .repair = NULL,
    },
    {
        .name = "result-verdict",
        .promise = "a verdict fits the outcome: valid, inconclusive, unchecked "
            "and too late are successes, errors are invalid",
        .table = AUDIT_RESULT,
        .weight = AUDIT_BREACH,
        .breach = "r.server_state = 5 AND (r.outcome <> 1"
            "  AND r.validate_state IN (1, 3, 4, 5)"
            " OR r.outcome NOT IN (1, 3, 6) AND r.validate_state = 2"
            " OR r.outcome IN (3, 6) AND r.validate_state <> 2)",
        .detail = STATES,
        .repair = NULL,
    },
    {
        .name = "result-credit",
        .promise = "credit is granted to valid results alone, and is positive",
        .table = AUDIT_RESULT,
        .weight = AUDIT_BREACH,
        .breach = "r.granted_credit <> 0 AND r.validate_state <> 1"
            " OR r.granted_credit < 0 OR r.granted_credit > 1e30"
            " OR r.claimed_credit < 0 OR r.claimed_credit > 1e30",
        .detail = "CONCAT('granted ', r.granted_credit, ', claimed ', "
            "r.claimed_credit, ', validate_state ', r.validate_state)",
        .repair = NULL,
    },
    {
        .name = "result-name",
        .promise = "a result is called as its workunit, with a number",
        .table = AUDIT_RESULT,
        .weight = AUDIT_BREACH,
        .breach = OF_WORKUNIT(
            "NOT (LEFT(r.name, CHAR_LENGTH(w.name) + 1) = CONCAT(w.name, '_')"
            " AND SUBSTRING(r.name, CHAR_LENGTH(w.name) + 2)"
            "  REGEXP '^[0-9][0-9_]*$')"),
        .detail = "CONCAT('workunit ', r.workunitid, ' has another name')",
        .repair = NULL,
    },
    {
        .name = "result-copies",
        .promise = "a result has its workunit's application and batch",
        .table = AUDIT_RESULT,
        .weight = AUDIT_BREACH,
        .breach = OF_WORKUNIT("(w.appid <> r.appid OR w.batch <> r.batch)"),
        .detail = "CONCAT('application ', r.appid, ', batch ', r.batch, "
            "' are not those of workunit ', r.workunitid)",
        .repair = &copy_again,
    },
    {
        .name = "result-files-kept",
        .promise = "output files of a finished workunit are released",
        .table = AUDIT_RESULT,
        .weight = AUDIT_BREACH,
        .breach = "r.server_state = 5 AND r.file_delete_state = 0"
            " AND (r.outcome = 3"
            "  OR r.outcome = 1 AND r.validate_state <> 0) AND " OF_WORKUNIT(
            OURS " AND w.assimilate_state = 2"
            " AND w.file_delete_state <> 0"
            " AND w.need_validate = 0 AND " NEVER),
        .detail = "CONCAT('file_delete_state INIT, and workunit ', "
            "r.workunitid, ' is done')",
        .repair = &audit_look_again_at_its_workunit,
    },
    {
        .name = "result-over",
        .promise = "in a drained project every result is over and judged, and "
            "no file is left to delete",
        .table = AUDIT_RESULT,
        .weight = AUDIT_DRAINED,
        .breach = "r.server_state <> 5"
            " OR r.outcome = 1 AND r.validate_state IN (0, 4)"
            " OR r.file_delete_state IN (1, 3)",
        .detail = "CONCAT(" STATES ", ', file_delete_state ', "
            "r.file_delete_state)",
        .repair = NULL,
    },
};
/* clang-format on */
const size_t audit_n_result_rules = ARRAY_LEN(audit_result_rules);
