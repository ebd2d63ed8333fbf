/* app.h - platforms, applications, versions, and how a version uses a host. */
#ifndef QUORATE_APP_H
#define QUORATE_APP_H

#include "workunit.h"

#define APP_MAX_SIZE_CLASSES 16

struct platform {
    int64_t id;
    char name[NAME_SIZE];
    char user_friendly_name[NAME_SIZE];
    bool deprecated;
};

struct app {
    int64_t id;
    char name[NAME_SIZE];
    char user_friendly_name[NAME_SIZE];
    int min_version; /* 0 none */
    bool deprecated;
    int homogeneous_redundancy; /* enum hr_type: 0 none, 1 fine, 2 coarse, 3
                                   table */
    double weight;              /* share of feeder slots; -1 hard app */
    bool beta;
    int target_nresults; /* adaptive replication; 0 off */
    double min_avg_pfc;
    bool host_scale_check;
    bool homogeneous_app_version;
    bool non_cpu_intensive;
    int locality_scheduling;
    int n_size_classes;
    /* n_size_classes - 1 speeds (FLOPS) that part the classes, of
     * size_census_<app>; 0 … there is no such file. */
    int n_size_quantiles;
    double size_quantile[APP_MAX_SIZE_CLASSES - 1];
    bool fraction_done_exact;
};

struct app_version {
    int64_t id;
    int64_t appid;
    int version_num; /* 100·major + minor */
    int64_t platformid;
    char *xml_doc;        /* malloc, or NULL if not read */
    int min_core_version; /* client >=, 10000a+100b+c; 0 none */
    int max_core_version; /* client <=; 0 none */
    bool deprecated;
    char plan_class[129]; /* "" = one CPU */
    double pfc_n, pfc_avg, pfc_scale;
    double expavg_credit;
    double expavg_time;
    bool beta;
};

#endif
