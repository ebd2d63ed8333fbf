/* archive_record.c - a row as a record of an archive.
 *
 * Documents stand in the record as elements, as readers of BOINC's archives
 * expect.  But one that came from a client may be anything: what is not
 * well-formed, or could be taken for the end of a record, is escaped. */
#include "archive_record.h"

#include <stdbool.h>
#include <string.h>

#include "buf.h"
#include "db_archive.h"
#include "xml.h"

static bool
may_be_embedded(const char *text)
{
    struct buf whole = BUF_INIT, err = BUF_INIT;
    struct xml_doc *doc;

    if (strstr(text, ARCHIVE_WORKUNIT_ELEMENT) != NULL ||
        strstr(text, ARCHIVE_RESULT_ELEMENT) != NULL)
        return false;
    buf_addf(&whole, "<x>%s</x>", text);
    doc = xml_parse(whole.data, whole.len, "document", &err);
    xml_free(doc);
    buf_free(&whole);
    buf_free(&err);
    return doc != NULL;
}

/* About a hundred fields for each workunit: printf would take longer than the
 * rest. */
static void
add_all(struct buf *out, const char *before, const char *name,
        const char *after)
{
    buf_add(out, before);
    buf_add(out, name);
    buf_add(out, after);
}

static void
add_document(struct buf *out, const struct archive_field *f)
{
    size_t n = strlen(f->text);

    add_all(out, "  <", f->name, ">\n");
    if (n == 0 || may_be_embedded(f->text))
        buf_add(out, f->text);
    else
        xml_escape(out, f->text);
    if (n > 0 && f->text[n - 1] != '\n')
        buf_addc(out, '\n');
    add_all(out, "  </", f->name, ">\n");
}

void
archive_record(struct buf *out, const char *element,
               const struct archive_field *field, int n_fields)
{
    add_all(out, "<", element, ">\n");
    for (int i = 0; i < n_fields; i++) {
        const struct archive_field *f = &field[i];

        switch (f->form) {
        case ARCHIVE_PLAIN:
            add_all(out, "  <", f->name, ">");
            add_all(out, f->text, "</", f->name);
            buf_add(out, ">\n");
            break;
        case ARCHIVE_TEXT:
            add_all(out, "  <", f->name, ">");
            xml_escape(out, f->text);
            add_all(out, "</", f->name, ">\n");
            break;
        case ARCHIVE_XML:
            add_document(out, f);
            break;
        }
    }
    add_all(out, "</", element, ">\n");
}
