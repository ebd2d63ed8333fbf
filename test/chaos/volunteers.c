/* volunteers.c - simulated computers of volunteers, which speak the protocol
 * over HTTP for as long as they are let.
 *
 *   volunteers --scheduler URL --keys FILE --journal FILE [options]
 *   volunteers --inputs FOLDER FIRST COUNT     make input files chaos_N.in
 *   volunteers --outputs FOLDER                are these outputs right?
 *
 * SIGUSR1: nobody makes errors any more.  SIGTERM: end.  All that was given to
 * us or acknowledged stands in the journal, a line each, in the order in which
 * it came:
 *
 *   H NUMBER OLD NEW      computer NUMBER was told that it is host NEW
 *   G RESULT HOST         a result was given to that host
 *   A RESULT HOST success|error   its report was acknowledged
 *   X RESULT HOST         it was told to give it up
 *   U FILE                an upload was acknowledged
 *   W RESULT              its output is wrong
 *   ? TEXT                what a real server never says */
#include "volunteer.h"

#include <dirent.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "truth.h"

enum { AT_ONCE = 48, MAX_OUTPUT = 1 << 20 };

struct fleet fleet = {.n_hosts = 500, .deadline = 30, .pace = 6};

static volatile sig_atomic_t asked_perfect, asked_end;

void
note(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vfprintf(fleet.journal, fmt, ap);
    va_end(ap);
}

static void
on_signal(int sig)
{
    if (sig == SIGUSR1)
        asked_perfect = 1;
    else
        asked_end = 1;
}

static void
die(const char *what)
{
    fprintf(stderr, "volunteers: ");
    perror(what);
    exit(1);
}

/* ---- inputs and outputs -------------------------------------------------- */

static int
make_inputs(const char *folder, long first, long count)
{
    for (long i = first; i < first + count; i++) {
        struct buf path = BUF_INIT, text = BUF_INIT;
        char name[64];

        /* every third workunit is kept by db_purge */
        snprintf(name, sizeof(name), "chaos_%s%ld",
                 i % 3 == 0 ? "nodelete_" : "", i);
        buf_addf(&path, "%s/%s.in", folder, name);
        truth_input(name, &text);
        if (file_write_nosync(buf_str(&path), buf_str(&text), text.len, 0644) !=
            0)
            die(buf_str(&path));
        buf_free(&path);
        buf_free(&text);
    }
    return 0;
}

static int
check_outputs(const char *folder)
{
    DIR *dir = opendir(folder);
    const struct dirent *e;
    long good = 0, bad = 0;

    if (dir == NULL)
        die(folder);
    while ((e = readdir(dir)) != NULL) {
        struct buf path = BUF_INIT, data = BUF_INIT;

        if (e->d_name[0] == '.')
            continue;
        buf_addf(&path, "%s/%s", folder, e->d_name);
        if (file_read(buf_str(&path), MAX_OUTPUT, &data) == 0 &&
            truth_is(e->d_name, buf_str(&data), data.len)) {
            good++;
        } else {
            printf("wrong: %s\n", buf_str(&path));
            bad++;
        }
        buf_free(&path);
        buf_free(&data);
    }
    closedir(dir);
    printf("good=%ld bad=%ld\n", good, bad);
    return bad == 0 ? 0 : 1;
}

/* ---- the fleet ------------------------------------------------------------
 */

