-- 0002-indexes.sql - the indexes that our programs want (see indexes.sql).  The
-- big tables stay readable and writable meanwhile; an index that is there
-- already is left as it is.

CREATE INDEX x_res_feed
    ON result (server_state, priority DESC, workunitid)
    ALGORITHM=INPLACE LOCK=NONE;

CREATE INDEX x_res_app_feed
    ON result (appid, server_state, priority DESC, workunitid)
    ALGORITHM=INPLACE LOCK=NONE;

CREATE INDEX x_res_host_state
    ON result (hostid, server_state)
    ALGORITHM=INPLACE LOCK=NONE;

CREATE INDEX x_wu_purge
    ON workunit (file_delete_state, mod_time)
    ALGORITHM=INPLACE LOCK=NONE;

CREATE INDEX x_asgn_wu
    ON assignment (workunitid);

CREATE INDEX x_msg_todo
    ON msg_from_host (handled, variety, id);

CREATE INDEX x_batch_user
    ON batch (user_id, state);

CREATE INDEX x_thread_forum
    ON thread (forum, timestamp);
