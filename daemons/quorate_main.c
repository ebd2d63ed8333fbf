/* quorate_main.c - main() of libquorate: run the hooks that the scientist's
 * file defines.
 *
 * The references are weak, so each constant may be missing; the linker sees
 * them in the library and exports from the program those that are there.  A
 * program with a main() of its own never gets here. */
#include <stdio.h>

#include "assimilator.h"
#include "cmdline.h"
#include "trickle.h"
#include "validator.h"
#include "work_generator.h"

#pragma weak validator_hooks
#pragma weak assimilator_hooks
#pragma weak trickle_hooks
#pragma weak work_generator_hooks

int
main(int argc, char **argv)
{
    const struct validator_hooks *volatile validator = &validator_hooks;
    const struct assimilator_hooks *volatile assimilator = &assimilator_hooks;
    const struct trickle_hooks *volatile trickle = &trickle_hooks;
    const struct work_generator_hooks *volatile generator =
        &work_generator_hooks;
    int n = (validator != NULL) + (assimilator != NULL) + (trickle != NULL) +
            (generator != NULL);

    if (n != 1) {
        fprintf(stderr,
                "%s: %s of validator_hooks, assimilator_hooks, trickle_hooks, "
                "work_generator_hooks is defined; see quorate(3)\n",
                argv[0], n == 0 ? "none" : "more than one");
        return EXIT_USAGE;
    }
    if (validator != NULL)
        return validator_main(argc, argv, validator);
    if (assimilator != NULL)
        return assimilator_main(argc, argv, assimilator);
    if (trickle != NULL)
        return trickle_main(argc, argv, trickle);
    return work_generator_main(argc, argv, generator);
}
