/* document_files.c - all files of a document, however many. */
#include "document_files.h"

#include <string.h>

#include "buf.h"
#include "template.h"

enum { FIRST_GUESS = 16 };

static int
is_blank(const char *text)
{
    return text == NULL || text[strspn(text, " \t\r\n")] == '\0';
}

int
all_input_files(const char *xml_doc, struct document_file **ret)
{
    int room = FIRST_GUESS, n = 0;

    *ret = xcalloc(FIRST_GUESS, sizeof(**ret));
    if (is_blank(xml_doc))
        return 0;
    while ((n = workunit_document_files(xml_doc, *ret, room)) > room) {
        room = n;
        *ret = xrealloc(*ret, (size_t)room * sizeof(**ret));
    }
    return n;
}

int
all_output_files(const char *xml_doc_in, struct output_file **ret)
{
    int room = FIRST_GUESS, n = 0;

    *ret = xcalloc(FIRST_GUESS, sizeof(**ret));
    if (is_blank(xml_doc_in))
        return 0;
    while ((n = result_document_files(xml_doc_in, *ret, room)) > room) {
        room = n;
        *ret = xrealloc(*ret, (size_t)room * sizeof(**ret));
    }
    return n;
}
