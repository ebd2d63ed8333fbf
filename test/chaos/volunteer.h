/* volunteer.h - simulated computers of volunteers: what one of them is, has and
 * does wrong. */
#ifndef QUORATE_VOLUNTEER_H
#define QUORATE_VOLUNTEER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "exchange.h"

enum { MAX_TASKS = 24, NAME_SIZE = 160, URL_SIZE = 512 };

enum task_state {
    TASK_FETCH,   /* its input file is still to come */
    TASK_COMPUTE, /* until done_at */
    TASK_UPLOAD,
    TASK_REPORT,
};

/* One result that was given to us. */
struct task {
    char name[NAME_SIZE];
    char wu[NAME_SIZE];
    char input_url[URL_SIZE];
    char input_md5[40];
    char output[NAME_SIZE]; /* its name */
    char upload_url[URL_SIZE];
    char max_nbytes[32];
    char *signature; /* of the output's name and limit, malloc */
    enum task_state state;
    double given_at;
    double done_at;
    bool fails;      /* is reported as a client error */
    bool ask_size;   /* before the (next) upload */
    size_t offset;   /* where the upload goes on */
    struct buf data; /* the output */
};

/* How often what goes wrong: probabilities, 0 ... 1. */
struct traits {
    double error;       /* a task fails on the client */
    double wrong;       /* its output is wrong */
    double late;        /* it comes back behind its deadline */
    double lost_reply;  /* the connection ends when a reply begins */
    double torn_upload; /* it ends within the body */
    double damaged;     /* a byte of an upload is not what it should be */
    double copied;      /* goes back to state files of some time ago */
    double vanishes;    /* forgets all it has, its host id too */
    double away;        /* part of the time in which it is not there */
};

enum doing { DOING_NOTHING, DOING_FETCH, DOING_SIZE, DOING_UPLOAD, DOING_RPC };

/* What a client keeps on its disk. */
struct state_files {
    int64_t id; /* host id; 0: was never told one */
    int64_t seqno;
    char cpid[40];
    struct task *task[MAX_TASKS];
    int n_tasks;
};

struct host {
    int number;
    const char *key; /* of its owner's account */
    uint64_t rng;
    struct traits traits;
    struct state_files now;
    struct state_files copy; /* taken some time ago */
    double copy_at;          /* when the next one is taken */
    double next_rpc;
    double pause_until; /* away, or after a failure */
    double period_end;  /* of being there */
    int lives;          /* how often it began anew */
    enum doing doing;
    struct task *current;
    char reported[MAX_TASKS][NAME_SIZE]; /* in the request under way */
    int n_reported;
    bool was_told; /* the last reply came, so the next may be lost */
    struct exchange x;
};

/* What all have in common. */
struct fleet {
    struct host *host;
    int n_hosts;
    const char *scheduler_url;
    double deadline; /* of tasks, s */
    double pace;     /* s between two requests of a host, about */
    bool perfect;    /* nobody fails any more */
    bool stopping;   /* nothing new is begun */
    FILE *journal;   /* of what we were given and told */
    struct tally {
        long rpcs, rpc_failed, replies_lost, given, acknowledged, aborted;
        long uploads, upload_failed, torn, resumed, refused, damaged;
        long errors, wrong, late, vanished, copied, new_ids, down, bad_inputs;
    } n;
};

extern struct fleet fleet;

/* ---- host.c: its traits and state files ---- */
void host_init(struct host *, int number, const char *key, uint64_t seed);
void host_vanish(struct host *);  /* all that it knew is gone */
void host_copy(struct host *);    /* keep a copy of its state files */
void host_go_back(struct host *); /* to that copy */
struct task *host_task(const struct host *, const char *name);
void host_drop(struct host *, const char *name);
void host_free(struct host *);

/* ---- say.c: requests ---- */
void say_request(struct host *, struct buf *out);
void say_size_query(const struct task *, struct buf *out);
/* ret_body: where the bytes of the file begin in it. */
void say_upload(struct host *, const struct task *, struct buf *out,
                size_t *ret_body);

/* ---- hear.c: replies ---- */
/* False: no whole reply of a scheduler. */
bool hear_reply(struct host *, const char *text);
/* A number or word of the upload handler's reply; false: it has none. */
bool hear_upload(const char *text, int *ret_status, long *ret_size);

/* ---- life.c: what it does next ---- */
void host_live(struct host *);

/* ---- journal ---- */
void note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
