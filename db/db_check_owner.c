/* db_check_owner.c - what audit promises about users, hosts and teams: their
 * credit is what their results were granted.
 *
 * The sums are of doubles that were added in another order, so they may differ
 * in the last digits. */
#include "db_check_rules.h"

#include "buf.h"

/* What the owner's results say, and what was kept of those that are gone. */
#define LEDGER(kind, column, id)                                               \
    "COALESCE((SELECT SUM(r.granted_credit) FROM result AS r"                  \
    " WHERE r." column " = " id "), 0)"                                        \
    " + COALESCE((SELECT x.credit FROM x_credit_base AS x"                     \
    " WHERE x.kind = " kind " AND x.id = " id "), 0)"

#define DIFFERS(total, ledger)                                                 \
    "ABS(" total " - (" ledger ")) > 1e-6 * (1 + ABS(" total "))"

#define IS_NO_AVERAGE(t)                                                       \
    t ".expavg_credit < 0 OR " t ".expavg_credit > 1e30 OR " t                 \
      ".total_credit < 0 OR " t ".total_credit > 1e30 OR " t                   \
      ".expavg_time < 0 OR " t ".expavg_time > :now + 86400"

#define AVERAGE(t)                                                             \
    "CONCAT('total_credit ', " t ".total_credit, ', expavg_credit ', " t       \
    ".expavg_credit, ', expavg_time ', " t ".expavg_time)"

#define USER_LEDGER LEDGER("1", "userid", "u.id")
#define HOST_LEDGER LEDGER("2", "hostid", "h.id")

/* result.teamid has no index: all teams at once, in one reading. */
#define TEAM_LEDGER                                                            \
    "COALESCE((SELECT s.credit FROM (SELECT r.teamid,"                         \
    " SUM(r.granted_credit) AS credit FROM result AS r"                        \
    " WHERE r.granted_credit <> 0 GROUP BY r.teamid) AS s"                     \
    " WHERE s.teamid = t.id), 0)"                                              \
    " + COALESCE((SELECT x.credit FROM x_credit_base AS x"                     \
    " WHERE x.kind = 3 AND x.id = t.id), 0)"

/* A host that was merged away (userid 0) names its successor in rpc_seqno. */
#define CIRCLE                                                                 \
    "h.userid = 0 AND h.rpc_seqno <> 0 AND h.id IN ("                          \
    "WITH RECURSIVE way (start, id, steps) AS ("                               \
    " SELECT a.id, a.rpc_seqno, 1 FROM host AS a WHERE a.userid = 0"           \
    " AND a.rpc_seqno <> 0 AND a.id > :after AND a.id <= :upto"                \
    " UNION ALL"                                                               \
    " SELECT way.start, b.rpc_seqno, way.steps + 1 FROM way"                   \
    " JOIN host AS b ON b.id = way.id AND b.userid = 0 AND b.rpc_seqno <> 0"   \
    " WHERE way.steps < 100 AND way.id <> way.start)"                          \
    " SELECT way.start FROM way WHERE way.id = way.start OR way.steps = 100)"

/* clang-format off */
const struct audit_rule audit_owner_rules[] = {
    {
        .name = "user-credit",
        .promise = "a user's credit is the sum of what was granted",
        .table = AUDIT_USER,
        .breach = DIFFERS("u.total_credit", USER_LEDGER),
        .detail = "CONCAT('total_credit ', u.total_credit, ', granted ', "
            USER_LEDGER
            ")",
    },
    {
        .name = "host-credit",
        .promise = "a host's credit is the sum of what was granted",
        .table = AUDIT_HOST,
        .breach = DIFFERS("h.total_credit",              HOST_LEDGER),
        .detail = "CONCAT('total_credit ', h.total_credit, ', granted ', "
            HOST_LEDGER
            ")",
    },
    {
        .name = "team-credit",
        .promise = "a team's credit is the sum of what was granted",
        .table = AUDIT_TEAM,
        .breach = DIFFERS("t.total_credit",                        TEAM_LEDGER),
        .detail = "CONCAT('total_credit ', t.total_credit, ', granted ', "
            TEAM_LEDGER
            ")",
    },
    {
        .name = "user-average",
        .promise = "averages of users are finite, and not of the future",
        .table = AUDIT_USER,
        .breach = IS_NO_AVERAGE("u"),
        .detail = AVERAGE("u"),
    },
    {
        .name = "host-average",
        .promise = "averages of hosts are finite, and not of the future",
        .table = AUDIT_HOST,
        .breach = IS_NO_AVERAGE("h"),
        .detail = AVERAGE("h"),
    },
    {
        .name = "team-average",
        .promise = "averages of teams are finite, and not of the future",
        .table = AUDIT_TEAM,
        .breach = IS_NO_AVERAGE("t"),
        .detail = AVERAGE("t"),
    },
    {
        .name = "host-version-once",
        .promise = "a host has one row of statistics for a version",
        .table = AUDIT_HOST,
        .breach = "EXISTS (SELECT v.app_version_id FROM host_app_version AS v"
            " WHERE v.host_id = h.id GROUP BY v.app_version_id"
            " HAVING COUNT(*) > 1)",
        .detail = "'a version has several rows in host_app_version'",
    },
    {
        .name = "host-version-finite",
        .promise = "a host's statistics are finite and not negative",
        .table = AUDIT_HOST,
        .breach = "EXISTS (SELECT 1 FROM host_app_version AS v"
            " WHERE v.host_id = h.id AND (v.pfc_n < 0 OR v.pfc_avg < 0"
            "  OR v.pfc_avg > 1e30 OR v.et_n < 0 OR v.et_avg < 0"
            "  OR v.et_avg > 1e30 OR v.et_var < 0 OR v.turnaround_n < 0"
            "  OR v.turnaround_avg < 0 OR v.turnaround_avg > 1e30"
            "  OR v.turnaround_var < 0 OR v.consecutive_valid < 0"
            "  OR v.max_jobs_per_day < 0 OR v.n_jobs_today < 0))",
        .detail = "'a number in host_app_version is impossible'",
    },
    {
        .name = "host-circle",
        .promise = "hosts that were merged away do not lead to each other",
        .table = AUDIT_HOST,
        .breach = CIRCLE,
        .detail = "CONCAT('its successor ', h.rpc_seqno, ' leads back')",
    },
};
/* clang-format on */
const size_t audit_n_owner_rules = ARRAY_LEN(audit_owner_rules);
