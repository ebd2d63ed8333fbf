/* script.c - run a project's script with plain arguments, no shell, and limits.
 */
#include "script.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "buf.h"
#include "clock.h"
#include "file.h"
#include "log.h"
#include "path.h"
#include "words.h"

enum { LOGGED_OUTPUT = 4096 /* bytes */ };

/* ---- the text of an option ------------------------------------------------
 */

static bool
is_known(const char *word, const char *const *known)
{
    if (strncmp(word, "lit:", 4) == 0)
        return true;
    for (; *known != NULL; known++)
        if (strcmp(word, *known) == 0)
            return true;
    return false;
}

/* Where NAME is and where it runs. */
static int
locate(struct script *s, struct buf *err)
{
    char *root = path_project_root();
    struct buf path = BUF_INIT;

    if (root == NULL) {
        buf_add(err, "no project here");
        return -1;
    }
    buf_addf(&path, "%s/bin/%s", root, s->word[0]);
    s->path = buf_take(&path);
    buf_addf(&path, "%s/tmp_%s", root, path_short_host());
    s->folder = buf_take(&path);
    free(root);
    if (strchr(s->word[0], '/') != NULL || access(s->path, X_OK) != 0) {
        buf_addf(err, "%s is no executable file in bin/ of the project",
                 s->word[0]);
        return -1;
    }
    if (file_mkdirs(s->folder, 02770) != 0) {
        buf_addf(err, "%s: %s", s->folder, strerror(errno));
        return -1;
    }
    return 0;
}

int
script_parse(const char *text, const char *tokens, const char *const *known,
             struct script *ret, struct buf *err)
{
    struct buf all = BUF_INIT;

    memset(ret, 0, sizeof(*ret));
    ret->word = words_split(text, "", err);
    if (ret->word != NULL && ret->word[1] == NULL) {
        buf_addf(&all, "%s %s", text, tokens);
        words_free(ret->word);
        ret->word = words_split(buf_str(&all), "", err);
        buf_free(&all);
    }
    if (ret->word == NULL)
        return -1;
    for (char **w = ret->word + 1; *w != NULL; w++)
        if (!is_known(*w, known)) {
            buf_addf(err,
                     "%s is no word that a script can get; a text of "
                     "yours is lit:%s",
                     *w, *w);
            return -1;
        }
    return locate(ret, err);
}

void
script_free(struct script *s)
{
    if (s->word != NULL)
        words_free(s->word);
    free(s->path);
    free(s->folder);
    memset(s, 0, sizeof(*s));
}

void
script_arg(struct script_args *a, const char *word)
{
    if (a->n + 1 >= a->room) {
        a->room = a->room == 0 ? 16 : 2 * a->room;
        a->word = xrealloc(a->word, a->room * sizeof(*a->word));
    }
    a->word[a->n++] = word;
}

void
script_args_free(struct script_args *a)
{
    free(a->word);
    memset(a, 0, sizeof(*a));
}

/* ---- the child ------------------------------------------------------------
 */

/* Between fork and exec; never returns.  Failures go through `tell`. */
static void
become(const struct script *s, char *const *argv, int out, int tell)
{
    int null = open("/dev/null", O_RDONLY);
    int error;

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_DFL);
    if (null >= 0 && dup2(null, 0) == 0 && dup2(out, 1) == 1 &&
        dup2(out, 2) == 2 && dup2(tell, 3) == 3 &&
        fcntl(3, F_SETFD, FD_CLOEXEC) == 0 && close_range(4, ~0U, 0) == 0 &&
        chdir(s->folder) == 0)
        execv(s->path, argv);
    error = errno;
    if (write(3, &error, sizeof(error)) < 0)
        _exit(126);
    _exit(127);
}

struct child {
    pid_t pid;
    int out;    /* its stdout and stderr; -1: at their end */
    int status; /* of waitpid() */
    bool over;
};

static int
start(const struct script *s, char *const *argv, struct child *c)
{
    int out[2] = {-1, -1}, tell[2] = {-1, -1}, error = 0;
    ssize_t n;

    if (pipe2(out, O_CLOEXEC) != 0 || pipe2(tell, O_CLOEXEC) != 0 ||
        (c->pid = fork()) < 0) {
        log_errno("start %s", s->path);
        close(out[0]);
        close(out[1]);
        close(tell[0]);
        close(tell[1]);
        return -1;
    }
    if (c->pid == 0) {
        /* above all descriptors that are given their places */
        int high_out = fcntl(out[1], F_DUPFD, 10);
        int high_tell = fcntl(tell[1], F_DUPFD, 10);

        become(s, argv, high_out, high_tell);
    }
    setpgid(c->pid, c->pid); /* whoever of the two comes first */
    close(out[1]);
    close(tell[1]);
    c->out = out[0];
    do
        n = read(tell[0], &error, sizeof(error));
    while (n < 0 && errno == EINTR);
    close(tell[0]);
    if (n <= 0)
        return 0;
    waitpid(c->pid, &c->status, 0);
    close(c->out);
    errno = error;
    log_errno("run %s", s->path);
    return -1;
}

