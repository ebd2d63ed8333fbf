# mariadb.sh - private MariaDB servers for tests and demos: own data, unix socket
# only, nothing of the machine's configuration.  POSIX sh, to be sourced.
#
#   mariadb_here                 are the programs there?
#   mariadb_start DIR            make DIR/data if it is not there; start; wait
#                                until it answers on DIR/db.sock
#   mariadb_new_database DIR NAME USER PASSWORD
#   mariadb_client DIR [ARG…]    the command-line client, as administrator
#   mariadb_stop DIR             clean end; waits
#   mariadb_kill DIR             as a power failure; data can be started again
#
# As root the server runs as user mysql, or nobody; it must be able to enter
# DIR, so DIR belongs below ${TMPDIR:-/tmp}, in a folder of mode 755.
# MARIADB_EXTRA: more lines for the server's configuration.
# With MARIADB_HASTY=1 the server does not wait for the disk: for tests in which
# it does not die.
# Each function returns non-zero after a message on stderr.
# shellcheck shell=sh

mariadb_find() {
	PATH=$PATH:/usr/sbin:/usr/local/sbin:/usr/libexec command -v "$1"
}

mariadb_here() {
	mariadb_find mariadbd >/dev/null &&
		mariadb_find mariadb-install-db >/dev/null &&
		mariadb_find mariadb >/dev/null
}

# The account that owns a server's files.
mariadb_owner() {
	if [ "$(id -u)" != 0 ]; then
		id -un
	elif id mysql >/dev/null 2>&1; then
		echo mysql
	else
		echo nobody
	fi
}

# mariadb_running DIR: is its process there (and no zombie)?
mariadb_running() {
	[ -s "$1/mariadbd.pid" ] || return 1
	read -r mariadb_pid <"$1/mariadbd.pid"
	mariadb_state=$(sed -e 's/^.*) //' -e 's/ .*//' \
		"/proc/$mariadb_pid/stat" 2>/dev/null) || return 1
	case $mariadb_state in '' | Z | X) return 1 ;; esac
	grep -q mariadbd "/proc/$mariadb_pid/comm" 2>/dev/null
}

# A server that starts removes what looks like temporary tables from its tmpdir,
# also those of another server: each gets a folder of its own.
#
# A database that is empty and small: what costs time at the start is left out,
# what makes a commit durable is not.
mariadb_write_config() {
	cat >"$1/my.cnf" <<-END
		[mariadbd]
		datadir = $1/data
		socket = $1/db.sock
		pid-file = $1/data/mariadbd.pid
		tmpdir = $1/tmp
		log-error = $1/mariadbd.log
		skip-networking
		skip-name-resolve
		skip-log-bin
		character-set-server = utf8mb4
		collation-server = utf8mb4_unicode_ci
		max_connections = 200
		max_allowed_packet = 64M
		performance_schema = OFF
		innodb_buffer_pool_size = 128M
		innodb_log_file_size = 48M
		innodb_flush_log_at_trx_commit = 1
		innodb_buffer_pool_dump_at_shutdown = OFF
		innodb_buffer_pool_load_at_startup = OFF
	END
	[ -z "${MARIADB_EXTRA:-}" ] || echo "$MARIADB_EXTRA" >>"$1/my.cnf"
	[ -z "${MARIADB_HASTY:-}" ] || cat >>"$1/my.cnf" <<-END
		innodb_flush_log_at_trx_commit = 0
		loose-debug-no-sync
	END
}

# --force: without it a machine that cannot look up its own name is refused.
mariadb_install() {
	set -- "$1" "$(mariadb_owner)"
	set -- "$1" "$2" "--auth-root-authentication-method=socket" \
		"--auth-root-socket-user=$(id -un)"
	mkdir -p "$1/data" "$1/tmp" || return 1
	if [ "$(id -u)" = 0 ]; then
		chown "$2" "$1" "$1/data" "$1/tmp" || return 1
		set -- "$@" "--user=$2"
	fi
	mariadb_write_config "$1" || return 1
	mariadb_dir=$1
	shift 2
	"$(mariadb_find mariadb-install-db)" \
		--defaults-file="$mariadb_dir/my.cnf" \
		--datadir="$mariadb_dir/data" --skip-test-db --force "$@" \
		>"$mariadb_dir/install.log" 2>&1 || {
		echo "mariadb-install-db failed; see $mariadb_dir/install.log:" >&2
		tail -n 5 "$mariadb_dir/install.log" >&2
		return 1
	}
}

mariadb_start() {
	mariadb_here || {
		echo "no mariadbd: install mariadb-server" >&2
		return 1
	}
	mkdir -p "$1" && chmod 755 "$1" || return 1
	if [ ! -d "$1/data/mysql" ]; then
		mariadb_install "$1" || return 1
	fi
	if [ "$(id -u)" = 0 ]; then
		"$(mariadb_find mariadbd)" --defaults-file="$1/my.cnf" \
			--user="$(mariadb_owner)" >>"$1/start.log" 2>&1 </dev/null &
	else
		"$(mariadb_find mariadbd)" --defaults-file="$1/my.cnf" \
			>>"$1/start.log" 2>&1 </dev/null &
	fi
	echo $! >"$1/mariadbd.pid"
	mariadb_wait_until_up "$1"
}

mariadb_wait_until_up() {
	mariadb_tries=0
	until mariadb_client "$1" -e 'DO 1' >/dev/null 2>&1; do
		mariadb_tries=$((mariadb_tries + 1))
		if [ $mariadb_tries -gt 600 ] ||
			{ [ $mariadb_tries -gt 5 ] && ! mariadb_running "$1"; }; then
			echo "mariadbd does not start; see $1/mariadbd.log:" >&2
			tail -n 10 "$1/mariadbd.log" >&2
			mariadb_kill "$1"
			return 1
		fi
		sleep 0.1
	done
}

mariadb_client() {
	mariadb_dir=$1
	shift
	mariadb --no-defaults --socket="$mariadb_dir/db.sock" \
		--user="$(id -un)" --default-character-set=utf8mb4 "$@"
}

# The password goes through stdin: nobody reads it in a list of processes.
mariadb_new_database() {
	case $2$3 in
	*[!A-Za-z0-9_]*)
		echo "mariadb_new_database: bad name: $2 or $3" >&2
		return 1
		;;
	esac
	case $4 in
	*[\'\\]*)
		echo "mariadb_new_database: no quotes in passwords" >&2
		return 1
		;;
	esac
	mariadb_client "$1" <<-END
		CREATE DATABASE \`$2\` CHARACTER SET utf8mb4
		    COLLATE utf8mb4_unicode_ci;
		CREATE USER IF NOT EXISTS '$3'@'localhost';
		ALTER USER '$3'@'localhost' IDENTIFIED BY '$4';
		GRANT ALL ON \`$2\`.* TO '$3'@'localhost';
	END
}

# mariadb_end DIR SIGNAL: send it and wait until the process has gone.
mariadb_end() {
	mariadb_tries=0
	if mariadb_running "$1"; then
		kill "-$2" "$mariadb_pid" 2>/dev/null
		while mariadb_running "$1"; do
			mariadb_tries=$((mariadb_tries + 1))
			if [ $mariadb_tries -gt 600 ]; then
				echo "mariadbd ($mariadb_pid) does not end" >&2
				return 1
			fi
			sleep 0.1
		done
		wait "$mariadb_pid" 2>/dev/null
	fi
	rm -f "$1/mariadbd.pid" "$1/db.sock"
}

mariadb_stop() {
	mariadb_end "$1" TERM
}

mariadb_kill() {
	mariadb_end "$1" KILL
}
