/* hr.c - classes of numerically equal hosts (dispatch §12).
 *
 * Types 1 and 2 are frozen: their numbers are in workunits of running projects.
 * All matching is by substring, without regard to case, the first match wins.
 * That "Model 1" is also found in "Model 11" is part of what is frozen. */
#include "hr.h"

#include <string.h>

enum os {
    OS_UNKNOWN = 128,
    OS_LINUX = 256,
    OS_WINDOWS = 384,
    OS_DARWIN = 512,
    OS_FREEBSD = 640,
    OS_ANDROID = 768,
};

enum cpu {
    CPU_UNKNOWN = 1,
    CPU_INTEL = 2,
    CPU_AMD = 3,
    CPU_MACINTOSH = 4,
    CPU_ATHLON = 5,
    CPU_DURON = 6,
    CPU_SEMPRON = 7,
    CPU_OPTERON = 8,
    CPU_ATHLON_64 = 9,
    CPU_ATHLON_XP = 10,
    CPU_XEON = 11,
    CPU_CELERON = 12,
    CPU_PENTIUM = 13,
    CPU_PENTIUM_II = 14,
    CPU_PENTIUM_III = 15,
    CPU_PENTIUM_4 = 16,
    CPU_PENTIUM_D = 17,
    CPU_PENTIUM_M = 18,
    CPU_ATHLON_MP = 19,
    CPU_TURION = 20,
    CPU_CORE_2 = 21,
    CPU_ARM = 22,
};

struct match {
    const char *first, *second; /* both are in the text; NULL: anything is */
    int value;
};

static const struct match os_names[] = {
    {"Linux",   NULL, OS_LINUX  },
    {"Windows", NULL, OS_WINDOWS},
    {"Darwin",  NULL, OS_DARWIN },
    {"FreeBSD", NULL, OS_FREEBSD},
    {"Android", NULL, OS_ANDROID},
    {NULL,      NULL, OS_UNKNOWN},
};

static const struct match vendors[] = {
    {"Intel",     NULL, CPU_INTEL    },
    {"AMD",       NULL, CPU_AMD      },
    {"Macintosh", NULL, CPU_MACINTOSH},
    {"ARM",       NULL, CPU_ARM      },
    {NULL,        NULL, CPU_UNKNOWN  },
};

static const struct match intel_models[] = {
    {"Xeon",    NULL,                CPU_XEON       },
    {"Celeron", " M ",               CPU_PENTIUM_M  },
    {"Celeron", " D ",               CPU_PENTIUM_D  },
    {"Celeron", "III",               CPU_PENTIUM_III},
    {"Celeron", NULL,                CPU_CELERON    },
    {"Core",    NULL,                CPU_CORE_2     },
    {"Pentium", "III",               CPU_PENTIUM_III},
    {"Pentium", "II",                CPU_PENTIUM_II },
    {"Pentium", " 4 ",               CPU_PENTIUM_4  },
    {"Pentium", " D ",               CPU_PENTIUM_D  },
    {"Pentium", " M ",               CPU_PENTIUM_M  },
    {"Pentium", NULL,                CPU_PENTIUM    },
    {"x86",     "Family 6 Model 6",  CPU_CELERON    },
    {"x86",     "Family 6 Model 9",  CPU_PENTIUM_M  },
    {"x86",     "Family 6 Model 10", CPU_XEON       },
    {"x86",     "Family 5 Model 1",  CPU_PENTIUM    },
    {"x86",     "Family 5 Model 2",  CPU_PENTIUM    },
    {"x86",     "Family 6 Model 1",  CPU_PENTIUM    },
    {"x86",     "Family 15 Model 1", CPU_PENTIUM_4  },
    {"x86",     "Family 15 Model 2", CPU_PENTIUM_4  },
    {"x86",     "Family 6 Model 7",  CPU_PENTIUM_III},
    {"x86",     "Family 6 Model 8",  CPU_PENTIUM_III},
    {"x86",     "Family 6 Model 11", CPU_PENTIUM_III},
    {"x86",     "Family 6 Model 3",  CPU_PENTIUM_II },
    {"x86",     "Family 6 Model 5",  CPU_PENTIUM_II },
    {NULL,      NULL,                CPU_INTEL      },
};

