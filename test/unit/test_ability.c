/* test_ability.c - what requests say of coprocessors, VirtualBox, WSL, Docker
 * and CPU features (protocol §2.3.4, 2.3.5) -> struct ability. */
#include "request_data.h"

#define GIGA 1e9
#define MB 1048576.0

/* ---- the worked request of the protocol: a Windows host with a GPU ---- */

START_TEST(gpu_host)
{
    struct buf bytes = data_file("requests/composed_gpu_host.xml");
    struct sched_request *q = parse_bytes(buf_str(&bytes), bytes.len);
    const struct ability *a = &q->ability;
    const struct gpu *gpu = &a->gpu[PROC_NVIDIA];

    ck_assert_int_eq(gpu->count, 1);
    ck_assert_str_eq(gpu->name, "NVIDIA Example 4000");
    ck_assert_double_eq(gpu->available_ram, 8e9);
    ck_assert(gpu->has_cuda);
    ck_assert(!gpu->opencl.has);
    ck_assert_double_eq(gpu->req_secs, 8640);
    ck_assert_double_eq(gpu->req_instances, 1);
    ck_assert_double_eq(gpu->estimated_delay, 0);
    ck_assert_double_eq(gpu->peak_flops, 15e12);
    ck_assert_int_eq(gpu->cuda_version, 12020);
    ck_assert_int_eq(gpu->driver_version, 53512);
    ck_assert_int_eq(gpu->compute_capability, 809);
    ck_assert_double_eq(gpu->ram, 8589934592);
    for (int type = 0; type < N_PROC_TYPES; type++)
        ck_assert_int_eq(a->gpu[type].count, type == PROC_NVIDIA ? 1 : 0);
    ck_assert_int_eq(a->n_coprocs, 0);
    ck_assert_str_eq(a->virtualbox_version, "7.0.10");
    ck_assert(!a->vm_extensions_disabled);
    ck_assert_str_eq(a->features,
                     " fpu sse sse2 avx avx2 family 6 model 1 stepping 2 ");
    ck_assert_int_eq(a->n_distros, 0);
    ck_assert(request_wants_coproc(q));
    request_free(q);
    buf_free(&bytes);
}
END_TEST

/* None of the captured hosts has any of it. */
START_TEST(captured_hosts)
{
    struct buf bytes = data_file(captured_requests[_i]);
    struct sched_request *q = parse_bytes(buf_str(&bytes), bytes.len);
    const struct ability *a = &q->ability;

    for (int type = 0; type < N_PROC_TYPES; type++)
        ck_assert_int_eq(a->gpu[type].count, 0);
    ck_assert_int_eq(a->n_coprocs + a->n_distros + a->n_opencl_cpus, 0);
    ck_assert_str_eq(a->virtualbox_version, "");
    ck_assert_str_eq(a->docker.version, "");
    ck_assert(!a->wsl_available && !a->vm_extensions_disabled);
    ck_assert(!a->dont_use_docker && !a->dont_use_wsl);
    ck_assert_ptr_nonnull(strstr(a->features, " fpu vme de "));
    ck_assert_ptr_nonnull(strstr(a->features, " avx2 family 6 "));
    ck_assert(!request_wants_coproc(q));
    request_free(q);
    buf_free(&bytes);
}
END_TEST

/* ---- one coprocessor ---- */

static struct sched_request *
parse_coproc(const char *coproc)
{
    struct buf text = BUF_INIT;
    struct sched_request *q;

    buf_addf(&text, "<coprocs>\n%s\n</coprocs>", coproc);
    q = parse(buf_str(&text));
    buf_free(&text);
    return q;
}

