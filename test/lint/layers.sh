#!/bin/sh
# layers.sh - who may include whom, and which file alone uses which library.
#
# The compiler already refuses most upward includes, because each folder's -I
# flags hold only what lies below it.  This check says so in words, also sees
# what is not compiled here, and watches over the one file of each library.
. "$(dirname "$0")/sources.sh"

# ---- include direction --------------------------------------------------------

# Folder, and the folders (or single headers) that it may see besides its own.
# The example is what a scientist writes: it sees what is installed.
directions='
lib/util
lib/model   lib/util
lib/policy  lib/model
lib/shm     lib/model lib/util
lib/proto   lib/model lib/util
db          lib/proto lib/shm lib/policy lib/model lib/util
sched       db lib/proto lib/shm lib/policy lib/model lib/util
daemons     db lib/proto lib/shm lib/policy lib/model lib/util
tools/example  daemons/validator.h daemons/assimilator.h daemons/trickle.h
tools       db lib/proto lib/shm lib/policy lib/model lib/util
html        db lib/proto lib/shm lib/policy lib/model lib/util
test        html tools daemons sched db lib/proto lib/shm lib/policy lib/model lib/util
'

# A test's own headers lie beside it and are found first, and nothing else can
# see them; so they may have any name.
twice_named()
{
    c_files lib db sched daemons tools html | grep '\.h$' | awk -F/ '
        $NF in first { print first[$NF] " and " $0 }
        { first[$NF] = $0 }'
}

# Of each of our includes: where, and the header.
our_includes()
{
    c_text all | sed -n \
        's/^\([^:]*:[0-9]*\):[[:blank:]]*#[[:blank:]]*include[[:blank:]]*"\([^"]*\)".*/\1 \2/p'
}

wrong_direction()
{
    {
        echo "$directions" | sed -n 's/^[a-z]/may &/p'
        c_files | sed -n 's/.*\.h$/header &/p'
        our_includes | sed 's/^/include /'
    } | awk '
        function name(file) {
            sub(/.*\//, "", file)
            return file
        }
        function folder(file) {
            match(file, /^(lib\/|tools\/example)?[^\/]*/)
            return substr(file, 1, RLENGTH)
        }
        # The header that the compiler would take for file:line.
        function found(where, header,    beside) {
            beside = where
            sub(/[^\/]*$/, name(header), beside)
            if (beside in exists)
                return beside
            return home[name(header)]
        }
        $1 == "may" {
            for (i = 2; i <= NF; i++)
                may[$2, $i] = 1
        }
        $1 == "header" {
            exists[$2] = 1
            if (!(name($2) in home) || folder($2) != "test")
                home[name($2)] = $2
        }
        $1 == "include" {
            target = found($2, $3)
            from = folder($2)
            if (target == "") {
                # an installed header is written <x.h>
                if ($3 != "build-config.h")
                    print $2 ": \"" $3 "\" is no header of ours"
            } else if (!((from, folder(target)) in may) &&
                       !((from, target) in may)) {
                print $2 ": " from " includes " target
            }
        }'
}

# ---- one file for each library ------------------------------------------------

include='#[[:blank:]]*include[[:blank:]]*[<"]'
code=$(c_text all lib db sched daemons tools html)

# only FILES PATTERN: lines of the code that match, outside of FILES and test/.
only()
{
    printf '%s\n' "$code" | grep -aE "$2" | grep -avE "^($1):"
}

twice_named | complain "two headers with one name:" || found=1
wrong_direction | complain "includes against the order of SUBDIRS:" || found=1
only 'db/db\.c' "${include}(mysql|mariadb|errmsg|mysqld_error)" |
    complain "the MySQL C API belongs to db/db.c alone:" || found=1
only 'lib/util/xml\.c|html/render\.c' "${include}libxml/" |
    complain "libxml2 belongs to lib/util/xml.c alone:" || found=1
only 'html/render\.c' "${include}(libxslt|libexslt)/" |
    complain "libxslt belongs to html/render.c alone:" || found=1
only 'lib/shm/segment\.c' '(^|[^A-Za-z0-9_])shm_(open|unlink)[[:blank:]]*\(' |
    complain "shm_open belongs to lib/shm/segment.c alone:" || found=1
only 'lib/util/cgi\.c' "${include}(fastcgi/)?(fcgi|fastcgi)" |
    complain "FastCGI belongs to lib/util/cgi.c alone:" || found=1
exit $found
