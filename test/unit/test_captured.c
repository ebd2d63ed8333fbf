/* test_captured.c - the requests of real clients in test/data become the
 * structs that they mean. */
#include "request_data.h"

#include "prefs.h"

#define NOT_SENT ""
#define HASH "fedcba9876543210fedcba9876543210"

struct want {
    int version;
    int64_t hostid, rpc_seqno;
    double work, instances;
    const char *cross_project_id;
    double bwup, bwdown;
    double used_total, used_project;
    double prefs_mod_time;
    bool has_master_prefs;
    size_t n_results, n_other_results, n_app_versions, n_files, n_trickles;
};

/* In the order of captured_requests[]; read off the files. */
/* clang-format off */
static const struct want captured[] = {
    {72005, 0, 0, 1, 0, NOT_SENT, 0, 14010646.008566, 65536, 0, 0, false, 0, 0, 0, 0, 0},
    {72005, 17, 0, 1708.499227, 0, HASH, 323607.843137, 13893658.901831, 122880, 36864, 0, false, 0, 1, 1, 0, 0},
    {72005, 17, 1, 1708.985784, 0, HASH, 323110.309239, 13812634.598034, 442368, 339968, 0, false, 1, 1, 1, 1, 0},
    {72005, 17, 3, 1708.985641, 0, HASH, 3392153.111018, 13649209.536061, 155648, 49152, 0, false, 1, 1, 1, 1, 1},
    {72005, 17, 4, 1728, 1, HASH, 3279955.698951, 13649209.536061, 110592, 12288, 0, false, 1, 0, 1, 1, 0},
    {72005, 17, 1, 1728, 1, HASH, 1365059.220565, 1471681.827712, 122880, 20480, 1700000000, true, 1, 1, 1, 1, 0},
    {72005, 17, 2, 1708.498502, 0, HASH, 1312302.338181, 1459835.628377, 450560, 344064, 1700000000, true, 1, 1, 1, 1, 0},
    {72005, 17, 4, 1708.497869, 0, HASH, 4248959.868527, 1449116.352158, 2469888, 2351104, 1700000000, true, 1, 2, 1, 1, 0},
    {72005, 18, 0, 1728, 1, HASH, 4908799.848572, 1448041.928226, 438272, 315392, 1700000000, true, 1, 1, 1, 0, 0},
    {72005, 17, 1, 1708, 0, HASH, 216982.834293, 4339081.478619, 94208, 8192, 0, false, 1, 1, 1, 0, 0},
    {72005, 17, 2, 1708.990181, 0, HASH, 219375.791084, 4315305.261575, 4124672, 4034560, 0, false, 1, 1, 1, 0, 0},
    {72005, 17, 3, 1713.416402, 0, HASH, 222589.707727, 4293485.030476, 131072, 36864, 0, false, 1, 1, 1, 0, 0},
    {72005, 17, 5, 1708, 0, HASH, 283491.634704, 4269898.990775, 126976, 36864, 0, false, 1, 1, 1, 0, 0},
    {72005, 17, 7, 1728, 1, HASH, 435459.002356, 4269898.990775, 94208, 8192, 0, false, 1, 0, 1, 0, 0},
    {72005, 17, 1, 1708.498461, 0, HASH, 305259.074886, 449302.253953, 155648, 69632, 0, false, 1, 1, 1, 0, 0},
    {72005, 17, 2, 1728, 1, HASH, 387258.990555, 449302.253953, 102400, 12288, 0, false, 2, 0, 1, 0, 0},
    {80300, 0, 0, 1, 0, NOT_SENT, 0, 6359498.909367, 65536, 0, 0, false, 0, 0, 0, 0, 0},
    {80300, 17, 1, 1708.987614, 0, HASH, 325413.458826, 6378615.316879, 446464, 339968, 1700000000, false, 1, 1, 1, 1, 0},
    {80300, 17, 4, 1728, 1, HASH, 1739789.316868, 6284301.128849, 122880, 12288, 1700000000, false, 1, 0, 1, 1, 0},
    {80300, 17, 3, 1708.987975, 0, HASH, 1782190.446304, 6284301.128849, 172032, 53248, 1700000000, false, 1, 1, 1, 1, 1},
};
/* clang-format on */

