/* trickle.h - what a scientist includes to write a trickle handler: a program
 * that takes messages which jobs send while they run.
 *
 *     #include <quorate/trickle.h>
 *
 *     static enum trickle_status
 *     handle(const struct trickle *msg, struct trickle_effects *effects)
 *     {
 *         double done;
 *
 *         if (!trickle_number(msg, "fraction", &done))
 *             return TRICKLE_BAD;
 *         return note_progress(msg->result_name, done) ? TRICKLE_DONE
 *                                                      : TRICKLE_LATER;
 *     }
 *
 *     const struct trickle_hooks trickle_hooks = {
 *         .handle = handle, .variety = "progress"};
 *
 * Messages come in the order of their ids.  What a handler asks for through
 * `effects` (credit, a later deadline, an answer) is done in the transaction
 * that marks the message as handled: once for each message, whatever is killed.
 * What it does itself, it may be asked to do again. */
#ifndef QUORATE_TRICKLE_H
#define QUORATE_TRICKLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum trickle_status {
    TRICKLE_DONE,
    TRICKLE_BAD,   /* no good message: never again, and no effects */
    TRICKLE_LATER, /* failed: again later, more and more seldom; after
                      --max_tries it counts as bad.  No effects. */
};

/* All pointers are valid during the call alone. */
struct trickle {
    int64_t id;
    int64_t create_time; /* when it came, Unix s */
    int64_t host_id;
    int64_t user_id; /* the host's owner; 0: the host is gone */
    const char *variety;
    const char *xml; /* as the client sent it; anything a program may write */
    const char *result_name; /* of the job; "" if the text does not say */
    double host_flops; /* benchmark of the host, FLOPS, not above that of 95 %
                          of the hosts; a nonsensical one counts as the middle
                          of all */
};

struct trickle_effects;

struct trickle_hooks {
    enum trickle_status (*handle)(const struct trickle *,
                                  struct trickle_effects *);
    const char *variety; /* unless --variety is given; NULL: all messages */

    /* Values of the column `handled`; 0: 1 for done, 2 for bad. */
    int state_done, state_bad;

    /* Optional: own options.  Gets argv[0] and the words that the library does
     * not know; not 0 (after a message to stderr) ends the start. */
    int (*init)(int argc, char **argv);
    const char *usage; /* a paragraph about them for --help, or NULL */
};

/* The scientist's file defines it, or calls trickle_main(). */
extern const struct trickle_hooks trickle_hooks;

/* The whole program, for one that has a main() of its own.  Exit status. */
int trickle_main(int argc, char **argv, const struct trickle_hooks *);

/* The content of the first <element> of the message, without blanks around it,
 * into ret (size bytes, cut); or as a finite number.  False: there is none. */
bool trickle_text(const struct trickle *, const char *element, char *ret,
                  size_t size);
bool trickle_number(const struct trickle *, const char *element, double *ret);

/* Grant credit to host, user and team for work begun at `start` (Unix s). */
void trickle_grant(struct trickle_effects *, double credit, int64_t start);

/* Make the deadline of a job of this host later by `seconds`, if it is still to
 * come and no more than `within` seconds ahead.  The client is not told. */
void trickle_extend_deadline(struct trickle_effects *, const char *result_name,
                             int64_t seconds, int64_t within);

/* Send this XML (a <trickle_down> element, say) to the host. */
void trickle_answer(struct trickle_effects *, const char *xml);

/* FLOP -> credit: 200 for a day of 1 GFLOPS. */
double trickle_credit_of(double flop);

#ifdef __cplusplus
}
#endif

#endif
