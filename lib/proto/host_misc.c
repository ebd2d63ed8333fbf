/* host_misc.c - column host.misc: a JSON object. */
#include "host_misc.h"

#include <stdbool.h>
#include <string.h>

#include "buf.h"
#include "names.h"
#include "request.h"

/* Texts of requests are valid UTF-8. */
static void
put_text(struct buf *out, const char *text)
{
    buf_addc(out, '"');
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;

        if (c == '"' || c == '\\')
            buf_addf(out, "\\%c", c);
        else if (c < 0x20)
            buf_addf(out, "\\u%04x", c);
        else
            buf_addc(out, (char)c);
    }
    buf_addc(out, '"');
}

static void
put_gpu(const char *type, const struct gpu *g, bool first, struct buf *out)
{
    buf_addf(out, "%s{\"type\": ", first ? "" : ", ");
    put_text(out, type);
    buf_add(out, ", \"model\": ");
    put_text(out, g->name);
    buf_addf(out, ", \"count\": %d, \"ram\": %.0f", g->count, g->ram);
    if (g->driver_version > 0)
        buf_addf(out, ", \"driver_version\": %d", g->driver_version);
    if (g->opencl.has)
        buf_addf(out, ", \"opencl_version\": %d", g->opencl.device_version);
    buf_addc(out, '}');
}

static void
put_gpus(const struct ability *a, struct buf *out)
{
    bool first = true;

    buf_add(out, ", \"gpus\": [");
    for (int t = PROC_CPU + 1; t < N_PROC_TYPES; t++) {
        if (a->gpu[t].count == 0)
            continue;
        put_gpu(proc_type_name(t), &a->gpu[t], first, out);
        first = false;
    }
    for (int i = 0; i < a->n_coprocs; i++) {
        put_gpu(a->coproc[i].type, &a->coproc[i].gpu, first, out);
        first = false;
    }
    buf_addc(out, ']');
}

/* The computer's own, or that of the first Linux inside Windows that has it. */
static void
put_docker(const struct ability *a, struct buf *out)
{
    const struct docker *docker = &a->docker;
    const char *distro = NULL;

    for (int i = 0; i < a->n_distros && docker->version[0] == '\0'; i++) {
        docker = &a->distro[i].docker;
        distro = a->distro[i].name;
    }
    if (docker->version[0] == '\0')
        return;
    buf_add(out, ", \"docker\": {\"version\": ");
    put_text(out, docker->version);
    buf_addf(out, ", \"type\": %d", docker->type);
    if (distro != NULL) {
        buf_add(out, ", \"wsl_distro\": ");
        put_text(out, distro);
    }
    buf_addc(out, '}');
}

static void
put_vbox(const struct ability *a, struct buf *out)
{
    if (a->virtualbox_version[0] == '\0')
        return;
    buf_add(out, ", \"vbox\": {\"version\": ");
    put_text(out, a->virtualbox_version);
    buf_addf(out, ", \"hw_accel_enabled\": %s}",
             a->vm_extensions_disabled ? "false" : "true");
}

void
host_misc(const struct sched_request *req, struct buf *out)
{
    const struct ability *a = &req->ability;

    buf_addf(out, "{\"client_version\": \"%d.%d.%d\"",
             req->core_client_major_version, req->core_client_minor_version,
             req->core_client_release);
    put_gpus(a, out);
    put_docker(a, out);
    put_vbox(a, out);
    buf_addf(out,
             ", \"config\": {\"dont_use_docker\": %s, \"dont_use_wsl\": %s}}",
             a->dont_use_docker ? "true" : "false",
             a->dont_use_wsl ? "true" : "false");
}