/* What is the same in all of them: one neutral host. */
static void
check_host(const struct host *h)
{
    ck_assert_int_eq(h->timezone, 0);
    ck_assert_str_eq(h->domain_name, "testhost");
    ck_assert_str_eq(h->last_ip_addr, "192.0.2.10");
    ck_assert_str_eq(h->host_cpid, "00112233445566778899aabbccddeeff");
    ck_assert_int_eq(h->p_ncpus, 2);
    ck_assert_str_eq(h->p_vendor, "GenuineExample");
    ck_assert_str_eq(h->p_model, "Example(R) CPU 1000 @ 2.00GHz [Family 6 "
                                 "Model 1 Stepping 2]");
    ck_assert_str_eq(h->os_name, "Linux Debian");
    ck_assert_str_eq(h->os_version, "Debian GNU/Linux 12 (bookworm) "
                                    "[6.1.0-1-amd64|libc 2.36]");
    ck_assert_double_eq(h->p_fpops, 1e9);
    ck_assert_double_eq(h->p_iops, 1e9);
    ck_assert_double_eq(h->p_membw, 1e9);
    ck_assert_double_eq(h->m_nbytes, 16e9);
    ck_assert_double_eq(h->m_cache, 33554432);
    ck_assert_double_eq(h->m_swap, 0);
    ck_assert_double_eq(h->d_total, 500e9);
    ck_assert_double_eq(h->d_free, 250e9);
    ck_assert_double_eq(h->d_boinc_max, 225e9);
    ck_assert_double_eq(h->on_frac, 1);
    ck_assert_double_eq(h->connected_frac, -1);
    ck_assert_double_eq(h->active_frac, 1);
    ck_assert_double_eq(h->gpu_active_frac, 1);
    ck_assert_double_eq(h->duration_correction_factor, 1);
    ck_assert_str_eq(h->product_name, "");
}

static void
check_client(const struct sched_request *q)
{
    ck_assert_str_eq(q->authenticator, "0123456789abcdef0123456789abcdef");
    ck_assert_double_eq(q->resource_share_fraction, 1);
    ck_assert_double_eq(q->rrs_fraction, 1);
    ck_assert_double_eq(q->prrs_fraction, 1);
    ck_assert_int_eq(q->allow_multiple_clients, 1);
    ck_assert_int_eq(q->sandbox, 0);
    ck_assert(!q->dont_send_work);
    ck_assert(q->has_cpu_req);
    ck_assert_double_eq(q->cpu_req_secs, q->work_req_seconds);
    ck_assert_double_eq(q->estimated_delay, 0);
    ck_assert(q->client_cap_plan_class);
    ck_assert_str_eq(q->platform_name, "x86_64-pc-linux-gnu");
    ck_assert_uint_eq(q->n_alt_platforms, 1);
    ck_assert_str_eq(q->alt_platform[0], "i686-pc-linux-gnu");
    ck_assert(q->has_other_results);
    ck_assert(!request_wants_coproc(q));
    ck_assert(request_wants_work(q));
}

static void
check_prefs(const struct sched_request *q, const struct want *w)
{
    const struct global_prefs *p = &q->working_prefs;

    ck_assert(q->has_working_prefs);
    ck_assert_double_eq(p->mod_time, w->prefs_mod_time);
    ck_assert_double_eq(p->disk_max_used_gb, 0);
    ck_assert_double_eq(p->disk_max_used_pct, 90);
    ck_assert_double_eq(p->disk_min_free_gb, 0.1);
    ck_assert_double_eq(p->work_buf_min_days, 0.01);
    ck_assert_double_eq(p->ram_max_used_busy_pct, 50);
    ck_assert_double_eq(p->ram_max_used_idle_pct, 90);
    ck_assert_double_eq(p->max_ncpus_pct, 50);
    ck_assert(w->has_master_prefs == (q->global_prefs_xml != NULL));
}

/* The key the client has, trimmed: nothing before the first RPC, then that of
 * the project. */
static void
check_key(const struct sched_request *q)
{
    struct buf key = data_file("keys/code_sign_public");

    while (key.len > 0 && key.data[key.len - 1] == '\n')
        buf_truncate(&key, key.len - 1);
    ck_assert_str_eq(q->code_sign_key, q->hostid == 0 ? "" : buf_str(&key));
    buf_free(&key);
}

