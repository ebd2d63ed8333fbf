/* load_hooks.h - a scientist's hooks from a file: validator --hooks x.so. */
#ifndef QUORATE_LOAD_HOOKS_H
#define QUORATE_LOAD_HOOKS_H

#include <stddef.h>

#define LOAD_HOOKS_USAGE                                                       \
    "--hooks FILE.so: the shared object with the project's functions; see "    \
    "quorate(3)."

/* Take "--hooks FILE" out of argv (*argc gets smaller), load FILE, and copy its
 * constant `symbol` to ret, of which `size` bytes are known here: one that was
 * built with an older header is shorter, and the rest stays as it is.  True:
 * loaded; false: --hooks is not given.  A file that cannot be used ends the
 * program with a message. */
_Bool load_hooks(int *argc, char **argv, const char *symbol, void *ret,
                 size_t size);

#endif
