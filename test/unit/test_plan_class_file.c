/* test_plan_class_file.c - plan_class_spec.xml: every element arrives, every
 * fault is told with its line, and a bad class disables only itself. */
#include "proto_data.h"

#include "plan_class_file.h"
#include "plan_class_rows.h"

/* Read "<plan_classes>" + text + "</plan_classes>", of which text begins in
 * line 2. */
static int
read_classes(const char *text, struct plan_class_set *ret, struct buf *err)
{
    struct buf file = BUF_INIT;
    int rc;

    buf_addf(&file, "<plan_classes>\n%s\n</plan_classes>\n", text);
    rc = plan_class_file_parse(buf_str(&file), file.len, "plan_class_spec.xml",
                               ret, err);
    buf_free(&file);
    return rc;
}

static void
read_good(const char *text, struct plan_class_set *ret)
{
    struct buf err = BUF_INIT;
    int rc = read_classes(text, ret, &err);

    ck_assert_msg(rc == 0, "refused: %s", buf_str(&err));
    ck_assert_str_eq(buf_str(&err), "");
    buf_free(&err);
}

/* ---- what is right ---- */

START_TEST(defaults)
{
    struct plan_class_set set;
    const struct plan_class_spec *c;

    read_good("<plan_class><name>plain</name></plan_class>", &set);
    ck_assert(set.from_file);
    ck_assert_uint_eq(set.n, 1);
    c = &set.spec[0];
    ck_assert_str_eq(c->name, "plain");
    ck_assert_int_eq(c->line, 2);
    ck_assert(!c->faulty);
    ck_assert_int_eq(c->uses, PLAN_CLASS_CPU);
    ck_assert_double_eq(c->ngpus, 1);
    ck_assert_double_eq(c->cpu_frac, 0.1);
    ck_assert_double_eq(c->gpu_peak_flops_scale, 1);
    ck_assert_double_eq(c->max_threads, 1);
    ck_assert_double_eq(c->projected_flops_scale, 1);
    ck_assert_double_eq(c->avg_ncpus, 0);
    plan_class_set_free(&set);
}
END_TEST

START_TEST(cpu_class)
{
    struct plan_class_set set;
    const struct plan_class_spec *c;

    read_good("<plan_class>\n<name>mt_avx</name>\n"
              "<infeasible_random>0.25</infeasible_random>\n"
              "<user_id>12</user_id>\n"
              "<min_wu_id>5000000000</min_wu_id>\n<max_wu_id>6e9</max_wu_id>\n"
              "<min_batch>3</min_batch>\n<max_batch>4</max_batch>\n"
              "<cpu_feature>AVX2</cpu_feature>\n"
              "<cpu_feature>fma</cpu_feature>\n"
              "<min_ncpus>4</min_ncpus>\n<max_threads>16</max_threads>\n"
              "<os_regex>Debian|Ubuntu</os_regex>\n"
              "<min_os_version>50400</min_os_version>\n"
              "<max_os_version>1002263100</max_os_version>\n"
              "<min_android_version>60000</min_android_version>\n"
              "<max_android_version>130000</max_android_version>\n"
              "<min_libc_version>228</min_libc_version>\n"
              "<cpu_vendor_regex>Intel</cpu_vendor_regex>\n"
              "<cpu_model_regex>Xeon</cpu_model_regex>\n"
              "<min_core_client_version>71600</min_core_client_version>\n"
              "<max_core_client_version>80000</max_core_client_version>\n"
              "<mem_usage_base_mb>100</mem_usage_base_mb>\n"
              "<mem_usage_per_cpu_mb>50.5</mem_usage_per_cpu_mb>\n"
              "<nthreads_cmdline/>\n<avg_ncpus>3.5</avg_ncpus>\n"
              "<projected_flops_scale>0.9</projected_flops_scale>\n"
              "</plan_class>",
              &set);
    c = &set.spec[0];
    ck_assert_double_eq(c->infeasible_random, 0.25);
    ck_assert_int_eq(c->user_id, 12);
    ck_assert_int_eq(c->min_wu_id, INT64_C(5000000000));
    ck_assert_int_eq(c->max_wu_id, INT64_C(6000000000));
    ck_assert_int_eq(c->min_batch, 3);
    ck_assert_int_eq(c->max_batch, 4);
    ck_assert_int_eq(c->n_cpu_features, 2);
    ck_assert_str_eq(c->cpu_feature[0], "avx2");
    ck_assert_str_eq(c->cpu_feature[1], "fma");
    ck_assert_double_eq(c->min_ncpus, 4);
    ck_assert_double_eq(c->max_threads, 16);
    ck_assert_str_eq(c->os_regex.text, "Debian|Ubuntu");
    ck_assert_int_eq(regexec(&c->os_regex.compiled, "an Ubuntu", 0, NULL, 0),
                     0);
    ck_assert_int_eq(c->min_os_version, 50400);
    ck_assert_int_eq(c->max_os_version, 1002263100);
    ck_assert_int_eq(c->min_android_version, 60000);
    ck_assert_int_eq(c->max_android_version, 130000);
    ck_assert_int_eq(c->min_libc_version, 228);
    ck_assert_str_eq(c->cpu_vendor_regex.text, "Intel");
    ck_assert_str_eq(c->cpu_model_regex.text, "Xeon");
    ck_assert_int_eq(c->min_core_client_version, 71600);
    ck_assert_int_eq(c->max_core_client_version, 80000);
    ck_assert_double_eq(c->mem_usage_base_mb, 100);
    ck_assert_double_eq(c->mem_usage_per_cpu_mb, 50.5);
    ck_assert(c->nthreads_cmdline);
    ck_assert_double_eq(c->avg_ncpus, 3.5);
    ck_assert_double_eq(c->projected_flops_scale, 0.9);
    plan_class_set_free(&set);
}
END_TEST

