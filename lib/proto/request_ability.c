/* request_ability.c - coprocs and the rest of host_info (protocol
 * §2.3.4, 2.3.5)
 * -> struct ability.
 *
 * A coprocessor says the same things whatever its type, and a few of its own,
 * so one table reads them all; what an element means then depends on the type.
 * Versions come as text and become numbers that can be compared. */
#include "request_ability.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "fields.h"
#include "xml.h"

#define REQ_SECS_MAX (28 * 86400.0 * ABILITY_MAX_INSTANCES)
#define MEGA 1048576.0
#define VERSION_PART_MAX 99999

/* ---- versions ---- */

/* The next number of a version: "12.0.1" -> 12, and *at behind the dot.  -1: no
 * digit there. */
static int
next_part(const char **at)
{
    int n = 0;

    if (!isdigit((unsigned char)**at))
        return -1;
    for (; isdigit((unsigned char)**at); ++*at)
        if (n <= VERSION_PART_MAX)
            n = 10 * n + (**at - '0');
    if (**at == '.')
        ++*at;
    return n <= VERSION_PART_MAX ? n : VERSION_PART_MAX;
}

/* "x 1.2 y" -> 102; 0 if there is no number. */
static int
major_minor(const char *text)
{
    int major, minor;

    text += strcspn(text, "0123456789");
    major = next_part(&text);
    minor = next_part(&text);
    return major < 0 ? 0 : 100 * major + (minor < 0 ? 0 : minor);
}

/* "a.b.c" -> 1e7a + 1e4b + c, as AMD's drivers are compared. */
static int
cal_version(const char *text)
{
    int part[3] = {0};

    for (int i = 0; i < 3; i++) {
        int n = next_part(&text);

        if (n < 0)
            break;
        part[i] = n;
    }
    if (part[0] > 200)
        part[0] = 200; /* fits an int */
    return 10000000 * part[0] + 10000 * (part[1] % 1000) + part[2];
}

/* The part that grows from release to release: the first of two ("535.12",
 * "1084.4 (VM)"), the last of more ("CAL 1.4.1848", "31.0.101.2111"). */
static int
driver_revision(const char *text)
{
    int first, last = 0, n = 0, part;

    text += strcspn(text, "0123456789");
    first = next_part(&text);
    for (part = first; part >= 0; part = next_part(&text)) {
        last = part;
        n++;
    }
    return n >= 3 ? last : first < 0 ? 0 : first;
}

/* ---- OpenCL ---- */

struct opencl_element {
    char vendor[NAME_SIZE];
    char device_version[NAME_SIZE], platform_version[NAME_SIZE];
    char driver_version[64];
    double double_fp_config, global_mem_size;
};

static void
read_opencl(const struct xml_node *node, struct opencl *ret)
{
#define OPENCL(element, kind, member, max)                                     \
    FIELD_AT(element, kind, opencl_element, member, 0, max)
    static const struct field fields[] = {
        OPENCL("vendor", FIELD_TEXT, vendor, 0),
        OPENCL("opencl_device_version", FIELD_TEXT, device_version, 0),
        OPENCL("opencl_platform_version", FIELD_TEXT, platform_version, 0),
        OPENCL("opencl_driver_version", FIELD_TEXT, driver_version, 0),
        OPENCL("double_fp_config", FIELD_DOUBLE, double_fp_config, MAX_REAL),
        OPENCL("global_mem_size", FIELD_DOUBLE, global_mem_size, MAX_REAL),
    };
    struct opencl_element e = {.vendor = ""};

    if (node == NULL)
        return;
    fields_read(fields, ARRAY_LEN(fields), node, &e);
    ret->has = true;
    str_copy(ret->vendor, sizeof(ret->vendor), e.vendor);
    str_copy(ret->driver_version, sizeof(ret->driver_version),
             e.driver_version);
    ret->device_version = major_minor(e.device_version);
    ret->platform_version = major_minor(e.platform_version);
    ret->driver_revision = driver_revision(e.driver_version);
    ret->double_precision = e.double_fp_config > 0;
    ret->global_mem_size = e.global_mem_size;
}

/* ---- coprocessors ---- */

/* All that any type sends. */
struct coproc_element {
    struct gpu gpu; /* what needs no second look */
    char type[64];
    bool non_gpu;
    int major, minor;
    char cal_version[64];
    double total_global_mem; /* bytes */
    double local_ram;        /* MB */
};

