/* test_plan_class.c - each element of a plan class against a computer that is
 * just inside its limit, and one just outside (dispatch §7.2): refused by that
 * element, with the numbers. */
#include "plan_class_data.h"

#include <stdio.h>

/* A class and a computer that suits it. */
struct scene {
    struct plan_class_spec spec;
    struct computer computer;
    struct plan_class_verdict verdict;
};

static void
ask(struct scene *s)
{
    plan_class_check(&s->spec, asking(&s->computer), &s->verdict);
}

static void
expect_fit(struct scene *s, const char *promise)
{
    ask(s);
    ck_assert_msg(s->verdict.refusal == PLAN_CLASS_OK, "%s: refused by %s: %s",
                  promise, s->verdict.element, s->verdict.why);
    ck_assert_str_eq(s->verdict.why, "");
    ck_assert_ptr_null(s->verdict.element);
}

static void
expect_refusal(struct scene *s, const char *element,
               enum plan_class_refusal refusal, const char *why)
{
    ask(s);
    ck_assert_msg(s->verdict.refusal != PLAN_CLASS_OK, "%s allows", element);
    ck_assert_str_eq(s->verdict.element, element);
    ck_assert_str_eq(s->verdict.why, why);
    ck_assert_int_eq(s->verdict.refusal, refusal);
}

static void
set_regex(struct plan_class_regex *to, const char *text)
{
    memcpy(to->text, text, strlen(text) + 1);
    ck_assert_int_eq(regcomp(&to->compiled, text, REG_EXTENDED | REG_NOSUB), 0);
}

/* ---- the classes to begin with ---- */

static void
plain(struct scene *s)
{
    build_computer(&s->computer);
    s->spec = (struct plan_class_spec){PLAN_CLASS_DEFAULTS,
                                       .name = "class under test"};
}

static struct gpu *
with_gpu(struct scene *s, enum proc_type type)
{
    struct gpu *gpu = &s->computer.ability.gpu[type];

    plain(s);
    s->spec.uses = PLAN_CLASS_GPU;
    s->spec.gpu_type = type;
    *gpu = (struct gpu){
        .count = 2,
        .ram = 1000 * MB,
        .peak_flops = 1000 * GIGA,
        .opencl = {.has = true, .global_mem_size = 900 * MB}
    };
    return gpu;
}

static void
cuda(struct scene *s)
{
    struct gpu *gpu = with_gpu(s, PROC_NVIDIA);

    s->spec.cuda = true;
    gpu->has_cuda = true;
    gpu->cuda_version = 12020;
    gpu->driver_version = 53512;
    gpu->compute_capability = 809;
}

static void
nvidia_opencl(struct scene *s)
{
    with_gpu(s, PROC_NVIDIA);
    s->spec.opencl = true;
}

static void
amd(struct scene *s)
{
    struct gpu *gpu = with_gpu(s, PROC_AMD);

    gpu->cal_version = 10041848; /* 1.4.1848 */
    gpu->cal_target = 17;
}

static void
intel_opencl(struct scene *s)
{
    with_gpu(s, PROC_INTEL_GPU);
    s->spec.opencl = true;
}

static void
intel(struct scene *s)
{
    with_gpu(s, PROC_INTEL_GPU);
}

static void
apple(struct scene *s)
{
    with_gpu(s, PROC_APPLE_GPU);
}

static void
vbox(struct scene *s)
{
    plain(s);
    s->spec.virtualbox = true;
    s->spec.is64bit = true;
    put(s->computer.ability.virtualbox_version, "7.0.10");
}

/* ---- limits that are numbers ---- */

enum kind { INT, I64, REAL };

static void
set_number(void *object, size_t offset, enum kind kind, double value)
{
    char *at = (char *)object + offset;

    if (kind == INT)
        *(int *)(void *)at = (int)value;
    else if (kind == I64)
        *(int64_t *)(void *)at = (int64_t)value;
    else
        *(double *)(void *)at = value;
}

#define ELEMENT(name, kind) #name, offsetof(struct plan_class_spec, name), kind
#define OF_HOST(member, kind) offsetof(struct computer, member), kind
#define NVIDIA_GPU(member, kind) OF_HOST(ability.gpu[PROC_NVIDIA].member, kind)
#define AMD_GPU(member, kind) OF_HOST(ability.gpu[PROC_AMD].member, kind)

