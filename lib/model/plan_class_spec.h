/* plan_class_spec.h - a plan class: what a version of an application asks of a
 * host, and how it uses it (dispatch §7.2).  One member for each element of
 * plan_class_spec.xml; 0, false and "" are "not given".
 *
 * proto/plan_class_file.h reads the file, policy/plan_class.h judges. */
#ifndef QUORATE_PLAN_CLASS_SPEC_H
#define QUORATE_PLAN_CLASS_SPEC_H

#include <regex.h>
#include <stddef.h>

#include "workunit.h"

enum {
    PLAN_CLASS_NAME_SIZE = 64, /* a client's buffer */
    PLAN_CLASS_WORD_SIZE = 64,
    PLAN_CLASS_MAX_WORDS = 32,
    PLAN_CLASS_REGEX_SIZE = 256,
};

struct plan_class_regex { /* extended; compiled by whoever fills the class */
    char text[PLAN_CLASS_REGEX_SIZE]; /* "": none, nothing is compiled */
    regex_t compiled;
};

enum plan_class_gpu {
    PLAN_CLASS_CPU,   /* uses no coprocessor */
    PLAN_CLASS_GPU,   /* gpu_type is one of enum proc_type */
    PLAN_CLASS_OTHER, /* gpu_other or gpu_type_regex names its type */
};

struct plan_class_spec {
    char name[PLAN_CLASS_NAME_SIZE];
    bool faulty; /* its description has errors: nobody gets it */
    int line;    /* of the file; 0: built in */

    double infeasible_random; /* refuse with this probability, 0 … 1 */
    int64_t user_id;
    int64_t min_wu_id, max_wu_id, min_batch, max_batch;

    char cpu_feature[PLAN_CLASS_MAX_WORDS][PLAN_CLASS_WORD_SIZE];
    int n_cpu_features;
    double min_ncpus;
    struct plan_class_regex os_regex;
    int64_t min_os_version, max_os_version;
    int min_android_version, max_android_version; /* 10000a + 100b + c */
    int min_libc_version;                         /* 100·major + minor */
    struct plan_class_regex cpu_vendor_regex, cpu_model_regex;
    int min_core_client_version, max_core_client_version;

    bool virtualbox;
    bool is64bit;
    bool vm_accel_required;
    int min_vbox_version, max_vbox_version; /* 10000a + 100b + c */
    int exclude_vbox_version[PLAN_CLASS_MAX_WORDS];
    int n_exclude_vbox_versions;

    bool wsl;
    bool docker;
    int min_boinc_wsl_distro_version; /* of BOINC's own distribution */

    char project_prefs_tag[PLAN_CLASS_WORD_SIZE];
    struct plan_class_regex project_prefs_regex;
    bool project_prefs_default_true;
    char gpu_utilization_tag[PLAN_CLASS_WORD_SIZE];

    enum plan_class_gpu uses;
    enum proc_type gpu_type;
    char gpu_other[PLAN_CLASS_WORD_SIZE];
    struct plan_class_regex gpu_type_regex;
    bool cuda, cal, opencl;
    bool opencl_cpu_intel; /* OpenCL on the CPU by Intel; built-in class only */
    bool need_ati_libs, need_amd_libs, without_opencl;
    int min_cal_target, max_cal_target;
    int min_nvidia_compcap, max_nvidia_compcap; /* 100·major + minor */
    int min_cuda_version, max_cuda_version;
    int min_opencl_version, max_opencl_version; /* 100·major + minor */
    int min_opencl_driver_revision, max_opencl_driver_revision;
    bool double_precision_fp;
    int min_metal_support;
    double min_gpu_ram_mb;
    int min_driver_version, max_driver_version;
    double min_gpu_peak_flops, max_gpu_peak_flops;

    double gpu_ram_used_mb; /* 0: min_gpu_ram_mb */
    double ngpus;           /* < 0: by memory, see plan_class.h */
    double cpu_frac;
    double gpu_peak_flops_scale;
    double avg_ncpus; /* 0: computed */
    double max_threads;
    double mem_usage_base_mb, mem_usage_per_cpu_mb;
    bool nthreads_cmdline;
    double projected_flops_scale;
};

/* What a class has that does not say otherwise. */
#define PLAN_CLASS_DEFAULTS                                                    \
    .ngpus = 1, .cpu_frac = 0.1, .gpu_peak_flops_scale = 1, .max_threads = 1,  \
    .projected_flops_scale = 1

/* The classes of a project.  With a file, the built-in names are not used; a
 * file that cannot be read holds no class, so every class is refused. */
struct plan_class_set {
    bool from_file;
    struct plan_class_spec *spec;
    size_t n;
};

#endif
