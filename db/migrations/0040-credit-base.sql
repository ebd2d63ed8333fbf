-- 0040-credit-base.sql - credit that no row of table result stands for, so that
-- the totals of users, hosts and teams can be checked for ever.  What the totals
-- exceed the rows by at this step is taken as it is: those rows were purged.

CREATE TABLE IF NOT EXISTS x_credit_base (
    kind tinyint NOT NULL
        COMMENT '1 user, 2 host, 3 team; by: db_purge, whoever grants without a result',
    id bigint NOT NULL
        COMMENT 'of the user, host or team; by: db_purge, whoever grants without a result',
    credit double NOT NULL
        COMMENT 'in its total_credit, of results that are gone or never were; by: db_purge, whoever grants without a result',
    PRIMARY KEY (kind, id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

INSERT IGNORE INTO x_credit_base (kind, id, credit)
    SELECT 1, o.id, o.total_credit - COALESCE(
        (SELECT SUM(r.granted_credit) FROM result AS r WHERE r.userid = o.id), 0)
    FROM user AS o WHERE o.total_credit <> 0;

INSERT IGNORE INTO x_credit_base (kind, id, credit)
    SELECT 2, o.id, o.total_credit - COALESCE(
        (SELECT SUM(r.granted_credit) FROM result AS r WHERE r.hostid = o.id), 0)
    FROM host AS o WHERE o.total_credit <> 0;

INSERT IGNORE INTO x_credit_base (kind, id, credit)
    SELECT 3, o.id, o.total_credit - COALESCE(s.credit, 0)
    FROM team AS o
    LEFT JOIN (SELECT r.teamid, SUM(r.granted_credit) AS credit
        FROM result AS r WHERE r.granted_credit <> 0 GROUP BY r.teamid) AS s
        ON s.teamid = o.id
    WHERE o.total_credit <> 0;
