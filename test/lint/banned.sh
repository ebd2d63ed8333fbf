#!/bin/sh
# banned.sh - functions of C that our code does not call.
#
# Text is built with struct buf, or with snprintf into a field whose size is
# checked; there is no shell between us and another program.
. "$(dirname "$0")/sources.sh"

unbounded='sprintf|vsprintf|strcpy|stpcpy|strcat|strncat|gets'
shells='system|popen|wordexp'
races='mktemp|tmpnam|tempnam'

c_text code |
    grep -aE "(^|[^A-Za-z0-9_>.])($unbounded|$shells|$races)[[:blank:]]*\(" |
    complain "functions that our code does not call:" || found=1
exit $found