START_TEST(reads_captured)
{
    const struct want *w = &captured[_i];
    struct buf bytes = data_file(captured_requests[_i]);
    struct sched_request *q = parse_bytes(buf_str(&bytes), bytes.len);

    ck_assert_int_eq(q->client_version, w->version);
    ck_assert_int_eq(q->hostid, w->hostid);
    ck_assert_int_eq(q->rpc_seqno, w->rpc_seqno);
    ck_assert_double_eq(q->work_req_seconds, w->work);
    ck_assert_double_eq(q->cpu_req_instances, w->instances);
    ck_assert_str_eq(q->cross_project_id, w->cross_project_id);
    ck_assert_double_eq(q->host.n_bwup, w->bwup);
    ck_assert_double_eq(q->host.n_bwdown, w->bwdown);
    ck_assert_double_eq(q->host.d_boinc_used_total, w->used_total);
    ck_assert_double_eq(q->host.d_boinc_used_project, w->used_project);
    ck_assert_uint_eq(q->n_results, w->n_results);
    ck_assert_uint_eq(q->n_results_seen, w->n_results);
    ck_assert_uint_eq(q->n_other_results, w->n_other_results);
    ck_assert_uint_eq(q->n_app_versions, w->n_app_versions);
    ck_assert_uint_eq(q->n_files, w->n_files);
    ck_assert_uint_eq(q->n_trickles, w->n_trickles);
    check_host(&q->host);
    check_client(q);
    check_prefs(q, w);
    check_key(q);
    request_free(q);
    buf_free(&bytes);
}
END_TEST

#define STDERR(version, text)                                                  \
    "<core_client_version>" version "</core_client_version>\n<![CDATA[\n" text \
    "]]>\n"
#define PRINTED(version, text)                                                 \
    STDERR(version, "<stderr_txt>\n" text "\n\n</stderr_txt>\n")
#define FAILED(version)                                                        \
    STDERR(version, "<message>\nprocess exited with code 7 (0x7, -249)"        \
                    "</message>\n<stderr_txt>\nmode fail\n\n</stderr_txt>\n")
#define NOT_DOWNLOADED(file, code, message)                                    \
    STDERR("7.20.5",                                                           \
           "<message>\nWU download error: couldn't get input files:\n"         \
           "<file_xfer_error>\n  <file_name>" file "</file_name>\n"            \
           "  <error_code>" code "</error_code>\n"                             \
           "  <error_message>" message "</error_message>\n"                    \
           "</file_xfer_error>\n</message>\n")
#define NOT_UPLOADED(mode, file, code)                                         \
    STDERR("7.20.5", "<stderr_txt>\nmode " mode "\n\n</stderr_txt>\n"          \
                     "<message>\nupload failure: <file_xfer_error>\n"          \
                     "  <file_name>" file "</file_name>\n"                     \
                     "  <error_code>" code "</error_code>\n"                   \
                     "</file_xfer_error>\n</message>\n")
#define ABORTED                                                                \
    STDERR("7.20.5", "<message>\naborted by project - no longer usable"        \
                     "</message>\n")
#define NOTHING "<core_client_version>7.20.5</core_client_version>\n"
#define HOSTILE                                                                \
    "mode markup\na < b && c </stderr_out> </result> caf\xc3\xa9 \xc3\xbf  "   \
    "]]> end"

#define OUTPUT(file, size, max, md5)                                           \
    "<file_info>\n<name>" file "</name>\n<nbytes>" size ".000000</nbytes>\n"   \
    "<max_nbytes>" max ".000000</max_nbytes>\n<md5_cksum>" md5                 \
    "</md5_cksum>\n<upload_url>http://project.example/proj_cgi/"               \
    "file_upload_handler</upload_url>\n</file_info>\n"
#define FIRST(result, size, max, md5)                                          \
    OUTPUT(result "_r123456789_0", size, max, md5)
#define BOTH(result, size, max, md5)                                           \
    FIRST(result, size, max, md5)                                              \
    OUTPUT(result "_r123456789_1", "2", max, "401b30e3b8b5d629635a5c613cdb7919")
#define BIG                                                                    \
    FIRST("wu_big_1_0", "20", "3000000", "9838d3dd836ceca05061959aa6d8eb31")   \
    OUTPUT("wu_big_1_0_r123456789_1", "300000", "3000000",                     \
           "895814f1064e83cb55361d6e8aa5322e")