/* clang-format off */
static const struct limit {
    void (*begin)(struct scene *);
    const char *element;
    size_t spec_offset;
    enum kind spec_kind;
    double limit;
    size_t host_offset;
    enum kind host_kind;
    double fits, fits_too, does_not;
    enum plan_class_refusal refusal;
    const char *why;
} limits[] = {
    {plain, ELEMENT(infeasible_random, REAL), 0.25, OF_HOST(asks.draw, REAL), 0.25, 0.99, 0.2499,
     PLAN_CLASS_CHANCE, "is given to a part of the requests only, chosen by chance"},
    {plain, ELEMENT(user_id, I64), 5, OF_HOST(host.userid, I64), 5, 5, 6,
     PLAN_CLASS_USER, "is being tested by another user"},
    {plain, ELEMENT(min_ncpus, REAL), 4, OF_HOST(asks.ncpus, INT), 4, 5, 3,
     PLAN_CLASS_HOST, "needs 4 processors, 3 may be used"},
    {plain, ELEMENT(min_ncpus, REAL), 16, OF_HOST(asks.ncpus, INT), 16, 64, 15,
     PLAN_CLASS_HOST, "needs 16 processors, 15 may be used"},
    {plain, ELEMENT(min_core_client_version, INT), 71600, OF_HOST(asks.client_version, INT), 71600, 71601, 71599,
     PLAN_CLASS_CLIENT, "needs client 7.16.0 or later, this is 7.15.99"},
    {plain, ELEMENT(max_core_client_version, INT), 71600, OF_HOST(asks.client_version, INT), 71600, 71599, 71601,
     PLAN_CLASS_CLIENT, "needs client 7.16.0 or earlier, this is 7.16.1"},
    {plain, ELEMENT(mem_usage_base_mb, REAL), 1000, OF_HOST(asks.usable_ram, REAL), 1000 * MB, 1001 * MB, 1000 * MB - 1,
     PLAN_CLASS_HOST, "needs 1000 MB of memory, 999 MB may be used"},
    {plain, ELEMENT(mem_usage_per_cpu_mb, REAL), 500, OF_HOST(asks.usable_ram, REAL), 500 * MB, 501 * MB, 400 * MB,
     PLAN_CLASS_HOST, "needs 500 MB of memory, 400 MB may be used"},

    {cuda, ELEMENT(min_nvidia_compcap, INT), 705, NVIDIA_GPU(compute_capability, INT), 705, 800, 704,
     PLAN_CLASS_HOST, "needs compute capability 7.5 or later, this is 7.4"},
    {cuda, ELEMENT(max_nvidia_compcap, INT), 705, NVIDIA_GPU(compute_capability, INT), 705, 100, 706,
     PLAN_CLASS_HOST, "needs compute capability 7.5 or earlier, this is 7.6"},
    {cuda, ELEMENT(min_cuda_version, INT), 11080, NVIDIA_GPU(cuda_version, INT), 11080, 12000, 11070,
     PLAN_CLASS_DRIVER, "needs CUDA 11.8 or later, this is 11.7"},
    {cuda, ELEMENT(max_cuda_version, INT), 11080, NVIDIA_GPU(cuda_version, INT), 11080, 9000, 12000,
     PLAN_CLASS_DRIVER, "needs CUDA 11.8 or earlier, this is 12.0"},
    {cuda, ELEMENT(min_driver_version, INT), 45080, NVIDIA_GPU(driver_version, INT), 45080, 45081, 45079,
     PLAN_CLASS_DRIVER, "needs NVIDIA driver 450.80 or later, this is 450.79"},
    {cuda, ELEMENT(max_driver_version, INT), 45080, NVIDIA_GPU(driver_version, INT), 45080, 45079, 45081,
     PLAN_CLASS_DRIVER, "needs NVIDIA driver 450.80 or earlier, this is 450.81"},
    {cuda, ELEMENT(min_gpu_ram_mb, REAL), 2000, NVIDIA_GPU(ram, REAL), 2000 * MB, 2001 * MB, 1999 * MB,
     PLAN_CLASS_HOST, "needs 2000 MB of video memory, the NVIDIA GPU has 1999 MB"},
    {cuda, ELEMENT(min_gpu_ram_mb, REAL), 500, NVIDIA_GPU(ram, REAL), 500 * MB, 501 * MB, 400 * MB,
     PLAN_CLASS_HOST, "needs 500 MB of video memory, the NVIDIA GPU has 400 MB"},
    {cuda, ELEMENT(min_gpu_peak_flops, REAL), 500 * GIGA, NVIDIA_GPU(peak_flops, REAL), 500 * GIGA, 501 * GIGA, 499 * GIGA,
     PLAN_CLASS_HOST, "needs a GPU of 500 GFLOPS, this has 499"},
    {cuda, ELEMENT(max_gpu_peak_flops, REAL), 500 * GIGA, NVIDIA_GPU(peak_flops, REAL), 500 * GIGA, 499 * GIGA, 501 * GIGA,
     PLAN_CLASS_HOST, "is for GPUs of at most 500 GFLOPS, this has 501"},
    {cuda, ELEMENT(ngpus, REAL), 2, NVIDIA_GPU(count, INT), 2, 3, 1,
     PLAN_CLASS_HOST, "needs 2 GPUs, this computer has 1"},

    {nvidia_opencl, ELEMENT(min_opencl_version, INT), 102, NVIDIA_GPU(opencl.device_version, INT), 102, 300, 101,
     PLAN_CLASS_DRIVER, "needs OpenCL 1.2 or later, this is 1.1"},
    {nvidia_opencl, ELEMENT(max_opencl_version, INT), 102, NVIDIA_GPU(opencl.device_version, INT), 102, 100, 200,
     PLAN_CLASS_DRIVER, "needs OpenCL 1.2 or earlier, this is 2.0"},
    {nvidia_opencl, ELEMENT(min_opencl_driver_revision, INT), 535, NVIDIA_GPU(opencl.driver_revision, INT), 535, 536, 534,
     PLAN_CLASS_DRIVER, "needs OpenCL driver revision 535 or later, this is 534"},
    {nvidia_opencl, ELEMENT(max_opencl_driver_revision, INT), 535, NVIDIA_GPU(opencl.driver_revision, INT), 535, 1, 536,
     PLAN_CLASS_DRIVER, "needs OpenCL driver revision 535 or earlier, this is 536"},
    {nvidia_opencl, ELEMENT(min_gpu_ram_mb, REAL), 500, NVIDIA_GPU(opencl.global_mem_size, REAL), 500 * MB, 501 * MB, 400 * MB,
     PLAN_CLASS_HOST, "needs 500 MB of video memory, the NVIDIA GPU has 400 MB"},

    {amd, ELEMENT(min_cal_target, INT), 10, AMD_GPU(cal_target, INT), 10, 11, 9,
     PLAN_CLASS_HOST, "needs GPU target 10 or later, this is 9"},
    {amd, ELEMENT(max_cal_target, INT), 10, AMD_GPU(cal_target, INT), 10, 9, 11,
     PLAN_CLASS_HOST, "needs GPU target 10 or earlier, this is 11"},
    {amd, ELEMENT(min_driver_version, INT), 10041000, AMD_GPU(cal_version, INT), 10041000, 10050000, 10040999,
     PLAN_CLASS_DRIVER, "needs AMD driver 1.4.1000 or later, this is 1.4.999"},
    {amd, ELEMENT(max_driver_version, INT), 10041000, AMD_GPU(cal_version, INT), 10041000, 10040000, 10041001,
     PLAN_CLASS_DRIVER, "needs AMD driver 1.4.1000 or earlier, this is 1.4.1001"},

    /* without OpenCL too, unlike the reference */
    {intel, ELEMENT(min_gpu_ram_mb, REAL), 500, OF_HOST(ability.gpu[PROC_INTEL_GPU].ram, REAL), 500 * MB, 501 * MB, 400 * MB,
     PLAN_CLASS_HOST, "needs 500 MB of video memory, the Intel GPU has 400 MB"},
    {intel_opencl, ELEMENT(min_opencl_version, INT), 300, OF_HOST(ability.gpu[PROC_INTEL_GPU].opencl.device_version, INT), 300, 301, 201,
     PLAN_CLASS_DRIVER, "needs OpenCL 3.0 or later, this is 2.1"},
    {apple, ELEMENT(min_gpu_ram_mb, REAL), 500, OF_HOST(ability.gpu[PROC_APPLE_GPU].ram, REAL), 500 * MB, 501 * MB, 400 * MB,
     PLAN_CLASS_HOST, "needs 500 MB of video memory, the Apple GPU has 400 MB"},
    {apple, ELEMENT(min_metal_support, INT), 3, OF_HOST(ability.gpu[PROC_APPLE_GPU].metal_support, INT), 3, 4, 2,
     PLAN_CLASS_HOST, "needs Metal 3 or later, this is 2"},
    {vbox, ELEMENT(min_ncpus, REAL), 2, OF_HOST(asks.ncpus, INT), 2, 8, 1,
     PLAN_CLASS_HOST, "needs 2 processors, 1 may be used"},
};
/* clang-format on */