START_TEST(amd)
{
    struct sched_request *q = parse_coproc(
        "<coproc_ati><count>2</count><name>Radeon</name>"
        "<req_secs>100</req_secs><req_instances>2</req_instances>"
        "<estimated_delay>7.5</estimated_delay>"
        "<available_ram>1000000000</available_ram>"
        "<have_cal>1</have_cal><have_opencl>1</have_opencl>"
        "<peak_flops>2e12</peak_flops><CALVersion>1.4.1848</CALVersion>"
        "<target>17</target><localRAM>2048</localRAM>"
        "<doublePrecision>1</doublePrecision><atirt_detected/>"
        "<coproc_opencl><vendor>AMD</vendor>"
        "<double_fp_config>63</double_fp_config>"
        "<global_mem_size>1073741824</global_mem_size>"
        "<opencl_platform_version>OpenCL 2.1 AMD-APP (3188.4)"
        "</opencl_platform_version>"
        "<opencl_device_version>OpenCL 1.2 AMD-APP</opencl_device_version>"
        "<opencl_driver_version>3188.4 (PAL,LC)</opencl_driver_version>"
        "</coproc_opencl></coproc_ati>");
    const struct gpu *gpu = &q->ability.gpu[PROC_AMD];

    ck_assert_int_eq(gpu->count, 2);
    ck_assert_str_eq(gpu->name, "Radeon");
    ck_assert_double_eq(gpu->req_secs, 100);
    ck_assert_double_eq(gpu->req_instances, 2);
    ck_assert_double_eq(gpu->estimated_delay, 7.5);
    ck_assert(gpu->has_cal && gpu->atirt && !gpu->amdrt);
    ck_assert(gpu->double_precision);
    ck_assert_int_eq(gpu->cal_version, 10041848);
    ck_assert_int_eq(gpu->cal_target, 17);
    ck_assert_double_eq(gpu->ram, 2048 * MB);
    ck_assert(gpu->opencl.has && gpu->opencl.double_precision);
    ck_assert_str_eq(gpu->opencl.vendor, "AMD");
    ck_assert_int_eq(gpu->opencl.device_version, 102);
    ck_assert_int_eq(gpu->opencl.platform_version, 201);
    ck_assert_int_eq(gpu->opencl.driver_revision, 3188);
    ck_assert_double_eq(gpu->opencl.global_mem_size, 1024 * MB);
    request_free(q);
}
END_TEST

START_TEST(intel_and_apple)
{
    struct sched_request *q = parse_coproc(
        "<coproc_intel_gpu><count>1</count><name>UHD</name>"
        "<have_opencl>1</have_opencl><req_secs>0</req_secs>"
        "<coproc_opencl><global_mem_size>3e9</global_mem_size>"
        "<opencl_device_version>OpenCL 3.0 NEO</opencl_device_version>"
        "<opencl_driver_version>31.0.101.2111</opencl_driver_version>"
        "</coproc_opencl></coproc_intel_gpu>"
        "<coproc_apple_gpu><count>1</count><model>Apple M2</model>"
        "<available_ram>11e9</available_ram><have_metal>1</have_metal>"
        "<ncores>10</ncores><metal_support>3</metal_support>"
        "</coproc_apple_gpu>");
    const struct gpu *intel = &q->ability.gpu[PROC_INTEL_GPU];
    const struct gpu *apple = &q->ability.gpu[PROC_APPLE_GPU];

    ck_assert_double_eq(intel->ram, 3e9);
    ck_assert_int_eq(intel->opencl.device_version, 300);
    ck_assert_int_eq(intel->opencl.driver_revision, 2111);
    ck_assert_str_eq(apple->name, "Apple M2");
    ck_assert_double_eq(apple->ram, 11e9);
    ck_assert_int_eq(apple->ncores, 10);
    ck_assert_int_eq(apple->metal_support, 3);
    ck_assert(!apple->opencl.has);
    ck_assert(!request_wants_coproc(q));
    request_free(q);
}
END_TEST

START_TEST(others)
{
    struct sched_request *q = parse_coproc(
        "<coproc><type>miner_asic</type><count>3</count><non_gpu/>"
        "<peak_flops>5e9</peak_flops><req_secs>10</req_secs></coproc>"
        "<coproc><count>1</count></coproc>" /* of no type */
        "<coproc><type>none</type><count>0</count></coproc>"
        "<coproc><type>fpga</type><count>1</count></coproc>");
    const struct ability *a = &q->ability;

    ck_assert_int_eq(a->n_coprocs, 2);
    ck_assert_str_eq(a->coproc[0].type, "miner_asic");
    ck_assert_int_eq(a->coproc[0].gpu.count, 3);
    ck_assert(a->coproc[0].non_gpu);
    ck_assert_double_eq(a->coproc[0].gpu.peak_flops, 5e9);
    ck_assert_str_eq(a->coproc[1].type, "fpga");
    ck_assert(!a->coproc[1].non_gpu);
    ck_assert(request_wants_coproc(q));
    request_free(q);
}
END_TEST

