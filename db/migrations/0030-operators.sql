-- 0030-operators.sql - what operators did, counters of batches, workunits that
-- wait for an operator.

-- What operators did to jobs.
CREATE TABLE IF NOT EXISTS x_audit (
    id bigint NOT NULL AUTO_INCREMENT
        COMMENT 'key; by: tools',
    time bigint NOT NULL
        COMMENT 'Unix s; by: tools',
    actor varchar(64) NOT NULL
        COMMENT 'account of the operating system, or a user of the project; by: tools',
    action varchar(64) NOT NULL
        COMMENT 'what was done: cancel_jobs, set_priority; by: tools',
    object varchar(255) NOT NULL
        COMMENT 'to what: the selection; by: tools',
    detail varchar(1024) NOT NULL
        COMMENT 'how many, to which value; by: tools',
    PRIMARY KEY (id),
    KEY x_audit_time (time)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- What table batch has no column for; a row is made when the batch is first
-- counted, from then on it is kept up with every workunit.
CREATE TABLE IF NOT EXISTS x_batch (
    batch_id bigint NOT NULL
        COMMENT 'batch; by: whoever ends a workunit',
    nsuccess_jobs bigint NOT NULL
        COMMENT 'workunits with a canonical result and without error; by: whoever ends a workunit',
    PRIMARY KEY (batch_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- Workunits that a program could not handle: tried again later, more and more
-- seldom, then left for an operator (set_aside).
CREATE TABLE IF NOT EXISTS x_set_aside (
    wu_id bigint NOT NULL
        COMMENT 'workunit; by: program',
    program varchar(64) NOT NULL
        COMMENT 'assimilator, transitioner; by: program',
    tries int NOT NULL
        COMMENT 'that failed; by: program',
    next_try bigint NOT NULL
        COMMENT 'Unix s; 2147483647: when an operator has released it; by: program, set_aside',
    last_error varchar(1024) NOT NULL
        COMMENT 'why the last try failed; by: program',
    PRIMARY KEY (wu_id, program)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;
