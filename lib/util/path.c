/* path.c - where things are in a project, and the fan-out of its upload and
 * download folders. */
#include "path.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"
#include "digest.h"
#include "file.h"

static bool
holds_config(const char *folder)
{
    struct buf path = BUF_INIT;
    bool yes;

    buf_addf(&path, "%s/config.xml", folder);
    yes = file_exists(buf_str(&path));
    buf_free(&path);
    return yes;
}

/* A variable that is set is meant: nothing else is tried then. */
char *
path_project_root(void)
{
    const char *told = getenv("QUORATE_PROJECT_DIR");

    if (told == NULL || *told == '\0')
        told = getenv("BOINC_PROJECT_DIR");
    if (told != NULL && *told != '\0')
        return holds_config(told) ? realpath(told, NULL) : NULL;
    if (holds_config("."))
        return realpath(".", NULL);
    if (holds_config(".."))
        return realpath("..", NULL);
    return NULL;
}

bool
path_good_name(const char *name)
{
    size_t n = strlen(name);

    if (n == 0 || n > 255 || strstr(name, "..") != NULL ||
        strcmp(name, ".") == 0)
        return false;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)name[i];

        if (c < 0x20 || c == 0x7f || c == '/' || c == '%')
            return false;
    }
    return true;
}

void
path_fanout(const char *name, int fanout, char ret[16])
{
    char md5[MD5_HEX];
    unsigned long x;

    ret[0] = '\0';
    if (fanout <= 0)
        return;
    digest_md5(name, strlen(name), md5);
    md5[8] = '\0'; /* the first digit is skipped, seven are taken */
    x = strtoul(md5 + 1, NULL, 16);
    (void)snprintf(ret, 16, "%lx", x % (unsigned long)fanout);
}

/* The parent is not made: if it is missing, a file system is not mounted or
 * the configuration is wrong, and that must show. */
static int
make_folder(const char *path)
{
    if (mkdir(path, 0770) != 0)
        return errno == EEXIST ? 0 : -1;
    return chmod(path, 02770); /* mkdir() drops the group bit, umask others */
}

int
path_hier(const char *dir, const char *name, int fanout, bool make_dir,
          struct buf *out)
{
    char sub[16];
    size_t start = out->len;

    path_fanout(name, fanout, sub);
    buf_add(out, dir);
    if (sub[0] != '\0') {
        buf_addf(out, "/%s", sub);
        if (make_dir && make_folder(buf_str(out) + start) != 0)
            return -1;
    }
    buf_addf(out, "/%s", name);
    return 0;
}

void
path_hier_url(const char *url, const char *name, int fanout, struct buf *out)
{
    size_t n = strlen(url);
    char sub[16];

    while (n > 0 && url[n - 1] == '/')
        n--;
    path_fanout(name, fanout, sub);
    buf_addn(out, url, n);
    buf_addf(out, "%s%s/%s", sub[0] != '\0' ? "/" : "", sub, name);
}

const char *
path_short_host(void)
{
    static char host[HOST_NAME_MAX + 1];

    if (host[0] == '\0') {
        if (gethostname(host, sizeof(host)) != 0 || host[0] == '\0')
            (void)str_copy(host, sizeof(host), "localhost");
        host[HOST_NAME_MAX] = '\0';
        host[strcspn(host, ".")] = '\0';
    }
    return host;
}