/* Of a client before 6.7: no request, and it found CUDA or it would not tell.
 */
START_TEST(old_client)
{
    struct sched_request *q = parse_coproc(
        "<coproc_cuda><count>1</count><name>GeForce 8800</name>"
        "<totalGlobalMem>536870912</totalGlobalMem><major>1</major>"
        "<minor>0</minor><drvVersion>17700</drvVersion></coproc_cuda>");
    const struct gpu *gpu = &q->ability.gpu[PROC_NVIDIA];

    ck_assert(gpu->has_cuda);
    ck_assert_int_eq(gpu->compute_capability, 100);
    ck_assert_double_eq(gpu->ram, 512 * MB);
    ck_assert_double_eq(gpu->req_secs, 0);
    ck_assert(!request_wants_work(q));
    request_free(q);
}
END_TEST

/* ---- numbers that are none, or too large ---- */

static const struct {
    const char *text;
    int count;
    double req_secs;
} hostile[] = {
    {"1",     1,  1                },
    {"-1",    0,  0                },
    {"nan",   0,  0                },
    {"inf",   0,  0                },
    {"1e300", 64, 28 * 86400.0 * 64},
    {"64",    64, 64               },
    {"65",    64, 65               },
    {"",      0,  0                },
    {"x",     0,  0                },
};

START_TEST(is_clamped)
{
    struct buf text = BUF_INIT;
    struct sched_request *q;
    const struct gpu *gpu;

    buf_addf(&text,
             "<coproc_cuda><count>%s</count><req_instances>%s</req_instances>"
             "</coproc_cuda>\n<coproc_ati><count>1</count>"
             "<req_secs>%s</req_secs><peak_flops>%s</peak_flops>"
             "<localRAM>%s</localRAM><major>%s</major></coproc_ati>",
             hostile[_i].text, hostile[_i].text, hostile[_i].text,
             hostile[_i].text, hostile[_i].text, hostile[_i].text);
    q = parse_coproc(buf_str(&text));
    ck_assert_int_eq(q->ability.gpu[PROC_NVIDIA].count, hostile[_i].count);
    gpu = &q->ability.gpu[PROC_AMD];
    ck_assert_double_eq(gpu->req_secs, hostile[_i].req_secs);
    ck_assert(gpu->peak_flops >= 0 && gpu->peak_flops <= 1e30);
    ck_assert(gpu->ram >= 0 && gpu->ram <= 1e30);
    ck_assert_int_ge(gpu->compute_capability, 0);
    request_free(q);
    buf_free(&text);
}
END_TEST

static const struct {
    const char *text;
    int version;
} cal_versions[] = {
    {"1.4.1848",        10041848  },
    {"1.3.186",         10030186  },
    {"1.4",             10040000  },
    {"2",               20000000  },
    {"",                0         },
    {"x",               0         },
    {"1.4.99999999",    10139999  },
    {"99999999999.1.1", 2000010001},
    {"1.4.1848 (PAL)",  10041848  },
};

START_TEST(cal_versions_as_numbers)
{
    struct buf text = BUF_INIT;
    struct sched_request *q;

    buf_addf(&text,
             "<coproc_ati><count>1</count><CALVersion>%s</CALVersion>"
             "</coproc_ati>",
             cal_versions[_i].text);
    q = parse_coproc(buf_str(&text));
    ck_assert_int_eq(q->ability.gpu[PROC_AMD].cal_version,
                     cal_versions[_i].version);
    request_free(q);
    buf_free(&text);
}
END_TEST

static const struct {
    const char *text;
    int revision;
} revisions[] = {
    {"535.12",         535  },
    {"1084.4 (VM)",    1084 },
    {"CAL 1.4.1848",   1848 },
    {"31.0.101.2111",  2111 },
    {"23.17.26241.22", 22   },
    {"3.2",            3    },
    {"",               0    },
    {"unknown",        0    },
    {"99999999999.1",  99999},
};

START_TEST(revisions_of_drivers)
{
    struct buf text = BUF_INIT;
    struct sched_request *q;

    buf_addf(&text,
             "<coproc_cuda><count>1</count><coproc_opencl>"
             "<opencl_driver_version>%s</opencl_driver_version>"
             "</coproc_opencl></coproc_cuda>",
             revisions[_i].text);
    q = parse_coproc(buf_str(&text));
    ck_assert_int_eq(q->ability.gpu[PROC_NVIDIA].opencl.driver_revision,
                     revisions[_i].revision);
    request_free(q);
    buf_free(&text);
}
END_TEST

