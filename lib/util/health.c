/* health.c - a program's heartbeat file, written and read. */
#include "health.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "clock.h"
#include "file.h"
#include "log.h"

/* The numbers in the order of the file. */
static const struct {
    const char *name;
    size_t offset;
} numbers[] = {
    {"started",   offsetof(struct health, started)  },
    {"last_pass", offsetof(struct health, last_pass)},
    {"passes",    offsetof(struct health, passes)   },
    {"handled",   offsetof(struct health, handled)  },
    {"errors",    offsetof(struct health, errors)   },
};

static int64_t *
number_of(struct health *h, size_t i)
{
    return (int64_t *)(void *)((char *)h + numbers[i].offset);
}

/* A heartbeat that cannot be written does not stop the work. */
static void
write_file(struct health *h)
{
    struct buf text = BUF_INIT;

    if (h->path[0] == '\0')
        return;
    buf_addf(&text, "pid %d\n", (int)h->pid);
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        buf_addf(&text, "%s %" PRId64 "\n", numbers[i].name, *number_of(h, i));
    buf_addf(&text, "state %s\n", h->state);
    if (file_write_nosync(h->path, text.data, text.len, 0644) != 0)
        log_warning("write %s: %s", h->path, strerror(errno));
    h->written = clock_now();
    buf_free(&text);
}

void
health_open(struct health *h, const char *path)
{
    *h = (struct health){.pid = getpid(), .started = clock_now()};
    if (!str_copy(h->path, sizeof(h->path), path)) {
        log_warning("no heartbeat file, its path is too long: %s", path);
        h->path[0] = '\0';
    }
    (void)str_copy(h->state, sizeof(h->state), "running");
    write_file(h);
}

void
health_beat(struct health *h, int64_t n, const char *state)
{
    int64_t now = clock_now();
    bool changed = strcmp(h->state, state) != 0;

    h->last_pass = now;
    h->passes++;
    if (n < 0)
        h->errors++;
    else
        h->handled += n;
    (void)str_copy(h->state, sizeof(h->state), state);
    if (changed || now != h->written)
        write_file(h);
}

void
health_close(struct health *h)
{
    if (h->path[0] != '\0')
        (void)unlink(h->path);
    h->path[0] = '\0';
}

static void
take_line(struct health *h, const char *line)
{
    size_t n = strcspn(line, " ");
    const char *value = line + n + (line[n] == ' ');

    if (strncmp(line, "pid ", 4) == 0)
        h->pid = (pid_t)strtol(value, NULL, 10);
    else if (strncmp(line, "state ", 6) == 0)
        (void)str_copy(h->state, sizeof(h->state), value);
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        if (strlen(numbers[i].name) == n &&
            strncmp(line, numbers[i].name, n) == 0)
            *number_of(h, i) = strtoll(value, NULL, 10);
}

int
health_read(const char *path, struct health *ret)
{
    struct health h = {0};
    struct buf text = BUF_INIT;
    char *line, *rest;

    if (file_read(path, 4096, &text) != 0)
        return -1;
    rest = text.data;
    while ((line = strsep(&rest, "\n")) != NULL)
        take_line(&h, line);
    buf_free(&text);
    if (h.pid <= 0 || !str_copy(h.path, sizeof(h.path), path))
        return -1;
    *ret = h;
    return 0;
}
