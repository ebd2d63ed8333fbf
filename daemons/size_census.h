/* size_census.h - the files size_census_<app>: speeds that part the hosts of an
 * application into classes (dispatch §1.2). */
#ifndef QUORATE_SIZE_CENSUS_H
#define QUORATE_SIZE_CENSUS_H

#include <stddef.h>

struct app;

/* Set size_quantile of the apps with more than one size class.  A file that is
 * missing or wrong is logged; its app has no quantiles then. */
void size_census_read(const char *project_root, struct app *, size_t n);

#endif
