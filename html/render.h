/* render.h - a document through a stylesheet to a page; the only user of
 * libxslt.
 *
 * Stylesheets and what they import are looked for by name, first in the
 * project's html/pages, then among the installed ones: a project may bring its
 * own index.xsl, or only its own page.xsl, which all others import. */
#ifndef QUORATE_RENDER_H
#define QUORATE_RENDER_H

#include <stddef.h>

struct buf;
struct render;

/* Both folders are kept as pointers. */
struct render *render_open(const char *project_pages,
                           const char *installed_pages);
void render_close(struct render *);

/* A text that stylesheets find as <xsl:param>. */
struct render_param {
    const char *name;
    const char *value;
};

/* Append the page that `stylesheet` ("index.xsl") makes of the document.  0; -1
 * (logged): no such stylesheet, a fault in it, or no well-formed document. */
int render_page(struct render *, const char *stylesheet, const char *xml,
                size_t n, const struct render_param *, size_t n_params,
                struct buf *out);

#endif
