# SPDX-License-Identifier: GPL-2.0-only
# Sourced by run: commands that read and write files and need no tracefs.

demo=tests/fixtures/demo.dat
graph=tests/corpora/report/accept/graph-6.12.dat
stack=tests/corpora/report/accept/userstack-6.12.dat
calls=tests/fixtures/golden/6.12-events-syscalls.dat
irqs=tests/fixtures/golden/6.12-events-irq-timer.dat
read='alloc open read write map'
each "$read" "$weft" report --threads 1 $demo
each "$read" "$weft" report --threads 1 $graph
each "alloc read" "$weft" report --threads 1 $stack
each "thread map" "$weft" report --threads 2 $demo
each alloc -n 120 "$weft" report --threads 2 $demo
each "alloc read" "$weft" report --format json $graph
each "alloc read" "$weft" report --format pretty --threads 1 $stack
each alloc -n 100 "$weft" report --format pretty --threads 1 $calls
each alloc -n 100 "$weft" report --format pretty --threads 1 --limit 5 -e 'syscalls:sys_exit_*' $calls
each "alloc read" "$weft" report --tail 5 $demo
each "alloc open" -n 100 "$weft" report --decode --plugin-dir "$build/plugins" $demo
each "$read" "$weft" info $stack
each "read" "$weft" info $demo
each "$read" "$weft" check $stack
each "alloc write" "$weft" list formats
each "alloc read" "$weft" report --stored saved_cmdlines $graph

# The library, through a program that prints what it has of each event.
"$cc" -O1 -Iinclude -o "$work/dump" tests/api/dump.c -L"$build" -lweft -Wl,-rpath,"$build"
each "alloc read" "$work/dump" json $demo
each "alloc read" "$work/dump" fields $graph
each "alloc thread map" -n 100 "$work/dump" line $demo 100 2

# pack leaves the file that it makes without a fault, or none, and nothing beside it.
mkdir -p "$work/tree/events/ftrace/print" "$work/tree/per_cpu/cpu0" "$work/packed"
printf '\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n%s' \
	$'\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n' > "$work/tree/events/header_page"
printf 'name: print\nID: 5\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\nprint fmt: "x"\n' \
	> "$work/tree/events/ftrace/print/format"