static char **
read_keys(const char *path, int *ret_n)
{
    struct buf text = BUF_INIT;
    char **key = NULL;
    char *line, *rest;
    int n = 0;

    if (file_read(path, 1 << 20, &text) != 0)
        die(path);
    for (line = strtok_r(text.data, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        key = xrealloc(key, (size_t)(n + 1) * sizeof(char *));
        key[n++] = xstrdup(line);
    }
    buf_free(&text);
    *ret_n = n;
    return key;
}

static void
tell(void)
{
    const struct tally *n = &fleet.n;

    printf("rpcs=%ld rpc_failed=%ld replies_lost=%ld project_down=%ld "
           "given=%ld acknowledged=%ld aborted=%ld\n",
           n->rpcs, n->rpc_failed, n->replies_lost, n->down, n->given,
           n->acknowledged, n->aborted);
    printf("uploads=%ld upload_failed=%ld torn=%ld resumed=%ld damaged=%ld "
           "refused=%ld bad_inputs=%ld\n",
           n->uploads, n->upload_failed, n->torn, n->resumed, n->damaged,
           n->refused, n->bad_inputs);
    printf("errors=%ld wrong=%ld late=%ld vanished=%ld copied=%ld "
           "host_ids=%ld\n",
           n->errors, n->wrong, n->late, n->vanished, n->copied, n->new_ids);
    fflush(stdout);
}

static void
live(void)
{
    double last = 0;

    while (!fleet.stopping || exchange_count() > 0) {
        exchange_wait(0.01);
        fleet.perfect = fleet.perfect || asked_perfect;
        fleet.stopping = asked_end;
        /* each in turn, so that nobody waits for ever */
        for (int i = 0, k = (int)(fleet.n.rpcs % fleet.n_hosts);
             i < fleet.n_hosts && !fleet.stopping && exchange_count() < AT_ONCE;
             i++)
            host_live(&fleet.host[(i + k) % fleet.n_hosts]);
        if (time_now() > last + 0.5) {
            fflush(fleet.journal);
            last = time_now();
        }
    }
}

static int
run(const char *keys, const char *journal, uint64_t seed)
{
    struct sigaction act = {.sa_handler = on_signal};
    int n_keys;
    char **key = read_keys(keys, &n_keys);

    sigaction(SIGTERM, &act, NULL);
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGUSR1, &act, NULL);
    fleet.journal = fopen(journal, "ae");
    if (fleet.journal == NULL)
        die(journal);
    if (n_keys == 0 || !exchange_server(fleet.scheduler_url))
        die(fleet.scheduler_url);
    fleet.host = xcalloc((size_t)fleet.n_hosts, sizeof(struct host));
    for (int i = 0; i < fleet.n_hosts; i++)
        host_init(&fleet.host[i], i, key[i % n_keys], seed);
    live();
    tell();
    if (fclose(fleet.journal) != 0)
        die(journal);
    for (int i = 0; i < fleet.n_hosts; i++)
        host_free(&fleet.host[i]);
    free(fleet.host);
    for (int i = 0; i < n_keys; i++)
        free(key[i]);
    free(key);
    return 0;
}

int
main(int argc, char **argv)
{
    static const struct option options[] = {
        {"scheduler", required_argument, NULL, 'u'},
        {"keys",      required_argument, NULL, 'k'},
        {"journal",   required_argument, NULL, 'j'},
        {"hosts",     required_argument, NULL, 'n'},
        {"seed",      required_argument, NULL, 's'},
        {"deadline",  required_argument, NULL, 'd'},
        {"pace",      required_argument, NULL, 'p'},
        {"inputs",    required_argument, NULL, 'i'},
        {"outputs",   required_argument, NULL, 'o'},
        {NULL,        0,                 NULL, 0  },
    };
    const char *keys = NULL, *journal = NULL, *inputs = NULL;
    uint64_t seed = 1;
    int c;

    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1)
        switch (c) {
        case 'u':
            fleet.scheduler_url = optarg;
            break;
        case 'k':
            keys = optarg;
            break;
        case 'j':
            journal = optarg;
            break;
        case 'n':
            fleet.n_hosts = atoi(optarg);
            break;
        case 's':
            seed = strtoull(optarg, NULL, 10);
            break;
        case 'd':
            fleet.deadline = strtod(optarg, NULL);
            break;
        case 'p':
            fleet.pace = strtod(optarg, NULL);
            break;
        case 'i':
            inputs = optarg;
            break;
        case 'o':
            return check_outputs(optarg);
        default:
            return 100;
        }
    if (inputs != NULL && argc == optind + 2)
        return make_inputs(inputs, atol(argv[optind]), atol(argv[optind + 1]));
    if (fleet.scheduler_url == NULL || keys == NULL || journal == NULL ||
        fleet.n_hosts < 1) {
        fprintf(stderr, "volunteers: --scheduler, --keys and --journal are "
                        "needed\n");
        return 100;
    }
    return run(keys, journal, seed);
}
