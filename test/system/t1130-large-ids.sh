#!/bin/bash
# t1130-large-ids.sh - a whole cycle where the ids of workunits and results start
# at 5 000 000 000, beyond 32 bits.
. "$(dirname "$0")/../lib/scenario.sh"

project_new largeids
sql "ALTER TABLE workunit AUTO_INCREMENT = 5000000000;
	ALTER TABLE result AUTO_INCREMENT = 5000000000"
jobs_new 4 large
project_up
client_up alice "$(account_new alice@example.org Alice)"
client_up bob "$(account_new bob@example.org Bob)"
promise_in 180 "all workunits are assimilated" equals 4 \
	"SELECT COUNT(*) FROM workunit WHERE assimilate_state = 2
	 AND canonical_resultid <> 0"
promise "their ids are above 5e9" equals 1 \
	"SELECT MIN(id) >= 5000000000 FROM workunit"
promise "so are those of the results" equals 1 \
	"SELECT MIN(id) >= 5000000000 AND MIN(workunitid) >= 5000000000 FROM result"
promise "and the canonical ones belong to their workunits" equals 4 \
	"SELECT COUNT(*) FROM workunit w JOIN result r
	 ON r.id = w.canonical_resultid AND r.workunitid = w.id"
promise "all results are valid and credited" equals 8 \
	"SELECT COUNT(*) FROM result WHERE validate_state = 1
	 AND granted_credit > 0"
promise_in 60 "input files are deleted in the end" equals 4 \
	"SELECT COUNT(*) FROM workunit WHERE file_delete_state = 2"
promise "no log has a critical line" no_critical
done_promising
