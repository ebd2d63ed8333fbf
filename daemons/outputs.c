/* outputs.c - where the output files of a result are, for the hook libraries.
 *
 * A file that is missing is missing for good if its folder is there, and for
 * now if the folder is not: a file system may not be mounted.  But folders of
 * the fan-out are made with the first file that goes into them, so one that is
 * still not there a day after the report, below an upload folder that is in
 * use, was never made: the file was never sent. */
#include "outputs.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "config.h"
#include "file.h"
#include "path.h"
#include "template.h"

enum {
    PATIENCE = 86400, /* s */
    FIRST_GUESS = 8,  /* of so many files a document is read once */
};

void
outputs_free(struct outputs *o)
{
    for (size_t i = 0; i < o->n; i++) {
        free(o->path[i]);
        free(o->logical[i]);
        if (o->file[i] != NULL)
            fclose(o->file[i]);
    }
    free(o->path);
    free(o->logical);
    free(o->exists);
    free(o->file);
    memset(o, 0, sizeof(*o));
}

static bool
is_empty_folder(const char *path)
{
    DIR *dir = opendir(path);
    const struct dirent *e;
    bool empty = true;

    if (dir == NULL)
        return true;
    while (empty && (e = readdir(dir)) != NULL)
        empty = e->d_name[0] == '.';
    closedir(dir);
    return empty;
}

static bool
folder_is_there(const char *path)
{
    char *folder = xstrdup(path);
    bool there;

    *strrchr(folder, '/') = '\0';
    there = file_is_dir(folder);
    free(folder);
    return there;
}

static enum outputs_status
judge_missing(const struct config *cfg, const struct outputs_wanted *want,
              bool optional, const char *path)
{
    enum outputs_status for_good = optional ? OUTPUTS_OK : OUTPUTS_BAD;

    if (folder_is_there(path))
        return for_good;
    if (is_empty_folder(cfg->upload_dir))
        return OUTPUTS_LATER;
    return optional || want->now > want->received_time + PATIENCE
               ? for_good
               : OUTPUTS_LATER;
}

/* File i is named; is it there, and can it be opened? */
static enum outputs_status
look_at(const struct config *cfg, const struct outputs_wanted *want,
        bool optional, struct outputs *o, size_t i)
{
    o->file[i] = fopen(o->path[i], "re");
    o->exists[i] = o->file[i] != NULL;
    if (o->file[i] == NULL && errno != ENOENT && errno != ENOTDIR)
        return OUTPUTS_LATER;
    if (o->file[i] != NULL && !want->for_validation) {
        fclose(o->file[i]);
        o->file[i] = NULL;
    }
    if (o->exists[i])
        return OUTPUTS_OK;
    return judge_missing(cfg, want, optional, o->path[i]);
}

static enum outputs_status
add(const struct config *cfg, const struct outputs_wanted *want,
    const struct output_file *f, struct outputs *o)
{
    struct buf path = BUF_INIT;
    size_t i = o->n++;

    o->logical[i] = xstrdup(f->open_name);
    if (!path_good_name(f->name)) {
        o->path[i] = xstrdup("");
        errno = EINVAL;
        return OUTPUTS_BAD;
    }
    path_hier(cfg->upload_dir, f->name, (int)cfg->uldl_dir_fanout, false,
              &path);
    o->path[i] = buf_take(&path);
    errno = 0;
    return look_at(cfg, want, f->optional, o, i);
}

/* The files that the document names (malloc), their number in *n (-1: it cannot
 * be read). */
static struct output_file *
named_files(const char *xml_doc_in, int *n)
{
    int room = FIRST_GUESS;
    struct output_file *files = xcalloc((size_t)room, sizeof(*files));

    while ((*n = result_document_files(xml_doc_in, files, room)) > room) {
        room = *n;
        files = xrealloc(files, (size_t)room * sizeof(*files));
    }
    return files;
}

enum outputs_status
outputs_find(const struct config *cfg, const struct outputs_wanted *want,
             struct outputs *ret, char *why, size_t size)
{
    enum outputs_status status = OUTPUTS_OK;
    int n;
    struct output_file *files = named_files(want->xml_doc_in, &n);
    size_t room = n > 0 ? (size_t)n : 1;

    *ret = (struct outputs){
        .path = xcalloc(room, sizeof(char *)),
        .logical = xcalloc(room, sizeof(char *)),
        .exists = xcalloc(room, sizeof(bool)),
        .file = xcalloc(room, sizeof(FILE *)),
    };
    if (n < 0) {
        snprintf(why, size, "the result's document cannot be read");
        status = OUTPUTS_BAD;
    }
    for (int i = 0; i < n && (status == OUTPUTS_OK || want->list_all); i++) {
        if (files[i].stays || (want->for_validation && files[i].no_validate))
            continue;
        status = add(cfg, want, &files[i], ret);
        if (status != OUTPUTS_OK)
            snprintf(why, size, "%s: %s", files[i].name,
                     errno != 0 ? strerror(errno) : "not there");
    }
    free(files);
    return status;
}
