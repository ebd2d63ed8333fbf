/* static_file.c - style sheets and pictures of the pages. */
#include "static_file.h"

#include <string.h>

#include "file.h"
#include "pages.h"
#include "path.h"

#define MAX_STATIC (4 << 20)

static const char *
type_of(const char *name)
{
    static const char *const type[][2] = {
        {".css", "text/css; charset=utf-8"  },
        {".svg", "image/svg+xml"            },
        {".png", "image/png"                },
        {".jpg", "image/jpeg"               },
        {".ico", "image/x-icon"             },
        {".txt", "text/plain; charset=utf-8"},
    };
    const char *dot = strrchr(name, '.');

    for (size_t i = 0; dot != NULL && i < ARRAY_LEN(type); i++)
        if (strcmp(dot, type[i][0]) == 0)
            return type[i][1];
    return NULL;
}

void
static_file(struct web *w, const char *name, struct reply *reply)
{
    const char *folder[] = {w->root, w->datadir};
    const char *type = type_of(name);
    struct buf path = BUF_INIT;
    bool found = false;

    for (size_t i = 0; !found && i < ARRAY_LEN(folder); i++) {
        buf_reset(&path);
        buf_addf(&path, "%s/html/static/%s", folder[i], name);
        found = type != NULL && path_good_name(name) &&
                file_read(buf_str(&path), MAX_STATIC, &reply->body) == 0;
    }
    if (found) {
        reply->type = type;
        reply->cacheable = true;
    } else {
        buf_reset(&reply->body);
        web_message(w, 404, "Not found", "There is no such file here.", reply);
    }
    buf_free(&path);
}