START_TEST(guest_class)
{
    struct plan_class_set set;
    const struct plan_class_spec *c;

    read_good("<plan_class><name>vm</name><virtualbox>1</virtualbox>"
              "<is64bit/><vm_accel_required/>"
              "<min_vbox_version>40000</min_vbox_version>"
              "<max_vbox_version>70099</max_vbox_version>"
              "<exclude_vbox_version>50012</exclude_vbox_version>"
              "<exclude_vbox_version>50014</exclude_vbox_version></plan_class>"
              "<plan_class><name>box</name><docker/><wsl>1</wsl>"
              "<min_boinc_wsl_distro_version>4</min_boinc_wsl_distro_version>"
              "<project_prefs_tag>speed</project_prefs_tag>"
              "<project_prefs_regex>^fast$</project_prefs_regex>"
              "<project_prefs_default_true>1</project_prefs_default_true>"
              "</plan_class>",
              &set);
    c = &set.spec[0];
    ck_assert(c->virtualbox && c->is64bit && c->vm_accel_required);
    ck_assert_int_eq(c->min_vbox_version, 40000);
    ck_assert_int_eq(c->max_vbox_version, 70099);
    ck_assert_int_eq(c->n_exclude_vbox_versions, 2);
    ck_assert_int_eq(c->exclude_vbox_version[0], 50012);
    ck_assert_int_eq(c->exclude_vbox_version[1], 50014);
    c = &set.spec[1];
    ck_assert(c->docker && c->wsl && c->project_prefs_default_true);
    ck_assert_int_eq(c->min_boinc_wsl_distro_version, 4);
    ck_assert_str_eq(c->project_prefs_tag, "speed");
    ck_assert_str_eq(c->project_prefs_regex.text, "^fast$");
    plan_class_set_free(&set);
}
END_TEST

