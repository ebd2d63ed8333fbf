-- 0090-locality.sql - who holds which large file.

-- Which host got which of the files that many jobs need (locality scheduling).
CREATE TABLE IF NOT EXISTS x_locality (
    file varchar(254) COLLATE utf8mb4_bin NOT NULL
        COMMENT 'what the names of its jobs have before "__"; by: scheduler',
    nth int NOT NULL
        COMMENT 'holder number, from 1; two that want the file at the same time want the same one; by: scheduler',
    hostid bigint NOT NULL
        COMMENT 'the holder; by: scheduler',
    time bigint NOT NULL
        COMMENT 'Unix s, of the last job of the file sent there; by: scheduler',
    PRIMARY KEY (file, nth),
    UNIQUE KEY x_locality_host (hostid, file)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;
