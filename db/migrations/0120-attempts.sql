-- 0120-attempts.sql - wrong passwords and new accounts, by who tried.

-- What somebody tried, in the time that began at "since".
CREATE TABLE IF NOT EXISTS x_attempt (
    kind tinyint NOT NULL
        COMMENT '1, 2 wrong passwords by address, of account; 3 accounts made by address; by: web',
    who varchar(191) COLLATE utf8mb4_bin NOT NULL
        COMMENT 'network address (of IPv6 the first half), or e-mail address; by: web',
    since bigint NOT NULL
        COMMENT 'Unix s, from when it is counted; by: web',
    times int NOT NULL
        COMMENT 'how often; by: web',
    PRIMARY KEY (kind, who),
    KEY x_attempt_since (since)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;
