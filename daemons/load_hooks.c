/* load_hooks.c - a scientist's hooks from a file. */
#include "load_hooks.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "cmdline.h"

/* The last --hooks counts, as for every option.  NULL: none. */
static const char *
take_option(int *argc, char **argv)
{
    const char *file = NULL;
    int n = 0;

    for (int i = 0; i < *argc; i++) {
        const char *name = argv[i] + strspn(argv[i], "-");

        if (i > 0 && name > argv[i] && strcmp(name, "hooks") == 0 &&
            i + 1 < *argc)
            file = argv[++i];
        else if (i > 0 && name > argv[i] && strncmp(name, "hooks=", 6) == 0)
            file = name + 6;
        else
            argv[n++] = argv[i];
    }
    argv[n] = NULL;
    *argc = n;
    return file;
}

static void
refuse(const char *program, const char *file, const char *why)
{
    fprintf(stderr, "%s: --hooks %s: %s\n", program, file, why);
    exit(EXIT_USAGE);
}

/* dlopen() looks for a name without '/' in the system's folders alone. */
static void *
open_file(const char *program, const char *file)
{
    struct buf path = BUF_INIT;
    void *handle;

    buf_addf(&path, "%s%s", strchr(file, '/') == NULL ? "./" : "", file);
    handle = dlopen(buf_str(&path), RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL)
        refuse(program, file, dlerror());
    buf_free(&path);
    return handle;
}

_Bool
load_hooks(int *argc, char **argv, const char *symbol, void *ret, size_t size)
{
    const char *file = take_option(argc, argv);
    const ElfW(Sym) *entry = NULL;
    Dl_info info;
    void *found, *extra = NULL;

    if (file == NULL)
        return false;
    found = dlsym(open_file(argv[0], file), symbol);
    if (found == NULL)
        refuse(argv[0], file, "it does not define the constant of hooks");
    if (dladdr1(found, &info, &extra, RTLD_DL_SYMENT) != 0)
        entry = extra;
    if (entry != NULL && entry->st_size > 0 && entry->st_size < size)
        size = entry->st_size;
    memcpy(ret, found, size);
    return true;
}
