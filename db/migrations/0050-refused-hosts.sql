-- 0050-refused-hosts.sql - which hosts could not take a result, and results that
-- ended by it.

-- Hosts that could not take an unsent result for what they are (dispatch §9.5):
-- the feeder notes here what is not in its slots any more.  Rows of results that
-- are not unsent are removed.
CREATE TABLE IF NOT EXISTS x_refused_host (
    resultid bigint NOT NULL
        COMMENT 'result; by: feeder',
    hostid bigint NOT NULL
        COMMENT 'host; by: feeder',
    reason tinyint NOT NULL
        COMMENT '1 no app version, 2 app version too old, 3 client version, 4 plan class, 5 memory, 6 disk, 7 bandwidth, 8 deadline, 9 unknown class of hosts; by: feeder',
    PRIMARY KEY (resultid, hostid)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- Results that ended because too many hosts could not take them, and why.
CREATE TABLE IF NOT EXISTS x_could_not_send (
    resultid bigint NOT NULL
        COMMENT 'result; by: feeder',
    workunitid bigint NOT NULL
        COMMENT 'its workunit; by: feeder',
    time bigint NOT NULL
        COMMENT 'Unix s; by: feeder',
    hosts int NOT NULL
        COMMENT 'that could not take it; by: feeder',
    breakdown varchar(255) NOT NULL
        COMMENT 'how many for which reason: 63 memory, 37 no app version; by: feeder',
    PRIMARY KEY (resultid),
    KEY x_could_not_send_wu (workunitid)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;
