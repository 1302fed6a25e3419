# SPDX-License-Identifier: GPL-2.0-only
# report --decode: where weft looks for plugins, and that it reports every problem with them. tests/unit/plugin.c tests
# what they print.
load lib

file=tests/fixtures/demo.dat

# A copy of weft in another directory, without plugins.
setup() {
	alone=$BATS_TEST_TMPDIR/alone
	mkdir -p "$alone"
	cp "$WEFT" "$alone/weft"
}

# The results that the kernel's own text shows as numbers such as -2, each with its name from errno(3).
decoded() {
	grep -c '0xfffffffffffffffe {error=ENOENT}'
}

@test "report --decode of a build takes the plugins that were built" {
	[ "$(weft report --decode $file | decoded)" -eq "$(weft report $file | grep -c -- '-> 0xfffffffffffffffe$')" ]
	[ "$(weft report --decode $file | decoded)" -gt 0 ]
}

@test "report --decode without plugins is an error that says where they were looked for" {
	[ ! -e /usr/local/lib/weft/plugins ] || skip "weft is installed here"
	run --separate-stderr "$alone/weft" report --decode $file
	[ "$status" -eq 1 ]
	[ -z "$output" ]
	[[ "$stderr" == *"there is no directory of plugins '/usr/local/lib/weft/plugins'"*"--plugin-dir DIR"* ]]
	mkdir "$alone/plugins"
	run --separate-stderr "$alone/weft" report --decode $file
	[ "$status" -eq 1 ]
	[ -z "$output" ]
	[[ "$stderr" == *"there is no plugin in '$alone/plugins'"* ]]
}

@test "report: a --plugin-dir that does not exist, or is a file, is an error" {
	for dir in "$BATS_TEST_TMPDIR/missing" "$WEFT"; do
		run --separate-stderr weft report --plugin-dir "$dir" $file
		[ "$status" -eq 1 ]
		[ -z "$output" ]
		[[ "$stderr" == *"'$dir'"* ]]
	done
	run --separate-stderr weft report --plugin-dir "$BUILD/plugins" --plugin-dir "$alone" $file
	[ "$status" -eq 2 ]
}

