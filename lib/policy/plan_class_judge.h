/* plan_class_judge.h - what the files of plan_class share.  Inside lib/policy
 * only. */
#ifndef QUORATE_PLAN_CLASS_JUDGE_H
#define QUORATE_PLAN_CLASS_JUDGE_H

#include "plan_class.h"

#define PLAN_CLASS_MEGA 1048576.0 /* bytes */
#define PLAN_CLASS_TEXT_SIZE 32

/* isdigit() would ask the locale. */
static inline bool
plan_class_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* One class on its way through the checks. */
struct judge {
    const struct plan_class_spec *spec;
    const struct plan_class_host *host;
    const struct gpu *gpu; /* the coprocessor of the class, or NULL */
    const char *gpu_name;  /* of its type: "NVIDIA GPU" */
    struct plan_class_verdict *verdict;
};

/* A check is a claim about the host; where it does not hold it refuses with the
 * element of the class and a reason, and is false. */
typedef bool plan_class_claim(struct judge *);

bool plan_class_refuse(struct judge *, enum plan_class_refusal,
                       const char *element, const char *why, ...)
    __attribute__((format(printf, 4, 5)));

bool plan_class_all(struct judge *, plan_class_claim *const *, size_t n);

/* What the host has lies within least and most (0: no limit), or refuse with
 * "needs NOUN 1.2.0 or later, this is 1.1.0" and the name of the limit. */
struct plan_class_range {
    const char *noun;
    const char *least_element, *most_element;
    int64_t least, most;
    enum plan_class_refusal refusal;
    /* the number as people write it */
    const char *(*text)(int64_t, char ret[PLAN_CLASS_TEXT_SIZE]);
};
bool plan_class_in_range(struct judge *, const struct plan_class_range *,
                         int64_t value);

/* 10203 -> "1.2.3"; 203 -> "2.3"; 12 -> "12". */
const char *plan_class_triple(int64_t, char ret[PLAN_CLASS_TEXT_SIZE]);
const char *plan_class_pair(int64_t, char ret[PLAN_CLASS_TEXT_SIZE]);
const char *plan_class_number(int64_t, char ret[PLAN_CLASS_TEXT_SIZE]);

bool plan_class_matches(const struct plan_class_regex *, const char *text);

/* The user's preference of this name, or NULL. */
const char *plan_class_pref(const struct judge *, const char *tag);

/* Bytes of memory of the class's coprocessor, as its interface sees it. */
double plan_class_gpu_ram(const struct judge *);

/* FLOPS of one; believable. */
double plan_class_gpu_flops(const struct gpu *);

/* Sets judge.gpu; all that classes ask of coprocessors. */
bool plan_class_gpu_fits(struct judge *);

/* What they ask of the operating system; of VirtualBox, WSL and Docker. */
bool plan_class_os_suits(struct judge *);
bool plan_class_guest_suits(struct judge *);

/* The CPU can run virtual machines in hardware, and may. */
bool plan_class_has_vm_accel(const struct ability *);

/* CPUs, memory, speeds: fills verdict.usage. */
bool plan_class_usage(struct judge *);

#endif
