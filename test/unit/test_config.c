/* test_config.c - config.xml: what existing projects have, and every fault. */
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buf.h"
#include "config.h"
#include "path.h"
#include "unit_test.h"

static struct buf err = BUF_INIT;
static struct config *cfg;

/* The least that a project must say. */
#define LEAST "<master_url>http://x.org/p/</master_url><db_name>p</db_name>\n"

static void
load(const char *text)
{
    ck_assert_int_eq(
        file_write_nosync(scratch("config.xml"), text, strlen(text), 0600), 0);
    config_free(cfg);
    buf_reset(&err);
    cfg = config_load(unit_folder, &err);
}

static void
load_good(const char *text)
{
    load(text);
    ck_assert_msg(cfg != NULL, "%s", buf_str(&err));
    ck_assert_uint_eq(err.len, 0);
}

/* With `elements` in <config>, which begins in line 2. */
static void
load_config(const char *elements)
{
    struct buf b = BUF_INIT;

    buf_addf(&b, "<boinc><config>\n%s%s</config></boinc>\n", elements, LEAST);
    load(buf_str(&b));
    buf_free(&b);
}

static void
setup(void)
{
    unsetenv("QUORATE_DB_PASSWD");
}

static void
teardown(void)
{
    config_free(cfg);
    cfg = NULL;
    buf_free(&err);
}

/* operations §2: what leaving an element away means. */
START_TEST(defaults_are_those_of_the_reference)
{
    load_good("<boinc><config>" LEAST "</config></boinc>");
    ck_assert_str_eq(cfg->master_url, "http://x.org/p/");
    ck_assert_str_eq(cfg->long_name, "");
    ck_assert_int_eq(cfg->uldl_dir_fanout, 0);
    ck_assert_str_eq(cfg->ssh_exec, "/usr/bin/ssh");
    ck_assert_str_eq(cfg->httpd_user, "apache");
    ck_assert(!cfg->ignore_upload_certificates);
    ck_assert(!cfg->dont_generate_upload_certificates);
    ck_assert_str_eq(cfg->upload_certificates, "rsa");
    ck_assert_int_eq(cfg->fuh_debug_level, 3);
    ck_assert_int_eq(cfg->fuh_set_initial_permission, 0664);
    ck_assert_int_eq(cfg->fuh_set_completed_permission, -1);
    ck_assert_int_eq(cfg->report_grace_period, 0);
    ck_assert_int_eq(cfg->shmem_work_items, 100);
    ck_assert_int_eq(cfg->feeder_query_size, 200);
    ck_assert_int_eq(cfg->max_wus_to_send, 10);
    ck_assert_int_eq(cfg->daily_result_quota, 0);
    ck_assert_int_eq(cfg->max_ncpus, 64);
    ck_assert_int_eq(cfg->maintenance_delay, 3600);
    ck_assert(!cfg->one_result_per_user_per_wu);
    ck_assert_double_eq(cfg->default_disk_min_free_gb, 1);
    ck_assert_double_eq(cfg->version_select_random_factor, 1);
    ck_assert_int_eq(cfg->could_not_send_hosts, 100);
    ck_assert_int_eq(cfg->could_not_send_min_age, 86400);
    ck_assert_int_eq(cfg->require_same_major, 0);
    ck_assert_int_eq(cfg->sched_debug_level, 3);
    ck_assert_int_eq(cfg->scheduler_log_buffer, 32768);
    ck_assert_int_eq(cfg->min_passwd_length, 6);
    ck_assert(cfg->show_results);
    ck_assert(cfg->user_url);
    ck_assert_uint_eq(cfg->ban_os.n, 0);
    ck_assert_uint_eq(cfg->n_daemons, 0);
}
END_TEST

