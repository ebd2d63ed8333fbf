/* db_check_canonical.c - what audit promises about canonical results, which
 * science believes. */
#include "db_check_rules.h"

#include "buf.h"

/* clang-format off */
const struct audit_rule audit_canonical_rules[] = {
    {
        .name = "canonical-exists",
        .promise = "the canonical result exists until the files are deleted",
        .table = AUDIT_WORKUNIT,
        .weight = AUDIT_BREACH,
        .breach = "w.canonical_resultid <> 0 AND w.file_delete_state < 2"
            " AND w.error_mask & 32 = 0"
            " AND NOT EXISTS (SELECT 1 FROM result AS r"
            "  WHERE r.id = w.canonical_resultid)",
        .detail = "CONCAT('there is no result ', w.canonical_resultid)",
        .repair = NULL,
    },
    {
        .name = "canonical-own",
        .promise = "the canonical result belongs to its workunit",
        .table = AUDIT_WORKUNIT,
        .weight = AUDIT_BREACH,
        .breach = "w.canonical_resultid <> 0"
            " AND EXISTS (SELECT 1 FROM result AS r"
            "  WHERE r.id = w.canonical_resultid"
            "  AND r.workunitid <> w.id)",
        .detail = "CONCAT('result ', w.canonical_resultid, "
            "' is of another workunit')",
        .repair = NULL,
    },
    {
        .name = "canonical-valid",
        .promise = "the canonical result is a valid success",
        .table = AUDIT_WORKUNIT,
        .weight = AUDIT_BREACH,
        .breach = "w.canonical_resultid <> 0"
            " AND EXISTS (SELECT 1 FROM result AS r"
            "  WHERE r.id = w.canonical_resultid"
            "  AND r.workunitid = w.id AND NOT (r.server_state = 5"
            "   AND r.outcome = 1 AND r.validate_state = 1))",
        .detail = "CONCAT('result ', w.canonical_resultid, ' is not valid')",
        .repair = NULL,
    },
    {
        .name = "canonical-quorum",
        .promise = "more than half of the quorum agrees with the canonical "
            "result",
        .table = AUDIT_WORKUNIT,
        .weight = AUDIT_BREACH,
        .breach = "w.canonical_resultid <> 0"
            " AND EXISTS (SELECT 1 FROM result AS r"
            "  WHERE r.id = w.canonical_resultid"
            "  AND r.workunitid = w.id)"
            " AND (SELECT COUNT(*) FROM result AS r"
            "  WHERE r.workunitid = w.id AND r.validate_state = 1)"
            " < w.min_quorum DIV 2 + 1",
        .detail = "CONCAT((SELECT COUNT(*) FROM result AS r WHERE "
            "r.workunitid = w.id AND r.validate_state = 1), "
            "' valid results, min_quorum ', w.min_quorum)",
        .repair = NULL,
    },
    {
        .name = "canonical-told",
        .promise = "a workunit with a canonical result goes to the assimilator",
        .table = AUDIT_WORKUNIT,
        .weight = AUDIT_BREACH,
        .breach = OURS " AND w.canonical_resultid <> 0 AND w.error_mask = 0"
            " AND w.assimilate_state = 0 AND w.need_validate = 0"
            " AND " NOT_DUE " AND NOT (" NEVER ")"
            " AND NOT EXISTS (SELECT 1 FROM result AS r"
            "  WHERE r.workunitid = w.id AND (r.server_state <> 5"
            /* not checked, or its file is to be read again */
            "  OR r.outcome = 1 AND r.validate_state IN (0, 4)))",
        .detail = "'all results are over, assimilate_state INIT'",
        .repair = &audit_look_again,
    },
    {
        .name = "canonical-unsent",
        .promise = "nothing of a workunit with a canonical result may be sent",
        .table = AUDIT_WORKUNIT,
        .weight = AUDIT_BREACH,
        .breach = OURS " AND w.canonical_resultid <> 0 AND w.error_mask = 0"
            " AND " NOT_DUE " AND EXISTS (SELECT 1 FROM result AS r"
            "  WHERE r.workunitid = w.id"
            "  AND r.server_state IN (1, 2))",
        .detail = "'it still has unsent results'",
        .repair = &audit_look_again,
    },
};
/* clang-format on */
const size_t audit_n_canonical_rules = ARRAY_LEN(audit_canonical_rules);
