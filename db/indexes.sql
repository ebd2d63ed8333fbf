-- indexes.sql - secondary indexes beyond BOINC's, each with the query it serves.
-- Loaded after schema.sql; existing projects get the same ones by migration 2.
-- Nothing but indexes: BOINC's programs do not notice them.

-- Feeder, all applications: server_state = 2 ORDER BY priority DESC, workunitid
CREATE INDEX x_res_feed
    ON result (server_state, priority DESC, workunitid);

-- Feeder, a stream for each application: appid = ? AND server_state = 2 ORDER
-- BY priority DESC, workunitid
CREATE INDEX x_res_app_feed
    ON result (appid, server_state, priority DESC, workunitid);

-- Scheduler, what a host should still have: hostid = ? AND server_state = 4
CREATE INDEX x_res_host_state
    ON result (hostid, server_state);

-- db_purge: file_delete_state = 2 AND mod_time < ? ORDER BY mod_time, id
CREATE INDEX x_wu_purge
    ON workunit (file_delete_state, mod_time);

-- db_purge, assignments of purged workunits: workunitid IN (...)
CREATE INDEX x_asgn_wu
    ON assignment (workunitid);

-- Trickle handlers: handled = 0 AND variety = ? ORDER BY id
CREATE INDEX x_msg_todo
    ON msg_from_host (handled, variety, id);

-- Pages of a submitter: user_id = ? AND state = ?
CREATE INDEX x_batch_user
    ON batch (user_id, state);

-- Threads of a forum: forum = ? ORDER BY timestamp
CREATE INDEX x_thread_forum
    ON thread (forum, timestamp);