START_TEST(keeps_the_limit)
{
    const struct limit *l = &limits[_i];
    struct scene *s = calloc(1, sizeof(*s));

    l->begin(s);
    set_number(&s->spec, l->spec_offset, l->spec_kind, l->limit);
    set_number(&s->computer, l->host_offset, l->host_kind, l->fits);
    expect_fit(s, l->element);
    set_number(&s->computer, l->host_offset, l->host_kind, l->fits_too);
    expect_fit(s, l->element);
    set_number(&s->computer, l->host_offset, l->host_kind, l->does_not);
    expect_refusal(s, l->element, l->refusal, l->why);
    set_number(&s->spec, l->spec_offset, l->spec_kind, 0);
    if (strcmp(l->element, "ngpus") != 0)
        expect_fit(s, "0 is no limit");
    free(s);
}
END_TEST

/* ---- operating systems ---- */

#define DEBIAN "Debian GNU/Linux 12 (bookworm) [6.1.27-1-amd64|libc 2.36]"
#define WINDOWS "Professional x64 Edition, (10.00.22631.00)"

/* clang-format off */
static const struct {
    const char *os_name, *os_version;
    int64_t version; /* 0: cannot be read */
    const char *text;
} systems[] = {
    {"Linux Debian",         DEBIAN,                       60127,      "6.1.27"},
    {"Linux",                "5.4.0-42-generic",           50400,      "5.4.0"},
    {"Linux Ubuntu",         "Ubuntu 22.04.5 LTS [6.8.0-49-generic|libc 2.35 (Ubuntu GLIBC 2.35-0ubuntu3.8)]", 60800, "6.8.0"},
    {"Darwin",               "21.6.0",                     210600,     "21.6.0"},
    {"Linux",                "4.14.113",                   41499,      "4.14.99"},
    {"Android",              "4.14.13-gab (Android 10)",   41413,      "4.14.13"},
    {"Microsoft Windows 11", WINDOWS,                      1002263100, "10.0.22631.0"},
    {"Microsoft Windows XP", "Professional x86 Edition, Service Pack 3, (05.01.2600.00)", 501260000, "5.1.2600.0"},
    {"Microsoft Windows 11", "Professional x64 Edition",   0,          NULL},
    {"Linux Debian",         "trixie/sid",                 0,          NULL},
    {"Linux",                "",                           0,          NULL},
    {"FreeBSD",              "13.2-RELEASE",               0,          NULL},
    {"",                     "1.2.3",                      0,          NULL},
};
/* clang-format on */

