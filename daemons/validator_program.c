/* validator_program.c - main() of a validator of ours, linked with its hooks.
 */
#include "validator.h"

int
main(int argc, char **argv)
{
    return validator_main(argc, argv, &validator_hooks);
}
