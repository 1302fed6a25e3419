# SPDX-License-Identifier: GPL-2.0-only
# limit: 400
. /host/examples.sh

# The trigger commands: each is set, with a count and a filter, and removed.
triggers() {
	local file=$1 event=$2 command=$3 remove=$4

	example "$5" "echo '$command' > events/$file/trigger" "weft set -e $event -R '$command'"
	example "$6" "echo '!$remove' > events/$file/trigger" "weft set -e $event -R '!$remove'" "echo '$command' > events/$file/trigger"
}

scenario() {
	remember
	triggers syscalls/sys_enter_read syscalls:sys_enter_read enable_event:kmem:kmalloc:1 enable_event:kmem:kmalloc:1 \
		"events.rst 437" "events.rst 454"
	triggers syscalls/sys_exit_read syscalls:sys_exit_read disable_event:kmem:kmalloc disable_event:kmem:kmalloc \
		"events.rst 444" "events.rst 457"
	triggers kmem/kmalloc kmem:kmalloc stacktrace stacktrace "events.rst 476" "events.rst 491"
	triggers kmem/kmalloc kmem:kmalloc 'stacktrace:5 if bytes_req >= 65536' 'stacktrace:5 if bytes_req >= 65536' \
		"events.rst 482" "events.rst 494"
	example "events.rst 500" "echo '!stacktrace:5' > events/kmem/kmalloc/trigger" "weft set -e kmem:kmalloc -R '!stacktrace:5'" \
		"echo 'stacktrace:5 if bytes_req >= 65536' > events/kmem/kmalloc/trigger"
	for command in snapshot traceoff; do
		triggers block/block_unplug block:block_unplug "$command if nr_rq > 1" "$command if nr_rq > 1" \
			"events.rst 516, 552 ($command)" "events.rst 526, 560 ($command)"
		triggers block/block_unplug block:block_unplug "$command:1 if nr_rq > 1" "$command:1 if nr_rq > 1" \
			"events.rst 521, 547 ($command)" "events.rst 529, 557 ($command)"
	done
	examples_end
}
