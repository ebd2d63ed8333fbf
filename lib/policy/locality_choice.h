/* locality_choice.h - where jobs with large input files go (dispatch §9.4).
 *
 * A file is what many workunits have in common: a computer that holds it works
 * through its jobs, and another file is sent when there are none left.  Then
 * the question is which one; a copy more than needed costs its bytes. */
#ifndef QUORATE_LOCALITY_CHOICE_H
#define QUORATE_LOCALITY_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The name of the file that a job works on: the part of its name before "__".
 * Returns its length, 0 if the job has none (no "__", or nothing before it). */
size_t locality_file_length(const char *job_name);

/* A file with jobs that are waiting, and that the asking host does not hold. */
struct locality_file {
    int64_t unsent;  /* jobs */
    int64_t holders; /* other hosts that work on it */
    bool overdue;    /* a job waits longer than send_timeout */
    bool refused;    /* tried in this request; it is not to be chosen */
};

/* Has it jobs, and nobody works on it? */
bool locality_is_free(const struct locality_file *);

struct locality_host {
    bool fast;         /* its line: see LOCALITY_FAST */
    bool sorted_order; /* config: files in the order of their names */
    double draw;       /* 0 … 1, random */
    int64_t min_share; /* config: jobs that each holder should have of a file
                          before it is sent to one more */
};

/* Bytes per second from which a host is fast. */
#define LOCALITY_FAST 100e3

/* Which of n files, in the order of their names, is sent to the host?
 *   1. One that nobody works on: the first, or a random one.
 *   2. One with a job that is overdue, if the host is fast.
 *   3. The one with the most jobs for each of its holders and this host; but
 *      only if that is min_share or more: what is less is soon done by those
 *      that have the file.
 * -1: none; the jobs stay for the holders. */
ptrdiff_t locality_choose(const struct locality_file *, size_t n,
                          const struct locality_host *);

/* What becomes of a file that a client holds? */
enum locality_use {
    LOCALITY_WORK,  /* jobs are looked for that need it */
    LOCALITY_STAYS, /* not for jobs of this kind; may go if the disk is full */
    LOCALITY_GOES,  /* to be deleted: of no kind that the project named */
};

/* By the names' patterns in the configuration: does the name match one of
 * locality_scheduling_workunit_file, one of …_sticky_file?  A project that
 * names no pattern of either sort has only work files. */
enum locality_use locality_use_of(bool is_work_file, bool is_sticky_file,
                                  bool has_work_patterns,
                                  bool has_sticky_patterns);

#endif