START_TEST(gpu_class)
{
    struct plan_class_set set;
    const struct plan_class_spec *c;

    read_good(
        "<plan_class><name>n</name><gpu_type>nvidia</gpu_type><cuda/>"
        "<opencl/><min_nvidia_compcap>305</min_nvidia_compcap>"
        "<max_nvidia_compcap>900</max_nvidia_compcap>"
        "<min_cuda_version>11000</min_cuda_version>"
        "<max_cuda_version>12999</max_cuda_version>"
        "<min_opencl_version>102</min_opencl_version>"
        "<max_opencl_version>300</max_opencl_version>"
        "<min_opencl_driver_revision>450</min_opencl_driver_revision>"
        "<max_opencl_driver_revision>600</max_opencl_driver_revision>"
        "<double_precision_fp/><min_gpu_ram_mb>2000</min_gpu_ram_mb>"
        "<min_driver_version>45080</min_driver_version>"
        "<max_driver_version>60000</max_driver_version>"
        "<min_gpu_peak_flops>1e12</min_gpu_peak_flops>"
        "<max_gpu_peak_flops>1e14</max_gpu_peak_flops>"
        "<gpu_ram_used_mb>1500</gpu_ram_used_mb><ngpus>0.5</ngpus>"
        "<cpu_frac>0.05</cpu_frac>"
        "<gpu_peak_flops_scale>0.2</gpu_peak_flops_scale>"
        "<gpu_utilization_tag>gpu_part</gpu_utilization_tag></plan_class>"
        "<plan_class><name>a</name><gpu_type>ati</gpu_type><cal/>"
        "<need_ati_libs/><need_amd_libs/><without_opencl/>"
        "<min_cal_target>10</min_cal_target><max_cal_target>20</max_cal_target>"
        "</plan_class>"
        "<plan_class><name>m</name><gpu_type>apple_gpu</gpu_type>"
        "<min_metal_support>3</min_metal_support></plan_class>",
        &set);
    c = &set.spec[0];
    ck_assert_int_eq(c->uses, PLAN_CLASS_GPU);
    ck_assert_int_eq(c->gpu_type, PROC_NVIDIA);
    ck_assert(c->cuda && c->opencl && c->double_precision_fp);
    ck_assert_int_eq(c->min_nvidia_compcap, 305);
    ck_assert_int_eq(c->max_nvidia_compcap, 900);
    ck_assert_int_eq(c->min_cuda_version, 11000);
    ck_assert_int_eq(c->max_cuda_version, 12999);
    ck_assert_int_eq(c->min_opencl_version, 102);
    ck_assert_int_eq(c->max_opencl_version, 300);
    ck_assert_int_eq(c->min_opencl_driver_revision, 450);
    ck_assert_int_eq(c->max_opencl_driver_revision, 600);
    ck_assert_double_eq(c->min_gpu_ram_mb, 2000);
    ck_assert_int_eq(c->min_driver_version, 45080);
    ck_assert_int_eq(c->max_driver_version, 60000);
    ck_assert_double_eq(c->min_gpu_peak_flops, 1e12);
    ck_assert_double_eq(c->max_gpu_peak_flops, 1e14);
    ck_assert_double_eq(c->gpu_ram_used_mb, 1500);
    ck_assert_double_eq(c->ngpus, 0.5);
    ck_assert_double_eq(c->cpu_frac, 0.05);
    ck_assert_double_eq(c->gpu_peak_flops_scale, 0.2);
    ck_assert_str_eq(c->gpu_utilization_tag, "gpu_part");
    c = &set.spec[1];
    ck_assert_int_eq(c->gpu_type, PROC_AMD);
    ck_assert(c->cal && c->need_ati_libs && c->need_amd_libs);
    ck_assert(c->without_opencl);
    ck_assert_int_eq(c->min_cal_target, 10);
    ck_assert_int_eq(c->max_cal_target, 20);
    ck_assert_int_eq(set.spec[2].gpu_type, PROC_APPLE_GPU);
    ck_assert_int_eq(set.spec[2].min_metal_support, 3);
    plan_class_set_free(&set);
}
END_TEST

static const struct {
    const char *text;
    enum plan_class_gpu uses;
    enum proc_type type;
} spellings[] = {
    {"nvidia",     PLAN_CLASS_GPU,   PROC_NVIDIA   },
    {"NVIDIA",     PLAN_CLASS_GPU,   PROC_NVIDIA   },
    {"CUDA",       PLAN_CLASS_GPU,   PROC_NVIDIA   },
    {"amd",        PLAN_CLASS_GPU,   PROC_AMD      },
    {"ATI",        PLAN_CLASS_GPU,   PROC_AMD      },
    {"intel",      PLAN_CLASS_GPU,   PROC_INTEL_GPU},
    {"intel_gpu",  PLAN_CLASS_GPU,   PROC_INTEL_GPU},
    {"apple",      PLAN_CLASS_GPU,   PROC_APPLE_GPU},
    {"apple_gpu",  PLAN_CLASS_GPU,   PROC_APPLE_GPU},
    {"miner_asic", PLAN_CLASS_OTHER, PROC_CPU      },
    {"atix",       PLAN_CLASS_OTHER, PROC_CPU      },
};