static void
set_system(struct scene *s, const char *name, const char *version)
{
    snprintf(s->computer.host.os_name, sizeof(s->computer.host.os_name), "%s",
             name);
    snprintf(s->computer.host.os_version, sizeof(s->computer.host.os_version),
             "%s", version);
}

/* The version is found exactly: it fits itself as least and as most, and
 * neither the next nor the one before. */
START_TEST(versions_of_systems)
{
    struct scene *s = calloc(1, sizeof(*s));
    int64_t version = systems[_i].version;

    plain(s);
    set_system(s, systems[_i].os_name, systems[_i].os_version);
    s->spec.min_os_version = s->spec.max_os_version =
        version != 0 ? version : 1;
    if (version == 0) {
        ask(s);
        ck_assert_int_eq(s->verdict.refusal, PLAN_CLASS_HOST);
        ck_assert_str_eq(s->verdict.element, "min_os_version");
        s->spec.min_os_version = 0;
        ask(s);
        ck_assert_str_eq(s->verdict.element, "max_os_version");
    } else {
        expect_fit(s, systems[_i].text);
        s->spec.min_os_version++;
        s->spec.max_os_version = 0;
        ask(s);
        ck_assert_str_eq(s->verdict.element, "min_os_version");
        ck_assert_ptr_nonnull(strstr(s->verdict.why, systems[_i].text));
        s->spec.min_os_version = 0;
        s->spec.max_os_version = version - 1;
        ask(s);
        ck_assert_str_eq(s->verdict.element, "max_os_version");
    }
    free(s);
}
END_TEST

START_TEST(android)
{
    struct scene *s = calloc(1, sizeof(*s));

    plain(s);
    s->spec.min_android_version = 90000;
    set_system(s, "Android", "4.14.113-gab (Android 9.0)");
    expect_fit(s, "exactly");
    set_system(s, "Android", "4.14.113-gab (Android 8.1.2)");
    expect_refusal(s, "min_android_version", PLAN_CLASS_HOST,
                   "needs Android 9.0.0 or later, this is 8.1.2");
    set_system(s, "Linux", DEBIAN);
    ask(s);
    ck_assert_str_eq(s->verdict.element, "min_android_version");
    s->spec.min_android_version = 0;
    s->spec.max_android_version = 80102;
    set_system(s, "Android", "4.14.113-gab (Android 8.1.2)");
    expect_fit(s, "exactly");
    set_system(s, "Android", "4.14.113-gab (Android 8.1.3)");
    expect_refusal(s, "max_android_version", PLAN_CLASS_HOST,
                   "needs Android 8.1.2 or earlier, this is 8.1.3");
    free(s);
}
END_TEST

START_TEST(libc)
{
    struct scene *s = calloc(1, sizeof(*s));

    plain(s);
    s->spec.min_libc_version = 236;
    expect_fit(s, "libc 2.36");
    s->spec.min_libc_version = 237;
    expect_refusal(s, "min_libc_version", PLAN_CLASS_HOST,
                   "needs libc 2.37 or later, this is 2.36");
    set_system(s, "Linux", "5.4.0"); /* unknown is 0 */
    expect_refusal(s, "min_libc_version", PLAN_CLASS_HOST,
                   "needs libc 2.37 or later, this is 0.0");
    free(s);
}
END_TEST

/* ---- words and patterns ---- */

START_TEST(features)
{
    struct scene *s = calloc(1, sizeof(*s));

    plain(s);
    s->spec.n_cpu_features = 2;
    put(s->spec.cpu_feature[0], "pni");
    put(s->spec.cpu_feature[1], "avx2");
    expect_fit(s, "both are there, the last word too");
    put(s->spec.cpu_feature[1], "avx");
    expect_refusal(s, "cpu_feature", PLAN_CLASS_HOST,
                   "needs a CPU with avx, which this one lacks");
    put(s->spec.cpu_feature[1], "vx2");
    ask(s);
    ck_assert_str_eq(s->verdict.element, "cpu_feature");
    put(s->spec.cpu_feature[1], "fpu");
    expect_fit(s, "the first word");
    s->computer.ability.features[0] = '\0';
    ask(s);
    ck_assert_str_eq(s->verdict.element, "cpu_feature");
    free(s);
}
END_TEST

