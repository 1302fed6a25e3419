# SPDX-License-Identifier: GPL-2.0-only
# Sourced by run: commands that write, killed at each call that changes a file. What is there afterwards is the file from
# before, the whole new one, or parts that recover understands; never a half one under the final name. Beside it there may be
# a draft whose name says that it is weft's.

mkdir -p "$work/kills/old"
echo 'a file from before' > "$work/kills/old/e"
# shellcheck disable=SC2016 # of the inner shell
whole='
	cmp -s "$work/kills/new/e" "$work/whole.export" || cmp -s "$work/kills/new/e" "$work/kills/old/e" || exit 1
	rm -f "$work/kills/new"/.weft-*.new
	[ "$(ls -A "$work/kills/new")" = e ] || exit 1
	cp "$work/kills/old/e" "$work/kills/new/e"
'
mkdir "$work/kills/new"
for command in "convert --file-version 6" split "merge $stack" "export --to perfetto" "export --to sqlite" "export --to html" import; do
	from=tests/fixtures/demo.dat
	[ "$command" != import ] || from=tests/fixtures/golden/6.12-events-sched.txt
	rm -f "$work/whole.export"
	# shellcheck disable=SC2086 # words
	"$weft" $command -q -o "$work/whole.export" $from
	cp "$work/kills/old/e" "$work/kills/new/e"
	# shellcheck disable=SC2086 # words
	each change -k -f -n 24 -m 600 -a "$whole" "$weft" $command -q -o "$work/kills/new/e" $from
done

