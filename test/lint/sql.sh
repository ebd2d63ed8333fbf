#!/bin/sh
# sql.sh - SQL stands in db/ (and in tests), nowhere else.
#
# A query inside a program escapes from the review of db/: bound values, guarded
# state changes, an index for each.  Looked for in string literals of C, and in
# scripts.
. "$(dirname "$0")/sources.sh"

sql='SELECT|(INSERT( +IGNORE)?|REPLACE) +INTO|DELETE +FROM|UPDATE +[a-z_`]+ +SET'
sql="$sql|(CREATE|ALTER|DROP|TRUNCATE) +TABLE|START +TRANSACTION|FOR +UPDATE"
sql="(^|[^A-Za-z_])($sql)([^A-Za-z_]|\$)"

# Lower-case words are English too, so more of the statement must be there.
quiet='select ([a-z_.]+|[*])( *, *[a-z_.]+)* from [a-z_]+'
quiet="$quiet|insert into [a-z_]+|delete from [a-z_]+ where|update [a-z_]+ set "

in_c()
{
    c_text literals lib sched daemons tools html | grep -aE "$sql|:.*($quiet)"
}

in_scripts()
{
    for folder in lib sched daemons tools html; do
        [ ! -d "$folder" ] || find "$folder" -type f ! -name '*.[cho]' \
            ! -name '*.md' ! -name 'README*' ! -name 'Makefile*' -print
    done | sort | xargs grep -nIE "$sql" /dev/null
}

in_c | complain "SQL outside of db/:" || found=1
in_scripts | complain "SQL outside of db/:" || found=1
exit $found