/* clang-format off */
static const struct {
    size_t offset;
    const char *element, *fits, *does_not, *why;
} patterns[] = {
    {offsetof(struct plan_class_spec, os_regex), "os_regex", "bookworm|trixie", "^Ubuntu",
     "needs a version of the operating system that matches \"^Ubuntu\", this is \"Debian GNU/Linux 12 (bookworm) [6.1.27-1-amd64|lib\""},
    {offsetof(struct plan_class_spec, cpu_vendor_regex), "cpu_vendor_regex", "^Genuine", "AMD",
     "needs a CPU maker that matches \"AMD\", this is \"GenuineExample\""},
    {offsetof(struct plan_class_spec, cpu_model_regex), "cpu_model_regex", "CPU 1[0-9]{3}$", "CPU 2",
     "needs a CPU model that matches \"CPU 2\", this is \"Example(R) CPU 1000\""},
};
/* clang-format on */

START_TEST(matches)
{
    struct scene *s = calloc(1, sizeof(*s));
    struct plan_class_regex *regex;

    plain(s);
    regex = (struct plan_class_regex *)(void *)((char *)&s->spec +
                                                patterns[_i].offset);
    set_regex(regex, patterns[_i].fits);
    expect_fit(s, patterns[_i].element);
    regfree(&regex->compiled);
    set_regex(regex, patterns[_i].does_not);
    expect_refusal(s, patterns[_i].element, PLAN_CLASS_HOST, patterns[_i].why);
    regfree(&regex->compiled);
    free(s);
}
END_TEST

START_TEST(preferences)
{
    struct scene *s = calloc(1, sizeof(*s));

    plain(s);
    put(s->spec.project_prefs_tag, "speed");
    set_regex(&s->spec.project_prefs_regex, "^(fast|faster)$");
    expect_refusal(s, "project_prefs_regex", PLAN_CLASS_USER,
                   "your preferences for this project do not choose it (speed "
                   "is \"\")");
    s->spec.project_prefs_default_true = true;
    expect_fit(s, "no word on it is a yes");
    s->computer.prefs.n_prefs = 2;
    s->computer.pref[0] = (struct project_pref){"other", "fast"};
    s->computer.pref[1] = (struct project_pref){"speed", "slow"};
    ask(s);
    ck_assert_int_eq(s->verdict.refusal, PLAN_CLASS_USER);
    s->computer.pref[1] = (struct project_pref){"speed", "faster"};
    s->spec.project_prefs_default_true = false;
    expect_fit(s, "chosen");
    regfree(&s->spec.project_prefs_regex.compiled);
    free(s);
}
END_TEST

/* ---- VirtualBox ---- */

START_TEST(virtualbox)
{
    struct scene *s = calloc(1, sizeof(*s));

    vbox(s);
    expect_fit(s, "it is there");
    s->computer.asks.client_version = 70000;
    expect_fit(s, "client 7.0.0");
    s->computer.asks.client_version = 69999;
    expect_refusal(s, "virtualbox", PLAN_CLASS_CLIENT,
                   "needs client 7.0.0 or later");
    vbox(s);
    put(s->computer.ability.virtualbox_version, "");
    expect_refusal(s, "virtualbox", PLAN_CLASS_DRIVER,
                   "needs VirtualBox, which is not installed");
    put(s->computer.ability.virtualbox_version, "7.0.10 unusable");
    expect_refusal(s, "virtualbox", PLAN_CLASS_DRIVER,
                   "needs VirtualBox, which cannot be used here (\"7.0.10 "
                   "unusable\")");
    put(s->computer.ability.virtualbox_version, "what");
    ask(s);
    ck_assert_str_eq(s->verdict.element, "virtualbox");
    free(s);
}
END_TEST

START_TEST(virtualbox_versions)
{
    struct scene *s = calloc(1, sizeof(*s));

    vbox(s);
    s->spec.min_vbox_version = s->spec.max_vbox_version = 70010;
    expect_fit(s, "exactly");
    s->spec.min_vbox_version = s->spec.max_vbox_version = 70011;
    expect_refusal(s, "min_vbox_version", PLAN_CLASS_DRIVER,
                   "needs VirtualBox 7.0.11 or later, this is 7.0.10");
    s->spec.min_vbox_version = 0;
    s->spec.max_vbox_version = 70009;
    expect_refusal(s, "max_vbox_version", PLAN_CLASS_DRIVER,
                   "needs VirtualBox 7.0.9 or earlier, this is 7.0.10");
    s->spec.max_vbox_version = 0;
    s->spec.n_exclude_vbox_versions = 2;
    s->spec.exclude_vbox_version[0] = 70009;
    s->spec.exclude_vbox_version[1] = 70011;
    expect_fit(s, "its neighbours are excluded");
    s->spec.exclude_vbox_version[1] = 70010;
    expect_refusal(s, "exclude_vbox_version", PLAN_CLASS_DRIVER,
                   "does not work with VirtualBox 7.0.10");
    free(s);
}
END_TEST

