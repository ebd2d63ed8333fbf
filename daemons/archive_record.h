/* archive_record.h - a row as a record of an archive. */
#ifndef QUORATE_ARCHIVE_RECORD_H
#define QUORATE_ARCHIVE_RECORD_H

struct archive_field;
struct buf;

#define ARCHIVE_WORKUNIT_ELEMENT "workunit_archive"
#define ARCHIVE_RESULT_ELEMENT "result_archive"

/* Append <element>, a child for each column, </element>; the end tag stands
 * alone on its line, and nowhere else in the record. */
void archive_record(struct buf *, const char *element,
                    const struct archive_field *, int n_fields);

#endif
