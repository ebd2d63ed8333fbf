/* static_file.h - style sheets and pictures of the pages. */
#ifndef QUORATE_STATIC_FILE_H
#define QUORATE_STATIC_FILE_H

struct reply;
struct web;

/* Answer with html/static/NAME of the project, else with the installed one. */
void static_file(struct web *, const char *name, struct reply *);

#endif
