/* plan_class_file.h - plan_class_spec.xml (dispatch §7.2) -> struct
 * plan_class_set.
 *
 * The reader is strict, for what it passed over would be a limit that nobody
 * keeps: an unknown element, a value that is none, an element that has no
 * meaning for this class are faults.  Each is told with its line; it disables
 * the class that it is in, and no other.  Of a file that is not well-formed no
 * class can be used. */
#ifndef QUORATE_PLAN_CLASS_FILE_H
#define QUORATE_PLAN_CLASS_FILE_H

#include "plan_class_spec.h"

struct buf;

#define PLAN_CLASS_FILE "plan_class_spec.xml" /* in the project's root */

/* Read the text; `what` names it in messages.  0; -1: there are faults, in err,
 * each "plan_class_spec.xml:12: text\n".  plan_class_set_free(ret) in both
 * cases. */
int plan_class_file_parse(const char *text, size_t n, const char *what,
                          struct plan_class_set *ret, struct buf *err);

/* The file of a project.  If there is none, 0 and the set of built-in names. */
int plan_class_file_load(const char *project_root, struct plan_class_set *ret,
                         struct buf *err);

void plan_class_set_free(struct plan_class_set *);

/* A line for each element: name, default, what it means. */
void plan_class_file_reference(struct buf *);

#endif
