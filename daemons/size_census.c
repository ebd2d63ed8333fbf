/* size_census.c - the files size_census_<app>. */
#include "size_census.h"

#include <math.h>
#include <stdio.h>

#include "app.h"
#include "buf.h"
#include "log.h"

/* One number a line, ascending.  How many were good; -1 (logged). */
static int
read_speeds(FILE *file, const char *path, double *ret, int want)
{
    int n = 0;

    while (n < want) {
        if (fscanf(file, "%lf", &ret[n]) != 1 || !isfinite(ret[n]) ||
            (n > 0 && ret[n] < ret[n - 1])) {
            log_warning("%s: line %d is not a speed above the one before", path,
                        n + 1);
            return -1;
        }
        n++;
    }
    return n;
}

static void
read_app(const char *project_root, struct app *app)
{
    struct buf path = BUF_INIT;
    FILE *file;

    if (app->n_size_classes > APP_MAX_SIZE_CLASSES) {
        log_warning("app %s: %d size classes, at most %d are known", app->name,
                    app->n_size_classes, APP_MAX_SIZE_CLASSES);
        return;
    }
    buf_addf(&path, "%s/size_census_%s", project_root, app->name);
    file = fopen(buf_str(&path), "re");
    if (file == NULL) {
        log_errno("app %s has no sizes of hosts: cannot read %s", app->name,
                  buf_str(&path));
    } else {
        int n = read_speeds(file, buf_str(&path), app->size_quantile,
                            app->n_size_classes - 1);

        app->n_size_quantiles = n > 0 ? n : 0;
        if (n < 0)
            log_critical("app %s has no sizes of hosts", app->name);
        fclose(file);
    }
    buf_free(&path);
}

void
size_census_read(const char *project_root, struct app *app, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (app[i].n_size_classes > 1)
            read_app(project_root, &app[i]);
}
