/* spawn.c - start a program of config.xml: its words, folders, output, lock. */
#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"
#include "config.h"
#include "lockfile.h"
#include "log.h"
#include "path.h"
#include "words.h"

#define EXIT_NOT_FOUND 127

/* ---- places ---------------------------------------------------------------
 */

static void
in_log_folder(const struct config *cfg, const char *name, char ret[PATH_MAX])
{
    snprintf(ret, PATH_MAX, "%s%s%s", name[0] == '/' ? "" : cfg->log_dir,
             name[0] == '/' ? "" : "/", name);
}

static void
in_pid_folder(const struct config *cfg, const char *name, char ret[PATH_MAX])
{
    if (name[0] == '/')
        snprintf(ret, PATH_MAX, "%s", name);
    else
        snprintf(ret, PATH_MAX, "%s/pid_%s/%s", cfg->project_root,
                 path_short_host(), name);
}

void
spawn_paths(const struct config *cfg, const struct config_program *prog,
            struct spawn_paths *ret)
{
    in_log_folder(cfg, prog->output, ret->output);
    in_pid_folder(cfg, prog->lock_file, ret->lock);
    ret->pid[0] = '\0'; /* tasks have none */
    if (prog->pid_file[0] != '\0')
        in_pid_folder(cfg, prog->pid_file, ret->pid);
}

void
spawn_environment(const struct config *cfg)
{
    struct buf path = BUF_INIT;
    const char *old = getenv("PATH");

    buf_addf(&path, "%s/bin:%s", cfg->project_root,
             old != NULL ? old : "/usr/local/bin:/usr/bin:/bin");
    setenv("PATH", buf_str(&path), 1);
    setenv("QUORATE_PROJECT_DIR", cfg->project_root, 1);
    setenv("BOINC_PROJECT_DIR", cfg->project_root, 1);
    buf_free(&path);
}

/* ---- the child ------------------------------------------------------------
 */

/* What the child needs, made before the fork: after it, only calls that are
 * safe there. */
struct launch {
    char **argv;
    struct buf program;
    struct buf folder;
    const struct spawn_paths *paths;
    pid_t parent;
};

/* To stderr, which soon is the program's own log: there people look first. */
static void __attribute__((noreturn))
give_up(const char *what, const char *path)
{
    dprintf(STDERR_FILENO, "cannot %s %s: %s\n", what, path, strerror(errno));
    _exit(EXIT_NOT_FOUND);
}

static void
clear_signals(void)
{
    struct sigaction sa = {.sa_handler = SIG_DFL};
    sigset_t none;

    for (int sig = 1; sig < NSIG; sig++)
        if (sig != SIGKILL && sig != SIGSTOP)
            sigaction(sig, &sa, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void
redirect(const struct spawn_paths *paths)
{
    int in = open("/dev/null", O_RDONLY);
    int out = open(paths->output, O_WRONLY | O_APPEND | O_CREAT, 0664);

    if (in < 0 || out < 0)
        give_up("open", paths->output);
    if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
        dup2(out, STDERR_FILENO) < 0)
        give_up("redirect to", paths->output);
    if (in > STDERR_FILENO)
        close(in);
    if (out > STDERR_FILENO)
        close(out);
}

static void
write_pid(const char *path)
{
    char text[32];
    int n = snprintf(text, sizeof(text), "%ld\n", (long)getpid());
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0664);

    if (fd < 0 || write(fd, text, (size_t)n) != n)
        give_up("write", path);
    close(fd);
}

static void __attribute__((noreturn)) become(const struct launch *l)
{
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != l->parent) /* it died before the line above */
        _exit(EXIT_NOT_FOUND);
    clear_signals();
    umask(002);
    if (chdir(buf_str(&l->folder)) != 0)
        give_up("enter", buf_str(&l->folder));
    if (lockfile_take(l->paths->lock, true) < 0)
        give_up("lock", l->paths->lock);
    if (l->paths->pid[0] != '\0')
        write_pid(l->paths->pid);
    redirect(l->paths);
    execvp(buf_str(&l->program), l->argv);
    give_up("start", buf_str(&l->program));
}

/* ---- the parent -----------------------------------------------------------
 */

static char **
shell_words(const char *cmd)
{
    char **words = xcalloc(4, sizeof(*words));

    words[0] = xstrdup("sh");
    words[1] = xstrdup("-c");
    words[2] = xstrdup(cmd);
    return words;
}

pid_t
spawn_program(const struct config *cfg, const struct config_program *prog,
              const struct spawn_paths *paths)
{
    struct launch l = {.paths = paths, .parent = getpid()};
    struct buf err = BUF_INIT;
    pid_t pid = 0;

    if (lockfile_owner(paths->lock) != 0)
        return 0;
    l.argv = prog->use_shell ? shell_words(prog->cmd)
                             : words_split(prog->cmd, WORDS_SHELL, &err);
    if (l.argv == NULL) {
        log_critical("config.xml:%d: %s: %s", prog->line, prog->cmd,
                     buf_str(&err));
        buf_free(&err);
        return -1;
    }
    /* a name is looked up in PATH, where bin/ comes first; "./x" and "a/b" are
     * meant from bin/ */
    if (strchr(l.argv[0], '/') != NULL && l.argv[0][0] != '/')
        buf_addf(&l.program, "%s/bin/", cfg->project_root);
    buf_add(&l.program, l.argv[0]);
    buf_addf(&l.folder, "%s/tmp_%s", cfg->project_root, path_short_host());
    pid = fork();
    if (pid == 0)
        become(&l);
    if (pid < 0)
        log_errno("fork for %s", prog->cmd);
    else
        log_normal("started %s, pid %ld", prog->cmd, (long)pid);
    words_free(l.argv);
    buf_free(&l.program);
    buf_free(&l.folder);
    return pid;
}
