# SPDX-License-Identifier: GPL-2.0-only
# Loaded by every file of tests/cases: `load lib`. The tests run from the project's root.
bats_require_minimum_version 1.5.0
cd "$BATS_TEST_DIRNAME/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
WEFT=$BUILD/weft
PATH=$BUILD:$PATH
# The directory beside the project. Tests that need it are skipped if it does not exist.
SHARED=$(realpath -m ../shared)
export BUILD WEFT PATH SHARED
# If a test has a terminal, nobody is there to leave a pager.
export WEFT_PAGER=cat
# The defaults of the user who runs the tests must not change the results.
export WEFT_CONFIG=
unset WEFT_OPTIONS TRACEEVENT_PLUGIN_DIR
# By default no colours; a test of colours unsets this variable.
export NO_COLOR=1

need_shared()
{
	[ -e "$SHARED/$1" ] || skip "no ../shared/$1 beside the project"
}

need_command()
{
	command -v "$1" > /dev/null || skip "$1 is not installed"
}

# need_npm NAME VERSION: makes NODE_PATH contain a package of npm. The package is fetched once for all tests, and a
# failure to fetch it is remembered, too. WEFT_NODE_MODULES names a directory that has it already.
need_npm()
{
	local at=$BUILD/npm/${1//\//-}-$2
	export NODE_PATH=${WEFT_NODE_MODULES:-$at/node_modules}
	need_command node
	[ ! -d "$NODE_PATH/$1" ] || return 0
	need_command npm
	[ ! -e "$at/failed" ] || skip "npm cannot fetch $1"
	mkdir -p "$at"
	HOME=$at timeout 120 npm install --prefix "$at" --no-audit --no-fund --no-save --ignore-scripts --fetch-retries=0 --fetch-timeout=30000 \
		"$1@$2" > "$at/log" 2>&1 < /dev/null && return
	touch "$at/failed"
	skip "npm cannot fetch $1"
}

need_root()
{
	[ "$(id -u)" = 0 ] || skip "not root"
}

# Mounts that only a command of the test sees. Containers often forbid them.
need_mounts()
{
	need_root
	need_command unshare
	unshare -m mount -t tmpfs tmpfs /sys 2> /dev/null || skip "no mount namespaces here"
}

# For recordings of this machine's own kernel: tracefs must exist and permit making an instance.
need_tracefs()
{
	need_root
	local tracefs=/sys/kernel/tracing
	[ -e $tracefs/instances ] || mount -t tracefs tracefs $tracefs 2> /dev/null || skip "no tracefs here"
	local probe=$tracefs/instances/weft-test-probe-$$
	mkdir "$probe" 2> /dev/null || skip "tracefs permits no instance here"
	rmdir "$probe"
}

# new_instances BEFORE: prints weft's instances that are not among these and whose process has ended. What others on this
# machine record meanwhile is theirs.
new_instances()
{
	comm -13 <(sort <<< "$1") <(ls /sys/kernel/tracing/instances | sort) | grep -xE 'weft-[0-9]+(-[0-9]+)?' | while read -r name; do
		kill -0 "$(cut -d - -f 2 <<< "$name")" 2> /dev/null || echo "$name"
	done
}

# without_tracefs COMMAND...: runs it where no tracefs is mounted, wherever this machine has one
without_tracefs()
{
	unshare -m bash -c 'awk "\$3 == \"tracefs\" || \$3 == \"debugfs\" { print \$2 }" /proc/self/mounts | tac | xargs -r -n 1 umount -l
		mount -t tmpfs tmpfs /sys/kernel; exec "$@"' - "$@"
}

# await_tracing PID: waits until weft, the process PID, traces into an instance of its own. A new instance is on before
# weft switches it off and sets it up, so the events are looked at first. Fails if the process ends before.
await_tracing()
{
	local instance=/sys/kernel/tracing/instances/weft-$1

	until [ -n "$(cat "$instance/set_event" 2> /dev/null)" ] && [ "$(cat "$instance/tracing_on" 2> /dev/null)" = 1 ]; do
		kill -0 "$1" || return
		sleep 0.02
	done
}

# one_in NUMBER PERIOD: whether the part of this number is tested; with WEFT_ALL=1 (make check-all) each is
one_in()
{
	[ -n "${WEFT_ALL:-}" ] || [ $(($1 % $2)) = 1 ]
}

# dated FILE NEW: a recording like FILE, with the option DATE instead of its kernel's release: its times are
# 1,700,000,000 s later, as 'trace-cmd record --date' writes it, in microseconds.
dated()
{
	need_command perl
	"$WEFT" convert -q --file-version 6 -o "$2" "$1"
	perl -0777 -pi -e 's/\x05\x00(....)(Linux .{18})/"\1\0$1" . pack("a24", "1700000000000000")/se or die "no release"' "$2"
}

# await CONDITION...: waits until the command succeeds, for two minutes at most
await()
{
	for _ in $(seq 2400); do
		! "$@" || return 0
		sleep 0.05
	done
	echo "in vain: $*"
	return 1
}
