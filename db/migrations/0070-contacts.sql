-- 0070-contacts.sql - results that hosts lose again and again; wrong account
-- keys by address.

-- Results that their host lost, and how often they were sent again.
CREATE TABLE IF NOT EXISTS x_resend (
    result_id bigint NOT NULL
        COMMENT 'result; by: scheduler',
    workunitid bigint NOT NULL
        COMMENT 'its workunit; by: scheduler',
    times int NOT NULL
        COMMENT 'sent again; by: scheduler',
    last_time bigint NOT NULL
        COMMENT 'Unix s, when last; by: scheduler',
    PRIMARY KEY (result_id),
    KEY x_resend_wu (workunitid)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- Wrong account keys by address, in the hour that began at "since".
CREATE TABLE IF NOT EXISTS x_key_failure (
    address varchar(64) NOT NULL
        COMMENT 'network address, of IPv6 the first half; by: scheduler',
    since bigint NOT NULL
        COMMENT 'Unix s, from when it is counted; by: scheduler',
    failures int NOT NULL
        COMMENT 'wrong account keys; by: scheduler',
    PRIMARY KEY (address),
    KEY x_key_failure_since (since)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;
