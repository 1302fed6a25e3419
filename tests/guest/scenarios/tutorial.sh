# SPDX-License-Identifier: GPL-2.0-only
# limit: 400
# What weft-tutorial(7) and weft-recipes(7) record, as the pages have it, on this kernel. What comes back in golden/ is
# tests/fixtures/session: the files, and in `said` what the commands printed that cannot run without a kernel.
D=/tmp/tutorial

plain() { sed "s/^\\\\&//; s/\\\\-/-/g; s/\\\\(aq/'/g; s/\\\\\\\\/\\\\/g" "$1"; }
# file PAGE NAME: prints the program of the page with this name
file() { plain "$1" | awk -v name="$2" '$0 == ".\\\" file: " name { on = 1; next } /^\.EX/ { inside = on; next } /^\.EE/ { inside = on = 0 } inside'; }
# commands PAGE: prints what the page types
commands() { plain "$1" | awk '/^\.EX/ { on = 1; next } /^\.EE/ { on = 0 } on && /^# (weft|\.\/)/ { print substr($0, 3) }'; }

prepare() {
	local name page

	rm -rf $D
	mkdir -p $D/music/album $D/disk
	cd $D || return
	echo one > music/one.ogg
	mkfifo ask reply
	for page in /host/weft-tutorial.7 /host/weft-recipes.7; do
		for name in $(sed -n 's/^\.\\" file: //p' $page); do
			file $page "$name" > "$name"
			chmod +x "$name"
		done
	done
	if [ -e /dev/vda ] && [ -x /usr/bin/mke2fs ]; then
		/usr/bin/mke2fs -q -F -t ext4 /dev/vda > /tmp/disk.out 2>&1 && mount -t ext4 /dev/vda disk >> /tmp/disk.out 2>&1
	fi
	# Debian's kernels have ext4 as a module: there the file that is written is the disk itself.
	[ ! -e /dev/vda ] || grep -q "$D/disk" /proc/mounts || ln -s /dev/vda disk/copy
}

# A function that this kernel does not have by this name, or a tracer
lacks_for() {
	case $1 in
	*"-p function_graph"*) has_tracer function_graph || { echo "this kernel has no function_graph"; return; } ;;
	esac
	case $1 in
	*disk.dat*) [ -L disk/copy ] || grep -q "$D/disk" /proc/mounts || echo "no disk here: $(head -c 100 /tmp/disk.out 2>&1)" ;;
	*traceoff* | *moment.dat*) [ -e $T/events/ftrace/print/trigger ] || echo "this kernel has no triggers on ftrace:print" ;;
	esac
}

type_all() {
	local command lacking status want

	commands "$1" > /tmp/commands
	while read -r command; do
		lacking=$(lacks_for "$command")
		[ -z "$lacking" ] || { skip "$command" "$lacking"; continue; }
		case $command in *"./deploy"*) ./confd & ;; esac
		want=0
		case $command in *"ls music missing" | *"./build") want=1 ;; esac
		# This prints nothing if the page greps for what this kernel names otherwise.
		case $command in *"| grep "*) command="$command || :" ;; *" jq "*) continue ;; *"weft sql"*) weft sql --help > /dev/null 2>&1 || continue ;; esac
		eval "$command" > /tmp/said 2>&1 < /dev/null
		status=$?
		case $command in
		*" -o "*" -- "* | "weft extract"* | "weft start"* | "weft reset"* | "weft mark"* | ./*)
			printf '# %s\n' "$command" >> /tmp/all-said
			cat /tmp/said >> /tmp/all-said
			;;
		esac
		check "$command" status_is $status $want /tmp/said
		wait
	done < /tmp/commands
}

scenario() {
	has_command start || { skip "everything" "weft has no start"; return; }
	remember
	: > /tmp/all-said
	prepare
	type_all /host/weft-tutorial.7
	type_all /host/weft-recipes.7
	for file in *.dat; do
		check "$file is whole" weft check "$file"
	done
	umount disk 2> /dev/null
	unchanged "nothing is left"
	cp *.dat /host/golden/
	cp /tmp/all-said /host/golden/said
	cd /tmp && rm -rf $D
}