/* ---- the host ---- */

static const struct {
    const char *promise, *info, *features;
} cpus[] = {
    {"words in lower case",       "<p_features>FPU  AVX2\n sse</p_features>",
     " fpu avx2 sse "                                                                                    },
    {"of the model, too",
     "<p_model>CPU [Family 6][SSE3 vmx]</p_model><p_features>fpu</p_features>", " fpu family 6 sse3 vmx "},
    {"none",                      "<p_model>CPU</p_model>",                     ""                       },
    {"a bracket that stays open", "<p_model>CPU [Family 6</p_model>",           ""                       },
    {"blanks",                    "<p_features>  </p_features>",                ""                       },
};

START_TEST(reads_features)
{
    struct buf text = BUF_INIT;
    struct sched_request *q;

    buf_addf(&text, "<host_info>%s</host_info>", cpus[_i].info);
    q = parse(buf_str(&text));
    ck_assert_str_eq(q->ability.features, cpus[_i].features);
    request_free(q);
    buf_free(&text);
}
END_TEST

/* What does not fit ends at a word. */
START_TEST(features_end_at_a_word)
{
    struct buf text = BUF_INIT;
    struct sched_request *q;
    size_t n;

    buf_add(&text, "<host_info><p_features>");
    for (int i = 0; i < 3000; i++)
        buf_addf(&text, "word%d ", i);
    buf_add(&text, "</p_features></host_info>");
    q = parse(buf_str(&text));
    n = strlen(q->ability.features);
    ck_assert_uint_lt(n, ABILITY_FEATURES_SIZE);
    ck_assert_uint_gt(n, ABILITY_FEATURES_SIZE - 20);
    ck_assert_int_eq(q->ability.features[n - 1], ' ');
    ck_assert_ptr_nonnull(strstr(q->ability.features, " word100 "));
    request_free(q);
    buf_free(&text);
}
END_TEST

START_TEST(containers)
{
    struct sched_request *q = parse(
        "<dont_use_docker/>\n<dont_use_wsl>1</dont_use_wsl>\n<host_info>"
        "<docker_version>24.0.5</docker_version><docker_type>2</docker_type>"
        "<wsl_available>1</wsl_available>"
        "<p_vm_extensions_disabled>1</p_vm_extensions_disabled>"
        "<opencl_cpu_prop><platform_vendor>Intel(R) Corporation"
        "</platform_vendor><opencl_cpu_info>"
        "<opencl_device_version>OpenCL 2.1</opencl_device_version>"
        "</opencl_cpu_info></opencl_cpu_prop>"
        "<wsl><distro><distro_name>Ubuntu</distro_name>"
        "<os_name>Linux Ubuntu</os_name><os_version>22.04</os_version>"
        "<wsl_version>2</wsl_version><is_default/>"
        "<libc_version>2.35</libc_version>"
        "<docker_version>23.0</docker_version><docker_type>1</docker_type>"
        "</distro><distro><distro_name>boinc-buda-runner</distro_name>"
        "<distro_version>4</distro_version><disallowed/></distro></wsl>"
        "</host_info>");
    const struct ability *a = &q->ability;

    ck_assert(a->dont_use_docker && a->dont_use_wsl && a->wsl_available);
    ck_assert(a->vm_extensions_disabled);
    ck_assert_str_eq(a->docker.version, "24.0.5");
    ck_assert_int_eq(a->docker.type, 2);
    ck_assert_int_eq(a->n_opencl_cpus, 1);
    ck_assert_str_eq(a->opencl_cpu[0].platform_vendor, "Intel(R) Corporation");
    ck_assert_int_eq(a->opencl_cpu[0].opencl.device_version, 201);
    ck_assert_int_eq(a->n_distros, 2);
    ck_assert_str_eq(a->distro[0].name, "Ubuntu");
    ck_assert_str_eq(a->distro[0].os_version, "22.04");
    ck_assert_int_eq(a->distro[0].wsl_version, 2);
    ck_assert_int_eq(a->distro[0].libc_version, 235);
    ck_assert_str_eq(a->distro[0].docker.version, "23.0");
    ck_assert(a->distro[0].is_default && !a->distro[0].disallowed);
    ck_assert_int_eq(a->distro[1].version, 4);
    ck_assert(a->distro[1].disallowed);
    ck_assert_int_eq(a->distro[1].libc_version, 0);
    request_free(q);
}
END_TEST