START_TEST(virtual_machines_in_hardware)
{
    struct scene *s = calloc(1, sizeof(*s));

    vbox(s);
    s->spec.vm_accel_required = true;
    expect_fit(s, "vmx");
    put(s->computer.ability.features, " fpu svm ");
    expect_fit(s, "svm");
    s->computer.ability.vm_extensions_disabled = true;
    expect_refusal(s, "vm_accel_required", PLAN_CLASS_HOST,
                   "needs hardware support for virtual machines, which is "
                   "switched off in this computer's firmware (BIOS)");
    s->computer.ability.vm_extensions_disabled = false;
    put(s->computer.ability.features, " fpu vmxx ");
    expect_refusal(s, "vm_accel_required", PLAN_CLASS_HOST,
                   "needs hardware support for virtual machines, which this "
                   "CPU lacks");
    s->spec.vm_accel_required = false;
    s->spec.max_threads = 4;
    expect_fit(s, "not required");
    ck_assert_double_eq(s->verdict.usage.avg_ncpus, 1); /* but one CPU */
    s->spec.min_ncpus = 2;
    ask(s);
    ck_assert_str_eq(s->verdict.element, "min_ncpus");
    free(s);
}
END_TEST

START_TEST(bits)
{
    struct scene *s = calloc(1, sizeof(*s));

    vbox(s);
    s->computer.asks.primary_platform = "windows_intelx86";
    expect_refusal(s, "is64bit", PLAN_CLASS_HOST,
                   "needs a 64-bit system, this is windows_intelx86");
    s->spec.is64bit = false;
    expect_fit(s, "both 32");
    s->computer.asks.primary_platform = "windows_x86_64";
    expect_refusal(s, "is64bit", PLAN_CLASS_HOST,
                   "needs a 32-bit system, this is windows_x86_64");
    free(s);
}
END_TEST

/* ---- WSL and Docker ---- */

START_TEST(wsl)
{
    struct scene *s = calloc(1, sizeof(*s));
    struct ability *a = &s->computer.ability;

    plain(s);
    set_system(s, "Microsoft Windows 11", WINDOWS);
    s->spec.wsl = true;
    expect_refusal(s, "wsl", PLAN_CLASS_HOST,
                   "needs a WSL distribution, and none may be used here");
    a->n_distros = 2;
    a->distro[0] = (struct wsl_distro){.name = "Ubuntu", .libc_version = 235};
    a->distro[1] = (struct wsl_distro){
        .name = "Arch", .libc_version = 240, .disallowed = true};
    expect_fit(s, "Ubuntu is permitted");
    s->spec.min_libc_version = 235;
    expect_fit(s, "its libc exactly; the host's own counts not");
    s->spec.min_libc_version = 236;
    expect_refusal(s, "min_libc_version", PLAN_CLASS_HOST,
                   "needs a WSL distribution with libc 2.36 or later, the "
                   "latest here is 2.35");
    a->distro[0].disallowed = true;
    ask(s);
    ck_assert_str_eq(s->verdict.element, "wsl");
    a->dont_use_wsl = true;
    expect_refusal(s, "wsl", PLAN_CLASS_USER,
                   "needs WSL, which your client may not use");
    free(s);
}
END_TEST

START_TEST(docker_on_linux)
{
    struct scene *s = calloc(1, sizeof(*s));
    struct ability *a = &s->computer.ability;

    plain(s);
    s->spec.docker = true;
    expect_refusal(s, "docker", PLAN_CLASS_HOST,
                   "needs Docker or Podman, neither is installed");
    put(a->docker.version, "24.0.5");
    expect_fit(s, "installed");
    set_system(s, "Darwin", "23.1.0");
    s->computer.asks.client_version = 80206;
    expect_fit(s, "client 8.2.6 on a Mac");
    s->computer.asks.client_version = 80205;
    expect_refusal(s, "docker", PLAN_CLASS_CLIENT,
                   "needs client 8.2.6 or later on a Mac");
    a->dont_use_docker = true;
    expect_refusal(s, "docker", PLAN_CLASS_USER,
                   "needs Docker, which your client may not use");
    free(s);
}
END_TEST

START_TEST(docker_on_windows)
{
    struct scene *s = calloc(1, sizeof(*s));
    struct ability *a = &s->computer.ability;

    plain(s);
    s->spec.docker = true;
    set_system(s, "Microsoft Windows 11", WINDOWS);
    a->n_distros = 1;
    a->distro[0] = (struct wsl_distro){.name = "Ubuntu"};
    expect_refusal(s, "docker", PLAN_CLASS_HOST,
                   "needs a WSL distribution with Docker or Podman");
    put(a->distro[0].docker.version, "24.0.5");
    expect_fit(s, "Docker in a distribution");
    a->distro[0] =
        (struct wsl_distro){.name = "boinc-buda-runner", .version = 4};
    s->spec.min_boinc_wsl_distro_version = 4;
    expect_fit(s, "BOINC's own distribution, exactly new enough");
    s->spec.min_boinc_wsl_distro_version = 5;
    ask(s);
    ck_assert_str_eq(s->verdict.element, "docker");
    s->spec.min_boinc_wsl_distro_version = 0;
    a->distro[0].disallowed = true;
    ask(s);
    ck_assert_str_eq(s->verdict.element, "docker");
    a->distro[0].disallowed = false;
    a->dont_use_wsl = true;
    expect_refusal(s, "docker", PLAN_CLASS_USER,
                   "needs WSL, which your client may not use");
    free(s);
}
END_TEST