echo 'nop-overwrite' > "$work/tree/trace_options"
head -c 8192 /dev/zero > "$work/tree/per_cpu/cpu0/trace_pipe_raw"
"$weft" pack -q -o "$work/whole.dat" "$work/tree"
# shellcheck disable=SC2016 # of the inner shell
packed='
	if [ "$STATUS" = 0 ]; then cmp -s "$work/packed/p.dat" "$work/whole.dat" || exit 1; rm "$work/packed/p.dat"; fi
	[ -z "$(ls -A "$work/packed")" ] || { rm -f "$work/packed"/* "$work/packed"/.[!.]*; exit 1; }
'
each "alloc open read write map sync rename" -n 40 -m 600 -a "$packed" "$weft" pack -q -o "$work/packed/p.dat" "$work/tree"

# One of the files has the events that an analysis or export needs.
for format in text json csv; do
	for analysis in "sched --table tasks" syscalls latency; do
		# shellcheck disable=SC2086 # words
		each "alloc read write" -n 12 "$weft" $analysis --format $format $demo
	done
	each "alloc write" -n 12 "$weft" graph --format $format $graph
done
each "alloc open read write map" -n 12 "$weft" summary $demo
each "alloc read" -n 12 "$weft" summary $graph
each "alloc read" -n 12 "$weft" irq $irqs
each "alloc read" -n 12 "$weft" summary $irqs
each "open map" -n 12 "$weft" sched $demo
each "alloc read" -n 12 "$weft" sched --timehist $demo
each "alloc read" -n 12 "$weft" syscalls --slowest 5 --by task $demo
each "open read map" -n 12 "$weft" graph $graph

# export leaves the whole file or none, and nothing beside it.
mkdir -p "$work/exported"
# shellcheck disable=SC2016 # of the inner shell
exported='
	if [ "$STATUS" = 0 ]; then cmp -s "$work/exported/e" "$work/whole.export" || exit 1; rm "$work/exported/e"; fi
	[ -z "$(ls -A "$work/exported")" ] || { rm -f "$work/exported"/* "$work/exported"/.[!.]*; exit 1; }
'
# shellcheck disable=SC2016 # of the inner shell
told_damage='rm -f "$work/exported/e"; [ -z "$(ls -A "$work/exported")" ]'
for to in jsonl csv perfetto sqlite chrome folded flame speedscope pprof firefox html; do
	case $to in
	folded | flame | speedscope | pprof) from=$graph ;;
	*) from=$demo ;;
	esac
	rm -f "$work/whole.export"
	"$weft" export -q --to $to -o "$work/whole.export" $from
	each "alloc open write map sync rename" -f -n 12 -m 600 -a "$exported" "$weft" export -q --to $to -o "$work/exported/e" $from
	# Data that cannot be read counts as damage: the export reports it, and the file has the remaining data.
	each read -f -n 12 -m 600 -a "$told_damage" "$weft" export -q --to $to -o "$work/exported/e" $from
	[ $to = sqlite ] || each write -n 12 "$weft" export -q --to $to $from
done

# The same for a directory of files. Links there are not inspected, because there are none.
# shellcheck disable=SC2016 # of the inner shell
directory='
	if [ "$STATUS" = 0 ]; then diff -r "$work/exported/e" "$work/whole.dir" > /dev/null || exit 1; rm -r "$work/exported/e"; fi
	[ -z "$(ls -A "$work/exported")" ] || { rm -rf "$work/exported"/* "$work/exported"/.[!.]*; exit 1; }
'
for to in ctf parquet; do
	rm -rf "$work/whole.dir"
	"$weft" export -q --to $to -o "$work/whole.dir" $demo
	each "alloc open write map rename" -f -n 12 -m 600 -a "$directory" "$weft" export -q --to $to -o "$work/exported/e" $demo
	each read -f -n 12 -m 600 -a 'rm -rf "$work/exported/e"; [ -z "$(ls -A "$work/exported")" ]' "$weft" export -q --to $to -o "$work/exported/e" $demo
done

# A lake has the state from before or the next one.
mkdir -p "$work/lakes"
"$weft" lake add -q "$work/lakes/whole" $demo
cp -rL "$work/lakes/whole/current" "$work/lake.whole"
rm -rf "$work/lakes/whole"
# shellcheck disable=SC2016 # of the inner shell
lake='
	right=true
	[ ! -e "$work/lakes/l/current" ] || diff -r -x metadata "$work/lakes/l/current/" "$work/lake.whole/" > /dev/null || right=false
	[ "$STATUS" != 0 ] || [ -e "$work/lakes/l/current" ] || right=false
	rm -rf "$work/lakes/l"
	$right || exit 1
'
each "alloc open read write map sync rename" -f -n 12 -m 600 -a "$lake" "$weft" lake add -q "$work/lakes/l" $demo
"$weft" lake add -q "$work/lakes/two" $demo
"$weft" lake add -q "$work/lakes/two" $graph
cp -rL "$work/lakes/two/current" "$work/lake.two"
cp -a "$work/lakes/two" "$work/lakes/l"
"$weft" lake compact -q "$work/lakes/l"
cp -rL "$work/lakes/l/current" "$work/lake.whole.two"
rm -rf "$work/lakes/l"
cp -a "$work/lakes/two" "$work/lakes/l"
# shellcheck disable=SC2016 # of the inner shell
merged='
	right=true
	diff -r -x metadata "$work/lakes/l/current/" "$work/lake.whole.two/" > /dev/null || { [ "$STATUS" != 0 ] && diff -r -x metadata "$work/lakes/l/current/" "$work/lake.two/" > /dev/null; } || right=false
	rm -rf "$work/lakes/l"
	cp -a "$work/lakes/two" "$work/lakes/l"
	$right || exit 1
'
each "alloc open read write map sync rename" -f -n 12 -m 600 -a "$merged" "$weft" lake compact -q "$work/lakes/l"

# The other commands that read a file.
resources=tests/fixtures/resources
each "alloc read write" -n 12 "$weft" block $resources/block.dat
each "alloc read" -n 12 "$weft" stacks $stack
each "alloc read" -n 12 "$weft" stacks --on-cpu tests/fixtures/profile.dat
each "alloc" -n 30 "$weft" export -q --to firefox tests/fixtures/profile.dat
each "alloc read" -n 12 "$weft" memory $resources/kmem.dat
each "alloc read" -n 12 "$weft" power $resources/power.dat
each "alloc read write" -n 12 "$weft" tasks tests/fixtures/golden/6.12-events-sched.dat
each "alloc read" -n 12 "$weft" tasks --tree tests/fixtures/golden/6.12-events-sched.dat
each "alloc read write" -n 12 "$weft" diff sched $demo $demo
each "alloc read write" -n 12 "$weft" hist --input $demo sched:sched_switch --keys prev_comm
each "alloc open read write" -n 12 "$weft" sql $demo 'select count(*) from ftrace_event'

# A command that makes a file from other files or from text leaves the whole file or none, and nothing beside it.
for command in "convert --file-version 6" split "merge $stack" import; do
	[ "$command" != import ] || demo=tests/fixtures/golden/6.12-events-sched.txt
	rm -f "$work/whole.export"
	# shellcheck disable=SC2086 # words
	"$weft" $command -q -o "$work/whole.export" $demo
	# shellcheck disable=SC2086 # words
	each "alloc open write map sync rename" -f -n 12 -m 600 -a "$exported" "$weft" $command -q -o "$work/exported/e" $demo
	# shellcheck disable=SC2086 # words
	each read -f -n 12 -m 600 -a "$told_damage" "$weft" $command -q -o "$work/exported/e" $demo
done
