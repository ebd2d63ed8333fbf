# audit.sh - how a test of a whole project ends: audit finds nothing.  Sourced by
# scenario.sh and bare.sh, whose done_promising calls promise_audit.
#
#   audit_except CHECK WHY   this test breaks what that check promises
#   no_audit WHY             there is nothing that could be audited
audit_not=
audit_left_out=()

audit_except() {
	case " ${audit_left_out[*]} " in *" $1 "*) return ;; esac
	audit_left_out+=(--except "$1")
	echo "# audit leaves out $1: $2"
}

no_audit() {
	audit_not=$1
}

audit_is_clean() { # PROGRAM
	"$1" "${audit_left_out[@]}" >"$T/audit.txt" 2>&1 && return 0
	sed 's/^/# /' "$T/audit.txt"
	return 1
}

promise_audit() { # PROGRAM
	if [ -n "$audit_not" ]; then
		echo "# no audit: $audit_not"
	else
		promise "audit finds nothing" audit_is_clean "$1"
	fi
}