/* ---- GPUs: what is there or not ---- */

START_TEST(needs_the_gpu)
{
    static const char *const names[N_PROC_TYPES] = {"", "NVIDIA GPU", "AMD GPU",
                                                    "Intel GPU", "Apple GPU"};
    struct scene *s = calloc(1, sizeof(*s));
    char why[200];

    with_gpu(s, (enum proc_type)_i);
    expect_fit(s, names[_i]);
    ck_assert_int_eq(s->verdict.usage.type, _i);
    s->computer.ability.gpu[_i].count = 0;
    snprintf(why, sizeof(why),
             "needs a coprocessor of type %s, this computer has none",
             names[_i]);
    expect_refusal(s, "gpu_type", PLAN_CLASS_HOST, why);
    free(s);
}
END_TEST

START_TEST(other_coprocessors)
{
    struct scene *s = calloc(1, sizeof(*s));
    struct ability *a = &s->computer.ability;

    plain(s);
    s->spec.uses = PLAN_CLASS_OTHER;
    put(s->spec.gpu_other, "miner_asic");
    expect_refusal(s, "gpu_type", PLAN_CLASS_HOST,
                   "needs a coprocessor of type miner_asic, this computer has "
                   "none");
    a->n_coprocs = 2;
    a->coproc[0] = (struct coproc){.type = "fpga", .gpu = {.count = 1}};
    a->coproc[1] = (struct coproc){.type = "Miner_ASIC", .gpu = {.count = 1}};
    expect_fit(s, "in any case");
    ck_assert_str_eq(s->verdict.usage.other_coproc, "Miner_ASIC");
    ck_assert_int_eq(s->verdict.usage.type, PROC_CPU);
    ck_assert_double_eq(s->verdict.usage.gpu_usage, 1);
    set_regex(&s->spec.gpu_type_regex, "^fp");
    expect_fit(s, "by regex");
    ck_assert_str_eq(s->verdict.usage.other_coproc, "fpga");
    regfree(&s->spec.gpu_type_regex.compiled);
    set_regex(&s->spec.gpu_type_regex, "^x");
    ask(s);
    ck_assert_str_eq(s->verdict.element, "gpu_type_regex");
    regfree(&s->spec.gpu_type_regex.compiled);
    free(s);
}
END_TEST

START_TEST(interfaces)
{
    struct scene *s = calloc(1, sizeof(*s));

    cuda(s);
    s->computer.ability.gpu[PROC_NVIDIA].has_cuda = false;
    expect_refusal(s, "cuda", PLAN_CLASS_DRIVER,
                   "needs CUDA for the NVIDIA GPU, which your driver does not "
                   "offer");
    cuda(s);
    set_system(s, "Darwin", "10.8.0");
    s->computer.asks.client_version = 61028;
    expect_fit(s, "CUDA on a Mac");
    s->computer.asks.client_version = 61027;
    expect_refusal(s, "cuda", PLAN_CLASS_CLIENT,
                   "needs client 6.10.28 or later on a Mac");
    nvidia_opencl(s);
    s->computer.ability.gpu[PROC_NVIDIA].opencl.has = false;
    expect_refusal(s, "opencl", PLAN_CLASS_DRIVER,
                   "needs OpenCL for the NVIDIA GPU, which your driver does "
                   "not offer");
    amd(s);
    s->spec.without_opencl = true;
    expect_refusal(s, "without_opencl", PLAN_CLASS_HOST,
                   "is for the AMD GPU without OpenCL");
    s->computer.ability.gpu[PROC_AMD].opencl.has = false;
    expect_fit(s, "without");
    free(s);
}
END_TEST

START_TEST(amd_libraries)
{
    struct scene *s = calloc(1, sizeof(*s));
    struct gpu *gpu = &s->computer.ability.gpu[PROC_AMD];

    amd(s);
    s->spec.need_ati_libs = true;
    expect_refusal(s, "need_ati_libs", PLAN_CLASS_DRIVER,
                   "needs the ATI libraries for the AMD GPU, which your driver "
                   "does not offer");
    gpu->atirt = true;
    expect_fit(s, "ATI");
    s->spec.need_amd_libs = true;
    expect_refusal(s, "need_amd_libs", PLAN_CLASS_DRIVER,
                   "needs the AMD libraries for the AMD GPU, which your driver "
                   "does not offer");
    gpu->amdrt = true;
    expect_fit(s, "both");
    s->spec.cal = true; /* gpu->has_cal is false */
    expect_fit(s, "cal has no effect");
    free(s);
}
END_TEST

START_TEST(double_precision)
{
    struct scene *s = calloc(1, sizeof(*s));

    nvidia_opencl(s);
    s->spec.double_precision_fp = true;
    expect_refusal(s, "double_precision_fp", PLAN_CLASS_HOST,
                   "needs double precision, which the NVIDIA GPU lacks");
    s->computer.ability.gpu[PROC_NVIDIA].opencl.double_precision = true;
    expect_fit(s, "OpenCL");
    cuda(s);
    s->spec.double_precision_fp = true;
    s->computer.ability.gpu[PROC_NVIDIA].compute_capability = 103;
    expect_fit(s, "CUDA from compute capability 1.3 on");
    s->computer.ability.gpu[PROC_NVIDIA].compute_capability = 102;
    ask(s);
    ck_assert_str_eq(s->verdict.element, "double_precision_fp");
    free(s);
}
END_TEST