/* ---- waiting for it -------------------------------------------------------
 */

static double
now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void
look(struct child *c)
{
    if (!c->over && waitpid(c->pid, &c->status, WNOHANG) == c->pid)
        c->over = true;
}

/* Take what it wrote; keep the beginning for the log.  Waits a tenth of a
 * second at most. */
static void
take_output(struct child *c, struct buf *kept, size_t *written)
{
    struct pollfd p = {.fd = c->out, .events = POLLIN};
    char bytes[8192];
    ssize_t n;

    if (c->out < 0) {
        clock_sleep(0.005);
        return;
    }
    if (poll(&p, 1, 100) <= 0)
        return;
    n = read(c->out, bytes, sizeof(bytes));
    if (n > 0) {
        size_t room = LOGGED_OUTPUT - kept->len;

        buf_addn(kept, bytes, (size_t)n < room ? (size_t)n : room);
        *written += (size_t)n;
    } else if (n == 0 || errno != EINTR) {
        close(c->out);
        c->out = -1;
    }
}

/* A child of the script may hold its output open: what counts is that the
 * script has ended; what it has written by then is still read. */
static enum script_answer
wait_for(struct child *c, const struct script_limits *limits, struct buf *kept)
{
    const double end = now() + limits->seconds;
    size_t written = 0;
    enum script_answer answer = SCRIPT_EXITED;

    while (!c->over && answer == SCRIPT_EXITED) {
        take_output(c, kept, &written);
        look(c);
        if (written > limits->max_output)
            answer = SCRIPT_TOO_LONG;
        else if (!c->over && now() > end)
            answer = SCRIPT_TIMEOUT;
    }
    kill(-c->pid, SIGKILL);
    if (!c->over)
        waitpid(c->pid, &c->status, 0);
    while (c->out >= 0 && answer == SCRIPT_EXITED) {
        take_output(c, kept, &written); /* all writers are dead: it ends */
        if (written > limits->max_output)
            answer = SCRIPT_TOO_LONG;
    }
    if (c->out >= 0)
        close(c->out);
    return answer;
}

/* ---- telling --------------------------------------------------------------
 */

static void
log_output(const struct script *s, struct buf *text)
{
    char *all = buf_take(text);
    char *rest = all;

    for (char *line; rest != NULL && (line = strsep(&rest, "\n")) != NULL;)
        if (line[0] != '\0')
            log_normal("%s: %s", s->word[0], line);
    free(all);
}

static void
log_answer(const struct script *s, enum script_answer answer, int status,
           const struct script_limits *limits)
{
    switch (answer) {
    case SCRIPT_EXITED:
        log_debug("%s: exit status %d", s->word[0], status);
        break;
    case SCRIPT_TIMEOUT:
        log_warning("%s: took more than %g s, killed", s->word[0],
                    limits->seconds);
        break;
    case SCRIPT_SIGNAL:
        log_warning("%s: died of signal %d", s->word[0], status);
        break;
    case SCRIPT_TOO_LONG:
        log_warning("%s: wrote more than %zu bytes, killed", s->word[0],
                    limits->max_output);
        break;
    case SCRIPT_NOT_RUN:
        break;
    }
}

enum script_answer
script_run(const struct script *s, const struct script_args *args,
           const struct script_limits *limits, int *ret_status)
{
    char **argv = xcalloc(args->n + 2, sizeof(*argv));
    struct child c = {.pid = -1};
    struct buf kept = BUF_INIT;
    enum script_answer answer = SCRIPT_NOT_RUN;

    argv[0] = xstrdup(s->path);
    for (size_t i = 0; i < args->n; i++)
        argv[i + 1] = xstrdup(args->word[i]);
    *ret_status = -1;
    if (start(s, argv, &c) == 0) {
        answer = wait_for(&c, limits, &kept);
        *ret_status =
            WIFSIGNALED(c.status) ? WTERMSIG(c.status) : WEXITSTATUS(c.status);
        if (answer == SCRIPT_EXITED && WIFSIGNALED(c.status))
            answer = SCRIPT_SIGNAL;
        log_output(s, &kept);
        log_answer(s, answer, *ret_status, limits);
    }
    for (size_t i = 0; i <= args->n; i++)
        free(argv[i]);
    free(argv);
    buf_free(&kept);
    return answer;
}

int
script_limit_option(char **argv, struct script_limits *limits)
{
    const char *name = argv[0] + strspn(argv[0], "-");
    bool seconds = strcmp(name, "time_limit") == 0;
    char *end = NULL;
    double x;

    if (!seconds && strcmp(name, "max_output") != 0)
        return 0;
    x = argv[1] != NULL ? strtod(argv[1], &end) : 0;
    if (end == NULL || end == argv[1] || *end != '\0' || !(x > 0) || x > 1e9) {
        fprintf(stderr, "%s: wants a number above 0\n", argv[0]);
        return -1;
    }
    if (seconds)
        limits->seconds = x;
    else
        limits->max_output = (size_t)x;
    return 2;
}
