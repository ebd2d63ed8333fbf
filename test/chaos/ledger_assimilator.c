/* ledger_assimilator.c - hooks of an assimilator that keeps a ledger: the
 * output goes to results/WORKUNIT, and each call adds a line to results.ledger:
 * workunit, canonical result, error mask, pid.  So a second call shows. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "assimilator.h"

static int
enter(const struct finished *wu)
{
    char path[4096], line[512];
    int fd, n;

    snprintf(path, sizeof(path), "%s/results.ledger", wu->project_dir);
    n = snprintf(line, sizeof(line), "%s %" PRId64 " %u %ld\n", wu->wu_name,
                 wu->canonical_id, wu->error_mask, (long)getpid());
    fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0664);
    if (fd < 0 || n < 0)
        return -1;
    if (write(fd, line, (size_t)n) != n) {
        close(fd);
        return -1;
    }
    return close(fd);
}

static enum handle_status
handle(const struct finished *wu)
{
    if (wu->error_mask == 0 &&
        finished_copy(wu, 0, "results", wu->wu_name) != 0)
        return HANDLE_LATER;
    return enter(wu) == 0 ? HANDLE_DONE : HANDLE_LATER;
}

const struct assimilator_hooks assimilator_hooks = {.handle = handle};
