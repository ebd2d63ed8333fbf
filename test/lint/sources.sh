# sources.sh - what all checks share; read with `.` by each of them.
#
# A check is called with the source folder as its argument; `make check` gives
# it in $top_srcdir.  It prints what is wrong as FILE:LINE: TEXT and exits 1;
# 0: nothing wrong; 77: what it needs is not installed.

src=${1:-${top_srcdir:-}}
if [ -z "$src" ] || [ ! -f "$src/configure.ac" ]; then
    echo "usage: $0 SOURCE_FOLDER" >&2
    exit 2
fi
LC_ALL=C
export LC_ALL
here=$(cd "$(dirname "$0")" && pwd)
cd "$src" || exit 2
found=0

# c_files [FOLDER ...]: our C files, one a line; captured data is not ours, and
# the yardstick of test/bench is a program for itself.
c_files()
{
    [ $# -gt 0 ] || set -- lib db sched daemons tools html test
    for folder in "$@"; do
        [ ! -d "$folder" ] || find "$folder" -name '*.[ch]' \
            ! -path 'test/data/*' ! -path 'test/bench/*' | sort
    done
}

# c_text KEEP [FOLDER ...]: FILE:LINE:TEXT of their code, literals or all.
c_text()
{
    keep=$1
    shift
    c_files "$@" | xargs awk -v keep="$keep" -f "$here/c_text.awk" /dev/null
}

# complain TITLE: standard input is the list of breaches; empty is fine.
complain()
{
    list=$(cat)
    [ -n "$list" ] || return 0
    printf '%s\n%s\n' "$1" "$list"
    return 1
}