static const struct field coproc_fields[] = {
#define COPROC(element, kind, member, max)                                     \
    FIELD_AT(element, kind, coproc_element, member, 0, max)
#define TEXT(element, member) COPROC(element, FIELD_TEXT, member, 0)
#define BOOL(element, member) COPROC(element, FIELD_BOOL, member, 0)
#define INT(element, member, max) COPROC(element, FIELD_INT, member, max)
#define REAL(element, member, max) COPROC(element, FIELD_DOUBLE, member, max)
    INT("count", gpu.count, ABILITY_MAX_INSTANCES),
    TEXT("name", gpu.name),
    TEXT("model", gpu.name), /* Apple */
    REAL("req_secs", gpu.req_secs, REQ_SECS_MAX),
    REAL("req_instances", gpu.req_instances, ABILITY_MAX_INSTANCES),
    REAL("estimated_delay", gpu.estimated_delay, MAX_REAL),
    REAL("peak_flops", gpu.peak_flops, MAX_REAL),
    REAL("available_ram", gpu.available_ram, MAX_REAL),
    BOOL("have_cuda", gpu.has_cuda),
    INT("cudaVersion", gpu.cuda_version, MAX_INT32),
    INT("drvVersion", gpu.driver_version, MAX_INT32),
    INT("major", major, 1000),
    INT("minor", minor, 99),
    REAL("totalGlobalMem", total_global_mem, MAX_REAL),
    BOOL("have_cal", gpu.has_cal),
    TEXT("CALVersion", cal_version),
    INT("target", gpu.cal_target, MAX_INT32),
    REAL("localRAM", local_ram, MAX_REAL / MEGA),
    BOOL("doublePrecision", gpu.double_precision),
    BOOL("atirt_detected", gpu.atirt),
    BOOL("amdrt_detected", gpu.amdrt),
    INT("metal_support", gpu.metal_support, MAX_INT32),
    INT("ncores", gpu.ncores, MAX_INT32),
    TEXT("type", type),
    BOOL("non_gpu", non_gpu),
#undef COPROC
#undef TEXT
#undef BOOL
#undef INT
#undef REAL
};

static double
first_positive(const double *value, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (value[i] > 0)
            return value[i];
    return 0;
}

/* False: the host has none of these. */
static bool
read_coproc(const struct xml_node *node, struct coproc_element *ret)
{
    struct gpu *gpu = &ret->gpu;
    const struct xml_node *opencl = xml_child(node, "coproc_opencl");
    bool said = false, is_there = xml_get_bool(node, "have_opencl", &said);

    *ret = (struct coproc_element){.type = ""};
    fields_read(coproc_fields, ARRAY_LEN(coproc_fields), node, ret);
    read_opencl(opencl, &gpu->opencl);
    if (is_there)
        gpu->opencl.has = said;
    /* old clients describe a GPU only if they found its interface */
    if (xml_child(node, "have_cuda") == NULL)
        gpu->has_cuda = strcmp(xml_name(node), "coproc_cuda") == 0;
    if (xml_child(node, "have_cal") == NULL)
        gpu->has_cal = strcmp(xml_name(node), "coproc_ati") == 0;
    gpu->compute_capability = 100 * ret->major + ret->minor;
    gpu->cal_version = cal_version(ret->cal_version);
    gpu->ram = first_positive(
        (double[]){ret->total_global_mem, ret->local_ram * MEGA,
                   gpu->opencl.global_mem_size, gpu->available_ram},
        4);
    return gpu->count > 0;
}

static const struct {
    const char *element;
    enum proc_type type;
} known_coprocs[] = {
    {"coproc_cuda",      PROC_NVIDIA   },
    {"coproc_ati",       PROC_AMD      },
    {"coproc_intel_gpu", PROC_INTEL_GPU},
    {"coproc_apple_gpu", PROC_APPLE_GPU},
};

static void
add_other(struct ability *a, const struct coproc_element *e)
{
    struct coproc *to = &a->coproc[a->n_coprocs];

    if (a->n_coprocs == ABILITY_MAX_COPROCS || e->type[0] == '\0')
        return;
    *to = (struct coproc){.non_gpu = e->non_gpu, .gpu = e->gpu};
    str_copy(to->type, sizeof(to->type), e->type);
    a->n_coprocs++;
}

void
ability_read_coprocs(const struct xml_node *list, struct ability *ret)
{
    const struct xml_node *node = xml_first(list);
    struct coproc_element e;

    for (; node != NULL; node = xml_next(node)) {
        for (size_t i = 0; i < ARRAY_LEN(known_coprocs); i++)
            if (strcmp(xml_name(node), known_coprocs[i].element) == 0 &&
                read_coproc(node, &e))
                ret->gpu[known_coprocs[i].type] = e.gpu;
        if (strcmp(xml_name(node), "coproc") == 0 && read_coproc(node, &e))
            add_other(ret, &e);
    }
}

/* ---- CPU features ---- */

/* Append the words of n bytes, a blank before the first and behind each.  A
 * word that does not fit ends it. */