static const struct match amd_models[] = {
    {"Duron",   NULL, CPU_DURON    },
    {"Opteron", NULL, CPU_OPTERON  },
    {"Sempron", NULL, CPU_SEMPRON  },
    {"Turion",  NULL, CPU_TURION   },
    {"Athlon",  "XP", CPU_ATHLON_XP},
    {"Athlon",  "MP", CPU_ATHLON_MP},
    {"Athlon",  "64", CPU_ATHLON_64},
    {"Athlon",  NULL, CPU_ATHLON   },
    {NULL,      NULL, CPU_AMD      },
};

/* "" is in every text. */
static bool
has(const char *text, const char *part)
{
    return part == NULL || strcasestr(text, part) != NULL;
}

static int
first_match(const struct match *m, const char *text)
{
    while (!has(text, m->first) || !has(text, m->second))
        m++;
    return m->value;
}

static int
fine_cpu(const struct hr_host *h)
{
    int vendor = first_match(vendors, h->p_vendor);

    if (vendor == CPU_INTEL)
        return first_match(intel_models, h->p_model);
    if (vendor == CPU_AMD)
        return first_match(amd_models, h->p_model);
    return vendor;
}

static int
fine_class(const struct hr_host *h)
{
    int os = first_match(os_names, h->os_name), cpu = fine_cpu(h);

    return os == OS_UNKNOWN || cpu == CPU_UNKNOWN ? 0 : os + cpu;
}

/* An ARM processor may be known by its model alone. */
static int
coarse_cpu(const struct hr_host *h)
{
    int vendor = first_match(vendors, h->p_vendor);

    if (vendor == CPU_AMD)
        return CPU_INTEL;
    if (vendor == CPU_UNKNOWN && strstr(h->p_model, "ARM") != NULL)
        return CPU_ARM;
    return vendor;
}

static int
coarse_class(const struct hr_host *h)
{
    int os = first_match(os_names, h->os_name), cpu = coarse_cpu(h);
    bool known =
        os == OS_WINDOWS || os == OS_LINUX ||
        (os == OS_DARWIN && (cpu == CPU_INTEL || cpu == CPU_MACINTOSH));

    return known ? os + cpu : 0;
}

/* ---- the project's own table ---- */

/* Is it one of the words?  p_features are words between blanks. */
static bool
has_word(const char *words, const char *word)
{
    size_t n = strlen(word);

    for (const char *at = words; (at = strcasestr(at, word)) != NULL; at++)
        if ((at == words || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0'))
            return true;
    return false;
}

static bool
is_of_class(const struct hr_class_rule *r, const struct hr_host *h)
{
    for (size_t i = 0; i < r->n_features; i++)
        if (!has_word(h->p_features, r->feature[i]))
            return false;
    return has(h->os_name, r->os) && has(h->p_vendor, r->vendor) &&
           has(h->p_model, r->model) && has(h->platform, r->platform);
}

static int
table_class(const struct hr_table *t, const struct hr_host *h)
{
    for (size_t i = 0; t != NULL && i < t->n; i++)
        if (is_of_class(&t->rule[i], h))
            return t->rule[i].id;
    return 0;
}

int
hr_class(enum hr_type type, const struct hr_host *h, const struct hr_table *t)
{
    switch (type) {
    case HR_FINE:
        return fine_class(h);
    case HR_COARSE:
        return coarse_class(h);
    case HR_TABLE:
        return table_class(t, h);
    case HR_NONE:
    case N_HR_TYPES:
        break;
    }
    return 0;
}

enum hr_type
hr_type(const struct app *app, int project)
{
    int type = project != 0 ? project : app->homogeneous_redundancy;

    return type > 0 && type < N_HR_TYPES ? (enum hr_type)type : HR_NONE;
}
