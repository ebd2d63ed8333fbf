#!/bin/sh
# planted.sh - do the checks bite?  Each is shown one breach, and must find it.
#
# The sources are copied; on the copy every check must pass, then a breach is
# planted, the check must fail and name the planted file, and the breach is taken
# out again.
. "$(dirname "$0")/sources.sh"

CC=${CC:-cc}
tree=$(mktemp -d "${TMPDIR:-/tmp}/quorate-planted.XXXXXX") || exit 2
trap 'rm -rf "$tree"' EXIT
trap 'exit 1' HUP INT TERM

# copy_tree: what the checks look at, writable (the sources may not be).
copy_tree()
{
    for what in configure.ac .clang-format lib db sched daemons tools html; do
        [ ! -e "$what" ] || cp -R "$what" "$tree/" || exit 2
    done
    chmod -R u+rwX "$tree"
    find "$tree" \( -name '*.o' -o -name '*.lo' -o -name '*.a' \) -delete
}

fail()
{
    echo "FAILED: $*"
    found=1
}

# check NAME [ARGUMENT]: run a check on the copy; its output goes to $said.
check()
{
    name=$1
    shift
    said=$(sh "$here/$name.sh" "$tree" "$@" 2>&1)
}

# clean NAME: the check passes on the copy as it is.
clean()
{
    check "$@" || fail "$1 complains about a clean tree: $said"
}

# caught NAME FILE TEXT: with TEXT in the new FILE, the check names the file.
caught()
{
    mkdir -p "$(dirname "$tree/$2")"
    printf '/* a planted breach */\n%s\n' "$3" >"$tree/$2"
    if check "$1"; then
        fail "$1 overlooks in $2: $3"
    else
        case $said in
        *"$2"*) echo "caught by $1: $3" ;;
        *) fail "$1 does not name $2: $said" ;;
        esac
    fi
    rm "$tree/$2"
}

# passed NAME FILE TEXT: with TEXT in FILE the check still passes.
passed()
{
    printf '%s\n' "$3" >"$tree/$2"
    check "$1" || fail "$1 wrongly complains about: $3"
    rm "$tree/$2"
}

# ---- include direction: the compiler's flags, and layers.sh -------------------

folders='lib/util lib/model lib/policy lib/shm lib/proto db sched daemons tools html'

# allowed FOLDER: folders whose headers it may see, besides its own.
allowed()
{
    case $1 in
    lib/util) ;;
    lib/model) echo lib/util ;;
    lib/policy) echo lib/model ;;
    lib/shm | lib/proto) echo lib/util lib/model ;;
    db) echo lib/util lib/model lib/policy lib/shm lib/proto ;;
    *) echo lib/util lib/model lib/policy lib/shm lib/proto db ;;
    esac
}

# header FOLDER: the name of the header that is planted in it.
header()
{
    echo "planted_$(echo "$1" | tr / _).h"
}

# flags FOLDER: the -I flags of its Makefile.am.
flags()
{
    sed -e :a -e '/\\$/N; s/\\\n//; ta' "$tree/$1/Makefile.am" |
        sed -n 's/^AM_CPPFLAGS *=//p' | tr ' \t' '\n\n' |
        sed -n "s,^-I\$(top_srcdir),-I$tree,p"
}

# compiles FOLDER HEADER: does a file of the folder that includes it compile?
compiles()
{
    printf '#include "%s"\n' "$2" >"$tree/$1/planted.c"
    # shellcheck disable=SC2046 # flags are words
    $CC -std=c17 -fsyntax-only $(flags "$1") "$tree/$1/planted.c" 2>"$tree/log"
}

check_directions()
{
    for other in $folders; do
        echo 'extern int planted;' >"$tree/$other/$(header "$other")"
    done
    for folder in $folders; do
        breaches=
        for other in $folders; do
            case " $folder $(allowed "$folder") " in
            *" $other "*)
                compiles "$folder" "$(header "$other")" ||
                    fail "$folder cannot include $other: $(cat "$tree/log")"
                ;;
            *)
                ! compiles "$folder" "$(header "$other")" ||
                    fail "$folder compiles with a header of $other"
                breaches="$breaches $other"
                ;;
            esac
        done
        for other in $breaches; do
            printf '#include "%s"\n' "$(header "$other")"
        done >"$tree/$folder/planted.c"
        for other in $breaches; do
            echo "$folder includes $other/$(header "$other")"
        done >>"$tree/want"
    done

    ! check layers || fail "layers overlooks every upward include"
    while read -r breach; do
        case $said in
        *": $breach"*) echo "does not compile, caught by layers: $breach" ;;
        *) fail "layers overlooks: $breach" ;;
        esac
    done <"$tree/want"
    find "$tree" -name 'planted*' -type f -delete
    clean layers
}

