/* archive_recover.h - complete the archives that a killed program left. */
#ifndef QUORATE_ARCHIVE_RECOVER_H
#define QUORATE_ARCHIVE_RECOVER_H

/* In the folder and its daily folders: cut each *.xml.tmp that no program has
 * locked behind its last whole record (a compressed one, *.xml.gz.tmp, behind
 * the last whole batch; rows of a later one are in the database still), end it,
 * give it its name.  0, -1 (logged). */
int archive_recover(const char *dir);

#endif
