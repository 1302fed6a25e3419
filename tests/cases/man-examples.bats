#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The examples of the man pages that read a file work as they are printed.
load lib

fixtures=$BATS_TEST_DIRNAME/../fixtures

# Prints the examples of a page that only read files, each on one line. No fixture has func_repeats or a program benchmark.new.
examples_of()
{
	sed -n '/^\.SH EXAMPLE/,/^\.SH SEE/p' "$1" | sed -z 's/\n  */ /g' | grep '^weft ' | sed -e 's/\\-/-/g' -e 's/\\(aq/'"'"'/g' -e 's/\\e/\\/g' |
		grep -E '^weft (summary|sched|syscalls|latency|graph|irq|block|locks|stacks|memory|power|tasks|diff|report|info|check|export|hist|sql|split|convert|merge) ' |
		grep -E '\.dat' | grep -vE 'func_repeats|benchmark\.new| -- | --live| ssh |[|>]'
}

# Runs an example beside a recording that has what it asks for: the first of the fixtures of which it can tell something.
works()
{
	local file name dir=$BATS_TEST_TMPDIR/run
	for file in demo session/demo golden/6.12-events-sched golden/6.12-events-syscalls golden/6.12-events-irq-timer golden/6.12-function_graph golden/6.12-event-stacktrace \
		golden/6.12-function golden/6.12-markers golden/6.12-osnoise resources/block resources/kmem resources/power; do
		rm -rf "$dir"
		mkdir "$dir"
		for name in $(grep -oE '[A-Za-z0-9_./-]+\.dat' <<< "$1" | sort -u); do
			case $name in */*) continue ;; esac
			grep -qE -- "(-o|--output)[ =]$name" <<< "$1" || cp "$fixtures/$file.dat" "$dir/$name"
		done
		# 3: a condition of diff is met.
		(cd "$dir" && eval "timeout 60 $1" > out 2> err < /dev/null)
		case $? in 0 | 3) return 0 ;; 2) break ;; esac
	done
	echo "$1: $(tail -1 "$dir/err")"
	return 1
}

# bats test_tags=long
@test "man: each example that reads a file works as it is printed" {
	local page line bad=0
	for page in "$BATS_TEST_DIRNAME"/../../man/*.in; do
		while read -r line; do
			works "$line" || bad=1
		done < <(examples_of "$page")
	done
	[ $bad = 0 ]
}
