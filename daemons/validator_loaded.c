/* validator_loaded.c - the program validator: its hooks come from a file. */
#include <stdio.h>
#include <string.h>

#include "buf.h"
#include "load_hooks.h"
#include "validator.h"

static int
no_hooks(int argc, char **argv)
{
    (void)argc;
    return fprintf(stderr, "%s: give --hooks FILE.so\n", argv[0]);
}

int
main(int argc, char **argv)
{
    struct validator_hooks hooks = {.init = no_hooks};
    struct buf usage = BUF_INIT;

    load_hooks(&argc, argv, "validator_hooks", &hooks, sizeof(hooks));
    buf_add(&usage, LOAD_HOOKS_USAGE);
    if (hooks.usage != NULL)
        buf_addf(&usage, "\n\n%s", hooks.usage);
    hooks.usage = buf_str(&usage);
    return validator_main(argc, argv, &hooks);
}
