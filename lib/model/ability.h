/* ability.h - what a request says of a host beyond table host: coprocessors,
 * virtual machines, containers, the words of its CPU.  It is plan classes that
 * ask for it (dispatch §7.2).  Plain data; all numbers are finite and >= 0; of
 * the lists the first entries are kept. */
#ifndef QUORATE_ABILITY_H
#define QUORATE_ABILITY_H

#include "workunit.h"

enum {
    ABILITY_MAX_INSTANCES = 64, /* coprocessors of one type */
    ABILITY_MAX_COPROCS = 16,   /* types that have no enum proc_type */
    ABILITY_MAX_DISTROS = 16,
    ABILITY_MAX_OPENCL_CPUS = 4,
    ABILITY_FEATURES_SIZE = 8192,
};

struct opencl {
    bool has; /* the API is there */
    char vendor[NAME_SIZE];
    int device_version;   /* "OpenCL M.m" -> 100M + m */
    int platform_version; /* likewise */
    char driver_version[64];
    int driver_revision; /* of it: N of "N.x", the last of "a.b.N" or longer */
    bool double_precision;
    double global_mem_size; /* bytes */
};

/* All coprocessors of one type.  Of several models clients describe the best,
 * and of memory the least. */
struct gpu {
    int count; /* 0: the host has none, and nothing else is set */
    char name[NAME_SIZE];
    double req_secs;        /* instance-seconds asked for */
    double req_instances;   /* idle ones asked for */
    double estimated_delay; /* s until one would be free */
    double peak_flops;      /* FLOPS of one, as sent */
    double ram;             /* bytes; the type's own element, else OpenCL's,
                               else available_ram */
    double available_ram;   /* bytes */
    struct opencl opencl;
    bool has_cuda;
    int cuda_version;       /* 12020 = 12.2 */
    int driver_version;     /* NVIDIA: 53512 = 535.12 */
    int compute_capability; /* NVIDIA: 100·major + minor */
    bool has_cal;
    int cal_version; /* AMD: "a.b.c" -> 1e7a + 1e4b + c, its driver version */
    int cal_target;
    bool atirt, amdrt; /* which of AMD's runtime libraries */
    bool double_precision;
    int metal_support; /* Apple; 0 none */
    int ncores;        /* Apple */
};

struct coproc { /* of another type */
    char type[64];
    bool non_gpu;
    struct gpu gpu;
};

struct docker {
    char version[64]; /* "" none */
    int type;         /* 1 Docker, 2 Podman */
};

struct wsl_distro { /* a Linux on a Windows host */
    char name[NAME_SIZE];
    char os_name[NAME_SIZE];
    char os_version[NAME_SIZE];
    int wsl_version;
    int version; /* of BOINC's own distro */
    bool is_default;
    bool disallowed;  /* by the volunteer */
    int libc_version; /* 100·major + minor, 0 unknown */
    struct docker docker;
};

struct opencl_cpu {
    char platform_vendor[NAME_SIZE];
    struct opencl opencl;
};

struct ability {
    struct gpu gpu[N_PROC_TYPES]; /* [PROC_CPU] is empty */
    struct coproc coproc[ABILITY_MAX_COPROCS];
    int n_coprocs;
    struct opencl_cpu opencl_cpu[ABILITY_MAX_OPENCL_CPUS];
    int n_opencl_cpus;
    char virtualbox_version[64]; /* as sent, "" none */
    bool vm_extensions_disabled; /* in the firmware */
    bool wsl_available;
    struct wsl_distro distro[ABILITY_MAX_DISTROS];
    int n_distros;
    struct docker docker; /* not in a distro */
    bool dont_use_docker, dont_use_wsl;
    /* p_features and the […] of p_model in lower case: each word between two
     * blanks (" fpu vme avx2 "), or "" */
    char features[ABILITY_FEATURES_SIZE];
};

#endif