# ---- purity: what the objects of lib/policy call ------------------------------

# archive_with BODY: a library of one object that has this function body.
archive_with()
{
    rm -f "$tree/planted.a"
    cat >"$tree/planted.c" <<END
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "workunit.h"
double planted(double x, const char *s);
double planted(double x, const char *s) { $1 }
END
    $CC -std=c17 -D_GNU_SOURCE -O0 -fno-builtin -I"$tree/lib/model" -c \
        -o "$tree/planted.o" "$tree/planted.c" &&
        ar rc "$tree/planted.a" "$tree/planted.o" 2>"$tree/ar.log" || {
        cat "$tree/ar.log"
        exit 2
    }
}

impure()
{
    archive_with "$2"
    if check purity "$tree/planted.a"; then
        fail "purity overlooks: $2"
    else
        case $said in
        *"$1"*) echo "caught by purity: $2" ;;
        *) fail "purity does not name $1: $said" ;;
        esac
    fi
}

# ---- all together -------------------------------------------------------------

copy_tree
for name in layers sql banned; do
    clean $name
done
check format
case $? in
0) can_format=yes ;;
77) can_format=no ;;
*)
    can_format=yes
    fail "format complains about a clean tree: $said"
    ;;
esac

# From here on headers are enough, and faster.
find "$tree" -name '*.c' -delete

check_directions
caught layers lib/shm/planted.c '#include "no_such_header.h"'
caught layers tools/example/planted.c '#include "daemon.h"'
passed layers tools/example/planted.c '#include "validator.h"'
caught layers sched/log.h 'extern int log_twice;'

caught layers sched/planted.c '#include <mysql.h>'
caught layers db/planted.c '#include <mysql/mysql.h>'
caught layers daemons/planted.c '#  include <mariadb/mysql.h>'
caught layers lib/proto/planted.c '#include <libxml/parser.h>'
caught layers tools/planted.c '#include <libxslt/transform.h>'
caught layers sched/planted.c '#include <fcgiapp.h>'
caught layers html/planted.c '#include <fcgi_stdio.h>'
caught layers tools/planted.c 'int x(void) { return shm_open("/x", 0, 0); }'
passed layers tools/planted.c '/* shm_open("/x", 0, 0) and #include <mysql.h> */'

caught sql sched/planted.c 'static const char q[] = "SELECT id FROM host";'
caught sql sched/planted.c 'static const char q[] = "select id, name from host";'
caught sql daemons/planted.c 'static const char q[] = "DELETE FROM result";'
caught sql tools/planted.c 'static const char q[] = "update host set x=1";'
caught sql lib/util/planted.c 'static const char q[] = "insert into host";'
caught sql tools/planted 'mysql -e "INSERT INTO app VALUES (1)"'
passed sql tools/planted.c 'static const char t[] = "select a job from them";'
passed sql tools/planted.c '/* SELECT id FROM host */'
passed sql db/planted.c 'static const char q[] = "SELECT id FROM host";'

for call in 'sprintf(b, s)' 'strcpy(b, s)' 'strcat (b, s)' 'gets(b)' \
    'system(s)' 'popen(s, "r")' 'vsprintf(b, s, v)'; do
    caught banned tools/planted.c "int x(void) { return $call; }"
done
passed banned tools/planted.c '/* sprintf(b, s) */'
passed banned tools/planted.c 'static const char t[] = "system(1)";'
passed banned tools/planted.c 'int x(void) { return snprintf(b, n, s); }'

archive_with 'return exp(x) + fmin(x, 1) + (double)strlen(s);'
clean purity "$tree/planted.a"
impure time 'return x + (double)time(NULL) + (double)strlen(s);'
impure malloc 'return x + (malloc(1) != NULL) + (double)strlen(s);'
impure fopen 'return x + (fopen(s, "r") != NULL);'
impure printf 'return x + printf("%s", s);'
impure rand 'return x + rand() + (double)strlen(s);'
impure getenv 'return x + (getenv(s) != NULL);'

if [ $can_format = yes ]; then
    caught format lib/policy/planted.c 'int  planted ( void ){return 0;}'
else
    echo "no clang-format 14: format.sh is not tried"
fi
exit $found