# A folder of files gets its name when all of them are complete.
# shellcheck disable=SC2016 # of the inner shell
whole_folder='
	[ ! -e "$work/kills/new/e" ] || diff -r "$work/kills/new/e" "$work/whole.dir" > /dev/null || exit 1
	[ "$STATUS" = 137 ] || [ -e "$work/kills/new/e" ] || exit 1
	rm -rf "$work/kills/new"/* "$work/kills/new"/.[!.]*
'
for to in ctf parquet; do
	rm -rf "$work/whole.dir" "$work/kills/new"
	mkdir "$work/kills/new"
	"$weft" export -q --to $to -o "$work/whole.dir" tests/fixtures/demo.dat
	each change -k -f -n 24 -m 600 -a "$whole_folder" "$weft" export -q --to $to -o "$work/kills/new/e" tests/fixtures/demo.dat
done

# view saves its session from a process that draws nothing; a key to it is what a terminal sends.
mkdir "$work/kills/seen"
cp tests/fixtures/demo.dat "$work/kills/seen/e"
see=(tests/faults/typed wakeup $'G:w\r' 'saved as' Q "$weft" view "$work/kills/seen/e")
if command -v python3 > /dev/null; then
	"${see[@]}"
	mv "$work/kills/seen/e.view" "$work/whole.view"
	sed '/^cursor/d' "$work/whole.view" > "$work/kills/old/view"
	cp "$work/kills/old/view" "$work/kills/seen/e.view"
	# shellcheck disable=SC2016 # of the inner shell
	each change -k -n 24 -m 600 -a '
		cmp -s "$work/kills/seen/e.view" "$work/whole.view" || cmp -s "$work/kills/seen/e.view" "$work/kills/old/view" || exit 1
		[ "$STATUS" = 137 ] || cmp -s "$work/kills/seen/e.view" "$work/whole.view" || exit 1
		rm -f "$work/kills/seen"/.weft-*.new
		[ "$(echo "$work/kills/seen"/*)" = "$work/kills/seen/e $work/kills/seen/e.view" ] || exit 1
		cp "$work/kills/old/view" "$work/kills/seen/e.view"
	' "${see[@]}"
fi

# What bench measures is not the same twice: the file has the runs from before, or all of the new ones.
# shellcheck disable=SC2016 # of the inner shell
measured='
	rm -f "$work/kills/measured"/.weft-*.new
	[ "$(ls -A "$work/kills/measured")" = e ] && "$weft" bench --plain --runs 3 --warmup 0 --against "$work/kills/measured/e" -- true > "$work/said.bench" || exit 1
	case $(grep -c "^run" "$work/kills/measured/e") in 3) [ "$STATUS" = 137 ] || exit 1 ;; 4) ;; *) exit 1 ;; esac
	cp "$work/kills/old/measured" "$work/kills/measured/e"
'
mkdir "$work/kills/measured"
"$weft" bench --plain --runs 3 --warmup 0 --save "$work/kills/old/measured" -- true > "$work/said.bench"
cp "$work/kills/old/measured" "$work/kills/measured/e"
each change -k -o -n 24 -m 600 -a "$measured" "$weft" bench --plain --runs 4 --warmup 0 --save "$work/kills/measured/e" -- true
# A lake is what it was before or what it is afterwards, and the next command makes it what it is afterwards. A new lake is so
# also on a disk that has lost what was not synced.
# shellcheck disable=SC2016 # of the inner shell
lake='
	l=$work/kills/lake/l
	[ ! -e "$l/current" ] || diff -r -x "*.metadata.json" "$l/current/" "$work/lake.new/" > /dev/null || diff -r -x "*.metadata.json" "$l/current/" "$work/lake.old/" > /dev/null || exit 1
	[ -e "$l/current" ] || [ ! -e "$work/kills/old/lake" ] || exit 1
	"$weft" lake add -q "$l" "$graph" || exit 1
	diff -r -x "*.metadata.json" "$l/current/" "$work/lake.new/" > /dev/null || exit 1
	! ls -A "$l" | grep -q "^\." || exit 1
	rm -rf "$l"
	[ ! -e "$work/kills/old/lake" ] || cp -a "$work/kills/old/lake" "$l"
'
mkdir -p "$work/kills/lake"
export graph
"$weft" lake add -q "$work/kills/lake/l" "$graph"
cp -rL "$work/kills/lake/l/current" "$work/lake.new"
cp -r "$work/lake.new" "$work/lake.old"
rm -rf "$work/kills/lake/l"
each change -k -f -l "$work/kills/lake" -n 24 -m 600 -a "$lake" "$weft" lake add -q "$work/kills/lake/l" "$graph"
rm -rf "$work/lake.old" "$work/lake.new" "$work/kills/lake/l"
"$weft" lake add -q "$work/kills/old/lake" tests/fixtures/demo.dat
cp -rL "$work/kills/old/lake/current" "$work/lake.old"
cp -a "$work/kills/old/lake" "$work/kills/lake/l"
"$weft" lake add -q "$work/kills/lake/l" "$graph"
cp -rL "$work/kills/lake/l/current" "$work/lake.new"
rm -rf "$work/kills/lake/l"
cp -a "$work/kills/old/lake" "$work/kills/lake/l"
each change -k -f -n 24 -m 600 -a "$lake" "$weft" lake add -q "$work/kills/lake/l" "$graph"

# The same for the files that compact merges.
# shellcheck disable=SC2016 # of the inner shell
merged='
	l=$work/kills/lake/l
	diff -r -x "*.metadata.json" "$l/current/" "$work/lake.new/" > /dev/null || diff -r -x "*.metadata.json" "$l/current/" "$work/lake.old/" > /dev/null || exit 1
	[ "$STATUS" = 137 ] || diff -r -x "*.metadata.json" "$l/current/" "$work/lake.new/" > /dev/null || exit 1
	"$weft" lake compact -q "$l" || exit 1
	diff -r -x "*.metadata.json" "$l/current/" "$work/lake.new/" > /dev/null || exit 1
	! ls -A "$l" | grep -q "^\." || exit 1
	rm -rf "$l"
	cp -a "$work/kills/old/lake" "$l"
'
"$weft" lake add -q "$work/kills/old/lake" "$graph"
rm -rf "$work/lake.old" "$work/lake.new" "$work/kills/lake/l"
cp -rL "$work/kills/old/lake/current" "$work/lake.old"
cp -a "$work/kills/old/lake" "$work/kills/lake/l"
"$weft" lake compact -q "$work/kills/lake/l"
cp -rL "$work/kills/lake/l/current" "$work/lake.new"
rm -rf "$work/kills/lake/l"
cp -a "$work/kills/old/lake" "$work/kills/lake/l"
each change -k -f -n 24 -m 600 -a "$merged" "$weft" lake compact -q "$work/kills/lake/l"

can_trace || return 0

# A recording that is killed, or whose machine loses power, leaves a whole file or parts of which recover makes one, or says
# that nothing of it is there; and a recover that made a file has removed the instances. What the disk has is in that file: some
# event if a spool has pages, and once all was read and synced, the end of the task "first".
# shellcheck disable=SC2016 # of the inner shell
recovered='
	parts=$(ls -d "$work/kept"/r.dat.weft-*.parts 2> /dev/null)
	needs=
	[ -z "$parts" ] || [ -z "$(find "$parts" -name "0.*" -size +24c)" ] || needs=.
	[ ! -e "$work/kept/r.dat" ] && { [ -z "$parts" ] || [ -z "$(find "$parts" -name "unfinished.*")" ]; } || needs=comm=first
	if [ -n "$parts" ]; then
		"$weft" recover "$parts" > "$work/said.recover" 2>&1
		status=$?
		[ $status -le 1 ] && [ -s "$work/said.recover" ] || exit 1
		[ $status = 1 ] || [ -e "$work/kept/r.dat" ] || exit 1
	fi
	for instance in "weft-$CHILD" "weft-$CHILD-2"; do
		[ -e "$tracefs/instances/$instance" ] || continue
		rmdir "$tracefs/instances/$instance"
		[ -z "$parts" ] || [ "$status" = 1 ] || exit 1
	done
	[ ! -e "$work/kept/r.dat" ] || "$weft" check -q "$work/kept/r.dat" || exit 1
	[ -z "$needs" ] || "$weft" report -q "$work/kept/r.dat" | grep -v "^#" | grep -q "$needs" || exit 1
	rm -rf "$work/kept"/* "$work/kept"/.[!.]*
'
mkdir "$work/kept"
cp /bin/true "$work/first"
each change -k -n 24 -m 600 -a "$recovered" "$weft" record -q -e sched:sched_process_exit -F -o "$work/kept/r.dat" -- "$work/first"
each change -k -l "$work/kept" -n 24 -m 600 -a "$recovered" \
	"$weft" record -q --sync 200ms -e sched:sched_process_exit -F -o "$work/kept/r.dat" -- "$work/first"

# A flight that is killed leaves whole files, each with its facts or before them; the next flight of that name saves what is left and
# ends as if nothing had been: no instance, no socket, nothing in memory, no journal.
# shellcheck disable=SC2016 # of the inner shell
flown='
	"$weft" flight start --name faults -e sched:sched_process_exit --duration 10ms -o "$work/kept" > "$work/said.flight" 2>&1 || exit 1
	for instance in "$tracefs/instances/weft-$CHILD" "$tracefs/instances/weft-$CHILD-2"; do
		[ ! -e "$instance" ] || { rmdir "$instance"; exit 1; }
	done
	[ -z "$(ls -d /run/weft/faults.* /dev/shm/faults.dat.* "/run/weft/undo-$CHILD-"* 2> /dev/null)" ] || exit 1
	for file in "$work/kept"/*.dat; do
		[ ! -e "$file" ] || "$weft" check -q "$file" || exit 1
	done
	for facts in "$work/kept"/*.json; do
		[ ! -e "$facts" ] || grep -q "\"size\":$(stat -c %s "${facts%.json}.dat")," "$facts" || exit 1
	done
	rm -rf "$work/kept"/* "$work/kept"/.[!.]*
'
each change -k -n 24 -m 600 -a "$flown" "$weft" flight start --name faults -e sched:sched_process_exit --keep 1s --after 10ms \
	--duration 300ms --when "command:'false' every 100ms" -o "$work/kept"

# extract: an event is in the buffer, in the file, or in parts that recover reads.
held=$tracefs/instances/weft-faults-$$
export held
mkdir "$held"
echo 'still here' > "$held/trace_marker"
# shellcheck disable=SC2016 # of the inner shell
somewhere='
	parts=$(ls -d "$work/kept"/e.dat.weft-*.parts 2> /dev/null)
	if [ -e "$work/kept/e.dat" ]; then
		"$weft" report "$work/kept/e.dat" | grep -q "still here" || exit 1
	elif ! grep -q "still here" "$held/trace"; then
		"$weft" recover -q "$parts" && "$weft" report "$work/kept/e.dat" | grep -q "still here" || exit 1
	fi
	rm -rf "$work/kept"/* "$work/kept"/.[!.]*
	echo > "$held/trace"
	echo "still here" > "$held/trace_marker"
'
each change -k -n 12 -m 300 -a "$somewhere" "$weft" extract -q -B "weft-faults-$$" -o "$work/kept/e.dat"

# start, set, stop and reset: weft reset puts back what was there before.
# shellcheck disable=SC2016 # of the inner shell
settings='cat "$held/set_event" "$held/trace_clock" "$held/buffer_size_kb" "$held/tracing_on"'
export settings
"$weft" start -B "${held##*/}" -e sched:sched_process_hang -b 64 -C mono && "$weft" reset -B "${held##*/}" > /dev/null
before_start=$(eval "$settings")
export before_start
# shellcheck disable=SC2016 # of the inner shell
undone='
	"$weft" reset -B "${held##*/}" > "$work/said.reset" 2>&1
	[ "$(eval "$settings")" = "$before_start" ] && exit
	cat "$work/said.reset"; eval "$settings" | tr "\n" " "
	echo 1 > "$held/tracing_on"; echo > "$held/set_event"; echo local > "$held/trace_clock"; exit 1
'
each change -k -n 12 -a "$undone" "$weft" start -B "${held##*/}" -e sched:sched_process_hang -b 64 -C mono
each change -k -n 12 -a "$undone" "$weft" set -B "${held##*/}" -e sched:sched_process_hang -f 'pid > 1' -b 64 -C mono
each change -k -n 12 -a "$undone" "$weft" stop -B "${held##*/}"
"$weft" start -B "${held##*/}" -e sched:sched_process_hang -b 64 -C mono
each change -k -n 12 -a "$undone; \"\$weft\" start -B \"\${held##*/}\" -e sched:sched_process_hang -b 64 -C mono" \
	"$weft" reset -B "${held##*/}"
"$weft" reset -B "${held##*/}" > /dev/null
rmdir "$held"