START_TEST(gpu_types)
{
    struct buf text = BUF_INIT;
    struct plan_class_set set;

    buf_addf(&text,
             "<plan_class><name>c</name><gpu_type>%s</gpu_type></plan_class>",
             spellings[_i].text);
    read_good(buf_str(&text), &set);
    ck_assert_int_eq(set.spec[0].uses, spellings[_i].uses);
    ck_assert_int_eq(set.spec[0].gpu_type, spellings[_i].type);
    plan_class_set_free(&set);
    buf_free(&text);
}
END_TEST

START_TEST(a_type_by_regex)
{
    struct plan_class_set set;

    read_good("<plan_class><name>c</name><gpu_type_regex>^mic|fpga"
              "</gpu_type_regex><ngpus>2</ngpus></plan_class>",
              &set);
    ck_assert_int_eq(set.spec[0].uses, PLAN_CLASS_OTHER);
    ck_assert_double_eq(set.spec[0].ngpus, 2);
    plan_class_set_free(&set);
}
END_TEST

/* ---- what is wrong: one class, whose elements begin in line 4 ---- */

/* clang-format off */
static const struct {
    const char *elements;
    const char *fault;
} wrong[] = {
    {"<min_ncpu>2</min_ncpu>", "4: unknown element <min_ncpu>; did you mean <min_ncpus>?"},
    {"<zzz/>", "4: unknown element <zzz>"},
    {"<min_ncpus>two</min_ncpus>", "4: <min_ncpus> is no number"},
    {"<min_ncpus>nan</min_ncpus>", "4: <min_ncpus> is no number"},
    {"<min_ncpus/>", "4: <min_ncpus> is no number"},
    {"<min_ncpus>-1</min_ncpus>", "4: <min_ncpus> must be within 0 and 65536"},
    {"<user_id>1.5</user_id>", "4: <user_id> is no whole number"},
    {"<infeasible_random>1.1</infeasible_random>", "4: <infeasible_random> must be within 0 and 1"},
    {"\n<min_ncpus>1</min_ncpus>\n<min_ncpus>2</min_ncpus>", "6: <min_ncpus> is there already, in line 5"},
    {"<wsl>yes</wsl>", "4: <wsl> is \"yes\"; say <wsl/> or 1, or 0"},
    {"<os_regex>(</os_regex>", "4: <os_regex> is no regular expression: Unmatched ( or \\("},
    {"<os_regex/>", "4: <os_regex> is empty"},
    {"<cpu_feature>avx fma</cpu_feature>", "4: <cpu_feature> is more than one word"},
    {"<cpu_feature/>", "4: <cpu_feature> is empty"},
    {"<gpu_type>CPU</gpu_type>", "4: <gpu_type> is a type of GPU, not \"CPU\""},
    {"<gpu_type>amd</gpu_type>\n<gpu_type_regex>x</gpu_type_regex>", "5: <gpu_type_regex> and <gpu_type> exclude each other"},
    {"<cuda/>", "4: <cuda> has no meaning without <gpu_type>"},
    {"<gpu_type>amd</gpu_type>\n<cuda/>", "5: <cuda> is for NVIDIA GPUs only"},
    {"<gpu_type>nvidia</gpu_type>\n<need_amd_libs/>", "5: <need_amd_libs> is for AMD GPUs only"},
    {"<gpu_type>nvidia</gpu_type>\n<min_metal_support>1</min_metal_support>", "5: <min_metal_support> is for Apple GPUs only"},
    {"<gpu_type>intel</gpu_type>\n<min_driver_version>1</min_driver_version>", "5: <min_driver_version> is for NVIDIA and AMD GPUs only"},
    {"<gpu_type>nvidia</gpu_type>\n<min_cuda_version>1</min_cuda_version>", "5: <min_cuda_version> has no meaning without <cuda>"},
    {"<gpu_type>nvidia</gpu_type>\n<ngpus>0</ngpus>", "5: <ngpus> must not be 0"},
    {"<min_vbox_version>1</min_vbox_version>", "4: <min_vbox_version> has no meaning without <virtualbox>"},
    {"<project_prefs_tag>x</project_prefs_tag>", "4: <project_prefs_tag> has no meaning without <project_prefs_regex>"},
    {"<max_wu_id>9</max_wu_id>\n<min_wu_id>10</min_wu_id>", "4: <max_wu_id> is below <min_wu_id>, so nobody fits"},
    {"<name>other</name>", "4: <name> is there already, in line 3"},
};
/* clang-format on */

