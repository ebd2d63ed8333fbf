/* work_generator_program.c - main() of a work generator of ours, linked with
 * its hooks. */
#include "work_generator.h"

int
main(int argc, char **argv)
{
    return work_generator_main(argc, argv, &work_generator_hooks);
}