/* Reported results: file, place in it, and what the client said. */
static const struct report {
    int file;
    size_t place;
    const char *name;
    double elapsed;
    int exit_status, state;
    double working_set, swap, disk;
    const char *stderr_out, *xml_doc_out;
} reports[] = {
  /* clang-format off: it dies of this table */
    {2,                                    0,              "wu_ok_1_0",     1.006902,                              0,                                   5,       0,                        0,                                                                          6223,
     PRINTED("7.20.5",                                                                                                                                                                                                                                                                                                     "mode ok"),
     BOTH("wu_ok_1_0",                                                                                                                                                                                                                                                                                                                                                                                                                           "19",                                                                                                                                                                                                                                                                                                                                                                                                                                                   "1000000",                                                                                                                                                                                                                                                                                                                                                                                                                "11ec5e7841907c3a420e0bd8b942d67c")},
    {3,                                    0,                                                  "wu_fail_3_0",                             2.005167,    7,   3,      0,                           0,                                                                                               6233,                                                                                                                FAILED("7.20.5"),
     BOTH("wu_fail_3_0", "21",                                                                                                                                                                                                                                                                                                                                                                                                                         "1000000",                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                           "d101460922e51ad4542c6bbf03f4761f")                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                 },
    {4,                                    0,                                                  "wu_markup_4_0",                             2.004768,  0, 5,      1667072,                             2990080,                                                                                           6296,
     PRINTED("7.20.5",          HOSTILE),
     BOTH("wu_markup_4_0",                                                                                                                                                                                                                                                                                                                                                                                                        "23",                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                               "1000000",
     "c4b1a962d8fa846fc84e48dae9b789b9")},
    {5,  0,                "wu_big_1_0",                               2.008322,                                                                  0,                                                                          5,                                           0, 0, 306225,
     PRINTED("7.20.5",     "mode big"),                                                                                                             BIG                                                                                                                                                                                                                                                                                                                                                                                                                          },
    {6,                                    0,              "wu_gz_2_0",     2.014586,                              0,                                   5,       1683456,                  2990080,                                                                    6258,
     PRINTED("7.20.5",                                                                                                                                                                                                                                                                                                     "mode gz"),
     BOTH("wu_gz_2_0",                                                                                                                                                                                                                                                                                                                                                                                                                           "19",                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                  "3000000",                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                           "508fb1b13e90b9b50ff43b92ba5a5af2")},
    {8,                                    0,                                                  "wu_ok_6_0",                             2.009758,      0,     5,      0,                         0,                                                                                             6258,
     PRINTED("7.20.5",                    "mode ok"),
     BOTH("wu_ok_6_0",                                                                                                                                                                                                                                                                                                                                                                                            "19",                                                                                                                                                                                                                                                                                                                                                                                                                                                   "3000000", "353a70d6050c091adfd4a096348d1d31")},
    {9, 0,               "wu_badmd5_1_0",                              0,                                                                  -186,                                                                        1,                                                 0,    0,      0,
     NOT_DOWNLOADED("wu_badmd5_1.in", "-119 (md5 checksum failed for file)",
     "MD5 check failed"),
     ""                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                  },
    {10,                                    0,                                                 "wu_missing_2_0",                            0, -186,        1,           0,                           0,                                                                                          0,
     NOT_DOWNLOADED("wu_missing_2.in",                     "-224 (permanent HTTP error)",
     "permanent HTTP error"),
     ""                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                            },
    {11,                                   0,              "wu_toobig_3_0", 2.014163,                              0,                                   3,       0,                        0,                                                                          4006241,
     NOT_UPLOADED("toobig",                                                                                                                                                                                                                                                                                                "wu_toobig_3_0_r123456789_1",
     "-131 (file size too big)"),
     FIRST("wu_toobig_3_0",                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "23",                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "3000000",
     "cad03a23a031831075e7475cfdb45d1a")},
    {12,  0,                "wu_sleep_4_0",                              0,                                                                 202,                                                                       6,                                                0,     0,        0,    ABORTED,   ""                                                                                                        },
    {13,                                   0, "wu_noout_5_0",        2.005294,                                     0,                                   3,       0,                        0,                                                                       6236,
     NOT_UPLOADED("noout",                                                                                                                                                                                                                                                                    "wu_noout_5_0_r123456789_1",                                                                                            "-161 (not found)"),
     FIRST("wu_noout_5_0",                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                              "22",                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                          "3000000",
     "a021118c886715b81b760853d8918657")},
    {14,                                    0,                                                 "wu_sleep_1_0",                            0,   202,          6,            0,                          0,                                                                                        0,                                                                                                          NOTHING,                      ""                   },
    {15,                      0,                            "wu_sleep_1_0",             7.016066,                                     194,                             3, 1773568,                     2990080,                                                                                                                                                                                                                                                 6237,
     PRINTED("7.20.5",                                                                                                                                                                                                                                                                                  "mode sleep"),                                                                                                               ""                                                                                                                                                                                                                                                                                                                                                                                                                      },
    {15,                                   1,                                                "wu_ok_2_0",                                                              2.011944,                                                                                                  0,                                5,                                                                                                                                           0,                                                                                                                                                         0,                                                                                                                                                                                                                                                 6224,
     PRINTED("7.20.5",                                                                                                                                                                                                                                                                                    "mode ok"),
     BOTH("wu_ok_2_0", "19",                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                     "3000000",                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                           "d3dbc1fdb22b2e45bf994f573eba66cd")},
    {17,                            0,                                         "wu_ok_1_0",                                                       1.006467,                                     0,                                   5,    0,                                                                                                                                                                      0,                                                                                                                                                                                                                                      5876,
     PRINTED("8.3.0",                                                                                                                                                                                                                                                                                               "mode ok"),
     BOTH("wu_ok_1_0","19","3000000",                                                                                                                                                                                                                                                                                                                                                                                                                       "11ec5e7841907c3a420e0bd8b942d67c")},
    {18,                     0,                           "wu_markup_4_0",               2.009598,                                     0,                                   5,       0,                     0,                                                                                                                                                                                                                                                  5985,
     PRINTED("8.3.0",                                                                                                                                                                                                                                                                                                 HOSTILE),
     BOTH("wu_markup_4_0",                                                                                                                                                                                                                                                                                                                                                                   "23",                                                                                                                                                                                                                                                                                                                                                                                                                                    "3000000",
     "c4b1a962d8fa846fc84e48dae9b789b9")},
    {19,                                   0,  "wu_fail_3_0",        2.005792,                                     7,                                   3,       0,                        0,                                                                       5922,                              FAILED("8.3.0"),
     BOTH("wu_fail_3_0",                                                                                                                                                                                                                                                                                                                                                                                                             "21",                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                        "3000000", "d101460922e51ad4542c6bbf03f4761f")},
 /* clang-format on */
};