START_TEST(tells_the_fault_and_its_line)
{
    struct buf text = BUF_INIT, err = BUF_INIT, want = BUF_INIT;
    struct plan_class_set set;

    buf_addf(&text,
             "<plan_class>\n<name>bad</name>\n%s\n</plan_class>\n"
             "<plan_class><name>good</name></plan_class>",
             wrong[_i].elements);
    buf_addf(&want, "plan_class_spec.xml:%s\n", wrong[_i].fault);
    ck_assert_int_eq(read_classes(buf_str(&text), &set, &err), -1);
    ck_assert_str_eq(buf_str(&err), buf_str(&want));
    ck_assert_uint_eq(set.n, 2);
    ck_assert_str_eq(set.spec[0].name, "bad");
    ck_assert(set.spec[0].faulty);
    ck_assert_str_eq(set.spec[1].name, "good");
    ck_assert(!set.spec[1].faulty);
    plan_class_set_free(&set);
    buf_free(&text);
    buf_free(&err);
    buf_free(&want);
}
END_TEST

START_TEST(tells_every_fault)
{
    struct buf err = BUF_INIT;
    struct plan_class_set set;

    ck_assert_int_eq(read_classes("<plan_class>\n<zzz/>\n<yyy/>\n</plan_class>"
                                  "\n<what/>",
                                  &set, &err),
                     -1);
    ck_assert_str_eq(buf_str(&err),
                     "plan_class_spec.xml:3: unknown element <zzz>\n"
                     "plan_class_spec.xml:4: unknown element <yyy>\n"
                     "plan_class_spec.xml:2: a class without <name>\n"
                     "plan_class_spec.xml:6: unknown element <what>; only "
                     "<plan_class> stands here\n");
    plan_class_set_free(&set);
    buf_free(&err);
}
END_TEST

/* The first of two classes with one name stays in use. */
START_TEST(a_name_is_used_once)
{
    struct buf err = BUF_INIT;
    struct plan_class_set set;

    ck_assert_int_eq(read_classes("<plan_class><name>a</name></plan_class>\n"
                                  "<plan_class><name>a</name></plan_class>",
                                  &set, &err),
                     -1);
    ck_assert_str_eq(buf_str(&err), "plan_class_spec.xml:3: class a is there "
                                    "already, in line 2\n");
    ck_assert(!set.spec[0].faulty);
    plan_class_set_free(&set);
    buf_free(&err);
}
END_TEST

/* An end tag is missing: the line, and no class at all. */
START_TEST(an_unclosed_tag)
{
    struct buf err = BUF_INIT;
    struct plan_class_set set;

    ck_assert_int_eq(read_classes("<plan_class>\n<name>a</name>\n<min_ncpus>2\n"
                                  "</plan_class>",
                                  &set, &err),
                     -1);
    ck_assert(set.from_file);
    ck_assert_uint_eq(set.n, 0);
    ck_assert_msg(strncmp(buf_str(&err), "plan_class_spec.xml:5: ", 23) == 0 &&
                      strstr(buf_str(&err), "min_ncpus") != NULL &&
                      strstr(buf_str(&err), "no plan class can be used") !=
                          NULL,
                  "%s", buf_str(&err));
    plan_class_set_free(&set);
    buf_free(&err);
}
END_TEST

