/* request_facts.c - what a request says of its computer beyond table host. */
#include "request_facts.h"

#include <string.h>

#include "buf.h"
#include "request.h"
#include "xml.h"

enum { FACTS_MAX_BYTES = 60000 }; /* they are kept in a blob */

static bool
is_one_of(const char *name, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i], name) == 0)
            return true;
    return false;
}

/* The element without what changes by itself. */
static void
copy_element(const struct xml_node *node, struct buf *out)
{
    static const char *const passing[] = {
        "req_secs",      "req_instances",        "estimated_delay",
        "available_ram", "opencl_available_ram",
    };
    const struct xml_node *child = xml_first(node);
    struct buf text = BUF_INIT;

    if (is_one_of(xml_name(node), passing, ARRAY_LEN(passing)))
        return;
    if (child == NULL) {
        xml_text(node, &text);
        xml_put_str(out, xml_name(node), buf_str(&text));
        buf_free(&text);
        return;
    }
    xml_open(out, xml_name(node));
    for (; child != NULL; child = xml_next(child))
        copy_element(child, out);
    xml_close(out, xml_name(node));
}

/* Of host_info only what is in no column. */
static void
copy_host_info(const struct xml_node *info, struct buf *out)
{
    static const char *const kept[] = {
        "p_features",
        "virtualbox_version",
        "p_vm_extensions_disabled",
        "wsl_available",
        "wsl",
        "docker_version",
        "docker_type",
        "opencl_cpu_prop",
        "num_opencl_cpu_platforms",
    };
    const struct xml_node *node = xml_first(info);
    size_t before = out->len, begun;

    xml_open(out, "host_info");
    begun = out->len;
    for (; node != NULL; node = xml_next(node))
        if (is_one_of(xml_name(node), kept, ARRAY_LEN(kept)))
            copy_element(node, out);
    if (out->len == begun)
        buf_truncate(out, before);
    else
        xml_close(out, "host_info");
}

/* The copy in force goes by a body that is not XML; the numbers were read. */
static void
add_prefs(const struct global_prefs *p, struct buf *out)
{
    xml_open(out, "working_global_preferences");
    xml_open(out, "global_preferences");
    xml_put_double(out, "disk_max_used_gb", p->disk_max_used_gb);
    xml_put_double(out, "disk_max_used_pct", p->disk_max_used_pct);
    xml_put_double(out, "disk_min_free_gb", p->disk_min_free_gb);
    xml_put_double(out, "work_buf_min_days", p->work_buf_min_days);
    xml_put_double(out, "ram_max_used_busy_pct", p->ram_max_used_busy_pct);
    xml_put_double(out, "ram_max_used_idle_pct", p->ram_max_used_idle_pct);
    xml_put_double(out, "max_ncpus_pct", p->max_ncpus_pct);
    xml_close(out, "global_preferences");
    xml_close(out, "working_global_preferences");
}

void
request_facts(const struct sched_request *q, const struct xml_node *root,
              struct buf *out)
{
    static const char *const kept[] = {
        "core_client_major_version",
        "core_client_minor_version",
        "core_client_release",
        "client_brand",
        "client_cap_plan_class",
        "dont_use_docker",
        "dont_use_wsl",
        "platform_name",
        "alt_platform",
        "coprocs",
    };
    bool anonymous = strcmp(q->platform_name, "anonymous") == 0;
    const struct xml_node *node = xml_first(root);
    size_t before = out->len;

    for (; node != NULL; node = xml_next(node)) {
        const char *name = xml_name(node);

        if (is_one_of(name, kept, ARRAY_LEN(kept)) ||
            (anonymous && strcmp(name, "app_versions") == 0))
            copy_element(node, out);
        else if (strcmp(name, "host_info") == 0)
            copy_host_info(node, out);
    }
    if (q->has_working_prefs)
        add_prefs(&q->working_prefs, out);
    if (out->len - before > FACTS_MAX_BYTES)
        buf_truncate(out, before);
}
