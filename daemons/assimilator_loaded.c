/* assimilator_loaded.c - the program assimilator: its hooks come from a file.
 */
#include <stdio.h>
#include <string.h>

#include "assimilator.h"
#include "buf.h"
#include "load_hooks.h"

static int
no_hooks(int argc, char **argv)
{
    (void)argc;
    return fprintf(stderr, "%s: give --hooks FILE.so\n", argv[0]);
}

int
main(int argc, char **argv)
{
    struct assimilator_hooks hooks = {.init = no_hooks};
    struct buf usage = BUF_INIT;

    load_hooks(&argc, argv, "assimilator_hooks", &hooks, sizeof(hooks));
    buf_add(&usage, LOAD_HOOKS_USAGE);
    if (hooks.usage != NULL)
        buf_addf(&usage, "\n\n%s", hooks.usage);
    hooks.usage = buf_str(&usage);
    return assimilator_main(argc, argv, &hooks);
}
