/* flat.c - print an XML document as lines "path/of/element text", for scripts.
 *
 *     flat FILE…
 *
 * The first line of each is the root's name; the paths leave it out.  Exit
 * status 0, or 1 and a message if a file is no well-formed XML. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "xml.h"

static void
print_node(const struct xml_node *node, const char *above)
{
    struct buf path = BUF_INIT, text = BUF_INIT;

    buf_addf(&path, "%s%s%s", above, above[0] != '\0' ? "/" : "",
             xml_name(node));
    if (xml_is_leaf(node)) {
        xml_text(node, &text);
        for (size_t i = 0; i < text.len; i++)
            if (text.data[i] == '\n')
                text.data[i] = ' ';
        printf("%s %s\n", buf_str(&path), buf_str(&text));
    }
    for (const struct xml_node *n = xml_first(node); n != NULL; n = xml_next(n))
        print_node(n, buf_str(&path));
    buf_free(&path);
    buf_free(&text);
}

static int
print_file(const char *path)
{
    struct buf err = BUF_INIT;
    struct xml_doc *doc = xml_parse_file(path, &err);

    if (doc == NULL) {
        fprintf(stderr, "%s\n", buf_str(&err));
        buf_free(&err);
        return 1;
    }
    printf("%s\n", xml_name(xml_root(doc)));
    for (const struct xml_node *n = xml_first(xml_root(doc)); n != NULL;
         n = xml_next(n))
        print_node(n, "");
    xml_free(doc);
    buf_free(&err);
    return 0;
}

int
main(int argc, char **argv)
{
    int rc = argc > 1 ? 0 : 100;

    for (int i = 1; i < argc; i++)
        if (print_file(argv[i]) != 0)
            rc = 1;
    return rc;
}