START_TEST(reads_reports)
{
    struct buf bytes = data_file(captured_requests[reports[_i].file]);
    struct sched_request *q = parse_bytes(buf_str(&bytes), bytes.len);
    const struct reported_result *r = &q->result[reports[_i].place];

    ck_assert_uint_lt(reports[_i].place, q->n_results);
    ck_assert_str_eq(r->name, reports[_i].name);
    ck_assert_double_eq(r->cpu_time, 0);
    ck_assert_double_eq(r->elapsed_time, reports[_i].elapsed);
    ck_assert(r->has_exit_status);
    ck_assert_int_eq(r->exit_status, reports[_i].exit_status);
    ck_assert_int_eq(r->state, reports[_i].state);
    ck_assert_str_eq(r->platform, "x86_64-pc-linux-gnu");
    ck_assert_int_eq(r->version_num, 100);
    ck_assert_int_eq(r->app_version_num, 100);
    ck_assert_str_eq(r->plan_class, "");
    ck_assert_double_eq(r->peak_working_set_size, reports[_i].working_set);
    ck_assert_double_eq(r->peak_swap_size, reports[_i].swap);
    ck_assert_double_eq(r->peak_disk_usage, reports[_i].disk);
    ck_assert_str_eq(r->stderr_out, reports[_i].stderr_out);
    ck_assert_str_eq(r->xml_doc_out, reports[_i].xml_doc_out);
    request_free(q);
    buf_free(&bytes);
}
END_TEST

/* An output that the upload handler refused is reported as a success; only an
 * error_msg tells. */
START_TEST(reads_refused_upload)
{
    struct buf bytes = data_file(captured_requests[7]);
    struct sched_request *q = parse_bytes(buf_str(&bytes), bytes.len);
    const struct reported_result *r = &q->result[0];

    ck_assert_str_eq(r->name, "wu_uperm_4_0");
    ck_assert_int_eq(r->state, CLIENT_FILES_UPLOADED);
    ck_assert_int_eq(r->exit_status, 0);
    ck_assert_double_eq(r->peak_disk_usage, 6273);
    ck_assert_ptr_nonnull(strstr(r->xml_doc_out, "permanent upload error"));
    ck_assert_ptr_nonnull(
        strstr(r->xml_doc_out, "<name>wu_uperm_4_0_r123456789_1</name>"));
    request_free(q);
    buf_free(&bytes);
}
END_TEST