START_TEST(folders_and_host_are_filled_in)
{
    char *real = realpath(unit_folder, NULL);
    struct buf want = BUF_INIT;

    load_config("<upload_dir>/data/up</upload_dir><key_dir>secret</key_dir>");
    ck_assert_ptr_nonnull(cfg);
    ck_assert_str_eq(cfg->project_root, real);
    ck_assert_str_eq(cfg->upload_dir, "/data/up");
    buf_addf(&want, "%s/secret", real);
    ck_assert_str_eq(cfg->key_dir, buf_str(&want));
    buf_reset(&want);
    buf_addf(&want, "%s/download", real);
    ck_assert_str_eq(cfg->download_dir, buf_str(&want));
    buf_reset(&want);
    buf_addf(&want, "%s/log_%s", real, path_short_host());
    ck_assert_str_eq(cfg->log_dir, buf_str(&want));
    ck_assert_str_eq(cfg->host, path_short_host());
    buf_free(&want);
    free(real);
}
END_TEST

START_TEST(values_arrive_in_their_fields)
{
    load_config("<shmem_key>0x1111abcd</shmem_key><cache_md5_info/>\n"
                "<long_name> A &amp; B </long_name>\n"
                "<fuh_set_completed_permission>0</fuh_set_completed_permission>"
                "<min_sendwork_interval>5 min</min_sendwork_interval>\n"
                "<gpu_multiplier>2.5</gpu_multiplier>\n"
                "<ban_os>^Win</ban_os><ban_os>Darwin 1[0-9]</ban_os>\n"
                "<dont_search_host_for_user>5000000000"
                "</dont_search_host_for_user>\n"
                "<db_host>/run/db.sock</db_host>\n"
                "<min_core_client_version>705</min_core_client_version>\n"
                "<show_results>0</show_results>");
    ck_assert_msg(cfg != NULL, "%s", buf_str(&err));
    ck_assert_int_eq(cfg->shmem_key, 0x1111abcd);
    ck_assert(cfg->cache_md5_info);
    ck_assert_str_eq(cfg->long_name, "A & B");
    ck_assert_int_eq(cfg->fuh_set_completed_permission, 0);
    ck_assert_int_eq(cfg->min_sendwork_interval, 300);
    ck_assert_double_eq(cfg->gpu_multiplier, 2.5);
    ck_assert_uint_eq(cfg->ban_os.n, 2);
    ck_assert_str_eq(cfg->ban_os.item[1], "Darwin 1[0-9]");
    ck_assert_str_eq(cfg->dont_search_host_for_user.item[0], "5000000000");
    ck_assert_str_eq(cfg->db_host, "/run/db.sock");
    ck_assert_int_eq(cfg->min_core_client_version, 70500);
    ck_assert(!cfg->show_results);
}
END_TEST

START_TEST(the_last_grace_period_counts)
{
    load_config("<report_grace_period>60</report_grace_period>"
                "<grace_period_hours>1.5</grace_period_hours>");
    ck_assert_int_eq(cfg->report_grace_period, 5400);
    load_config("<grace_period_hours>1.5</grace_period_hours>"
                "<report_grace_period>60</report_grace_period>");
    ck_assert_int_eq(cfg->report_grace_period, 60);
}
END_TEST

START_TEST(this_hosts_database_is_local)
{
    struct buf b = BUF_INIT;

    buf_addf(&b, "<db_host>%s</db_host>", path_short_host());
    load_config(buf_str(&b));
    ck_assert_str_eq(cfg->db_host, "localhost");
    load_config("<db_host>db.example.org:3307</db_host>");
    ck_assert_str_eq(cfg->db_host, "db.example.org:3307");
    buf_free(&b);
}
END_TEST

START_TEST(names_with_hosts_and_numbers_are_known)
{
    load_config("<tmp_gate_dir>/tmp/q</tmp_gate_dir><pid_a-b_dir>p"
                "</pid_a-b_dir><replica12_db_host>h</replica12_db_host>"
                "<replica_db_name>r</replica_db_name>");
    ck_assert_msg(cfg != NULL, "%s", buf_str(&err));
    ck_assert_str_eq(config_extra(cfg, "tmp_gate_dir"), "/tmp/q");
    ck_assert_str_eq(config_extra(cfg, "replica12_db_host"), "h");
    ck_assert_ptr_null(config_extra(cfg, "replica1_db_host"));
    ck_assert_str_eq(cfg->replica_db_name, "r");
}
END_TEST

