/* trickle_program.c - main() of a trickle handler of ours, linked with its
 * hooks. */
#include "trickle.h"

int
main(int argc, char **argv)
{
    return trickle_main(argc, argv, &trickle_hooks);
}
