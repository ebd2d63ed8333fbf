/* plan_class.c - plan class + host -> usage, or why not (dispatch §7.2).
 *
 * The checks run in the order of the specification's table; the first that
 * fails decides.  They are in three files: here those of user and CPU, in
 * plan_class_system.c those of the operating system and what runs on it, in
 * plan_class_gpu.c those of coprocessors; plan_class_usage.c reckons. */
#include "plan_class.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "plan_class_judge.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* ---- refusing ---- */

bool
plan_class_refuse(struct judge *j, enum plan_class_refusal refusal,
                  const char *element, const char *why, ...)
{
    va_list args;

    j->verdict->refusal = refusal;
    j->verdict->element = element;
    va_start(args, why);
    vsnprintf(j->verdict->why, sizeof(j->verdict->why), why, args);
    va_end(args);
    return false;
}

bool
plan_class_all(struct judge *j, plan_class_claim *const *claim, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!claim[i](j))
            return false;
    return true;
}

const char *
plan_class_triple(int64_t n, char ret[PLAN_CLASS_TEXT_SIZE])
{
    snprintf(ret, PLAN_CLASS_TEXT_SIZE, "%d.%d.%d", (int)(n / 10000),
             (int)(n / 100 % 100), (int)(n % 100));
    return ret;
}

const char *
plan_class_pair(int64_t n, char ret[PLAN_CLASS_TEXT_SIZE])
{
    snprintf(ret, PLAN_CLASS_TEXT_SIZE, "%d.%d", (int)(n / 100),
             (int)(n % 100));
    return ret;
}

const char *
plan_class_number(int64_t n, char ret[PLAN_CLASS_TEXT_SIZE])
{
    snprintf(ret, PLAN_CLASS_TEXT_SIZE, "%lld", (long long)n);
    return ret;
}

bool
plan_class_in_range(struct judge *j, const struct plan_class_range *r,
                    int64_t value)
{
    char has[PLAN_CLASS_TEXT_SIZE], wants[PLAN_CLASS_TEXT_SIZE];

    if (r->least != 0 && value < r->least)
        return plan_class_refuse(j, r->refusal, r->least_element,
                                 "needs %s %s or later, this is %s", r->noun,
                                 r->text(r->least, wants), r->text(value, has));
    if (r->most != 0 && value > r->most)
        return plan_class_refuse(j, r->refusal, r->most_element,
                                 "needs %s %s or earlier, this is %s", r->noun,
                                 r->text(r->most, wants), r->text(value, has));
    return true;
}

bool
plan_class_matches(const struct plan_class_regex *regex, const char *text)
{
    return regexec(&regex->compiled, text, 0, NULL, 0) == 0;
}

const char *
plan_class_pref(const struct judge *j, const char *tag)
{
    const struct project_prefs *p = j->host->prefs;

    for (size_t i = 0; p != NULL && i < p->n_prefs; i++)
        if (strcmp(p->pref[i].tag, tag) == 0)
            return p->pref[i].value;
    return NULL;
}

/* ---- user, CPU, client ---- */

static bool
has_luck(struct judge *j)
{
    return j->host->draw >= j->spec->infeasible_random ||
           plan_class_refuse(j, PLAN_CLASS_CHANCE, "infeasible_random",
                             "is given to a part of the requests only, "
                             "chosen by chance");
}

static bool
is_for_user(struct judge *j)
{
    return j->spec->user_id == 0 || j->host->host->userid == j->spec->user_id ||
           plan_class_refuse(j, PLAN_CLASS_USER, "user_id",
                             "is being tested by another user");
}

/* Features stand between two blanks each. */
static bool
has_feature(const struct ability *a, const char *word)
{
    const char *at = a->features;
    size_t n = strlen(word);

    while ((at = strstr(at, word)) != NULL) {
        if (at != a->features && at[-1] == ' ' && at[n] == ' ')
            return true;
        at++;
    }
    return false;
}

static bool
has_features(struct judge *j)
{
    for (int i = 0; i < j->spec->n_cpu_features; i++)
        if (!has_feature(j->host->ability, j->spec->cpu_feature[i]))
            return plan_class_refuse(
                j, PLAN_CLASS_HOST, "cpu_feature",
                "needs a CPU with %s, which this one lacks",
                j->spec->cpu_feature[i]);
    return true;
}

static bool
has_ncpus(struct judge *j)
{
    return j->host->ncpus >= j->spec->min_ncpus ||
           plan_class_refuse(j, PLAN_CLASS_HOST, "min_ncpus",
                             "needs %g processors, %d may be used",
                             j->spec->min_ncpus, j->host->ncpus);
}

static bool
regex_suits(struct judge *j, const struct plan_class_regex *regex,
            const char *text, const char *element, const char *noun)
{
    return regex->text[0] == '\0' || plan_class_matches(regex, text) ||
           plan_class_refuse(j, PLAN_CLASS_HOST, element,
                             "needs a %s that matches \"%.50s\", this is "
                             "\"%.50s\"",
                             noun, regex->text, text);
}

