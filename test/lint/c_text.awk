# c_text.awk - C source without its comments, line by line with its numbers.
#
#   awk -v keep=code -f c_text.awk x.c      the program: literals become ""
#   awk -v keep=literals -f c_text.awk x.c  only what stands in string literals
#   awk -v keep=all -f c_text.awk x.c       both
#
# Output: FILE:LINE:TEXT.  Checks that look for words must not be fooled by a
# comment that speaks of them, nor by a message.

function emit(text)
{
    if (text ~ /[^ \t]/)
        printf "%s:%d:%s\n", FILENAME, FNR, text
}

FNR == 1 { in_comment = 0 }

{
    out = ""
    quote = ""
    n = length($0)
    for (i = 1; i <= n; i++) {
        c = substr($0, i, 1)
        two = substr($0, i, 2)
        if (in_comment) {
            if (two == "*/") {
                in_comment = 0
                i++
                out = out " "
            }
        } else if (quote != "") {
            if (c == "\\") {
                if (keep != "code")
                    out = out two
                i++
            } else if (c == quote) {
                quote = ""
                out = out (keep == "literals" ? " " : c)
            } else if (keep != "code") {
                out = out c
            }
        } else if (two == "/*") {
            in_comment = 1
            i++
        } else if (two == "//" && keep != "literals") {
            break
        } else if (c == "\"" || (c == "'" && keep != "literals")) {
            quote = c
            if (keep != "literals")
                out = out c
        } else if (keep != "literals") {
            out = out c
        }
    }
    emit(out)
}
