/* keep.c - copies of requests, their replies and their lines of the log. */
#include "keep.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "buf.h"
#include "config.h"
#include "file.h"
#include "log.h"

enum { MODE = 0600, FOLDER_MODE = 02770 };

static bool
find_folder(const struct config *cfg, struct buf *ret)
{
    struct buf trigger = BUF_INIT;
    bool found = true;

    buf_addf(&trigger, "%s/debug_sched", cfg->project_root);
    if (cfg->debug_req_reply_dir[0] == '/')
        buf_add(ret, cfg->debug_req_reply_dir);
    else if (cfg->debug_req_reply_dir[0] != '\0')
        buf_addf(ret, "%s/%s", cfg->project_root, cfg->debug_req_reply_dir);
    else if (file_exists(buf_str(&trigger)))
        buf_addf(ret, "%s/requests", cfg->log_dir);
    else
        found = false;
    buf_free(&trigger);
    return found;
}

static int
create(const char *base, const char *kind)
{
    struct buf path = BUF_INIT;
    int fd;

    buf_addf(&path, "%s_%s", base, kind);
    fd = open(buf_str(&path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, MODE);
    if (fd < 0)
        log_errno("%s", buf_str(&path));
    buf_free(&path);
    return fd;
}

static void
store(const char *base, const char *kind, const void *bytes, size_t n)
{
    int fd = create(base, kind);

    if (fd < 0)
        return;
    if (file_write_all(fd, bytes, n) != 0)
        log_errno("%s_%s", base, kind);
    close(fd);
}

void
keep_begin(struct keep *k, const struct config *cfg, const void *request,
           size_t n)
{
    static unsigned number; /* of this process */
    struct buf base = BUF_INIT;

    *k = (struct keep){.log = -1};
    if (find_folder(cfg, &base)) {
        if (file_mkdirs(buf_str(&base), FOLDER_MODE) != 0)
            log_errno("%s", buf_str(&base));
        buf_addf(&base, "/%d_%u", (int)getpid(), number++);
        store(buf_str(&base), "sched_request.xml", request, n);
        k->log = create(buf_str(&base), "sched.log");
        log_copy_to(k->log);
        k->base = buf_take(&base);
    }
    buf_free(&base);
}

void
keep_end(struct keep *k, const struct buf *reply)
{
    if (k->base == NULL)
        return;
    log_copy_to(-1);
    if (k->log >= 0)
        close(k->log);
    store(k->base, "sched_reply.xml", buf_str(reply), reply->len);
    free(k->base);
    *k = (struct keep){.log = -1};
}
