/* proto_data.h - what the tests of lib/proto share: files of test/data, and
 * noise. */
#ifndef QUORATE_PROTO_DATA_H
#define QUORATE_PROTO_DATA_H

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "file.h"
#include "unit_test.h"

/* The bytes of TEST_DATA/name; buf_free() them. */
static inline struct buf
data_file(const char *name)
{
    struct buf path = BUF_INIT, bytes = BUF_INIT;

    buf_addf(&path, "%s/%s", TEST_DATA, name);
    ck_assert_msg(file_read(buf_str(&path), 1 << 24, &bytes) == 0, "%s: %s",
                  buf_str(&path), strerror(errno));
    buf_free(&path);
    return bytes;
}

/* Deterministic noise (xorshift). */
static inline unsigned char
noise(unsigned *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return (unsigned char)(*state >> 8);
}

/* The captured scheduler requests. */
static const char *const captured_requests[] = {
    "requests/sched_01_first_contact_7.20.5.xml",
    "requests/sched_02_work_request_7.20.5.xml",
    "requests/sched_03_report_success_7.20.5.xml",
    "requests/sched_04_report_failed_trickle_7.20.5.xml",
    "requests/sched_05_report_hostile_stderr_7.20.5.xml",
    "requests/sched_06_master_prefs_7.20.5.xml",
    "requests/sched_07_time_stats_log_job_log_7.20.5.xml",
    "requests/sched_08_report_upload_refused_7.20.5.xml",
    "requests/sched_09_after_forced_hostid_7.20.5.xml",
    "requests/sched_10_report_md5_error_7.20.5.xml",
    "requests/sched_11_report_download_404_7.20.5.xml",
    "requests/sched_12_report_output_too_big_7.20.5.xml",
    "requests/sched_13_report_aborted_by_project_7.20.5.xml",
    "requests/sched_14_report_output_missing_7.20.5.xml",
    "requests/sched_15_abort_if_not_started_first_report_7.20.5.xml",
    "requests/sched_16_same_result_second_report_7.20.5.xml",
    "requests/sched_20_first_contact_8.3.0.xml",
    "requests/sched_21_report_8.3.0.xml",
    "requests/sched_22_report_hostile_stderr_8.3.0.xml",
    "requests/sched_23_trickle_8.3.0.xml",
};

#endif