static void
add_words(char *to, size_t size, const char *text, size_t n)
{
    size_t len = strlen(to);

    for (size_t i = 0; i < n;) {
        size_t start = i;

        while (i < n && !isspace((unsigned char)text[i]))
            i++;
        if (i > start && len + (i - start) + 3 > size)
            return;
        if (i > start && len == 0)
            to[len++] = ' ';
        for (size_t k = start; k < i; k++)
            to[len++] = (char)tolower((unsigned char)text[k]);
        if (i > start)
            to[len++] = ' ';
        to[len] = '\0';
        i++;
    }
}

static void
read_features(const struct xml_node *node, struct ability *ret)
{
    struct buf features = BUF_INIT, model = BUF_INIT;
    const char *open, *close;

    if (xml_child(node, "p_features") != NULL)
        xml_text(xml_child(node, "p_features"), &features);
    if (xml_child(node, "p_model") != NULL)
        xml_text(xml_child(node, "p_model"), &model);
    ret->features[0] = '\0';
    add_words(ret->features, sizeof(ret->features), buf_str(&features),
              features.len);
    open = strchr(buf_str(&model), '[');
    while (open != NULL && (close = strchr(open, ']')) != NULL) {
        add_words(ret->features, sizeof(ret->features), open + 1,
                  (size_t)(close - open - 1));
        open = strchr(close, '[');
    }
    buf_free(&features);
    buf_free(&model);
}

/* ---- host_info ---- */

struct distro_element {
    struct wsl_distro distro;
    char libc_version[64];
};

static void
read_distro(const struct xml_node *node, struct ability *ret)
{
#define DISTRO(element, kind, member, max)                                     \
    FIELD_AT(element, kind, distro_element, member, 0, max)
    static const struct field fields[] = {
        DISTRO("distro_name", FIELD_TEXT, distro.name, 0),
        DISTRO("os_name", FIELD_TEXT, distro.os_name, 0),
        DISTRO("os_version", FIELD_TEXT, distro.os_version, 0),
        DISTRO("wsl_version", FIELD_INT, distro.wsl_version, 1000),
        DISTRO("distro_version", FIELD_INT, distro.version, MAX_INT32),
        DISTRO("is_default", FIELD_BOOL, distro.is_default, 0),
        DISTRO("disallowed", FIELD_BOOL, distro.disallowed, 0),
        DISTRO("libc_version", FIELD_TEXT, libc_version, 0),
        DISTRO("docker_version", FIELD_TEXT, distro.docker.version, 0),
        DISTRO("docker_type", FIELD_INT, distro.docker.type, 100),
    };
    struct distro_element e = {.libc_version = ""};

    if (ret->n_distros == ABILITY_MAX_DISTROS)
        return;
    fields_read(fields, ARRAY_LEN(fields), node, &e);
    e.distro.libc_version = major_minor(e.libc_version);
    ret->distro[ret->n_distros++] = e.distro;
}

static void
read_distros(const struct xml_node *list, struct ability *ret)
{
    const struct xml_node *node = xml_first(list);

    for (; node != NULL; node = xml_next(node))
        if (strcmp(xml_name(node), "distro") == 0)
            read_distro(node, ret);
}

static void
read_opencl_cpu(const struct xml_node *node, struct ability *ret)
{
    struct opencl_cpu *to = &ret->opencl_cpu[ret->n_opencl_cpus];

    if (ret->n_opencl_cpus == ABILITY_MAX_OPENCL_CPUS ||
        xml_child(node, "opencl_cpu_info") == NULL)
        return;
    *to = (struct opencl_cpu){.platform_vendor = ""};
    xml_get_str(node, "platform_vendor", to->platform_vendor,
                sizeof(to->platform_vendor));
    read_opencl(xml_child(node, "opencl_cpu_info"), &to->opencl);
    ret->n_opencl_cpus++;
}

void
ability_read_host_info(const struct xml_node *info, struct ability *ret)
{
#define ABILITY(element, kind, member, max)                                    \
    FIELD_AT(element, kind, ability, member, 0, max)
    static const struct field fields[] = {
        ABILITY("virtualbox_version", FIELD_TEXT, virtualbox_version, 0),
        ABILITY("p_vm_extensions_disabled", FIELD_BOOL, vm_extensions_disabled,
                0),
        ABILITY("wsl_available", FIELD_BOOL, wsl_available, 0),
        ABILITY("docker_version", FIELD_TEXT, docker.version, 0),
        ABILITY("docker_type", FIELD_INT, docker.type, 100),
    };
    const struct xml_node *node = xml_first(info);

    fields_read(fields, ARRAY_LEN(fields), info, ret);
    read_features(info, ret);
    for (; node != NULL; node = xml_next(node)) {
        if (strcmp(xml_name(node), "wsl") == 0)
            read_distros(node, ret);
        else if (strcmp(xml_name(node), "opencl_cpu_prop") == 0)
            read_opencl_cpu(node, ret);
    }
}