static bool
os_text_suits(struct judge *j)
{
    return regex_suits(j, &j->spec->os_regex, j->host->host->os_version,
                       "os_regex", "version of the operating system");
}

static bool
cpu_suits(struct judge *j)
{
    return regex_suits(j, &j->spec->cpu_vendor_regex, j->host->host->p_vendor,
                       "cpu_vendor_regex", "CPU maker") &&
           regex_suits(j, &j->spec->cpu_model_regex, j->host->host->p_model,
                       "cpu_model_regex", "CPU model");
}

static bool
client_suits(struct judge *j)
{
    const struct plan_class_range range = {
        "client",
        "min_core_client_version",
        "max_core_client_version",
        j->spec->min_core_client_version,
        j->spec->max_core_client_version,
        PLAN_CLASS_CLIENT,
        plan_class_triple,
    };

    return plan_class_in_range(j, &range, j->host->client_version);
}

static bool
prefs_suit(struct judge *j)
{
    const struct plan_class_spec *spec = j->spec;
    const char *value;

    if (spec->project_prefs_tag[0] == '\0' ||
        spec->project_prefs_regex.text[0] == '\0')
        return true;
    value = plan_class_pref(j, spec->project_prefs_tag);
    if (value == NULL ? spec->project_prefs_default_true
                      : plan_class_matches(&spec->project_prefs_regex, value))
        return true;
    return plan_class_refuse(j, PLAN_CLASS_USER, "project_prefs_regex",
                             "your preferences for this project do not choose "
                             "it (%s is \"%.40s\")",
                             spec->project_prefs_tag,
                             value != NULL ? value : "");
}

/* The built-in class for Intel's OpenCL on CPUs. */
static bool
has_intel_opencl(struct judge *j)
{
    const struct ability *a = j->host->ability;

    if (!j->spec->opencl_cpu_intel)
        return true;
    for (int i = 0; i < a->n_opencl_cpus; i++)
        if (strcasestr(a->opencl_cpu[i].platform_vendor, "Intel") != NULL)
            return true;
    return plan_class_refuse(j, PLAN_CLASS_DRIVER, "opencl",
                             "needs Intel's OpenCL for CPUs, which is not "
                             "installed");
}

/* In the order of the specification's table. */
static plan_class_claim *const claims[] = {
    has_luck,         is_for_user,      has_features,
    has_ncpus,        os_text_suits,    plan_class_os_suits,
    cpu_suits,        client_suits,     plan_class_guest_suits,
    prefs_suit,       has_intel_opencl, plan_class_gpu_fits,
    plan_class_usage,
};

void
plan_class_check(const struct plan_class_spec *spec,
                 const struct plan_class_host *host,
                 struct plan_class_verdict *ret)
{
    struct judge j = {.spec = spec, .host = host, .verdict = ret};

    *ret = (struct plan_class_verdict){.refusal = PLAN_CLASS_OK};
    if (spec == NULL)
        plan_class_refuse(&j, PLAN_CLASS_UNKNOWN, NULL,
                          "the project does not describe its plan class");
    else if (spec->faulty)
        plan_class_refuse(&j, PLAN_CLASS_UNKNOWN, NULL,
                          "the project's description of plan class %s has "
                          "errors",
                          spec->name);
    else
        plan_class_all(&j, claims, COUNT(claims));
}

/* ---- jobs ---- */

bool
plan_class_limits_jobs(const struct plan_class_spec *s)
{
    return s->min_wu_id != 0 || s->max_wu_id != 0 || s->min_batch != 0 ||
           s->max_batch != 0;
}

static bool
is_within(int64_t value, int64_t least, int64_t most)
{
    return (least == 0 || value >= least) && (most == 0 || value <= most);
}

bool
plan_class_takes_job(const struct plan_class_spec *s, int64_t wu_id,
                     int64_t batch)
{
    return is_within(wu_id, s->min_wu_id, s->max_wu_id) &&
           is_within(batch, s->min_batch, s->max_batch);
}

/* ---- classes by name ---- */

const struct plan_class_spec *
plan_class_find(const struct plan_class_set *set, const char *name,
                struct plan_class_spec *scratch)
{
    if (!set->from_file)
        return plan_class_builtin(name, scratch) ? scratch : NULL;
    for (size_t i = 0; i < set->n; i++)
        if (strcmp(set->spec[i].name, name) == 0)
            return &set->spec[i];
    return NULL;
}

enum proc_type
plan_class_name_type(const char *name)
{
    static const struct {
        const char *part;
        enum proc_type type;
    } parts[] = {
        {"cuda",      PROC_NVIDIA   },
        {"nvidia",    PROC_NVIDIA   },
        {"ati",       PROC_AMD      },
        {"amd",       PROC_AMD      },
        {"intel_gpu", PROC_INTEL_GPU},
        {"apple_gpu", PROC_APPLE_GPU},
    };

    for (size_t i = 0; i < COUNT(parts); i++)
        if (strstr(name, parts[i].part) != NULL)
            return parts[i].type;
    return PROC_CPU;
}
