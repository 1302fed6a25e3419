#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft redact: no planted secret is in the output, and all analyses find the same figures. The judge is redact.py, which knows nothing of weft.
load lib

judge=$BATS_TEST_DIRNAME/redact.py
secrets=$BATS_TEST_DIRNAME/secrets.py
export PYTHONDONTWRITEBYTECODE=1

setup()
{
	cd "$BATS_TEST_TMPDIR" || return 1
	demo=$BATS_TEST_DIRNAME/../fixtures/demo.dat
	golden=$BATS_TEST_DIRNAME/../fixtures/golden
	session=$BATS_TEST_DIRNAME/../fixtures/session
	fixtures=$BATS_TEST_DIRNAME/../fixtures
}

@test "redact: of thousands of planted secrets of each kind none is in a byte of the output, or of what is compressed in it" {
	need_command python3
	need_command zstd
	local file nr all=0 kinds=""
	for file in "$demo" "$session/why.dat" "$session/open.dat" "$session/disk.dat" "$golden/6.12-events-syscalls.dat" "$golden/6.12-markers.dat" \
		"$golden/6.1-rt-events-sched.dat" "$golden/6.12-user_events.dat" "$fixtures"/{files,profile,quota}.dat; do
		weft convert -q --file-version 6 -o in.dat "$file"
		nr=$(python3 "$judge" plant in.dat words)
		kinds+=" ${nr#* }"
		all=$((all + ${nr%% *}))
		weft redact -q -o out.dat in.dat
		weft check -q out.dat
		[ -z "$(python3 "$judge" scan out.dat words)" ]
		weft redact -q --pids --file-version 6 -o out6.dat in.dat
		[ -z "$(python3 "$judge" scan out6.dat words)" ]
		# The scanner finds them where they are.
		weft convert -q -o plain.dat in.dat
		[ "$(python3 "$judge" scan plain.dat words | wc -l)" -gt 5 ]
	done
	echo "$all: $kinds"
	[ "$all" -gt 3000 ]
	for kind in free function host mark name path register saved string tail; do
		[[ "$kinds " == *" $kind "* ]]
	done
}

# none FILE WORDS: no secret is in what is made of FILE, whatever form FILE has
none()
{
	local left
	weft redact -q --key key -o none.dat "$1"
	weft check -q none.dat
	left=$(python3 "$secrets" scan none.dat "$2")
	[ -z "$left" ] || { echo "$1: $left"; return 1; }
}

@test "redact: each name, path, address, text and hole of the events of a kernel is a secret: none is in the output" {
	need_command python3
	need_command zstd
	head -c 32 /dev/zero > key
	weft convert -q --file-version 6 -o formats.dat "$demo"
	python3 "$secrets" make formats.dat in.dat words '<' 64 x86_64 1
	python3 "$secrets" kinds words
	[ "$(python3 "$secrets" scan in.dat words | wc -l)" -gt 2000 ]
	none in.dat words
}