/* The first are kept. */
START_TEST(lists_are_bounded)
{
    struct buf text = BUF_INIT;
    struct sched_request *q;

    buf_add(&text, "<coprocs>");
    for (int i = 0; i < 40; i++)
        buf_addf(&text, "<coproc><type>t%d</type><count>1</count></coproc>", i);
    buf_add(&text, "</coprocs><host_info>");
    for (int i = 0; i < 10; i++)
        buf_add(&text, "<opencl_cpu_prop><opencl_cpu_info/></opencl_cpu_prop>");
    buf_add(&text, "<wsl>");
    for (int i = 0; i < 40; i++)
        buf_addf(&text, "<distro><distro_name>d%d</distro_name></distro>", i);
    buf_add(&text, "</wsl></host_info>");
    q = parse(buf_str(&text));
    ck_assert_int_eq(q->ability.n_coprocs, ABILITY_MAX_COPROCS);
    ck_assert_str_eq(q->ability.coproc[15].type, "t15");
    ck_assert_int_eq(q->ability.n_distros, ABILITY_MAX_DISTROS);
    ck_assert_str_eq(q->ability.distro[15].name, "d15");
    ck_assert_int_eq(q->ability.n_opencl_cpus, ABILITY_MAX_OPENCL_CPUS);
    request_free(q);
    buf_free(&text);
}
END_TEST

/* ---- versions of the client's own, and jobs with it ---- */

START_TEST(versions_of_the_client)
{
    struct sched_request *q = parse(
        "<app_versions><app_version><app_name>a</app_name>"
        "<version_num>7</version_num><platform>p</platform>"
        "<plan_class>cuda</plan_class><avg_ncpus>0.5</avg_ncpus>"
        "<flops>3e9</flops><cmdline>--fast & <b></cmdline>"
        "<gpu_ram>1e9</gpu_ram><coproc><type>NVIDIA</type><count>0.5</count>"
        "</coproc></app_version><app_version><app_name>b</app_name>"
        "</app_version></app_versions>\n<other_results><other_result>"
        "<name>r</name><app_version>1</app_version>"
        "<plan_class>mt</plan_class></other_result></other_results>");
    const struct client_app_version *v = q->app_version;

    ck_assert_uint_eq(q->n_app_versions, 2);
    ck_assert_str_eq(v[0].plan_class, "cuda");
    ck_assert_str_eq(v[0].coproc, "NVIDIA");
    ck_assert_double_eq(v[0].coproc_count, 0.5);
    ck_assert_double_eq(v[0].gpu_ram, 1e9);
    ck_assert_double_eq(v[0].avg_ncpus, 0.5);
    ck_assert_ptr_eq(strstr(v[0].cmdline, "--fast"), v[0].cmdline);
    ck_assert_str_eq(v[1].coproc, "");
    ck_assert_double_eq(v[1].coproc_count, 0);
    ck_assert_int_eq(q->other_result[0].app_version, 1);
    ck_assert_str_eq(q->other_result[0].plan_class, "mt");
    request_free(q);
}
END_TEST

static void
fill(TCase *tc)
{
    tcase_add_test(tc, gpu_host);
    tcase_add_loop_test(tc, captured_hosts, 0, ARRAY_LEN(captured_requests));
    tcase_add_test(tc, amd);
    tcase_add_test(tc, intel_and_apple);
    tcase_add_test(tc, others);
    tcase_add_test(tc, old_client);
    tcase_add_loop_test(tc, is_clamped, 0, ARRAY_LEN(hostile));
    tcase_add_loop_test(tc, cal_versions_as_numbers, 0,
                        ARRAY_LEN(cal_versions));
    tcase_add_loop_test(tc, revisions_of_drivers, 0, ARRAY_LEN(revisions));
    tcase_add_loop_test(tc, reads_features, 0, ARRAY_LEN(cpus));
    tcase_add_test(tc, features_end_at_a_word);
    tcase_add_test(tc, containers);
    tcase_add_test(tc, lists_are_bounded);
    tcase_add_test(tc, versions_of_the_client);
}

int
main(void)
{
    return unit_main("ability", fill);
}
