/* sitefiles.c - the optional files that replies are made from. */
#include "sitefiles.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "buf.h"
#include "config.h"
#include "file.h"
#include "log.h"
#include "mirror.h"
#include "plan_class_file.h"
#include "xml.h"

enum { MAX_BYTES = 1 << 20, MAX_REGEXES = 1000 };

/* ---- XML ---- */

/* A copy if it can stand inside a reply, else NULL (logged). */
static char *
checked_xml(const char *what, const struct buf *text)
{
    struct buf whole = BUF_INIT, err = BUF_INIT;
    struct xml_doc *doc;
    char *ret = NULL;

    buf_addf(&whole, "<reply>%s</reply>", buf_str(text));
    doc = xml_parse(buf_str(&whole), whole.len, what, &err);
    if (doc == NULL)
        log_critical("%s is left out: %s", what, buf_str(&err));
    else
        ret = xstrdup(buf_str(text));
    xml_free(doc);
    buf_free(&whole);
    buf_free(&err);
    return ret;
}

static void
load_gui_urls(struct sitefiles *f, const struct config *cfg,
              const struct buf *text)
{
    (void)cfg;
    free(f->gui_urls);
    f->gui_urls = text != NULL ? checked_xml("gui_urls.xml", text) : NULL;
}

static void
load_project_files(struct sitefiles *f, const struct config *cfg,
                   const struct buf *text)
{
    (void)cfg;
    free(f->project_files);
    f->project_files =
        text != NULL ? checked_xml("project_files.xml", text) : NULL;
}

/* ---- files that clients are to delete ---- */

static void
free_regexes(struct sitefiles *f)
{
    for (size_t i = 0; i < f->n_delete_regex; i++)
        regfree(&f->delete_regex[i]);
    free(f->delete_regex);
    f->delete_regex = NULL;
    f->n_delete_regex = 0;
}

static void
add_regex(struct sitefiles *f, const char *line, int number)
{
    regex_t re;
    int rc;

    if (f->n_delete_regex == MAX_REGEXES) {
        log_critical("file_delete_regex:%d: too many lines", number);
        return;
    }
    rc = regcomp(&re, line, REG_EXTENDED | REG_NOSUB);
    if (rc != 0) {
        char why[128];

        regerror(rc, &re, why, sizeof(why));
        log_critical("file_delete_regex:%d: %s", number, why);
        return;
    }
    f->delete_regex = xrealloc(f->delete_regex, (f->n_delete_regex + 1) *
                                                    sizeof(*f->delete_regex));
    f->delete_regex[f->n_delete_regex++] = re;
}

/* One extended regular expression a line.  An empty line matches every name:
 * it is surely not meant. */
static void
load_regexes(struct sitefiles *f, const struct config *cfg,
             const struct buf *text)
{
    const char *p = text != NULL ? buf_str(text) : "";

    (void)cfg;
    free_regexes(f);
    for (int number = 1; *p != '\0'; number++) {
        size_t n = strcspn(p, "\r\n");
        char *line = xstrndup(p, n);

        if (n > 0)
            add_regex(f, line, number);
        free(line);
        p += n;
        p += *p == '\r' ? 1 : 0;
        p += *p == '\n' ? 1 : 0;
    }
}

bool
sitefiles_deletes(const struct sitefiles *f, const char *name)
{
    for (size_t i = 0; i < f->n_delete_regex; i++)
        if (regexec(&f->delete_regex[i], name, 0, NULL, 0) == 0)
            return true;
    return false;
}

/* ---- download servers ---- */

static void
load_servers(struct sitefiles *f, const struct config *cfg,
             const struct buf *text)
{
    struct buf err = BUF_INIT;

    mirrors_free(f->mirrors);
    f->mirrors = NULL;
    if (text != NULL && cfg->replace_download_url_by_timezone[0] != '\0')
        f->mirrors =
            mirrors_parse(buf_str(text), "download_servers",
                          cfg->replace_download_url_by_timezone,
                          (size_t)cfg->max_download_urls_per_file, &err);
    if (err.len > 0)
        log_critical("%s", buf_str(&err));
    buf_free(&err);
}

/* ---- plan classes ---- */

/* A fault disables its class; the rest stays in use. */
static void
load_plan_classes(struct sitefiles *f, const struct config *cfg,
                  const struct buf *text)
{
    struct buf err = BUF_INIT;
    char *line, *rest;

    (void)cfg;
    plan_class_set_free(&f->plan_classes);
    if (text != NULL)
        plan_class_file_parse(buf_str(text), text->len, PLAN_CLASS_FILE,
                              &f->plan_classes, &err);
    line = err.len > 0 ? strtok_r(err.data, "\n", &rest) : NULL;
    for (; line != NULL; line = strtok_r(NULL, "\n", &rest))
        log_critical("%s", line);
    buf_free(&err);
}

/* ---- all of them ---- */

static const struct {
    const char *name;
    void (*load)(struct sitefiles *, const struct config *,
                 const struct buf *text); /* NULL: there is none */
} kinds[N_SITEFILES] = {
    [SITEFILE_GUI_URLS] = {"gui_urls.xml",      load_gui_urls     },
    [SITEFILE_PROJECT_FILES] = {"project_files.xml", load_project_files},
    [SITEFILE_DELETE_REGEX] = {"file_delete_regex", load_regexes      },
    [SITEFILE_SERVERS] = {"download_servers",  load_servers      },
    [SITEFILE_PLAN_CLASSES] = {PLAN_CLASS_FILE,     load_plan_classes },
};

static void
load(struct sitefiles *f, const struct config *cfg, int kind, const char *path)
{
    struct buf text = BUF_INIT;

    if (file_read(path, MAX_BYTES, &text) != 0)
        log_errno("%s", path);
    kinds[kind].load(f, cfg, &text);
    buf_free(&text);
}

void
sitefiles_refresh(struct sitefiles *f, const struct config *cfg)
{
    static const struct timespec never;

    for (int i = 0; i < N_SITEFILES; i++) {
        struct buf path = BUF_INIT;
        struct stat st;
        bool there, changed;

        buf_addf(&path, "%s/%s", cfg->project_root, kinds[i].name);
        there = stat(buf_str(&path), &st) == 0;
        if (!there)
            st.st_mtim = never;
        changed = st.st_mtim.tv_sec != f->mtime[i].tv_sec ||
                  st.st_mtim.tv_nsec != f->mtime[i].tv_nsec;
        f->mtime[i] = st.st_mtim;
        if (changed && there)
            load(f, cfg, i, buf_str(&path));
        else if (changed)
            kinds[i].load(f, cfg, NULL);
        buf_free(&path);
    }
}

void
sitefiles_free(struct sitefiles *f)
{
    free(f->gui_urls);
    free(f->project_files);
    free_regexes(f);
    plan_class_set_free(&f->plan_classes);
    mirrors_free(f->mirrors);
    *f = (struct sitefiles){0};
}
