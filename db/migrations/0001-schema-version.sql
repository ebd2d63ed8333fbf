-- 0001-schema-version.sql - where the steps a database has are recorded, and a
-- view that old projects may lack.

CREATE TABLE IF NOT EXISTS x_schema (
    version int NOT NULL
        COMMENT 'number of the step; by: whoever migrates',
    applied_time bigint NOT NULL
        COMMENT 'Unix s; by: whoever migrates',
    PRIMARY KEY (version)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

CREATE OR REPLACE VIEW latest_consent AS
    SELECT c.userid, c.consent_type_id, c.consent_time, c.consent_flag,
        c.source
    FROM consent AS c
    WHERE c.id = (
        SELECT newest.id FROM consent AS newest
        WHERE newest.userid = c.userid
            AND newest.consent_type_id = c.consent_type_id
        ORDER BY newest.consent_time DESC, newest.id DESC
        LIMIT 1);
