-- 0080-host-requests.sql - what the last request of each host said of it beyond
-- the columns of table host, so that it can be explained what it is sent.

CREATE TABLE IF NOT EXISTS x_host_request (
    host_id bigint NOT NULL
        COMMENT 'host; by: scheduler',
    hash bigint NOT NULL
        COMMENT 'of the facts, never 0; by: scheduler',
    update_time bigint NOT NULL
        COMMENT 'Unix s, when they changed; by: scheduler',
    facts blob NOT NULL
        COMMENT 'elements of a request, COMPRESS()ed; by: scheduler',
    PRIMARY KEY (host_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;