/* The end tag is there, but far too late: well-formed, and still told. */
START_TEST(an_element_in_an_element)
{
    struct buf err = BUF_INIT;
    struct plan_class_set set;

    ck_assert_int_eq(read_classes("<plan_class>\n<name>a</name>\n<wsl>\n"
                                  "<min_ncpus>2</min_ncpus>\n</wsl>\n"
                                  "</plan_class>",
                                  &set, &err),
                     -1);
    ck_assert_str_eq(buf_str(&err),
                     "plan_class_spec.xml:4: <wsl> holds other elements: is "
                     "</wsl> missing?\n");
    plan_class_set_free(&set);
    buf_free(&err);
}
END_TEST

static const char *const no_files[] = {
    "", "plan classes", "<other/>", "<plan_classes>", "<plan_classes/><a/>",
};

START_TEST(what_is_no_file_of_classes)
{
    struct buf err = BUF_INIT;
    struct plan_class_set set;

    ck_assert_int_eq(plan_class_file_parse(no_files[_i], strlen(no_files[_i]),
                                           "f.xml", &set, &err),
                     -1);
    ck_assert_msg(strncmp(buf_str(&err), "f.xml:", 6) == 0, "%s",
                  buf_str(&err));
    ck_assert(set.from_file);
    ck_assert_uint_eq(set.n, 0);
    plan_class_set_free(&set);
    buf_free(&err);
}
END_TEST

/* Whatever a byte is changed to, the reader comes back. */
START_TEST(survives_noise)
{
    static const char text[] =
        "<plan_classes><plan_class><name>n</name><gpu_type>nvidia</gpu_type>"
        "<cuda/><os_regex>[a-z]+(x|y){2}</os_regex><min_ncpus>2</min_ncpus>"
        "<cpu_feature>avx</cpu_feature></plan_class></plan_classes>";
    char copy[sizeof(text)];
    unsigned state = 12345u + (unsigned)_i;
    struct plan_class_set set;

    for (int i = 0; i < 2000; i++) {
        struct buf err = BUF_INIT;

        memcpy(copy, text, sizeof(text));
        for (int k = 0; k < 3; k++) {
            size_t at = noise(&state) % (sizeof(text) - 1);
            copy[at] = (char)noise(&state);
        }
        if (plan_class_file_parse(copy, sizeof(copy) - 1, "f", &set, &err) != 0)
            ck_assert_uint_gt(err.len, 0);
        plan_class_set_free(&set);
        buf_free(&err);
    }
}
END_TEST

START_TEST(no_file_is_the_built_in_names)
{
    struct buf err = BUF_INIT;
    struct plan_class_set set;

    ck_assert_int_eq(plan_class_file_load(unit_folder, &set, &err), 0);
    ck_assert(!set.from_file);
    plan_class_set_free(&set);
    buf_free(&err);
}
END_TEST

/* Every row has a line in the reference. */
START_TEST(reference)
{
    struct buf text = BUF_INIT;

    plan_class_file_reference(&text);
    for (size_t i = 0; i < n_plan_class_rows; i++) {
        ck_assert_ptr_nonnull(strstr(buf_str(&text), plan_class_rows[i].name));
        ck_assert_uint_gt(strlen(plan_class_rows[i].help), 5);
    }
    buf_free(&text);
}
END_TEST

static void
fill(TCase *tc)
{
    tcase_add_test(tc, defaults);
    tcase_add_test(tc, cpu_class);
    tcase_add_test(tc, guest_class);
    tcase_add_test(tc, gpu_class);
    tcase_add_loop_test(tc, gpu_types, 0, ARRAY_LEN(spellings));
    tcase_add_test(tc, a_type_by_regex);
    tcase_add_loop_test(tc, tells_the_fault_and_its_line, 0, ARRAY_LEN(wrong));
    tcase_add_test(tc, tells_every_fault);
    tcase_add_test(tc, a_name_is_used_once);
    tcase_add_test(tc, an_unclosed_tag);
    tcase_add_test(tc, an_element_in_an_element);
    tcase_add_loop_test(tc, what_is_no_file_of_classes, 0, ARRAY_LEN(no_files));
    tcase_add_loop_test(tc, survives_noise, 0, 3);
    tcase_add_test(tc, no_file_is_the_built_in_names);
    tcase_add_test(tc, reference);
}

int
main(void)
{
    return unit_main("plan_class_file", fill);
}
