/* job_document.c - which files the stored documents of workunits and results
 * name: for validators, assimilators and the file deleter. */
#include <string.h>

#include "buf.h"
#include "template.h"
#include "template_source.h"
#include "xml.h"

static bool
is(const struct xml_node *node, const char *name)
{
    return strcmp(xml_name(node), name) == 0;
}

static bool
has(const struct xml_node *node, const char *flag)
{
    bool on = false;

    return xml_get_bool(node, flag, &on) && on;
}

/* The file_info of that name, or NULL. */
static const struct xml_node *
file_named(const struct xml_node *root, const char *name)
{
    const struct xml_node *node = xml_first(root);
    char known[NAME_SIZE];

    for (; node != NULL; node = xml_next(node))
        if (is(node, "file_info") &&
            xml_get_str(node, "name", known, sizeof known) &&
            strcmp(known, name) == 0)
            return node;
    return NULL;
}

static bool
is_referenced(const struct xml_node *result, const char *name)
{
    const struct xml_node *node = result != NULL ? xml_first(result) : NULL;
    char known[NAME_SIZE];

    for (; node != NULL; node = xml_next(node))
        if (is(node, "file_ref") &&
            xml_get_str(node, "file_name", known, sizeof known) &&
            strcmp(known, name) == 0)
            return true;
    return false;
}

static void
read_file_info(const struct xml_node *file, struct output_file *ret)
{
    double max_nbytes;

    if (file == NULL)
        return;
    ret->no_delete = has(file, "no_delete");
    ret->stays = has(file, "sticky") && xml_child(file, "url") == NULL &&
                 xml_child(file, "upload_url") == NULL;
    if (xml_get_double(file, "max_nbytes", &max_nbytes) && max_nbytes > 0 &&
        max_nbytes < 9e18)
        ret->max_nbytes = (int64_t)max_nbytes;
}

/* False: it has no name. */
static bool
read_output(const struct xml_node *root, const struct xml_node *ref,
            struct output_file *ret)
{
    *ret = (struct output_file){.max_nbytes = 0};
    if (!xml_get_str(ref, "file_name", ret->name, sizeof ret->name) ||
        ret->name[0] == '\0')
        return false;
    xml_get_str(ref, "open_name", ret->open_name, sizeof ret->open_name);
    ret->optional = has(ref, "optional");
    ret->no_validate = has(ref, "no_validate");
    read_file_info(file_named(root, ret->name), ret);
    return true;
}

/* In the order of the result's file_refs; behind them, with no logical name,
 * files that are described only. */
static int
read_outputs(const struct xml_node *root, struct output_file *to, int max)
{
    const struct xml_node *result = xml_child(root, "result"), *node;
    struct output_file one;
    int n = 0;

    node = result != NULL ? xml_first(result) : NULL;
    for (; node != NULL; node = xml_next(node))
        if (is(node, "file_ref") && read_output(root, node, &one)) {
            if (n < max)
                to[n] = one;
            n++;
        }
    for (node = xml_first(root); node != NULL; node = xml_next(node)) {
        one = (struct output_file){.max_nbytes = 0};
        if (!is(node, "file_info") ||
            !xml_get_str(node, "name", one.name, sizeof one.name) ||
            one.name[0] == '\0' || is_referenced(result, one.name))
            continue;
        read_file_info(node, &one);
        if (n < max)
            to[n] = one;
        n++;
    }
    return n;
}

int
result_document_files(const char *xml_doc_in, struct output_file *to, int max)
{
    struct xml_doc *doc = document_xml(xml_doc_in);
    int n = -1;

    if (doc != NULL)
        n = read_outputs(xml_root(doc), to, max);
    xml_free(doc);
    return n;
}

int
workunit_document_files(const char *xml_doc, struct document_file *to, int max)
{
    struct xml_doc *doc = document_xml(xml_doc);
    const struct xml_node *node = doc != NULL ? xml_first(xml_root(doc)) : NULL;
    struct document_file one;
    int n = 0;

    for (; node != NULL; node = xml_next(node)) {
        one = (struct document_file){.no_delete = false};
        if (!is(node, "file_info") ||
            !xml_get_str(node, "name", one.name, sizeof one.name) ||
            one.name[0] == '\0')
            continue;
        xml_get_str(node, "url", one.url, sizeof one.url);
        one.no_delete = has(node, "no_delete");
        one.sticky = has(node, "sticky");
        one.generated_locally =
            has(node, "generate_locally") || has(node, "generated_locally");
        if (n < max)
            to[n] = one;
        n++;
    }
    if (doc == NULL)
        n = -1;
    xml_free(doc);
    return n;
}
