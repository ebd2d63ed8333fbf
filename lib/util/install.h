/* install.h - where the suite's programs and data are installed: as configured,
 * or wherever the whole prefix was moved to. */
#ifndef QUORATE_INSTALL_H
#define QUORATE_INSTALL_H

#include <limits.h>

struct buf;

struct install {
    char bindir[PATH_MAX];     /* tools: create_work, supervisor, … */
    char libexecdir[PATH_MAX]; /* feeder, scheduler, web, … */
    char datadir[PATH_MAX];    /* schema, pages, templates */
};

/* Each folder is, in this order: QUORATE_BINDIR, QUORATE_LIBEXECDIR or
 * QUORATE_DATADIR of the environment; the one at its place relative to this
 * program's folder (a moved prefix, a DESTDIR), if it exists; the configured
 * one.  0; -1 and a text in err if a folder is not there. */
int install_find(struct install *ret, struct buf *err);

/* The folder of data alone. */
int install_find_data(char ret[PATH_MAX], struct buf *err);

#endif
