-- 0020-trickles.sql - messages of jobs that a handler failed on; messages to
-- jobs that wait for a sign of their receipt.

-- Messages whose handler failed: tried again later, a limited number of times.
CREATE TABLE IF NOT EXISTS x_trickle (
    msg_id bigint NOT NULL
        COMMENT 'msg_from_host; by: trickle handler',
    tries int NOT NULL
        COMMENT 'that failed; by: trickle handler',
    next_try bigint NOT NULL
        COMMENT 'Unix s; by: trickle handler',
    PRIMARY KEY (msg_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- Messages to jobs that went out and may have been lost on the way.
CREATE TABLE IF NOT EXISTS x_msg_sent (
    msg_id bigint NOT NULL
        COMMENT 'msg_to_host; by: scheduler',
    sent_time bigint NOT NULL
        COMMENT 'Unix s, of the last reply that held it; by: scheduler',
    PRIMARY KEY (msg_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;
