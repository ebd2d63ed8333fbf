/* merge.c - may two records of hosts be one computer? */
#include "merge.h"

#include <stddef.h>
#include <string.h>

/* ---- operating system ---- */

/* Words that name a family, wherever they stand; the first that is found. */
static const char *const families[] = {
    "Android", "Windows", "Linux", "Darwin", "FreeBSD", "SunOS",
};

enum { N_FAMILIES = sizeof(families) / sizeof(families[0]) };

static size_t
family_of(const char *os_name)
{
    size_t i = 0;

    while (i < N_FAMILIES && strstr(os_name, families[i]) == NULL)
        i++;
    return i;
}

/* What is not known contradicts nothing. */
static bool
same_system(const struct host *a, const struct host *b)
{
    size_t family = family_of(a->os_name);

    if (a->os_name[0] == '\0' || b->os_name[0] == '\0')
        return true;
    if (family != family_of(b->os_name))
        return false;
    return family < N_FAMILIES || strcmp(a->os_name, b->os_name) == 0;
}

/* ---- CPU ---- */

/* The model's name without "[Family 6 Model 165 …]", which clients of different
 * age write differently. */
static size_t
model_length(const char *model)
{
    size_t n = strcspn(model, "[");

    while (n > 0 && model[n - 1] == ' ')
        n--;
    return n;
}

static bool
same_cpu(const struct host *a, const struct host *b)
{
    size_t n = model_length(a->p_model), m = model_length(b->p_model);

    if (a->p_vendor[0] != '\0' && b->p_vendor[0] != '\0' &&
        strcmp(a->p_vendor, b->p_vendor) != 0)
        return false;
    return n == 0 || m == 0 ||
           (n == m && strncmp(a->p_model, b->p_model, n) == 0);
}

/* ---- the whole ---- */

static bool
at_once(const struct host *a, const struct host *b)
{
    return a->create_time <= b->rpc_time && b->create_time <= a->rpc_time;
}

enum merge_refusal
merge_check(const struct host *a, bool a_is_new, const struct host *b,
            bool b_is_new)
{
    if (a->id == b->id)
        return MERGE_SAME;
    if (a->userid == 0 || b->userid == 0)
        return MERGE_GONE;
    if (a->userid != b->userid)
        return MERGE_USER;
    if (!same_system(a, b))
        return MERGE_SYSTEM;
    if (!same_cpu(a, b))
        return MERGE_CPU;
    if (!a_is_new && !b_is_new && at_once(a, b))
        return MERGE_AT_ONCE;
    return MERGE_OK;
}

bool
merge_is_newer(const struct host *a, const struct host *b)
{
    if (a->create_time != b->create_time)
        return a->create_time > b->create_time;
    return a->id > b->id;
}

const char *
merge_refusal_text(enum merge_refusal refusal)
{
    switch (refusal) {
    case MERGE_OK:
        return "they may be one computer";
    case MERGE_SAME:
        return "it is one and the same record";
    case MERGE_GONE:
        return "one of them is merged into another already";
    case MERGE_USER:
        return "they belong to two users";
    case MERGE_SYSTEM:
        return "their operating systems are of different kinds";
    case MERGE_CPU:
        return "their CPUs are different";
    case MERGE_AT_ONCE:
        return "both were in use at the same time";
    }
    return "";
}
