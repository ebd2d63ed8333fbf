# build.sh - build and install Quorate out of tree.  Sourced by run-demo and
# run-tests; $top is the source folder.

# build_install BUILD_DIR PREFIX [configure options]: brings both up to date.
# Output goes to BUILD_DIR/build.log; on failure its end is shown.
build_install() {
	build_dir=$1 build_prefix=$2
	shift 2
	mkdir -p "$build_dir" || return 1
	build_log=$build_dir/build.log
	: >"$build_log"
	if ! build_steps "$@" >>"$build_log" 2>&1; then
		tail -n 30 "$build_log" >&2
		echo "the build failed; whole output: $build_log" >&2
		return 1
	fi
}

build_steps() {
	if [ ! -x "$top/configure" ] || [ "$top/configure.ac" -nt "$top/configure" ]; then
		(cd "$top" && autoreconf -i) || return 1
	fi
	if [ ! -f "$build_dir/Makefile" ]; then
		(cd "$build_dir" && "$top/configure" --prefix="$build_prefix" "$@") ||
			return 1
	fi
	make -C "$build_dir" -j"$(nproc)" && make -C "$build_dir" install
}
