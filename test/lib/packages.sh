# packages.sh - install the Debian packages that a step needs and the machine
# lacks, saying which.  Sourced by run-demo and run-tests.
#
# Works as root, or as a user with sudo, on Debian 12, 13 and Ubuntu 24.04.
# Services that a package would start (a web server on port 80, …) are held back
# while we install: everything we need runs private, started by ourselves.

packages_build="gcc make autoconf automake libtool pkg-config
	default-libmysqlclient-dev libxml2-dev libxslt1-dev libfcgi-dev
	libssl-dev libjansson-dev zlib1g-dev libzstd-dev libcrypt-dev"
packages_run="mariadb-server-core mariadb-client-core lighttpd boinc-client
	curl ca-certificates procps"
packages_test="check libcurl4-openssl-dev clang clang-format libxml2-utils
	xz-utils file man-db git"

packages_missing() {
	for package in "$@"; do
		case $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) in
		"install ok installed") ;;
		*) printf '%s ' "$package" ;;
		esac
	done
}

packages_as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	else
		sudo -n true 2>/dev/null || echo "sudo asks for your password:" >&2
		sudo "$@"
	fi
}

# packages_ensure NAME...: returns non-zero, with a message, if that failed.
packages_ensure() {
	missing=$(packages_missing "$@")
	[ -n "$missing" ] || return 0
	if ! command -v apt-get >/dev/null 2>&1; then
		echo "missing packages, and no apt-get here to install them: $missing" >&2
		return 1
	fi
	if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null 2>&1; then
		echo "missing packages: $missing" >&2
		echo "install them as root, or install sudo, then run this again" >&2
		return 1
	fi
	echo "installing: $missing"
	policy=/usr/sbin/policy-rc.d
	held=
	if [ ! -e $policy ]; then
		held=yes
		packages_as_root sh -c \
			"printf '#!/bin/sh\nexit 101\n' >$policy && chmod 755 $policy"
	fi
	packages_log=$(mktemp "${TMPDIR:-/tmp}/quorate-apt.XXXXXX")
	status=0
	# word splitting wanted: a list of names
	# shellcheck disable=SC2086
	packages_as_root env DEBIAN_FRONTEND=noninteractive sh -c \
		'apt-get -q update && apt-get -q install -y --no-install-recommends "$@"' \
		apt $missing >"$packages_log" 2>&1 || status=$?
	[ -z "$held" ] || packages_as_root rm -f $policy
	if [ $status -ne 0 ]; then
		tail -n 20 "$packages_log" >&2
		echo "could not install: $missing (whole output: $packages_log)" >&2
		return 1
	fi
	rm -f "$packages_log"
}