@test "report --decode does not load what somebody else may have put beside weft" {
	cp -r "$BUILD/plugins" "$alone/plugins"
	chmod 755 "$alone" "$alone/plugins" "$alone"/plugins/*
	[ "$("$alone/weft" report --decode $file | decoded)" -gt 0 ]
	chmod 777 "$alone/plugins"
	run --separate-stderr "$alone/weft" report --decode $file
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"the plugins in '$alone/plugins' are not loaded: everybody may write to it"* ]]
	chmod 755 "$alone/plugins"
	chmod 666 "$alone/plugins/syscalls.so"
	run --separate-stderr "$alone/weft" report --decode $file
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"plugin '$alone/plugins/syscalls.so' is not loaded: everybody may write to it"* ]]
	rm "$alone/plugins/syscalls.so"
	ln -s "$BUILD/plugins/syscalls.so" "$alone/plugins/syscalls.so"
	run --separate-stderr "$alone/weft" report --decode $file
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"plugin '$alone/plugins/syscalls.so' is not loaded: it is not a regular file"* ]]
	mv "$alone/plugins" "$BATS_TEST_TMPDIR/elsewhere"
	ln -s "$BATS_TEST_TMPDIR/elsewhere" "$alone/plugins"
	run --separate-stderr "$alone/weft" report --decode $file
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"'$alone/plugins'"* ]]
	if [ "$(id -u)" = 0 ]; then
		rm "$alone/plugins"
		cp -r "$BUILD/plugins" "$alone/plugins"
		chown 65534 "$alone"/plugins/syscalls.so
		run --separate-stderr "$alone/weft" report --decode $file
		[ "$status" -eq 1 ]
		[[ "$stderr" == *"plugin '$alone/plugins/syscalls.so' is not loaded: it belongs to another user"* ]]
	fi
}

@test "report --decode names each plugin that it cannot use" {
	dir=$BATS_TEST_TMPDIR/plugins
	mkdir "$dir"
	cp "$BUILD"/plugins/*.so "$dir"
	cp "$BUILD/plugins/syscalls.so" "$dir/again.so"
	echo garbage > "$dir/broken.so"
	mkdir "$dir/folder.so"
	mkfifo "$dir/pipe.so"
	echo 'extern const int nothing; const int nothing;' > "$dir/none.c"
	printf '#include "include/weft/plugin.h"\n%s\n' 'extern const struct weft_plugin weft_plugin;
		const struct weft_plugin weft_plugin = { .abi = WEFT_PLUGIN_ABI + 1, .system = "sched" };' > "$dir/abi.c"
	"${CC:-gcc}" -shared -fPIC -o "$dir/none.so" "$dir/none.c"
	"${CC:-gcc}" -I. -shared -fPIC -o "$dir/abi.so" "$dir/abi.c"
	run --separate-stderr timeout 60 "$WEFT" report --plugin-dir "$dir" $file
	[ "$status" -eq 0 ]
	[ "$(decoded <<< "$output")" -gt 0 ]
	[[ "$stderr" == *"'$dir/again.so' is for system 'syscalls', whose plugin can only be 'syscalls.so'"* ]]
	[[ "$stderr" == *"'$dir/broken.so': file too short"* ]]
	[[ "$stderr" == *"'$dir/folder.so' is not loaded: it is not a regular file"* ]]
	[[ "$stderr" == *"'$dir/pipe.so' is not loaded: it is not a regular file"* ]]
	[[ "$stderr" == *"'$dir/none.so' does not define weft_plugin"* ]]
	[[ "$stderr" == *"'$dir/abi.so' has ABI 2, this weft has 1"* ]]
	# A plugin that an event needs but that cannot be used is a failure.
	cp "$dir/abi.so" "$BATS_TEST_TMPDIR/abi.so"
	rm -rf "$dir"/*
	cp "$BATS_TEST_TMPDIR/abi.so" "$dir/syscalls.so"
	run --separate-stderr "$WEFT" report --plugin-dir "$dir" $file
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"'$dir/syscalls.so' has ABI 2"* ]]
	weft report $file | diff - <(echo "$output")
}

@test "json: --decode adds what plugins know as members" {
	need_command jq
	weft report --decode --format json $file > "$BATS_TEST_TMPDIR/json"
	jq -r 'select(.fields.ret == -2 and .system == "syscalls") | .decoded.error' < "$BATS_TEST_TMPDIR/json" | sort -u | grep -qx ENOENT
	[ "$(grep -c '"decoded":{"error":"ENOENT"}}$' "$BATS_TEST_TMPDIR/json")" -eq "$(weft report --decode $file | decoded)" ]
	# Nothing else differs.
	sed 's/,"decoded":{[^}]*}//' "$BATS_TEST_TMPDIR/json" | diff - <(weft report --format json $file)
}

@test "report --decode -f: a filter names what plugins know" {
	[ "$(weft report --decode -f 'error == "ENOENT"' $file | decoded)" -eq "$(weft report --decode $file | decoded)" ]
	[ "$(weft report --decode -f 'error == "ENOENT"' $file | grep -vc '^#')" -eq "$(weft report --decode $file | decoded)" ]
	[ "$(weft report --decode -v -f 'error ~ "ENO*"' $file | decoded)" -eq 0 ]
	run --separate-stderr weft report -f 'error == "ENOENT"' $file
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"Field not found"* ]]
	run --separate-stderr weft report --decode -f 'errur == "ENOENT"' $file
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"Field not found; did you mean 'error'"* ]]
}

@test "report --decode -f: decoded.NAME is the argument's text, NAME its number" {
	weft report --decode -e 'sys_enter_*' $file | grep -c 'flags=[A-Z_|]*O_CLOEXEC' > "$BATS_TEST_TMPDIR/want"
	[ "$(weft report --decode -f 'decoded.flags ~ "*O_CLOEXEC*"' $file | grep -vc '^#')" -eq "$(< "$BATS_TEST_TMPDIR/want")" ]
	[ "$(< "$BATS_TEST_TMPDIR/want")" -gt 0 ]
	[ "$(weft report -f 'sys_enter_openat: flags & 0x80000' $file | grep -vc '^#')" -gt 0 ]
}

@test "every format of report has what plugins know" {
	# pretty prints the name of a system call's error without a plugin.
	[ "$(weft report --decode --format pretty $file | grep -c ' -1 ENOENT$')" -eq "$(weft report --decode $file | decoded)" ]
	for format in "--format trace_pipe" -R "-O raw"; do
		[ "$(weft report --decode $format $file | grep -c '{error=ENOENT}')" -eq "$(weft report --decode $file | decoded)" ]
	done
}

@test "make demo runs what it prints" {
	run -1 grep -q plugin tests/demo
	run make -s demo
	[ "$status" -eq 0 ]
	[[ "$output" == *'$ weft report --decode '*error=* ]]
}