START_TEST(deprecated_elements_are_let_through)
{
    load_config("<user_filter>1</user_filter><no_amd_k6>what</no_amd_k6>"
                "<reliable_max_error_rate>0.1</reliable_max_error_rate>");
    ck_assert_msg(cfg != NULL, "%s", buf_str(&err));
    ck_assert(!cfg->user_filter); /* and have no effect */
}
END_TEST

START_TEST(foreign_elements_are_let_through)
{
    load_good("<boinc><config>" LEAST "<theirs><x/></theirs>"
              "<foreign_elements> theirs\n more </foreign_elements></config>"
              "<more/></boinc>");
    load("<boinc><config>" LEAST "<their/><foreign_elements>theirs"
         "</foreign_elements></config></boinc>");
    ck_assert_ptr_null(cfg); /* a part of a name is not the name */
}
END_TEST

/* One fault each, in line 2; what the message must say. */
static const struct {
    const char *elements, *fault;
} faults[] = {
    {"<shmem_work_itmes>5</shmem_work_itmes>",
     "config.xml:2: unknown element <shmem_work_itmes>; did you mean "
     "<shmem_work_items>?"                                                    },
    {"<completely_different/>",
     "config.xml:2: unknown element <completely_different>; if it is another" },
    {"<shmem_work_items>0</shmem_work_items>",
     "config.xml:2: <shmem_work_items>: must be 1 to 1000000\n"               },
    {"<shmem_work_items/>",
     "config.xml:2: <shmem_work_items>: not a whole number: \n"               },
    {"<max_ncpus>many</max_ncpus>",
     "config.xml:2: <max_ncpus>: not a whole number: many\n"                  },
    {"<ended>yes</ended>",
     "config.xml:2: <ended>: must be 1 or 0, not \"yes\"\n"                   },
    {"<homogeneous_redundancy>4</homogeneous_redundancy>",
     "config.xml:2: <homogeneous_redundancy>: must be 0 to 3\n"               },
    {"<gpu_multiplier>nan</gpu_multiplier>",
     "config.xml:2: <gpu_multiplier>: not a number: nan\n"                    },
    {"<fuh_set_initial_permission>0888</fuh_set_initial_permission>",
     "config.xml:2: <fuh_set_initial_permission>: not an octal number: 0888\n"},
    {"<ban_cpu>(</ban_cpu>",
     "config.xml:2: <ban_cpu>: not an extended regular expression: "          },
    {"<upload_certificates>md5</upload_certificates>",
     "config.xml:2: <upload_certificates>: neither rsa nor ed25519: md5\n"    },
    {"<dont_search_host_for_user>bob</dont_search_host_for_user>",
     "config.xml:2: <dont_search_host_for_user>: not an id: bob\n"            },
    {"<long_name><b>x</b></long_name>",
     "config.xml:2: <long_name> must not contain elements\n"                  },
    {"<ended/>\n<ended/>",
     "config.xml:3: <ended> again; it is in line 2 already\n"                 },
    {"<size_classes/>\n<batch_accel/>",
     "config.xml:3: <batch_accel> and <size_classes> (line 2) exclude each "
     "other\n"                                                                },
    {"<replica_2_db_name>x</replica_2_db_name>",
     "config.xml:2: unknown element <replica_2_db_name>; did you mean "
     "<replica_db_name>?"                                                     },
    {"<db_passwd_file>/none/here</db_passwd_file>",
     "<db_passwd_file>: /none/here: No such file or directory\n"              },
};

START_TEST(a_fault_names_its_line_and_element)
{
    load_config(faults[_i].elements);
    ck_assert_ptr_null(cfg);
    ck_assert_msg(strstr(buf_str(&err), faults[_i].fault) != NULL,
                  "%s\nis not: %s", buf_str(&err), faults[_i].fault);
    ck_assert_ptr_eq(strchr(buf_str(&err), '\n'), err.data + err.len - 1);
}
END_TEST