/* ---- no class, a bad class, classes of jobs ---- */

START_TEST(no_class)
{
    struct scene *s = calloc(1, sizeof(*s));

    plain(s);
    plan_class_check(NULL, asking(&s->computer), &s->verdict);
    ck_assert_int_eq(s->verdict.refusal, PLAN_CLASS_UNKNOWN);
    ck_assert_str_eq(s->verdict.why,
                     "the project does not describe its plan class");
    s->spec.faulty = true;
    ask(s);
    ck_assert_int_eq(s->verdict.refusal, PLAN_CLASS_UNKNOWN);
    ck_assert_str_eq(s->verdict.why,
                     "the project's description of plan class class under "
                     "test has errors");
    free(s);
}
END_TEST

/* With a file the built-in names are not used, not even if it is empty. */
START_TEST(finds_the_class)
{
    struct plan_class_spec spec[2] = {{.name = "a"}, {.name = "b"}};
    struct plan_class_set set = {.from_file = true, .spec = spec, .n = 2};
    struct plan_class_spec scratch;

    ck_assert_ptr_eq(plan_class_find(&set, "b", &scratch), &spec[1]);
    ck_assert_ptr_null(plan_class_find(&set, "mt", &scratch));
    set.n = 0;
    ck_assert_ptr_null(plan_class_find(&set, "mt", &scratch));
    set.from_file = false;
    ck_assert_ptr_eq(plan_class_find(&set, "mt", &scratch), &scratch);
    ck_assert_ptr_null(plan_class_find(&set, "a", &scratch));
}
END_TEST

START_TEST(jobs)
{
    struct plan_class_spec spec = {.name = "a"};

    ck_assert(!plan_class_limits_jobs(&spec));
    ck_assert(plan_class_takes_job(&spec, 1, 0));
    spec.min_wu_id = 100;
    spec.max_wu_id = 200;
    ck_assert(plan_class_limits_jobs(&spec));
    ck_assert(!plan_class_takes_job(&spec, 99, 0));
    ck_assert(plan_class_takes_job(&spec, 100, 0));
    ck_assert(plan_class_takes_job(&spec, 200, 0));
    ck_assert(!plan_class_takes_job(&spec, 201, 0));
    spec.min_batch = 7;
    spec.max_batch = 8;
    ck_assert(!plan_class_takes_job(&spec, 100, 6));
    ck_assert(plan_class_takes_job(&spec, 100, 7));
    ck_assert(plan_class_takes_job(&spec, 100, 8));
    ck_assert(!plan_class_takes_job(&spec, 100, 9));
}
END_TEST

static const struct {
    const char *name;
    enum proc_type type;
} names[] = {
    {"cuda_fermi",           PROC_NVIDIA   },
    {"opencl_nvidia_101",    PROC_NVIDIA   },
    {"ati14",                PROC_AMD      },
    {"my_amd_class",         PROC_AMD      },
    {"opencl_intel_gpu_102", PROC_INTEL_GPU},
    {"opencl_apple_gpu_102", PROC_APPLE_GPU},
    {"mt",                   PROC_CPU      },
    {"opencl_cpu_intel",     PROC_CPU      },
    {"",                     PROC_CPU      },
};

START_TEST(type_by_name)
{
    ck_assert_int_eq(plan_class_name_type(names[_i].name), names[_i].type);
}
END_TEST

static void
fill(TCase *tc)
{
    tcase_add_loop_test(tc, keeps_the_limit, 0, ARRAY_LEN(limits));
    tcase_add_loop_test(tc, versions_of_systems, 0, ARRAY_LEN(systems));
    tcase_add_test(tc, android);
    tcase_add_test(tc, libc);
    tcase_add_test(tc, features);
    tcase_add_loop_test(tc, matches, 0, ARRAY_LEN(patterns));
    tcase_add_test(tc, preferences);
    tcase_add_test(tc, virtualbox);
    tcase_add_test(tc, virtualbox_versions);
    tcase_add_test(tc, virtual_machines_in_hardware);
    tcase_add_test(tc, bits);
    tcase_add_test(tc, wsl);
    tcase_add_test(tc, docker_on_linux);
    tcase_add_test(tc, docker_on_windows);
    tcase_add_loop_test(tc, needs_the_gpu, PROC_NVIDIA, N_PROC_TYPES);
    tcase_add_test(tc, other_coprocessors);
    tcase_add_test(tc, interfaces);
    tcase_add_test(tc, amd_libraries);
    tcase_add_test(tc, double_precision);
    tcase_add_test(tc, no_class);
    tcase_add_test(tc, finds_the_class);
    tcase_add_test(tc, jobs);
    tcase_add_loop_test(tc, type_by_name, 0, ARRAY_LEN(names));
}

int
main(void)
{
    return run_tests("plan_class", fill);
}
