/* testproject.c - a project's folder for tests of daemons. */
#include "testproject.h"

#include <check.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buf.h"
#include "file.h"
#include "path.h"

enum { MAX_ARGS = 20 };

static struct buf root;

const char *
testproject_path(const char *rest)
{
    static struct buf path[4];
    static int next;
    struct buf *p = &path[next++ % 4];

    buf_reset(p);
    buf_addf(p, "%s/%s", root.data, rest);
    return p->data;
}

const char *
testproject_hier(const char *dir, const char *name)
{
    char sub[16];
    struct buf rest = BUF_INIT;
    const char *path;

    path_fanout(name, TESTPROJECT_FANOUT, sub);
    buf_addf(&rest, "%s/%s/%s", dir, sub, name);
    path = testproject_path(rest.data);
    buf_free(&rest);
    return path;
}

static void
write_config(const char *options)
{
    struct buf xml = BUF_INIT;

    buf_addf(&xml,
             "<boinc>\n<config>\n"
             "<master_url>http://127.0.0.1/test/</master_url>\n"
             "<long_name>Test</long_name>\n"
             "<db_host>%s</db_host>\n<db_user>%s</db_user>\n"
             "<db_passwd>%s</db_passwd>\n<db_name>%s</db_name>\n"
             "<uldl_dir_fanout>%d</uldl_dir_fanout>\n%s</config>\n</boinc>\n",
             getenv("QUORATE_TEST_DB_SOCKET"), getenv("QUORATE_TEST_DB_USER"),
             getenv("QUORATE_TEST_DB_PASSWD"), getenv("QUORATE_TEST_DB_NAME"),
             TESTPROJECT_FANOUT, options);
    ck_assert_int_eq(
        file_write(testproject_path("config.xml"), xml.data, xml.len, 0640), 0);
    buf_free(&xml);
}

void
testproject_new(const char *options)
{
    const char *tmp = getenv("TMPDIR");

    buf_reset(&root);
    buf_addf(&root, "%s/quorate-test.XXXXXX", tmp != NULL ? tmp : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(root.data));
    ck_assert_int_eq(mkdir(testproject_path("download"), 0770), 0);
    ck_assert_int_eq(mkdir(testproject_path("upload"), 0770), 0);
    write_config(options);
    setenv("QUORATE_PROJECT_DIR", root.data, 1);
}

void
testproject_remove(void)
{
    file_remove_tree(root.data);
}

void
testproject_put(const char *dir, const char *name, const char *text)
{
    struct buf path = BUF_INIT;

    ck_assert_int_eq(
        path_hier(testproject_path(dir), name, TESTPROJECT_FANOUT, true, &path),
        0);
    ck_assert_int_eq(file_write(path.data, text, strlen(text), 0660), 0);
    buf_free(&path);
}

bool
testproject_has(const char *dir, const char *name)
{
    return file_exists(testproject_hier(dir, name));
}

/* argv for execv(): the daemon's path, `first` if any, the rest of ap. */
static void
collect(char **argv, const char *daemon, const char *first, va_list ap)
{
    struct buf path = BUF_INIT;
    int n = 0;

    buf_addf(&path, "../../daemons/%s", daemon);
    argv[n++] = buf_take(&path);
    if (first != NULL)
        argv[n++] = xstrdup(first);
    for (const char *a; (a = va_arg(ap, const char *)) != NULL;) {
        ck_assert_int_lt(n, MAX_ARGS);
        argv[n++] = xstrdup(a);
    }
    argv[n] = NULL;
}

static void
free_args(char **argv)
{
    for (int i = 0; argv[i] != NULL; i++)
        free(argv[i]);
}

int
testproject_run(const char *daemon, ...)
{
    char *argv[MAX_ARGS + 1];
    va_list ap;
    int rc;

    va_start(ap, daemon);
    collect(argv, daemon, "--one_pass", ap);
    va_end(ap);
    rc = file_run(argv, NULL, NULL, 0);
    free_args(argv);
    return rc;
}

pid_t
testproject_start(const char *daemon, ...)
{
    char *argv[MAX_ARGS + 1];
    va_list ap;
    pid_t pid;

    va_start(ap, daemon);
    collect(argv, daemon, NULL, ap);
    va_end(ap);
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        execv(argv[0], argv);
        _exit(127);
    }
    free_args(argv);
    return pid;
}

int
testproject_end(pid_t pid)
{
    int status;

    ck_assert_int_eq(kill(pid, SIGTERM), 0);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