START_TEST(all_faults_are_told_at_once)
{
    load("<boinc>\n<config>\n<endet/>\n<max_ncpus>0</max_ncpus>\n</config>\n"
         "<daemons>\n<daemon/>\n</daemons>\n</boinc>");
    ck_assert_ptr_null(cfg);
    ck_assert_str_eq(
        buf_str(&err),
        "config.xml:3: unknown element <endet>; did you mean <ended>? (If it "
        "is another program's, name it in <foreign_elements>.)\n"
        "config.xml:4: <max_ncpus>: must be 1 to 1000000\n"
        "config.xml:7: <cmd> is missing\n"
        "config.xml:1: <master_url> is missing\n"
        "config.xml:1: <db_name> is missing\n");
}
END_TEST

START_TEST(a_file_that_is_none_is_told)
{
    load("<boinc>\n<config></boinc>");
    ck_assert_ptr_null(cfg);
    ck_assert_int_eq(strncmp(buf_str(&err), "config.xml:2: ", 14), 0);
    load("<config/>");
    ck_assert_str_eq(buf_str(&err), "config.xml:1: the file must begin with "
                                    "<boinc>, not <config>\n");
    load("<boinc/>");
    ck_assert_ptr_nonnull(
        strstr(buf_str(&err), "config.xml:1: <config> is missing\n"));
    buf_reset(&err);
    ck_assert_ptr_null(config_load(scratch("nowhere"), &err));
    ck_assert_ptr_nonnull(strstr(buf_str(&err), "No such file"));
}
END_TEST

/* ---- password ------------------------------------------------------------ */

#define PASSWD "<db_passwd>inside</db_passwd>"
#define PASSWD_FILE "<db_passwd_file>pw</db_passwd_file>"

START_TEST(the_password_is_from_environment_file_or_element)
{
    load_config(PASSWD);
    ck_assert_str_eq(cfg->db_passwd, "inside");
    ck_assert_int_eq(file_write(scratch("pw"), "in a file\nmore", 14, 0600), 0);
    load_config(PASSWD PASSWD_FILE);
    ck_assert_str_eq(cfg->db_passwd, "in a file");
    setenv("QUORATE_DB_PASSWD", "around", 1);
    load_config(PASSWD PASSWD_FILE);
    ck_assert_str_eq(cfg->db_passwd, "around");
}
END_TEST

