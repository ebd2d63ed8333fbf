/* db_check_project.c - what audit promises about applications, batches, jobs
 * for one host, and the keys that keep names unique. */
#include "db_check_rules.h"

#include "buf.h"

/* Batches that are counted (x_batch) and whose rows are all there: those of a
 * retired one go away. */
#define COUNT_OF(condition)                                                    \
    "(SELECT COUNT(*) FROM workunit AS w WHERE w.batch = b.id" condition ")"
#define SUCCESSES                                                              \
    COUNT_OF(" AND w.error_mask = 0 AND w.canonical_resultid <> 0")
#define FAILURES COUNT_OF(" AND w.error_mask <> 0")

/* clang-format off */
const struct audit_rule audit_project_rules[] = {
    {
        .name = "version-app",
        .promise = "an application version has an application and a platform",
        .table = AUDIT_APP_VERSION,
        .breach = "NOT EXISTS (SELECT 1 FROM app AS p WHERE p.id = v.appid)"
            " OR NOT EXISTS (SELECT 1 FROM platform AS p"
            "  WHERE p.id = v.platformid)",
        .detail = "CONCAT('application ', v.appid, ', platform ', "
            "v.platformid)",
    },
    {
        .name = "version-finite",
        .promise = "statistics of a version are finite and not negative",
        .table = AUDIT_APP_VERSION,
        .breach = "v.pfc_n < 0 OR v.pfc_avg < 0 OR v.pfc_avg > 1e30"
            " OR v.pfc_scale < 0 OR v.pfc_scale > 1e30"
            " OR v.expavg_credit < 0 OR v.expavg_credit > 1e30"
            " OR v.expavg_time < 0 OR v.expavg_time > :now + 86400",
        .detail = "CONCAT('pfc_n ', v.pfc_n, ', pfc_avg ', v.pfc_avg, "
            "', pfc_scale ', v.pfc_scale, ', expavg_credit ', "
            "v.expavg_credit)",
    },
    {
        .name = "batch-counters",
        .promise = "a batch's counters are those of its workunits",
        .table = AUDIT_BATCH,
        .weight = AUDIT_BREACH,
        .breach = "b.state <> 4"
            " AND EXISTS (SELECT 1 FROM x_batch AS x"
            "  WHERE x.batch_id = b.id AND (b.njobs <> " COUNT_OF(
            "") "  OR b.nerror_jobs <> " FAILURES
            "  OR x.nsuccess_jobs <> " SUCCESSES "))",
        .detail = "CONCAT('njobs ', b.njobs, ', nerror_jobs ', b.nerror_jobs, "
            "'; workunits: ', " COUNT_OF(
            "") ", ', failed ', " FAILURES
            ", ', with a canonical result ', " SUCCESSES ")",
        .repair = NULL,
    },
    {
        .name = "batch-complete",
        .promise = "a batch is complete when each of its workunits has a "
            "canonical result or an error, and not before",
        .table = AUDIT_BATCH,
        .weight = AUDIT_BREACH,
        .breach = "b.state IN (1, 2)"
            " AND EXISTS (SELECT 1 FROM x_batch AS x"
            "  WHERE x.batch_id = b.id)"
            " AND b.njobs > 0 AND (b.state = 2) <>"
            "  (" SUCCESSES " + " FAILURES " = " COUNT_OF("") ")",
        .detail = "CONCAT('state ', b.state, '; workunits: ', " COUNT_OF(
            "") ", ', over ', " SUCCESSES " + " FAILURES ")",
        .repair = NULL,
    },
    {
        .name = "assignment-workunit",
        .promise = "what is assigned to a host or user is a workunit",
        .table = AUDIT_ASSIGNMENT,
        .breach = "NOT EXISTS (SELECT 1 FROM workunit AS w"
            " WHERE w.id = a.workunitid)",
        .detail = "CONCAT('there is no workunit ', a.workunitid)",
    },
    {
        .name = "unique-key",
        .promise = "names and addresses are kept unique by a key",
        .table = AUDIT_KEY,
        .breach = "NOT EXISTS (SELECT 1 FROM information_schema.statistics"
            " AS s WHERE s.table_schema = DATABASE()"
            " AND s.table_name = k.tab AND s.column_name = k.col"
            " AND s.seq_in_index = 1 AND s.non_unique = 0)",
        .detail = "'no unique key begins with this column'",
    },
};
/* clang-format on */
const size_t audit_n_project_rules = ARRAY_LEN(audit_project_rules);