static const struct {
    int file;
    const char *other, *second, *sticky;
} lists[] = {
    {1,  "wu_ok_1_0",     NULL,          NULL         },
    {2,  "wu_big_2_0",    NULL,          "wu_big_2.in"},
    {3,  "wu_markup_4_0", NULL,          "wu_big_2.in"},
    {5,  "wu_gz_2_0",     NULL,          "wu_big_1.in"},
    {7,  "wu_utrans_3_0", "wu_huge_5_0", "wu_big_1.in"},
    {19, "wu_markup_4_0", NULL,          "wu_big_2.in"},
};

START_TEST(reads_what_the_host_has)
{
    struct buf bytes = data_file(captured_requests[lists[_i].file]);
    struct sched_request *q = parse_bytes(buf_str(&bytes), bytes.len);
    const struct client_app_version *av = q->app_version;

    ck_assert_str_eq(q->other_result[0].name, lists[_i].other);
    ck_assert_int_eq(q->other_result[0].app_version, 0);
    if (lists[_i].second != NULL)
        ck_assert_str_eq(q->other_result[1].name, lists[_i].second);
    if (lists[_i].sticky != NULL) {
        ck_assert_str_eq(q->file[0].name, lists[_i].sticky);
        ck_assert_double_eq(q->file[0].nbytes, 20);
    }
    ck_assert_str_eq(av->app_name, "fakeapp");
    ck_assert_int_eq(av->version_num, 100);
    ck_assert_str_eq(av->platform, "x86_64-pc-linux-gnu");
    ck_assert_str_eq(av->plan_class, "");
    ck_assert_double_eq(av->avg_ncpus, 1);
    ck_assert_double_eq(av->flops, 1e9);
    request_free(q);
    buf_free(&bytes);
}
END_TEST

START_TEST(reads_trickles)
{
    static const int files[] = {3, 19};
    struct buf bytes = data_file(captured_requests[files[_i]]);
    struct sched_request *q = parse_bytes(buf_str(&bytes), bytes.len);

    ck_assert_str_eq(q->trickle[0].variety, "test");
    ck_assert_str_eq(q->trickle[0].xml,
                     "      <result_name>wu_markup_4_0</result_name>\n"
                     "      <time>1700000000</time>\n"
                     "<text>hi & <b>there</b></text>\n"
                     "\n");
    request_free(q);
    buf_free(&bytes);
}
END_TEST

START_TEST(keeps_the_master_preferences)
{
    struct buf bytes = data_file(captured_requests[5]);
    struct sched_request *q = parse_bytes(buf_str(&bytes), bytes.len);
    struct global_prefs at_work;

    ck_assert_str_eq(
        q->global_prefs_xml,
        "<global_preferences>\n"
        "<source_project>http://project.example/proj/</source_project>"
        "<mod_time>1700000000</mod_time>"
        "<run_if_user_active>1</run_if_user_active>"
        "<work_buf_min_days>0.02</work_buf_min_days>"
        "<venue name=\"work\"><work_buf_min_days>0.03</work_buf_min_days>"
        "</venue></global_preferences>\n");
    ck_assert_str_eq(q->global_prefs_source_email_hash,
                     "fbf7c6aec1d4280b7c2704c1c0478bd6");
    ck_assert_double_eq(q->master_prefs.mod_time, 1700000000);
    ck_assert_double_eq(q->master_prefs.work_buf_min_days, 0.02);
    ck_assert_int_eq(prefs_parse(q->global_prefs_xml, "work", &at_work), 0);
    ck_assert_double_eq(at_work.work_buf_min_days, 0.03);
    ck_assert_double_eq(at_work.mod_time, 1700000000);
    request_free(q);
    buf_free(&bytes);
}
END_TEST

static void
fill(TCase *tc)
{
    tcase_add_loop_test(tc, reads_captured, 0, ARRAY_LEN(captured));
    tcase_add_loop_test(tc, reads_reports, 0, ARRAY_LEN(reports));
    tcase_add_test(tc, reads_refused_upload);
    tcase_add_loop_test(tc, reads_what_the_host_has, 0, ARRAY_LEN(lists));
    tcase_add_loop_test(tc, reads_trickles, 0, 2);
    tcase_add_test(tc, keeps_the_master_preferences);
}

int
main(void)
{
    return unit_main("captured", fill);
}