# bats test_tags=long
@test "redact: none of 10,000 planted secrets of 12 kinds is in a byte of what is made of files of all kernels and forms" {
	need_command python3
	need_command zstd
	local kernel machine file all=0 kinds="" more=$BATS_TEST_DIRNAME/../../../shared/captures/more made
	head -c 32 /dev/zero > key
	weft convert -q --file-version 6 -o formats.dat "$demo"
	for kernel in formats.dat "$BUILD"/captures/*/all-event-formats.tar.gz "$more"/*-*.tar.zst "$more"/[0-9]*.tar.zst; do
		[ -e "$kernel" ] || continue
		case $kernel in
		*.zst)
			rm -rf formats && mkdir formats
			zstd -dcq "$kernel" | tar -xC formats --wildcards '*/format' '*/all-event-formats.tar.gz' 2> /dev/null || :
			made=$(find formats -name all-event-formats.tar.gz) ;;
		*) made=$kernel ;;
		esac
		case $kernel in
		*s390x*) machine="> 64 s390x" ;;
		*armhf*) machine="< 32 armv7l" ;;
		*ppc64el*) machine="< 64 ppc64le" ;;
		*) machine="< 64 x86_64" ;;
		esac
		# shellcheck disable=SC2086 # words
		python3 "$secrets" make "${made:-formats}" in.dat words $machine
		file=$(python3 "$secrets" kinds words)
		all=$((all + ${file%% *})) kinds+=" ${file#* }"
		none in.dat words
		weft convert -q -o form.dat in.dat && none form.dat words
		weft convert -q --compression none -o form.dat in.dat && none form.dat words
		weft split -q --count 1000 -o part.dat in.dat
		for file in part*.dat; do none "$file" words; done
		weft merge -q -o form.dat part*.dat && none form.dat words
		rm part*.dat
		weft report in.dat > text 2> /dev/null
		weft import -q -o form.dat text && none form.dat words
	done
	echo "$all:$kinds"
	[ "$all" -gt 10000 ]
	[ "$(tr ' ' '\n' <<< "$kinds" | sed -n 's/:.*//p' | sort -u | wc -l)" -ge 12 ]
	# Texts of the kernel, settings and records of real files: what a latency tracer, a flight, an extraction and a dump left
	for file in "$BATS_TEST_DIRNAME"/../old/0.2.0-*.dat "$session"/*.dat "$golden"/*.dat; do
		weft convert -q --file-version 6 -o in.dat "$file"
		python3 "$secrets" rename in.dat words
		none in.dat words
	done
}

@test "redact: machines of both byte orders and word sizes: none of 800 names is in a byte of either version, and all events are there" {
	need_command python3
	need_command zstd
	local order word version nr=0
	for order in '<' '>'; do
		for word in 4 8; do
			PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$BATS_TEST_DIRNAME python3 - "$order" $word << 'END'
import random
import sys
from planter import File
dice = random.Random(4711)
words = []
def secret():
    words.append("".join(dice.choice("bcdfghjkmpqrvwxz") for _ in range(11)))
    return words[-1]
file = File("x86_64", order=sys.argv[1], word=int(sys.argv[2]))
for i in range(200):
    at, cpu = 1000000 + i * 1000, i % 2
    file.names[1000 + i] = secret()
    file.event(at, cpu, 1000 + i, "sched_switch", prev_comm=secret(), prev_pid=1000 + i, next_comm="sh", next_pid=7)
    file.event(at + 100, cpu, 7, "irq_handler_entry", irq=9, name=secret())
    file.event(at + 200, cpu, 7, "print", ip=1, buf="paid by " + secret() + "\n")
file.write("in.dat")
open("words", "w").write("".join(word + "\n" for word in words))
END
			nr=$((nr + $(wc -l < words)))
			[ "$(python3 "$judge" scan in.dat words | wc -l)" = 800 ]
			for version in 6 7; do
				weft redact -q --file-version $version -o out.dat in.dat
				[ -z "$(python3 "$judge" scan out.dat words)" ]
				weft check -q out.dat
				[ "$(weft report out.dat 2> /dev/null | grep -c ': sched_switch: ')" = 200 ]
			done
		done
	done
	[ $nr = 3200 ]
}

# bats test_tags=long
@test "redact: all analyses find the same figures, and texts of the same length" {
	need_command python3
	local file what
	for file in "$session"/*.dat "$golden"/6.12-{blk,events-irq-timer,events-sched,function_graph,markers,osnoise,userstacktrace}.dat \
		"$fixtures"/{files,profile,quota}.dat "$fixtures"/resources/*.dat "$BATS_TEST_DIRNAME"/../old/0.3.0-{events,graph,marks,stacks,wakeup}.dat; do
		weft redact -q -o out.dat "$file"
		for what in sched syscalls irq latency graph block locks marks memory power tasks why stacks summary 'stacks --on-cpu' 'syscalls --by file' \
			'syscalls --by task' 'latency --by unit' 'why --all call'; do
			# What a file is about may be a probe, whose name has another length.
			case $(basename "$file"):$what in names.dat:summary | quota.dat:summary) continue ;; esac
			# A word of a program's memory that is no address is no caller any more, so the texts of stacks may be shorter.
			if [ "$(basename "$file"):$what" = 'profile.dat:stacks --on-cpu' ]; then
				[ "$(weft stacks --on-cpu --format json out.dat | jq -c '[.on_cpu[].samples] | sort')" = "$(weft stacks --on-cpu --format json "$file" | jq -c '[.on_cpu[].samples] | sort')" ]
				[ "$(weft stacks --on-cpu --format json out.dat | jq -c '[.on_cpu[].function | sub("0x.*"; "") | length] | sort')" = "$(weft stacks --on-cpu --format json "$file" | jq -c '[.on_cpu[].function | sub("0x.*"; "") | length] | sort')" ]
				continue
			fi
			# shellcheck disable=SC2086 # words
			run -"$(weft $what --format json "$file" > old.json 2> old.said && echo 0 || echo 1)" weft $what --format json out.dat
			[ -s old.json ] || continue
			weft $what --format json out.dat > new.json
			python3 "$judge" same old.json new.json
		done
	done
}

@test "redact: report prints the same lines with other names" {
	weft redact -q -o out.dat "$session/open.dat"
	weft report "$session/open.dat" | sed 's/[^ ]*-\([0-9]*\) / \1 /; s/: .*//' | grep -v '^#' | tr -s ' ' > old
	weft report out.dat | sed 's/[^ ]*-\([0-9]*\) / \1 /; s/: .*//' | grep -v '^#' | tr -s ' ' > new
	[ -s old ]
	diff old new
}

