/* assimilator_program.c - main() of an assimilator of ours, linked with its
 * hooks. */
#include "assimilator.h"

int
main(int argc, char **argv)
{
    return assimilator_main(argc, argv, &assimilator_hooks);
}
