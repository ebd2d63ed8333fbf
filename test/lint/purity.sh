#!/bin/sh
# purity.sh - lib/policy calls nothing but maths, memory and strings of libc.
#
#   purity.sh SOURCE_FOLDER [LIBPOLICY.A]
#
# The linker knows what the objects want from outside; each name must be on the
# list.  The clock, files, logs, malloc and randomness are not: the caller brings
# time and memory.  What sanitizers and coverage add is not the objects' own.
. "$(dirname "$0")/sources.sh"

archive=${2:-${top_builddir:-.}/lib/policy/.libs/libpolicy.a}

allowed='
    memchr memcmp memcpy memmove memset
    strchr strcmp strcspn strlen strncmp strpbrk strrchr strspn strstr
    strcasecmp strncasecmp strcasestr
    abs bsearch labs qsort
    ceil cos exp exp2 expm1 fabs floor fmax fmin fmod frexp hypot ldexp log log10 log1p
    log2 lround pow round sqrt trunc
    regexec snprintf vsnprintf
'
compilers_own='^(_GLOBAL_OFFSET_TABLE_|__stack_chk_fail|__assert_fail)$'
compilers_own="$compilers_own|^__(asan|ubsan|tsan|msan|lsan|sanitizer|gcov|llvm)_"
compilers_own="$compilers_own|^__sancov|^_*gcov|^__gcc_"

if [ ! -f "$archive" ]; then
    echo "purity.sh: no $archive: build lib/policy first" >&2
    exit 2
fi

# names TYPES: symbols of the archive of these types (of nm).
names()
{
    nm "$archive" | awk -v types="$1" \
        'NF >= 2 && index(types, $(NF - 1)) { print $NF }' | sort -u
}

# "__memcpy_chk" is memcpy with _FORTIFY_SOURCE.
wanted_outside()
{
    defined=" $(names TtDdRrBbWVi | tr '\n' ' ') "
    list=" $(echo $allowed) "
    names U | grep -avE "$compilers_own" | while read -r name; do
        plain=$(echo "$name" | sed 's/^__\([a-z0-9]*\)_chk$/\1/')
        case "$defined$list" in
        *" $plain "*) ;;
        *) echo "$name" ;;
        esac
    done
}

wanted_outside |
    complain "lib/policy must not call (see lib/policy/README):" || found=1
exit $found