/* As a web server's program may find it: the file is there, for others. */
START_TEST(who_may_not_read_the_password_has_none)
{
    int status;
    pid_t child;

    ck_assert_int_eq(file_mkdirs(scratch("vault"), 0700), 0);
    ck_assert_int_eq(file_write(scratch("vault/pw"), "x\n", 2, 0600), 0);
    load_config("<db_passwd_file>vault/pw</db_passwd_file>");
    ck_assert_str_eq(cfg->db_passwd, "x");
    ck_assert_int_eq(chmod(unit_folder, 0755), 0);
    ck_assert_int_eq(chmod(scratch("config.xml"), 0644), 0);
    ck_assert_int_eq(chmod(scratch("vault"), 0), 0);
    if ((child = fork()) == 0) {
        if (geteuid() == 0 && seteuid(65534) != 0) /* root may read it */
            _exit(1);
        config_free(cfg);
        cfg = config_load(unit_folder, &err);
        _exit(cfg != NULL && cfg->db_passwd[0] == '\0' ? 0 : 2);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(passwords_are_not_printed)
{
    struct buf out = BUF_INIT;

    load_config("<db_passwd>hush</db_passwd><rpc_key>hush</rpc_key>"
                "<replica_db_passwd>hush</replica_db_passwd>"
                "<replica3_db_passwd>hush</replica3_db_passwd>"
                "<recaptcha_private_key>hush</recaptcha_private_key>"
                "<akismet_key>hush</akismet_key>");
    config_print(cfg, &out);
    ck_assert_ptr_null(strstr(buf_str(&out), "hush"));
    ck_assert_ptr_nonnull(strstr(buf_str(&out), "db_name = p "));
    ck_assert_ptr_nonnull(strstr(buf_str(&out), "replica3_db_passwd = ******"));
    buf_free(&out);
}
END_TEST

/* ---- daemons and tasks --------------------------------------------------- */

static void
load_programs(const char *daemons, const char *tasks)
{
    struct buf b = BUF_INIT;

    buf_addf(&b,
             "<boinc><config>" LEAST "<host>main</host></config>\n"
             "<daemons>%s</daemons>\n<tasks>%s</tasks></boinc>",
             daemons, tasks);
    load(buf_str(&b));
    buf_free(&b);
}

/* operations §3. */
START_TEST(a_daemons_files_are_named_after_it)
{
    const struct config_program *d;

    load_programs("<daemon><cmd> feeder -d 3 </cmd></daemon>"
                  "<daemon><cmd>validator --app a</cmd>"
                  "<output>validator_a.log</output><host>other</host>"
                  "<disabled>1</disabled></daemon>"
                  "<daemon><cmd>/opt/v x</cmd><output>/dev/null</output>"
                  "<pid_file>my.pid</pid_file><silent_start/></daemon>",
                  "");
    ck_assert_msg(cfg != NULL, "%s", buf_str(&err));
    ck_assert_uint_eq(cfg->n_daemons, 3);
    d = cfg->daemon;
    ck_assert_str_eq(d[0].cmd, "feeder -d 3");
    ck_assert_str_eq(d[0].host, "main");
    ck_assert_str_eq(d[0].output, "feeder.log");
    ck_assert_str_eq(d[0].pid_file, "feeder.pid");
    ck_assert_str_eq(d[0].lock_file, "feeder.log.lock");
    ck_assert_int_eq(d[0].line, 3);
    ck_assert(!d[0].disabled && !d[0].use_shell && !d[0].silent_start);
    ck_assert_str_eq(d[1].host, "other");
    ck_assert_str_eq(d[1].pid_file, "validator_a.pid");
    ck_assert_str_eq(d[1].lock_file, "validator_a.log.lock");
    ck_assert(d[1].disabled);
    ck_assert_str_eq(d[2].output, "/dev/null");
    ck_assert_str_eq(d[2].pid_file, "my.pid");
    ck_assert_str_eq(d[2].lock_file, "v.lock");
    ck_assert(d[2].silent_start);
}
END_TEST

START_TEST(a_task_has_a_period)
{
    load_programs("", "<task><cmd>db_dump -d 2</cmd><period>24 hours</period>"
                      "<always_run/></task>"
                      "<task><cmd>update_stats</cmd><period>5</period></task>"
                      "<task><cmd>a | b</cmd><use_shell>1</use_shell>"
                      "<period>1 month</period></task>");
    ck_assert_msg(cfg != NULL, "%s", buf_str(&err));
    ck_assert_uint_eq(cfg->n_tasks, 3);
    ck_assert_int_eq(cfg->task[0].period, 86400);
    ck_assert(cfg->task[0].always_run);
    ck_assert_str_eq(cfg->task[0].output, "db_dump.out");
    ck_assert_str_eq(cfg->task[0].lock_file, "db_dump.out.lock");
    ck_assert_int_eq(cfg->task[1].period, 300); /* minutes */
    ck_assert(!cfg->task[1].always_run);
    ck_assert_int_eq(cfg->task[2].period, 2592000);
}
END_TEST

static const struct {
    const char *daemons, *tasks, *fault;
} program_faults[] = {
    {"<daemon><cmd>a</cmd><period>5</period></daemon>",                  "",
     "config.xml:3: unknown element <period>"                                                                                                                                        },
    {"<daemon><cdm>a</cdm></daemon>",                                    "",
     "config.xml:3: unknown element <cdm>; did you mean <cmd>?"                                                                                                                      },
    {"<daemon><cmd>a</cmd><disabled>no</disabled></daemon>",             "",
     "config.xml:3: <disabled>: must be 1 or 0"                                                                                                                                      },
    {"<daemon><cmd>a &gt; b</cmd></daemon>",                             "",
     "config.xml:3: <cmd> has pipes or redirections, so it needs <use_shell>"                                                                                                        },
    {"<task/>",                                                          "",                                               "config.xml:3: unknown element <task>; only <daemon> here"},
    {"<daemon><cmd>a 1</cmd></daemon>\n<daemon><cmd>a 2</cmd></daemon>", "",
     "config.xml:4: lock file a.log.lock is also that of line 3"                                                                                                                     },
    {"",                                                                 "<task><cmd>a</cmd></task>",                      "config.xml:4: <period> is missing"                       },
    {"",                                                                 "<task><cmd>a</cmd><period>soon</period></task>",
     "config.xml:4: <period>: not a period such as \"5 min\""                                                                                                                        },
    {"",                                                                 "<task><cmd>a</cmd><period>0</period></task>",
     "config.xml:4: <period>: not a period such as \"5 min\""                                                                                                                        },
    {"",                                                                 "<task><cmd>a</cmd><period>-5</period></task>",
     "config.xml:4: <period>: not a period such as \"5 min\""                                                                                                                        },
};

START_TEST(a_programs_fault_names_its_line)
{
    load_programs(program_faults[_i].daemons, program_faults[_i].tasks);
    ck_assert_ptr_null(cfg);
    ck_assert_msg(strstr(buf_str(&err), program_faults[_i].fault) != NULL,
                  "%s\nis not: %s", buf_str(&err), program_faults[_i].fault);
}
END_TEST

START_TEST(quoted_characters_need_no_shell)
{
    load_programs("<daemon><cmd>v --match 'a|b' \"c&gt;d\"</cmd></daemon>", "");
    ck_assert_msg(cfg != NULL, "%s", buf_str(&err));
}
END_TEST

START_TEST(the_same_program_may_run_on_two_hosts)
{
    load_programs("<daemon><cmd>a</cmd></daemon>"
                  "<daemon><cmd>a</cmd><host>other</host></daemon>",
                  "");
    ck_assert_msg(cfg != NULL, "%s", buf_str(&err));
}
END_TEST

/* ---- the table ----------------------------------------------------------- */

START_TEST(every_row_says_what_it_is)
{
    const struct conf_option *o = &config_options[_i];

    ck_assert_uint_gt(strlen(o->help), 3);
    ck_assert_ptr_eq(conf_find(config_options, n_config_options, o->name), o);
    ck_assert_ptr_null(strchr(o->name, '|'));
}
END_TEST

static void
add_tests(TCase *tc)
{
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, defaults_are_those_of_the_reference);
    tcase_add_test(tc, folders_and_host_are_filled_in);
    tcase_add_test(tc, values_arrive_in_their_fields);
    tcase_add_test(tc, the_last_grace_period_counts);
    tcase_add_test(tc, this_hosts_database_is_local);
    tcase_add_test(tc, names_with_hosts_and_numbers_are_known);
    tcase_add_test(tc, deprecated_elements_are_let_through);
    tcase_add_test(tc, foreign_elements_are_let_through);
    tcase_add_loop_test(tc, a_fault_names_its_line_and_element, 0,
                        ARRAY_LEN(faults));
    tcase_add_test(tc, all_faults_are_told_at_once);
    tcase_add_test(tc, a_file_that_is_none_is_told);
    tcase_add_test(tc, the_password_is_from_environment_file_or_element);
    tcase_add_test(tc, who_may_not_read_the_password_has_none);
    tcase_add_test(tc, passwords_are_not_printed);
    tcase_add_test(tc, a_daemons_files_are_named_after_it);
    tcase_add_test(tc, a_task_has_a_period);
    tcase_add_loop_test(tc, a_programs_fault_names_its_line, 0,
                        ARRAY_LEN(program_faults));
    tcase_add_test(tc, quoted_characters_need_no_shell);
    tcase_add_test(tc, the_same_program_may_run_on_two_hosts);
    tcase_add_loop_test(tc, every_row_says_what_it_is, 0,
                        (int)n_config_options);
}

int
main(void)
{
    return unit_main("config", add_tests);
}
