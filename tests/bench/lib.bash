# SPDX-License-Identifier: GPL-2.0-only
# Functions that tests/bench/run and tests/bench/scaling share: they build the programs, run them and print rows. Needs
# $build and $runs.
here=tests/bench
work=$(mktemp -d "${TMPDIR:-/tmp}/weft-bench.XXXXXX")
template=tests/fixtures/demo.dat
export LC_ALL=C
short=0 rows=0 skipped=0
instance=/nonexistent

cleanup() {
	[ -d "$instance" ] && { echo 0 > "$instance/events/enable"; rmdir "$instance"; }
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM HUP

skip() { echo "skip $1: $2"; skipped=$((skipped + 1)); }

need() { # COMMAND PACKAGE
	command -v "$1" > /dev/null && return
	echo "bench: no $1 here (apt-get install $2)" >&2
	exit 1
}

build_programs() {
	need "${CC:-gcc}" gcc
	"${CC:-gcc}" -O2 -o "$work/measure" $here/measure.c &&
		"${CC:-gcc}" -O2 -o "$work/load" $here/load.c &&
		"${CC:-gcc}" -O2 -o "$work/typist" $here/typist.c -lutil &&
		"${CC:-gcc}" -O2 -shared -fPIC -o "$work/hide.so" $here/hide.c -ldl &&
		"${CC:-gcc}" -O2 -std=gnu17 -I. -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -o "$work/least" $here/least.c \
			"$build/rooms.a" -lzstd -ltracefs -lpthread -ldl &&
		"${CC:-gcc}" -O2 -std=gnu17 -I. -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -o "$work/synth" $here/synth.c $here/events.c \
			"$build/rooms.a" -lzstd -ltracefs -lpthread -ldl || exit 1
}

load_average() { cut -d' ' -f1 /proc/loadavg; }

heading() {
	echo "# $(uname -srm), $(nproc) CPUs, $(trace-cmd --version 2>&1 | sed -n 's/^trace-cmd version \([^ ]*\).*/trace-cmd \1/p'), $("$build/weft" --version), load average $(load_average)"
}

# stat FILE COLUMN: prints "MEDIAN MIN MAX" of a column
stat() {
	awk -v c="$2" '{ print $c }' "$1" | sort -n |
		awk '{ v[NR] = $1 } END { print (NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2), v[1], v[NR] }'
}

# row NAME UNIT LEAST WEFT-FILE OTHER-FILE COLUMN [more]: each file holds a line for each run. The ratio says how far
# weft is ahead: OTHER / WEFT, or WEFT / OTHER with `more` (a larger value is better). LEAST is the required ratio; ">1"
# requires more than 1.
row() {
	local w t

	w=$(stat "$4" "$6") t=$(stat "$5" "$6")
	rows=$((rows + 1))
	awk -v name="$1" -v unit="$2" -v least="$3" -v w="$w" -v t="$t" -v more="${7:-}" 'BEGIN {
		split(w, a); split(t, b)
		ratio = more ? a[1] / (b[1] > 0 ? b[1] : 1e-6) : b[1] / (a[1] > 0 ? a[1] : 1e-6)
		good = least == ">1" ? ratio > 1 : ratio >= least
		printf "%-38s %10.3f %10.3f %-3s %8.2f  %.3f..%.3f / %.3f..%.3f  %5s %s\n", name, a[1], b[1], unit, ratio,
			a[2], a[3], b[2], b[3], least, good ? "ok" : "SHORT"
		exit !good
	}' || short=$((short + 1))
}

# limit NAME UNIT MOST FILE COLUMN: the median of a column must be below MOST
limit() {
	rows=$((rows + 1))
	awk -v name="$1" -v unit="$2" -v most="$3" -v w="$(stat "$4" "$5")" 'BEGIN {
		split(w, a)
		printf "%-38s %10.3f %10s %-3s %8s  %.3f..%.3f  < %s %s\n", name, a[1], "", unit, "", a[2], a[3], most, a[1] < most ? "ok" : "SHORT"
		exit !(a[1] < most)
	}' || short=$((short + 1))
}

# least NAME FILE LINES [text|BYTES]: a line that says what one CPU of this machine needs at least (least.c), with `text`
# also for the text of a report, or for so many bytes of output; and how many times as long the runs took, whose lines
# are in LINES, those of CPU time only if they have any
least() {
	local bytes=${4:-0} line

	[ -s "$3" ] || return
	[ "$bytes" != text ] || bytes=$("$build/weft" report "$2" | wc -c)
	line=$("$work/least" "$2" "$bytes") || return
	awk -v name="$1" -v line="$line" -v t="$(stat "$3" 2)" -v cpu="$(stat "$3" 3)" 'BEGIN {
		split(line, a); split(t, b); split(cpu, c)
		least = a[1] + a[2]
		printf "# least: %-29s %10.3f s on one CPU: pages %.3f, text %.3f; it takes %.1f times that by the clock", name, least, a[1], a[2],
			b[1] / least
		if (c[1] > 0)
			printf ", %.1f of CPU time", c[1] / least
		print ""
	}'
}

# least_recorder NAME FILE LINES: the same for a recorder of the pages in FILE: a copy of each, compressed. LINES has its
# CPU time for a million events, and their number in millions in the fourth column.
least_recorder() {
	local line

	line=$("$work/least" "$2" pack) || return
	awk -v name="$1" -v line="$line" -v cpu="$(stat "$3" 1)" -v n="$(stat "$3" 4)" 'BEGIN {
		split(line, a); split(cpu, c); split(n, events)
		least = (a[1] + a[2]) / events[1]
		printf "# least: %-29s %10.3f s on one CPU: a copy %.3f, zstd %.3f; it takes %.1f times that of CPU time\n", name, least,
			a[1] / events[1], a[2] / events[1], c[1] / least
	}'
}

measured() { # measured OUT [--first-event] COMMAND...: a line of measure in OUT; its status is the command's
	local out=$1 line
	shift
	line=$(MEASURE_LOG=$work/stderr "$work/measure" "$@")
	echo "$line" >> "$out"
	[ "${line%% *}" = 0 ] || { echo "# failed with status ${line%% *}: $*: $(tail -n 1 "$work/stderr")"; return 1; }
}

# synthesise KIND OUT VERSION EVENTS CPUS: writes a file of made-up events with synth.c
synthesise() {
	"$work/synth" "$1" "$template" "$2" "$3" "$4" "$5" || { echo "bench: cannot synthesise $2" >&2; exit 1; }
}