@test "redact: --key gives the same stand-ins again, another key others" {
	weft redact -q --key key -o a.dat "$session/slow.dat"
	[ "$(stat -c '%a %s' key)" = "600 32" ]
	weft redact -q --key key -o b.dat "$session/slow.dat"
	cmp a.dat b.dat
	weft redact -q -o c.dat "$session/slow.dat"
	run ! cmp -s a.dat c.dat
}

@test "redact: --keep keeps names, and kernel threads and well-known names are kept" {
	weft redact -q -o none.dat "$session/slow.dat"
	weft redact -q --keep 'comm=*' -o all.dat "$session/slow.dat"
	weft tasks "$session/slow.dat" | grep -v '^# longest' > want
	[ -s want ]
	weft tasks all.dat | grep -v '^# longest' | diff want -
	weft report none.dat | grep -q 'swapper/0'
}

@test "redact: --check writes nothing if a word is in the output, also where it is compressed" {
	echo swapper/0 > words
	run -1 weft redact -q --check words -o out.dat "$demo"
	[[ "$output" == *"the word in line 1 of the list is in the output"* ]]
	[ ! -e out.dat ]
	# What was found stands between what is around it, and a part of a longer word is said to count.
	echo sched_wak > words
	run -1 weft redact -q --check words -o out.dat "$golden/6.12-events-sched.dat"
	[[ "$output" == *", byte 6, 'name: sched_wak"*"';"* ]]
	[[ "$output" == *"inside a longer word"*"put a longer word into the list"* ]]
	echo no-such-word > words
	weft redact -q --check words -o out.dat "$demo"
	weft check -q out.dat
}

@test "redact: --check knows a word reversed, as hexadecimal digits, and as base64 wherever it begins in a group" {
	need_command python3
	local word
	weft redact -q --key key --file-version 6 -o out.dat "$golden/6.12-events-sched.dat"
	# Words are made of what stands in every output, the texts of the formats, so that only these forms of them are there.
	python3 - << 'END'
import base64, re
data = open("out.dat", "rb").read()
group = base64.b64decode(re.search(rb"[A-Za-z0-9+/]{12}", data).group())
for before in range(3):
    open(f"base64-{before}", "wb").write(group[before:before + 7] + b"\n")
open("reversed", "wb").write(b"sched_process_wait"[::-1] + b"\n")
open("hexadecimal", "wb").write(bytes.fromhex(re.search(rb"(?<=0xffffffff)[1-9a-f]{8}", data).group().decode()) + b"\n")
for name in ("base64-0", "base64-1", "base64-2", "reversed", "hexadecimal"):
    word = open(name, "rb").read()[:-1]
    assert b"\n" not in word and b"\0" not in word and word not in data, name
END
	for word in base64-0 base64-1 base64-2 reversed hexadecimal; do
		echo "$word"
		run -1 weft redact -q --key key --file-version 6 --check $word -o again.dat "$golden/6.12-events-sched.dat"
		[[ "$output" == *"the word in line 1 of the list is in the output"* ]]
	done
	[ ! -e again.dat ]
}

@test "redact: --pids shifts the PIDs, and keeps the order of what happens" {
	weft redact -q --pids -o out.dat "$session/slow.dat"
	weft report "$session/slow.dat" | grep -v '^#' | grep -o '[0-9]*\.[0-9]\{6\}: [a-z_]*' > want
	weft report out.dat | grep -v '^#' | grep -o '[0-9]*\.[0-9]\{6\}: [a-z_]*' | diff want -
	weft info --settings out.dat | grep -q .
}

@test "redact: it tells what no rule knows, and what it leaves out" {
	run -0 weft redact -o out.dat "$golden/6.12-user_events.dat"
	[[ "$output" == *"as no rule knows them: redacted:*"* ]]
	[[ "$output" == *"left out:"* ]]
	run -0 weft report out.dat
	[[ "$output" == *event_* ]]
}

@test "redact: wrong usage is told" {
	run -2 weft redact "$demo"
	run -2 weft redact --keep name=a -o out.dat "$demo"
	[[ "$output" == *"is not comm=GLOB"* ]]
	run -1 weft redact --check /nonexistent -o out.dat "$demo"
	echo short > key
	run -1 weft redact --key key -o out.dat "$demo"
	[[ "$output" == *"no key of weft redact"* ]]
	[ ! -e out.dat ]
}

@test "redact: large numbers are printed as everywhere" {
	cd "$BATS_TEST_TMPDIR"
	run -0 weft redact -o late.dat "$BATS_TEST_DIRNAME/../fixtures/session/late.dat"
	[[ "$output" == *" 0 of 3,538 events have only their time, task and type"* ]]
}
