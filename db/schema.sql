-- schema.sql - the tables of a new project.
--
-- Names, order and types are those of a BOINC project database, so that its
-- tools and pages, and ours on its databases, keep working: no column of a
-- table without the prefix x_ is ever added, dropped or moved.  One difference:
-- ids that may outgrow 31 bits are bigint here (workunit, result, messages,
-- assignment, job_file, and the columns that hold one of them).
--
-- Times are seconds since 1970 (UTC).  A column's comment says what it means, in
-- which unit, and who writes it.  NOT NULL without a default: every INSERT
-- names the column.  Indexes beyond BOINC's are in indexes.sql.

-- What hosts are: operating system and processor.
CREATE TABLE platform (
    id int NOT NULL AUTO_INCREMENT
        COMMENT 'key; by: make_project, xadd',
    create_time int NOT NULL
        COMMENT 'Unix s; by: make_project, xadd',
    name varchar(191) NOT NULL
        COMMENT 'as clients tell it; anonymous for own versions; by: make_project, xadd',
    user_friendly_name varchar(254) NOT NULL
        COMMENT 'name for people; by: make_project, xadd',
    deprecated tinyint NOT NULL DEFAULT 0
        COMMENT '1 = not loaded; by: operator',
    PRIMARY KEY (id),
    UNIQUE KEY name (name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- Applications.
CREATE TABLE app (
    id int NOT NULL AUTO_INCREMENT
        COMMENT 'key; by: xadd',
    create_time int NOT NULL
        COMMENT 'Unix s; by: xadd',
    name varchar(191) NOT NULL
        COMMENT 'short name; by: xadd',
    min_version int NOT NULL DEFAULT 0
        COMMENT 'lowest version number to use, 0 any; by: operator',
    deprecated smallint NOT NULL DEFAULT 0
        COMMENT '1 = hidden, no work; by: operator',
    user_friendly_name varchar(254) NOT NULL
        COMMENT 'name for people; by: xadd',
    homogeneous_redundancy smallint NOT NULL DEFAULT 0
        COMMENT '0 none, 1 fine, 2 coarse; by: xadd',
    weight double NOT NULL DEFAULT 1
        COMMENT 'share of feeder slots; -1 = app of hard jobs; by: operator',
    beta smallint NOT NULL DEFAULT 0
        COMMENT '1 = only for users who allow beta; by: xadd, operator',
    target_nresults smallint NOT NULL DEFAULT 0
        COMMENT 'results when replication is adaptive; 0 off; by: xadd',
    min_avg_pfc double NOT NULL DEFAULT 1
        COMMENT 'lowest actual/estimated FLOP ratio of its versions; by: feeder',
    host_scale_check tinyint NOT NULL DEFAULT 0
        COMMENT '1 = host credit scaling only for proven hosts; by: xadd',
    homogeneous_app_version tinyint NOT NULL DEFAULT 0
        COMMENT '1 = all results of a workunit use one version; by: xadd',
    non_cpu_intensive tinyint NOT NULL DEFAULT 0
        COMMENT '1 = one job at a time, little CPU; by: xadd',
    locality_scheduling int NOT NULL DEFAULT 0
        COMMENT '0 none, 1 lite; by: xadd',
    n_size_classes smallint NOT NULL DEFAULT 0
        COMMENT '2 or more: jobs and hosts have sizes; by: xadd',
    fraction_done_exact tinyint NOT NULL DEFAULT 0
        COMMENT '1 = the client trusts the progress told; by: xadd',
    PRIMARY KEY (id),
    UNIQUE KEY name (name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- Versions of applications: one for each platform and plan class.
CREATE TABLE app_version (
    id int NOT NULL AUTO_INCREMENT
        COMMENT 'key; by: update_versions',
    create_time int NOT NULL
        COMMENT 'Unix s; by: update_versions',
    appid int NOT NULL
        COMMENT 'app; by: update_versions',
    version_num int NOT NULL
        COMMENT '100 major + minor; by: update_versions',
    platformid int NOT NULL
        COMMENT 'platform; by: update_versions',
    xml_doc mediumblob
        COMMENT 'file_info and app_version elements; by: update_versions',
    min_core_version int NOT NULL DEFAULT 0
        COMMENT 'oldest client: 10000 a + 100 b + c, 0 any; by: update_versions',
    max_core_version int NOT NULL DEFAULT 0
        COMMENT 'newest client, 0 any; by: update_versions',
    deprecated tinyint NOT NULL DEFAULT 0
        COMMENT '1 = superseded or removed; by: update_versions, operator',
    plan_class varchar(128) NOT NULL DEFAULT ''
        COMMENT 'empty = one CPU; by: update_versions',
    pfc_n double NOT NULL DEFAULT 0
        COMMENT 'samples of pfc; by: validator',
    pfc_avg double NOT NULL DEFAULT 0
        COMMENT 'mean of peak FLOP count / rsc_fpops_est; by: validator',
    pfc_scale double NOT NULL DEFAULT 0
        COMMENT 'factor of credit, 0 unknown; by: feeder',
    expavg_credit double NOT NULL DEFAULT 0
        COMMENT 'credit/day, decaying; by: validator',
    expavg_time double NOT NULL DEFAULT 0
        COMMENT 'Unix s of expavg_credit; by: validator',
    beta tinyint NOT NULL DEFAULT 0
        COMMENT '1 = beta version; by: update_versions',
    PRIMARY KEY (id),
    UNIQUE KEY apvp (appid, platformid, version_num, plan_class)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- Volunteers.  id stays below 2^31: clients hold it in an int.
CREATE TABLE `user` (
    id int NOT NULL AUTO_INCREMENT
        COMMENT 'key; by: web pages',
    create_time int NOT NULL
        COMMENT 'Unix s; by: web pages',
    email_addr varchar(191) NOT NULL
        COMMENT 'login; unique; by: web pages',
    name varchar(191)
        COMMENT 'screen name; unique; by: web pages',
    authenticator varchar(191)
        COMMENT 'account key, 32 hex digits; by: web pages',
    country varchar(254)
        COMMENT 'name; by: web pages',
    postal_code varchar(254)
        COMMENT 'of the user; by: web pages',
    total_credit double NOT NULL
        COMMENT 'credit; by: validator',
    expavg_credit double NOT NULL
        COMMENT 'credit/day; by: validator, update_stats',
    expavg_time double NOT NULL
        COMMENT 'Unix s; by: validator, update_stats',
    global_prefs blob
        COMMENT 'XML global_preferences; by: web pages, scheduler',
    project_prefs blob
        COMMENT 'XML project_preferences; by: web pages',
    teamid int NOT NULL
        COMMENT 'team, 0 none; by: web pages',
    venue varchar(254) NOT NULL
        COMMENT 'default of new hosts: empty, home, work or school; by: web pages',
    url varchar(254)
        COMMENT 'home page; by: web pages',
    send_email smallint NOT NULL
        COMMENT '1 = wants mail; by: web pages',
    show_hosts smallint NOT NULL
        COMMENT '1 = hosts are public; by: web pages',
    posts smallint NOT NULL
        COMMENT 're-used: salt of the weak account key; by: web pages',
    seti_id int NOT NULL
        COMMENT 're-used: 1 = only own jobs on own hosts; by: web pages',
    seti_nresults int NOT NULL
        COMMENT 'no longer used; by: nobody',
    seti_last_result_time int NOT NULL
        COMMENT 'no longer used; by: nobody',
    seti_total_cpu double NOT NULL
        COMMENT 'no longer used; by: nobody',
    signature varchar(254)
        COMMENT 're-used: invite code; by: web pages',
    has_profile smallint NOT NULL
        COMMENT '1 = has one; by: web pages',
    cross_project_id varchar(254) NOT NULL
        COMMENT 'internal CPID; by: web pages, scheduler',
    passwd_hash varchar(254) NOT NULL
        COMMENT 'hash of the password; by: web pages',
    email_validated smallint NOT NULL
        COMMENT 'no longer used; by: web pages',
    donated smallint NOT NULL
        COMMENT '1 = has donated; by: operator',
    login_token char(32) NOT NULL DEFAULT ''
        COMMENT 'one-time client login; by: web pages',
    login_token_time double NOT NULL DEFAULT 0
        COMMENT 'Unix s when it was made; by: web pages',
    previous_email_addr varchar(254) NOT NULL DEFAULT ''
        COMMENT 'for recovery; by: web pages',
    email_addr_change_time double NOT NULL DEFAULT 0
        COMMENT 'Unix s; by: web pages',
    PRIMARY KEY (id),
    UNIQUE KEY email_addr (email_addr),
    UNIQUE KEY authenticator (authenticator),
    UNIQUE KEY name (name),
    KEY ind_tid (teamid),
    KEY user_tot (total_credit DESC),
    KEY user_avg (expavg_credit DESC),
    KEY user_email_time (email_addr_change_time)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- Teams of volunteers.
CREATE TABLE team (
    id int NOT NULL AUTO_INCREMENT
        COMMENT 'key; by: web pages',
    create_time int NOT NULL
        COMMENT 'Unix s; by: web pages',
    userid int NOT NULL
        COMMENT 'founder; by: web pages',
    name varchar(191) NOT NULL
        COMMENT 'unique; by: web pages',
    name_lc varchar(254)
        COMMENT 'lower case; by: web pages',
    url varchar(254)
        COMMENT 'its page; by: web pages',
    type int NOT NULL
        COMMENT '1 club, 2 company, 3 primary, 4 secondary, 5 junior college, 6 university, 7 government; by: web pages',
    name_html varchar(254)
        COMMENT 'formatted name; by: web pages',
    description text
        COMMENT 'text; by: web pages',
    nusers int NOT NULL
        COMMENT 'members; by: update_stats',
    country varchar(254)
        COMMENT 'name; by: web pages',
    total_credit double NOT NULL DEFAULT 0.0
        COMMENT 'credit; by: validator',
    expavg_credit double NOT NULL DEFAULT 0.0
        COMMENT 'credit/day; by: validator, update_stats',
    expavg_time double NOT NULL
        COMMENT 'Unix s; by: validator, update_stats',
    seti_id int NOT NULL DEFAULT 0
        COMMENT 'id of BOINC-wide team; by: web pages',
    ping_user int NOT NULL DEFAULT 0
        COMMENT 'who asks to become founder (negative = declined); by: web pages',
    ping_time int unsigned NOT NULL DEFAULT 0
        COMMENT 'Unix s of that request; by: web pages',
    joinable tinyint NOT NULL DEFAULT 1
        COMMENT '1 = open; by: web pages',
    mod_time timestamp NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP
        COMMENT 'last change; by: database',
    PRIMARY KEY (id),
    UNIQUE KEY name (name),
    FULLTEXT KEY team_name_desc (name, description),
    KEY team_avg (expavg_credit DESC),
    KEY team_tot (total_credit DESC),
    KEY team_userid (userid)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- Computers.  id stays below 2^31: clients hold it in an int.
CREATE TABLE host (
    id int NOT NULL AUTO_INCREMENT
        COMMENT 'key; by: scheduler',
    create_time int NOT NULL
        COMMENT 'Unix s; by: scheduler',
    userid int NOT NULL
        COMMENT 'owner; 0 = merged away; by: scheduler',
    rpc_seqno int NOT NULL
        COMMENT 'number of the last request; if userid = 0 the id of the host it was merged into; by: scheduler',
    rpc_time int NOT NULL
        COMMENT 'Unix s of the last request; by: scheduler',
    total_credit double NOT NULL
        COMMENT 'credit; by: validator',
    expavg_credit double NOT NULL
        COMMENT 'credit/day; by: validator, update_stats',
    expavg_time double NOT NULL
        COMMENT 'Unix s; by: validator, update_stats',
    timezone int NOT NULL
        COMMENT 's east of UTC, standard time; by: scheduler',
    domain_name varchar(254)
        COMMENT 'name it told; deleted... after removal; by: scheduler',
    serialnum varchar(254)
        COMMENT 'old GPU summary; by: scheduler',
    last_ip_addr varchar(254)
        COMMENT 'IP address it told; by: scheduler',
    nsame_ip_addr int NOT NULL
        COMMENT 'requests from the same address; by: scheduler',
    on_frac double NOT NULL
        COMMENT 'fraction of time the client runs; by: scheduler',
    connected_frac double NOT NULL
        COMMENT 'of on-time connected, -1 unknown; by: scheduler',
    active_frac double NOT NULL
        COMMENT 'of on-time CPU use allowed; by: scheduler',
    cpu_efficiency double NOT NULL
        COMMENT 're-used: declared dead; by: operator',
    duration_correction_factor double NOT NULL
        COMMENT 'stored only; by: scheduler',
    p_ncpus int NOT NULL
        COMMENT 'logical CPUs; by: scheduler',
    p_vendor varchar(254)
        COMMENT 'of the processor; by: scheduler',
    p_model varchar(254)
        COMMENT 'of the processor; by: scheduler',
    p_fpops double NOT NULL
        COMMENT 'FLOPS per CPU; by: scheduler',
    p_iops double NOT NULL
        COMMENT 'integer operations per s and CPU; by: scheduler',
    p_membw double NOT NULL
        COMMENT 'bytes/s to memory; by: scheduler',
    os_name varchar(254)
        COMMENT 'operating system; by: scheduler',
    os_version varchar(254)
        COMMENT 'its version; by: scheduler',
    m_nbytes double NOT NULL
        COMMENT 'bytes of RAM; by: scheduler',
    m_cache double NOT NULL
        COMMENT 'bytes of cache; by: scheduler',
    m_swap double NOT NULL
        COMMENT 'bytes of swap space; by: scheduler',
    d_total double NOT NULL
        COMMENT 'bytes of disk; by: scheduler',
    d_free double NOT NULL
        COMMENT 'bytes of disk free; by: scheduler',
    d_boinc_used_total double NOT NULL
        COMMENT 'bytes of disk all projects use; by: scheduler',
    d_boinc_used_project double NOT NULL
        COMMENT 'bytes of disk this project uses; by: scheduler',
    d_boinc_max double NOT NULL
        COMMENT 're-used: bytes of disk that are this project''s share; by: scheduler',
    n_bwup double NOT NULL
        COMMENT 'bytes/s up; by: scheduler',
    n_bwdown double NOT NULL
        COMMENT 'bytes/s down; by: scheduler',
    credit_per_cpu_sec double NOT NULL
        COMMENT 'no longer used; by: nobody',
    venue varchar(254) NOT NULL
        COMMENT 'empty, home, work or school; by: web pages, scheduler',
    nresults_today int NOT NULL
        COMMENT 'results sent today, for the quota of the host; by: scheduler',
    avg_turnaround double NOT NULL
        COMMENT 's from sending to report, 0.7/0.3 average; by: scheduler',
    host_cpid varchar(254)
        COMMENT 'md5 of client CPID and address; by: scheduler',
    external_ip_addr varchar(254)
        COMMENT 'IP address we saw; by: scheduler',
    max_results_day int NOT NULL
        COMMENT '-1 = blacklisted, else no longer used; by: operator',
    error_rate double NOT NULL DEFAULT 0
        COMMENT 're-used: 1 = low turnaround; by: batch acceleration',
    product_name varchar(254) NOT NULL
        COMMENT 'model of the computer; by: scheduler',
    gpu_active_frac double NOT NULL
        COMMENT 'of on-time GPU use allowed; by: scheduler',
    p_ngpus int NOT NULL
        COMMENT 'GPUs; by: scheduler',
    p_gpu_fpops double NOT NULL
        COMMENT 'FLOPS of all GPUs; by: scheduler',
    misc text NOT NULL DEFAULT ('')
        COMMENT 'JSON: GPUs, docker, vbox; by: scheduler',
    PRIMARY KEY (id),
    KEY host_userid_cpid (userid, host_cpid),
    KEY host_domain_name (domain_name),
    KEY host_avg (expavg_credit DESC),
    KEY host_tot (total_credit DESC)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- What we learnt of one version on one host.  BOINC has a unique key hap in
-- the place of the primary key.
CREATE TABLE host_app_version (
    host_id int NOT NULL
        COMMENT 'host; by: scheduler',
    app_version_id int NOT NULL
        COMMENT 'version, or appid*1000000 + 2 to 6 (anonymous platform); by: scheduler',
    pfc_n double NOT NULL
        COMMENT 'samples of pfc; by: validator',
    pfc_avg double NOT NULL
        COMMENT 'mean of peak FLOP count / rsc_fpops_est; by: validator',
    et_n double NOT NULL
        COMMENT 'samples of elapsed time; by: validator',
    et_avg double NOT NULL
        COMMENT 'mean of elapsed s / rsc_fpops_est; by: validator',
    et_var double NOT NULL
        COMMENT 'its variance; by: validator',
    et_q double NOT NULL
        COMMENT 'its running sum of squares; by: validator',
    max_jobs_per_day int NOT NULL
        COMMENT 'results per processor and day; by: scheduler, validator, transitioner',
    n_jobs_today int NOT NULL
        COMMENT 'results sent today; by: scheduler',
    turnaround_n double NOT NULL
        COMMENT 'samples of turnaround; by: validator',
    turnaround_avg double NOT NULL
        COMMENT 's, mean from sending to report; by: validator',
    turnaround_var double NOT NULL
        COMMENT 's^2, its variance; by: validator',
    turnaround_q double NOT NULL
        COMMENT 'its running sum of squares; by: validator',
    consecutive_valid int NOT NULL
        COMMENT 'valid results in a row; by: validator, transitioner, scheduler',
    PRIMARY KEY (host_id, app_version_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- Jobs.  BOINC inserts rows by position: no column may be added.
CREATE TABLE workunit (
    id bigint NOT NULL AUTO_INCREMENT
        COMMENT 'key; by: create_work',
    create_time int NOT NULL
        COMMENT 'Unix s; by: create_work',
    appid int NOT NULL
        COMMENT 'app; by: create_work',
    name varchar(191) NOT NULL
        COMMENT 'unique; by: create_work',
    xml_doc blob
        COMMENT 'file_info and workunit elements; by: create_work',
    batch int NOT NULL
        COMMENT '0 none; else batch.id or a number of the project; by: create_work',
    rsc_fpops_est double NOT NULL
        COMMENT 'FLOP expected; by: create_work',
    rsc_fpops_bound double NOT NULL
        COMMENT 'FLOP after which the client aborts; by: create_work',
    rsc_memory_bound double NOT NULL
        COMMENT 'bytes; by: create_work',
    rsc_disk_bound double NOT NULL
        COMMENT 'bytes of input, output and temporary files; by: create_work',
    need_validate smallint NOT NULL
        COMMENT '1 = the validator must look; by: transitioner, validator',
    canonical_resultid bigint NOT NULL
        COMMENT '0 none; by: validator',
    canonical_credit double NOT NULL
        COMMENT 'credit of valid results; by: validator',
    transition_time int NOT NULL
        COMMENT 'Unix s of the next transition; 2147483647 never; by: transitioner, and whoever changes a result',
    delay_bound int NOT NULL
        COMMENT 's from sending to the deadline; by: create_work',
    error_mask int NOT NULL
        COMMENT 'bits 1 could not send, 2 errors, 4 successes, 8 total, 16 cancelled, 32 no canonical result; by: transitioner, scheduler, cancel_jobs',
    file_delete_state int NOT NULL
        COMMENT 'input files: 0 none, 1 ready, 2 done, 3 error; by: transitioner, file_deleter',
    assimilate_state int NOT NULL
        COMMENT '0 none, 1 ready, 2 done; by: transitioner, validator, assimilator',
    hr_class int NOT NULL
        COMMENT 'class of equal hosts, 0 not yet chosen; by: scheduler',
    opaque double NOT NULL
        COMMENT 'free for the project; by: create_work',
    min_quorum int NOT NULL
        COMMENT 'results that must agree; by: create_work',
    target_nresults int NOT NULL
        COMMENT 'results made at first; by: create_work, validator',
    max_error_results int NOT NULL
        COMMENT 'gives up when exceeded; by: create_work',
    max_total_results int NOT NULL
        COMMENT 'gives up when exceeded; by: create_work',
    max_success_results int NOT NULL
        COMMENT 'gives up when exceeded without agreement; by: create_work',
    result_template_file varchar(63) NOT NULL
        COMMENT 'output template, relative to the project; by: create_work',
    priority int NOT NULL
        COMMENT 'higher first; by: create_work, operator',
    mod_time timestamp NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP
        COMMENT 'last change; by: database',
    rsc_bandwidth_bound double NOT NULL
        COMMENT 'bytes/s, least download speed; by: create_work',
    fileset_id int NOT NULL
        COMMENT 'locality scheduling of old; by: create_work',
    app_version_id int NOT NULL
        COMMENT 'the version all results use, 0 none (homogeneous version); by: scheduler',
    transitioner_flags tinyint NOT NULL
        COMMENT '0 normal, 1 left alone, 2 no new results; by: create_work',
    size_class smallint NOT NULL DEFAULT -1
        COMMENT '-1 none; by: create_work',
    keywords varchar(254) NOT NULL
        COMMENT 'ids, separated by blanks; by: create_work',
    app_version_num int NOT NULL
        COMMENT 'the only version to use, 0 any; by: create_work',
    PRIMARY KEY (id),
    UNIQUE KEY name (name),
    KEY wu_val (appid, need_validate),
    KEY wu_timeout (transition_time),
    KEY wu_filedel (file_delete_state),
    KEY wu_assim (appid, assimilate_state),
    KEY wu_batch (batch)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- Instances of jobs.  BOINC inserts rows by position: no column may be added.
CREATE TABLE result (
    id bigint NOT NULL AUTO_INCREMENT
        COMMENT 'key; by: transitioner',
    create_time int NOT NULL
        COMMENT 'Unix s; by: transitioner',
    workunitid bigint NOT NULL
        COMMENT 'its workunit; by: transitioner',
    server_state int NOT NULL
        COMMENT '1 inactive, 2 unsent, 4 in progress, 5 over; by: transitioner, scheduler, cancel_jobs',
    outcome int NOT NULL
        COMMENT '0 none, 1 success, 2 could not send, 3 client error, 4 no reply, 5 did not need, 6 validate error, 7 detached; by: scheduler, transitioner, validator',
    client_state int NOT NULL
        COMMENT '0 new, 1 downloading, 2 downloaded, 3 compute error, 4 uploading, 5 uploaded, 6 aborted, 7 upload failed; by: scheduler',
    hostid int NOT NULL
        COMMENT 'host it was sent to, 0 none; by: scheduler',
    userid int NOT NULL
        COMMENT 'user it was sent to, 0 none; by: scheduler',
    report_deadline int NOT NULL
        COMMENT 'Unix s, grace period included; by: scheduler',
    sent_time int NOT NULL
        COMMENT 'Unix s, 0 not sent; by: scheduler',
    received_time int NOT NULL
        COMMENT 'Unix s, 0 not received; by: scheduler',
    name varchar(191) NOT NULL
        COMMENT 'unique; by: transitioner',
    cpu_time double NOT NULL
        COMMENT 's; by: scheduler',
    xml_doc_in blob
        COMMENT 'output file descriptions; by: transitioner',
    xml_doc_out blob
        COMMENT 'reported file descriptions (MD5); by: scheduler',
    stderr_out blob
        COMMENT 'text of the application, cut; by: scheduler',
    batch int NOT NULL
        COMMENT 'copy of the workunit''s; by: transitioner',
    file_delete_state int NOT NULL
        COMMENT 'output files: 0 none, 1 ready, 2 done, 3 error; by: transitioner, file_deleter',
    validate_state int NOT NULL
        COMMENT '0 none, 1 valid, 2 invalid, 3 no check, 4 inconclusive, 5 too late; by: validator, scheduler, transitioner',
    claimed_credit double NOT NULL
        COMMENT 'credit; post-assigned only; by: validator',
    granted_credit double NOT NULL
        COMMENT 'credit; by: validator',
    opaque double NOT NULL
        COMMENT 'free for the validator; by: validator',
    random int NOT NULL
        COMMENT 'order of sending among equals; by: transitioner',
    app_version_num int NOT NULL
        COMMENT '100 major + minor, as reported; by: scheduler',
    appid int NOT NULL
        COMMENT 'copy of the workunit''s; by: transitioner',
    exit_status int NOT NULL
        COMMENT 'of the application, or of the client (194 to 203); by: scheduler',
    teamid int NOT NULL
        COMMENT 'team of the user at the report, then the one that got the credit; by: scheduler, validator',
    priority int NOT NULL
        COMMENT 'copy of the workunit''s; higher first; by: transitioner, operator',
    mod_time timestamp NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP
        COMMENT 'last change; by: database',
    elapsed_time double NOT NULL
        COMMENT 's, wall clock; by: scheduler',
    flops_estimate double NOT NULL
        COMMENT 'peak FLOPS of the resources used; by: scheduler',
    app_version_id int NOT NULL
        COMMENT 'version it was sent with, or -1 to -6 (anonymous platform); by: scheduler',
    runtime_outlier tinyint NOT NULL
        COMMENT '1 = left out of statistics; by: validator',
    size_class smallint NOT NULL DEFAULT -1
        COMMENT 'copy; -1 none; by: transitioner',
    peak_working_set_size double NOT NULL
        COMMENT 'bytes; by: scheduler',
    peak_swap_size double NOT NULL
        COMMENT 'bytes; by: scheduler',
    peak_disk_usage double NOT NULL
        COMMENT 'bytes; by: scheduler',
    PRIMARY KEY (id),
    UNIQUE KEY name (name),
    KEY res_wuid (workunitid),
    KEY ind_res_st (server_state, priority),
    KEY res_app_state (appid, server_state),
    KEY res_filedel (file_delete_state),
    KEY res_userid_id (userid, id DESC),
    KEY res_userid_val (userid, validate_state),
    KEY res_hostid_id (hostid, id DESC),
    KEY res_batch (batch)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- Jobs submitted together.
CREATE TABLE batch (
    id bigint unsigned NOT NULL AUTO_INCREMENT
        COMMENT 'key; by: submission',
    user_id int NOT NULL
        COMMENT 'submitter; by: submission',
    create_time int NOT NULL
        COMMENT 'Unix s; by: submission',
    logical_start_time double NOT NULL
        COMMENT 'clock of fair shares; by: submission',
    logical_end_time double NOT NULL
        COMMENT 'clock of fair shares; by: submission',
    est_completion_time double NOT NULL
        COMMENT 'Unix s; by: submission',
    njobs int NOT NULL
        COMMENT 'workunits; by: submission',
    fraction_done double NOT NULL
        COMMENT '0 to 1; by: transitioner',
    nerror_jobs int NOT NULL
        COMMENT 'workunits that failed; by: transitioner',
    state int NOT NULL
        COMMENT '0 new, 1 in progress, 2 complete, 3 aborted, 4 retired; by: submission, transitioner',
    completion_time double NOT NULL
        COMMENT 'Unix s; by: transitioner',
    credit_estimate double NOT NULL
        COMMENT 'credit expected; by: submission',
    credit_canonical double NOT NULL
        COMMENT 'credit of canonical results; by: transitioner',
    credit_total double NOT NULL
        COMMENT 'credit of all results; by: transitioner',
    name varchar(255) NOT NULL
        COMMENT 'not unique; by: submission',
    app_id int NOT NULL
        COMMENT 'app; by: submission',
    project_state int NOT NULL
        COMMENT 'free for the project; by: submission',
    description varchar(255) NOT NULL
        COMMENT 'text; by: submission',
    expire_time double NOT NULL
        COMMENT 'Unix s after which it is retired; or s, the median turnaround; by: submission',
    PRIMARY KEY (id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- Who may submit jobs.
CREATE TABLE user_submit (
    user_id int NOT NULL
        COMMENT 'submitter; by: operator',
    quota double NOT NULL
        COMMENT 'weight of the share; by: operator',
    logical_start_time double NOT NULL
        COMMENT 'clock of fair shares; by: submission',
    submit_all tinyint NOT NULL
        COMMENT 'any app; by: operator',
    manage_all tinyint NOT NULL
        COMMENT 'manager of all; by: operator',
    max_jobs_in_progress int NOT NULL
        COMMENT '0 no limit; by: operator',
    PRIMARY KEY (user_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- Who may submit jobs of which application.
CREATE TABLE user_submit_app (
    user_id int NOT NULL
        COMMENT 'submitter; by: operator',
    app_id int NOT NULL
        COMMENT 'row = may submit; by: operator',
    manage tinyint NOT NULL
        COMMENT 'may manage app; by: operator',
    PRIMARY KEY (user_id, app_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- Input files of remote submission.
CREATE TABLE job_file (
    id bigint NOT NULL AUTO_INCREMENT
        COMMENT 'key; by: submission',
    name varchar(191) NOT NULL
        COMMENT 'jf_ and MD5; unique; by: submission',
    create_time double NOT NULL
        COMMENT 'Unix s; by: submission',
    delete_time double NOT NULL
        COMMENT 'Unix s from which it may be deleted; by: submission',
    PRIMARY KEY (id),
    UNIQUE KEY jf_name (name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- Messages sent by jobs while they run.
CREATE TABLE msg_from_host (
    id bigint NOT NULL AUTO_INCREMENT
        COMMENT 'key; by: scheduler',
    create_time int NOT NULL
        COMMENT 'Unix s; by: scheduler',
    hostid int NOT NULL
        COMMENT 'sender; by: scheduler',
    variety varchar(254) NOT NULL
        COMMENT 'handler key; by: scheduler',
    handled smallint NOT NULL
        COMMENT '1 = done; by: trickle handler',
    xml mediumtext
        COMMENT 'the message; by: scheduler',
    PRIMARY KEY (id),
    KEY message_handled (handled),
    KEY message_hostid (hostid)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- Messages to jobs.
CREATE TABLE msg_to_host (
    id bigint NOT NULL AUTO_INCREMENT
        COMMENT 'key; by: trickle handler',
    create_time int NOT NULL
        COMMENT 'Unix s; by: trickle handler',
    hostid int NOT NULL
        COMMENT 'receiver; by: trickle handler',
    variety varchar(254) NOT NULL
        COMMENT 'kind; by: trickle handler',
    handled smallint NOT NULL
        COMMENT '1 = delivered; by: scheduler',
    xml mediumtext
        COMMENT 'verbatim reply XML; by: trickle handler',
    PRIMARY KEY (id),
    KEY msg_to_host (hostid, handled)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- Jobs for a certain host, user or team.
CREATE TABLE assignment (
    id bigint NOT NULL AUTO_INCREMENT
        COMMENT 'key; by: create_work',
    create_time int NOT NULL
        COMMENT 'Unix s; by: create_work',
    target_id int NOT NULL
        COMMENT 'host, user or team; by: create_work',
    target_type int NOT NULL
        COMMENT '0 all, 1 host, 2 user, 3 team; by: create_work',
    multi tinyint NOT NULL
        COMMENT '0 one result, 1 one for each host; by: create_work',
    workunitid bigint NOT NULL
        COMMENT 'the job; by: create_work',
    resultid bigint NOT NULL
        COMMENT 'no longer used; by: create_work',
    PRIMARY KEY (id),
    KEY asgn_target (target_type, target_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- ---- pages and community: no daemon needs them --------------------------

-- What volunteers tell about themselves.  verification: -1 denied, 0 not
-- looked at, 1 approved.
CREATE TABLE profile (
    userid int NOT NULL,
    language varchar(254),
    response1 text,
    response2 text,
    has_picture smallint NOT NULL,
    recommend int NOT NULL,
    reject int NOT NULL,
    posts int NOT NULL,
    uotd_time int,
    verification int NOT NULL,
    PRIMARY KEY (userid),
    UNIQUE KEY profile_userid (userid),
    FULLTEXT KEY profile_response (response1, response2),
    KEY pro_uotd (uotd_time DESC)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- Groups of forums.
CREATE TABLE category (
    id int NOT NULL AUTO_INCREMENT,
    orderID int NOT NULL,
    lang int NOT NULL,
    name varchar(180) NOT NULL,
    is_helpdesk smallint NOT NULL,
    PRIMARY KEY (id),
    UNIQUE KEY cat1 (name, is_helpdesk)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- Forums.  parent_type: 0 category, 1 team, 2 group; is_dev_blog: news.
CREATE TABLE forum (
    id int NOT NULL AUTO_INCREMENT,
    category int NOT NULL,
    orderID int NOT NULL,
    title varchar(175) NOT NULL,
    description varchar(254) NOT NULL,
    timestamp int NOT NULL DEFAULT 0,
    threads int NOT NULL DEFAULT 0,
    posts int NOT NULL DEFAULT 0,
    rate_min_expavg_credit int NOT NULL DEFAULT 0,
    rate_min_total_credit int NOT NULL DEFAULT 0,
    post_min_interval int NOT NULL DEFAULT 0,
    post_min_expavg_credit int NOT NULL DEFAULT 0,
    post_min_total_credit int NOT NULL DEFAULT 0,
    is_dev_blog tinyint NOT NULL DEFAULT 0,
    parent_type int NOT NULL DEFAULT 0,
    PRIMARY KEY (id),
    UNIQUE KEY pct (parent_type, category, title)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- Threads.  timestamp: Unix s of the last post.
CREATE TABLE thread (
    id int NOT NULL AUTO_INCREMENT,
    forum int NOT NULL,
    owner int NOT NULL,
    status int NOT NULL,
    title varchar(254) NOT NULL,
    timestamp int NOT NULL,
    views int NOT NULL,
    replies int NOT NULL,
    activity double NOT NULL,
    sufferers int NOT NULL,
    score double NOT NULL,
    votes int NOT NULL,
    create_time int NOT NULL,
    hidden int NOT NULL,
    sticky tinyint NOT NULL DEFAULT 0,
    locked tinyint NOT NULL DEFAULT 0,
    PRIMARY KEY (id),
    FULLTEXT KEY thread_title (title)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- Posts.
CREATE TABLE post (
    id int NOT NULL AUTO_INCREMENT,
    thread int NOT NULL,
    user int NOT NULL,
    timestamp int NOT NULL,
    content text NOT NULL,
    modified int NOT NULL,
    parent_post int NOT NULL,
    score double NOT NULL,
    votes int NOT NULL,
    signature tinyint NOT NULL DEFAULT 0,
    hidden int NOT NULL,
    PRIMARY KEY (id),
    KEY post_user (user),
    KEY post_thread (thread),
    FULLTEXT KEY post_content (content)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- Who hears of new posts; a negative threadid is a forum.
CREATE TABLE subscriptions (
    userid int NOT NULL,
    threadid int NOT NULL,
    notified_time int NOT NULL DEFAULT 0,
    UNIQUE KEY sub_unique (userid, threadid)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- Settings and rights in forums.  special_user: a bit for each of moderator,
-- admin, developer, tester, volunteer developer, volunteer tester, scientist.
-- pm_notification: 0 none, 1 each, 2 a digest.
CREATE TABLE forum_preferences (
    userid int NOT NULL DEFAULT 0,
    signature varchar(254) NOT NULL DEFAULT '',
    posts int NOT NULL DEFAULT 0,
    last_post int NOT NULL,
    avatar varchar(254) NOT NULL DEFAULT '',
    hide_avatars tinyint NOT NULL DEFAULT 0,
    forum_sorting int NOT NULL,
    thread_sorting int NOT NULL,
    no_signature_by_default tinyint NOT NULL DEFAULT 1,
    images_as_links tinyint NOT NULL DEFAULT 0,
    link_popup tinyint NOT NULL DEFAULT 0,
    mark_as_read_timestamp int NOT NULL DEFAULT 0,
    special_user char(12) NOT NULL DEFAULT '0',
    jump_to_unread tinyint NOT NULL DEFAULT 1,
    hide_signatures tinyint NOT NULL DEFAULT 0,
    rated_posts varchar(254) NOT NULL,
    low_rating_threshold int NOT NULL DEFAULT -25,
    high_rating_threshold int NOT NULL DEFAULT 5,
    minimum_wrap_postcount int NOT NULL DEFAULT 100,
    display_wrap_postcount int NOT NULL DEFAULT 75,
    ignorelist varchar(254) NOT NULL,
    ignore_sticky_posts tinyint NOT NULL DEFAULT 0,
    banished_until int NOT NULL DEFAULT 0,
    pm_notification tinyint NOT NULL DEFAULT 0,
    highlight_special tinyint NOT NULL DEFAULT 1,
    PRIMARY KEY (userid)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- When a user last read a thread.
CREATE TABLE forum_logging (
    userid int NOT NULL DEFAULT 0,
    threadid int NOT NULL DEFAULT 0,
    timestamp int NOT NULL DEFAULT 0,
    PRIMARY KEY (userid, threadid)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- Who rated a post how.
CREATE TABLE post_ratings (
    post int NOT NULL,
    user int NOT NULL,
    rating tinyint NOT NULL,
    PRIMARY KEY (post, user),
    KEY post_ratings_user (user)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- Last mail of a type.  email_type: 0 other, 1 newsletter, 2 lapsed, 3 failed,
-- 4 post hidden, 5 banned, 6 fundraising.
CREATE TABLE sent_email (
    userid int NOT NULL,
    time_sent int NOT NULL,
    email_type smallint NOT NULL,
    PRIMARY KEY (userid)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- Messages between users.
CREATE TABLE private_messages (
    id int NOT NULL AUTO_INCREMENT,
    userid int NOT NULL,
    senderid int NOT NULL,
    date int NOT NULL,
    opened tinyint NOT NULL DEFAULT 0,
    subject varchar(255) NOT NULL,
    content text NOT NULL,
    PRIMARY KEY (id),
    KEY userid (userid)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- Who got credit for which item of the project.
CREATE TABLE credited_job (
    userid int NOT NULL,
    workunitid bigint NOT NULL,
    UNIQUE KEY credited_job_user_wu (userid, workunitid),
    KEY credited_job_user (userid),
    KEY credited_job_wu (workunitid)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- What one can donate for.
CREATE TABLE donation_items (
    id int NOT NULL AUTO_INCREMENT,
    item_name varchar(32) NOT NULL,
    title varchar(255) NOT NULL,
    description varchar(255) NOT NULL,
    required double NOT NULL DEFAULT 0,
    PRIMARY KEY (id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- Donations.
CREATE TABLE donation_paypal (
    id int NOT NULL AUTO_INCREMENT,
    order_time int NOT NULL,
    userid int NOT NULL,
    email_addr varchar(255) NOT NULL,
    order_amount double(6,2) NOT NULL,
    processed tinyint NOT NULL DEFAULT 0,
    payment_time int NOT NULL,
    item_name varchar(255) NOT NULL,
    item_number varchar(255) NOT NULL,
    payment_status varchar(255) NOT NULL,
    payment_amount double(6,2) NOT NULL,
    payment_fee double(5,2) DEFAULT NULL,
    payment_currency varchar(255) NOT NULL,
    txn_id varchar(255) NOT NULL,
    receiver_email varchar(255) NOT NULL,
    payer_email varchar(255) NOT NULL,
    payer_name varchar(255) NOT NULL,
    PRIMARY KEY (id),
    KEY donation_userid (userid)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- Who joined (1) or left (0) a team when.
CREATE TABLE team_delta (
    userid int NOT NULL,
    teamid int NOT NULL,
    timestamp int NOT NULL,
    joining tinyint NOT NULL,
    total_credit double NOT NULL,
    KEY team_delta_teamid (teamid, timestamp),
    KEY team_delta_userid (userid)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- Votes of moderators about a user.
CREATE TABLE banishment_vote (
    id bigint unsigned NOT NULL AUTO_INCREMENT,
    userid int NOT NULL,
    modid int NOT NULL,
    start_time int NOT NULL,
    end_time int NOT NULL,
    PRIMARY KEY (id),
    KEY banishment_userid (userid)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- Single votes: 1 yes, 0 no.
CREATE TABLE banishment_votes (
    id bigint unsigned NOT NULL AUTO_INCREMENT,
    voteid int NOT NULL,
    modid int NOT NULL,
    time int NOT NULL,
    yes tinyint NOT NULL,
    PRIMARY KEY (id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- Who else may run a team.
CREATE TABLE team_admin (
    teamid int NOT NULL,
    userid int NOT NULL,
    create_time int NOT NULL,
    rights int NOT NULL,
    UNIQUE KEY team_admin_unique (teamid, userid)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- Friendship, once there is a row in each direction.
CREATE TABLE friend (
    user_src int NOT NULL,
    user_dest int NOT NULL,
    message varchar(255) NOT NULL,
    create_time int NOT NULL,
    reciprocated tinyint NOT NULL,
    UNIQUE KEY friend_u (user_src, user_dest)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- News for a user.  type: 1 friend request, 2 accepted, 3 private message,
-- 4 thread, 5 forum.
CREATE TABLE notify (
    id bigint unsigned NOT NULL AUTO_INCREMENT,
    userid int NOT NULL,
    create_time int NOT NULL,
    type int NOT NULL,
    opaque int NOT NULL,
    PRIMARY KEY (id),
    UNIQUE KEY notify_un (userid, type, opaque)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- Badges.  type: 0 user, 1 team.
CREATE TABLE badge (
    id bigint unsigned NOT NULL AUTO_INCREMENT,
    create_time double NOT NULL,
    type tinyint NOT NULL,
    name varchar(255) NOT NULL,
    title varchar(255) NOT NULL,
    description varchar(255) NOT NULL,
    image_url varchar(255) NOT NULL,
    level varchar(255) NOT NULL,
    tags varchar(255) NOT NULL,
    sql_rule varchar(255) NOT NULL,
    PRIMARY KEY (id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- Who has which badge.
CREATE TABLE badge_user (
    badge_id int NOT NULL,
    user_id int NOT NULL,
    create_time double NOT NULL,
    reassign_time double NOT NULL,
    UNIQUE KEY badge_user_unique (user_id, badge_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- Which team has which badge.
CREATE TABLE badge_team (
    badge_id int NOT NULL,
    team_id int NOT NULL,
    create_time double NOT NULL,
    reassign_time double NOT NULL,
    UNIQUE KEY badge_team_unique (team_id, badge_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- Credit by application and user.
CREATE TABLE credit_user (
    userid int NOT NULL,
    appid int NOT NULL,
    njobs int NOT NULL,
    total double NOT NULL,
    expavg double NOT NULL,
    expavg_time double NOT NULL,
    credit_type int NOT NULL,
    PRIMARY KEY (userid, appid, credit_type),
    KEY cu_total (appid, total),
    KEY cu_avg (appid, expavg)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- Credit by application and team.
CREATE TABLE credit_team (
    teamid int NOT NULL,
    appid int NOT NULL,
    njobs int NOT NULL,
    total double NOT NULL,
    expavg double NOT NULL,
    expavg_time double NOT NULL,
    credit_type int NOT NULL,
    PRIMARY KEY (teamid, appid, credit_type),
    KEY ct_total (appid, total),
    KEY ct_avg (appid, expavg)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- One-time keys.  type: D delete account, E change e-mail, L login.
CREATE TABLE token (
    token varchar(64) NOT NULL,
    userid int NOT NULL,
    type char(1) NOT NULL,
    create_time int NOT NULL,
    expire_time int,
    PRIMARY KEY (token),
    KEY token_userid (userid)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- Deleted accounts, exported for 60 days.
CREATE TABLE user_deleted (
    userid int NOT NULL,
    public_cross_project_id varchar(254) NOT NULL,
    create_time double NOT NULL,
    PRIMARY KEY (userid)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- Deleted hosts, exported for 60 days.
CREATE TABLE host_deleted (
    hostid int NOT NULL,
    public_cross_project_id varchar(254) NOT NULL,
    create_time double NOT NULL,
    PRIMARY KEY (hostid)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- What users are asked to agree to.
CREATE TABLE consent_type (
    id int NOT NULL AUTO_INCREMENT,
    shortname varchar(191) NOT NULL,
    description varchar(255) NOT NULL,
    enabled int NOT NULL,
    project_specific int NOT NULL,
    privacypref int NOT NULL,
    PRIMARY KEY (id),
    KEY consent_type_name (shortname)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- What a user agreed to, and when.
CREATE TABLE consent (
    id int NOT NULL AUTO_INCREMENT,
    userid int NOT NULL,
    consent_type_id int NOT NULL,
    consent_time int NOT NULL,
    consent_flag tinyint NOT NULL,
    consent_not_required tinyint NOT NULL,
    source varchar(255) NOT NULL,
    PRIMARY KEY (id),
    KEY consent_user (userid, consent_type_id, consent_time),
    KEY consent_time (consent_time),
    KEY consent_flag (consent_flag, consent_type_id),
    CONSTRAINT consent_type_fk FOREIGN KEY (consent_type_id)
        REFERENCES consent_type (id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

INSERT INTO consent_type (shortname, description, enabled, project_specific,
    privacypref) VALUES
    ('ENROLL', 'Taking part in this project under its terms of use.', 0, 0, 0),
    ('STATSEXPORT', 'Exporting my statistics to other web sites.', 0, 0, 1);

-- What each user last said to each question.
CREATE VIEW latest_consent AS
    SELECT c.userid, c.consent_type_id, c.consent_time, c.consent_flag,
        c.source
    FROM consent AS c
    WHERE c.id = (
        SELECT newest.id FROM consent AS newest
        WHERE newest.userid = c.userid
            AND newest.consent_type_id = c.consent_type_id
        ORDER BY newest.consent_time DESC, newest.id DESC
        LIMIT 1);

-- ---- ours ----------------------------------------------------------------

-- What operators did to jobs.
CREATE TABLE x_audit (
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
CREATE TABLE x_batch (
    batch_id bigint NOT NULL
        COMMENT 'batch; by: whoever ends a workunit',
    nsuccess_jobs bigint NOT NULL
        COMMENT 'workunits with a canonical result and without error; by: whoever ends a workunit',
    PRIMARY KEY (batch_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- Workunits that a program could not handle: tried again later, more and more
-- seldom, then left for an operator (set_aside).
CREATE TABLE x_set_aside (
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

-- Credit that no row of table result stands for: of purged results, of messages,
-- from before the project was ours.  total_credit of an owner is this and the sum
-- of granted_credit of its results; audit checks it.
CREATE TABLE x_credit_base (
    kind tinyint NOT NULL
        COMMENT '1 user, 2 host, 3 team; by: db_purge, whoever grants without a result',
    id bigint NOT NULL
        COMMENT 'of the user, host or team; by: db_purge, whoever grants without a result',
    credit double NOT NULL
        COMMENT 'in its total_credit, of results that are gone or never were; by: db_purge, whoever grants without a result',
    PRIMARY KEY (kind, id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- Messages whose handler failed: tried again later, a limited number of times.
CREATE TABLE x_trickle (
    msg_id bigint NOT NULL
        COMMENT 'msg_from_host; by: trickle handler',
    tries int NOT NULL
        COMMENT 'that failed; by: trickle handler',
    next_try bigint NOT NULL
        COMMENT 'Unix s; by: trickle handler',
    PRIMARY KEY (msg_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- Messages to jobs that went out and may have been lost on the way.
CREATE TABLE x_msg_sent (
    msg_id bigint NOT NULL
        COMMENT 'msg_to_host; by: scheduler',
    sent_time bigint NOT NULL
        COMMENT 'Unix s, of the last reply that held it; by: scheduler',
    PRIMARY KEY (msg_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- Results that their host lost, and how often they were sent again.
CREATE TABLE x_resend (
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
CREATE TABLE x_key_failure (
    address varchar(64) NOT NULL
        COMMENT 'network address, of IPv6 the first half; by: scheduler',
    since bigint NOT NULL
        COMMENT 'Unix s, from when it is counted; by: scheduler',
    failures int NOT NULL
        COMMENT 'wrong account keys; by: scheduler',
    PRIMARY KEY (address),
    KEY x_key_failure_since (since)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- Hosts that could not take an unsent result for what they are (dispatch §9.5):
-- the feeder notes here what is not in its slots any more.  Rows of results that
-- are not unsent are removed.
CREATE TABLE x_refused_host (
    resultid bigint NOT NULL
        COMMENT 'result; by: feeder',
    hostid bigint NOT NULL
        COMMENT 'host; by: feeder',
    reason tinyint NOT NULL
        COMMENT '1 no app version, 2 app version too old, 3 client version, 4 plan class, 5 memory, 6 disk, 7 bandwidth, 8 deadline, 9 unknown class of hosts; by: feeder',
    PRIMARY KEY (resultid, hostid)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

-- Results that ended because too many hosts could not take them, and why.
CREATE TABLE x_could_not_send (
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

-- What the last request of a host said of it beyond the columns of table host.
CREATE TABLE x_host_request (
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

-- Which host got which of the files that many jobs need (locality scheduling).
CREATE TABLE x_locality (
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

-- What somebody tried, in the time that began at "since".
CREATE TABLE x_attempt (
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

-- Which steps of db/migrations this database has.  A new one has them all.
CREATE TABLE x_schema (
    version int NOT NULL
        COMMENT 'number of the step; by: whoever migrates',
    applied_time bigint NOT NULL
        COMMENT 'Unix s; by: whoever migrates',
    PRIMARY KEY (version)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;

INSERT INTO x_schema (version, applied_time) VALUES
    (1, UNIX_TIMESTAMP()),
    (2, UNIX_TIMESTAMP()),
    (20, UNIX_TIMESTAMP()),
    (30, UNIX_TIMESTAMP()),
    (40, UNIX_TIMESTAMP()),
    (50, UNIX_TIMESTAMP()),
    (70, UNIX_TIMESTAMP()),
    (80, UNIX_TIMESTAMP()),
    (90, UNIX_TIMESTAMP()),
    (120, UNIX_TIMESTAMP());
