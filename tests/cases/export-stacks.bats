#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft export --to folded, flame and speedscope: stacks by weight. tests/unit/export_stacks.c has small ones.
load lib

golden=$BATS_TEST_DIRNAME/../fixtures/golden

@test "folded: functions that call none weigh what the kernel printed behind them" {
	need_command python3
	for name in 6.12-function_graph 6.1-rt-function_graph; do
		weft export --to folded "$golden/$name.dat" > "$BATS_TEST_TMPDIR/folded" 2> /dev/null
		python3 - "$golden/$name.txt" "$BATS_TEST_TMPDIR/folded" <<-'PY'
			import re, sys
			leaves, inner = {}, set()
			for line in open(sys.argv[1], errors='replace'):
			    leaf = re.search(r'([0-9.]+) us +\| +([\w.]+)\(\);', line)
			    if leaf:
			        leaves[leaf[2]] = leaves.get(leaf[2], 0) + int(leaf[1].replace('.', ''))
			    called = re.search(r'\| +([\w.]+)\(\) \{', line)
			    if called:
			        inner.add(called[1])
			got = {}
			for line in open(sys.argv[2]):
			    stack, weight = line.rsplit(' ', 1)
			    name = stack.split(';')[-1]
			    got[name] = got.get(name, 0) + int(weight)
			only = {name: ns for name, ns in leaves.items() if name not in inner}
			assert len(only) > 5, only
			for name, ns in only.items():
			    assert got[name] == ns, (name, ns, got.get(name))
		PY
	done
}

@test "folded: --weight count has as many stacks as the trace" {
	file=$golden/6.12-event-stacktrace.dat
	want=$(grep -c '<stack trace>' "$golden/6.12-event-stacktrace.txt")
	[ "$want" -gt 0 ]
	[ "$(weft export --to folded --weight count "$file" | awk '{ sum += $NF } END { print sum }')" = "$want" ]
}

@test "folded: --weight off-cpu is the time from a switch with a stack until the task is back, or the end" {
	need_command python3
	need_shared samples/v7-zstd-8cpu-stacks.dat
	file=$SHARED/samples/v7-zstd-8cpu-stacks.dat
	weft export --to folded --weight off-cpu "$file" > "$BATS_TEST_TMPDIR/folded" 2> /dev/null
	weft export --to jsonl "$file" > "$BATS_TEST_TMPDIR/jsonl" 2> /dev/null
	python3 - "$BATS_TEST_TMPDIR/jsonl" "$BATS_TEST_TMPDIR/folded" <<-'PY'
		import json, sys
		total, off, last = 0, {}, {}
		for line in open(sys.argv[1]):
		    event = json.loads(line)
		    cpu = event['cpu']
		    if event['event'] == 'lost':
		        off, last = {}, {}
		        continue
		    if event['event'] == 'sched_switch':
		        back = off.pop(event['fields']['next_pid'], None)
		        if back and back[1]:
		            total += event['ts'] - back[0]
		        # A task that has ended (Z, X) waits for nothing.
		        if event['fields']['prev_pid'] and not event['fields']['prev_state'] & 0x30:
		            off[event['fields']['prev_pid']] = [event['ts'], False]
		    if event['event'] == 'kernel_stack' and last.get(cpu, {}).get('event') == 'sched_switch':
		        before = off.get(last[cpu]['fields']['prev_pid'])
		        if before:
		            before[1] = True
		    if event['event'] != 'user_stack':
		        last[cpu] = event
		total += sum(event['ts'] - since for since, stack in off.values() if stack)
		lines = [line.rsplit(' ', 1) for line in open(sys.argv[2])]
		got = sum(int(ns) for stack, ns in lines if ';[no stack];' not in stack)
		assert total > 0 and got == total, (got, total)
		assert any(';[no stack];' in stack for stack, _ in lines)
	PY
}

@test "flame: the SVG is well-formed, and its widths are the weights of folded" {
	need_command python3
	file=$golden/6.12-function_graph.dat
	weft export --to folded "$file" > "$BATS_TEST_TMPDIR/folded" 2> /dev/null
	weft export --to flame -q -o "$BATS_TEST_TMPDIR/flame.svg" "$file" 2> /dev/null
	python3 - "$BATS_TEST_TMPDIR/flame.svg" "$BATS_TEST_TMPDIR/folded" <<-'PY'
		import sys, xml.etree.ElementTree as tree
		want, total = {}, 0
		for line in open(sys.argv[2]):
		    stack, weight = line.rsplit(' ', 1)
		    total += int(weight)
		    for name in set(stack.split(';')):
		        want[name] = want.get(name, 0) + int(weight)
		root = tree.parse(sys.argv[1]).getroot()
		frames = [g for g in root.iter('{http://www.w3.org/2000/svg}g') if g.get('class') == 'f']
		got = {}
		for frame in frames:
		    got[frame.get('data-n')] = got.get(frame.get('data-n'), 0) + int(frame.get('data-w'))
		assert got['all'] == total == int(root.get('data-total'))
		for name, weight in got.items():
		    assert name == 'all' or name.startswith('[') or weight <= want[name], name
		assert sum(got.get(name) == weight for name, weight in want.items()) > len(want) / 2
	PY
	if command -v xmllint > /dev/null; then
		xmllint --noout "$BATS_TEST_TMPDIR/flame.svg"
	fi
	run -1 grep -E '(href|src)=|url\(|@import' "$BATS_TEST_TMPDIR/flame.svg"
}

@test "folded --diff: leaf functions have what the kernel printed behind them, in the other file and in this" {
	need_command python3
	old=$golden/6.1-rt-function_graph now=$golden/6.12-function_graph
	weft export --to folded --diff "$old.dat" "$now.dat" > "$BATS_TEST_TMPDIR/folded" 2> /dev/null
	python3 - "$old.txt" "$now.txt" "$BATS_TEST_TMPDIR/folded" <<-'PY'
		import re, sys
		def leaves(path):
		    sums, inner = {}, set()
		    for line in open(path, errors='replace'):
		        leaf = re.search(r'([0-9.]+) us +\| +([\w.]+)\(\);', line)
		        called = re.search(r'\| +([\w.]+)\(\) \{', line)
		        if leaf:
		            sums[leaf[2]] = sums.get(leaf[2], 0) + int(leaf[1].replace('.', ''))
		        if called:
		            inner.add(called[1])
		    return sums, inner
		(old, old_inner), (now, now_inner) = leaves(sys.argv[1]), leaves(sys.argv[2])
		got = {}
		for line in open(sys.argv[3]):
		    stack, before, after = line.rsplit(' ', 2)
		    pair = got.setdefault(stack.split(';')[-1], [0, 0])
		    pair[0] += int(before)
		    pair[1] += int(after)
		names = (set(old) | set(now)) - old_inner - now_inner
		assert len(names) > 10 and any(name in old and name in now for name in names)
		for name in names:
		    assert got[name] == [old.get(name, 0), now.get(name, 0)], (name, got[name], old.get(name), now.get(name))
	PY
}

@test "flame --diff: the SVG is well-formed; against itself nothing is red or blue" {
	need_command python3
	file=$golden/6.12-function_graph.dat
	weft export --to flame --diff "$file" "$file" > "$BATS_TEST_TMPDIR/same.svg" 2> /dev/null
	weft export --to flame --diff "$golden/6.1-rt-function_graph.dat" "$file" > "$BATS_TEST_TMPDIR/other.svg" 2> /dev/null
	python3 - "$BATS_TEST_TMPDIR/same.svg" "$BATS_TEST_TMPDIR/other.svg" <<-'PY'
		import sys, xml.etree.ElementTree as tree
		svg = '{http://www.w3.org/2000/svg}'
		fills = [{rect.get('fill') for rect in tree.parse(path).getroot().iter(svg + 'rect')} for path in sys.argv[1:]]
		assert fills[0] == {'rgb(255,255,255)'}, fills[0]
		assert any(fill.startswith('rgb(255,') for fill in fills[1] - fills[0]) and any(fill.endswith(',255)') for fill in fills[1] - fills[0])
	PY
}

@test "--diff: what cannot be compared is said" {
	file=$golden/6.12-function_graph.dat
	run -2 weft export --to csv --diff "$file" "$file"
	[[ $output == *"--diff: only the formats folded and flame compare recordings"* ]]
	run -1 weft export --to flame --diff "$BATS_TEST_TMPDIR/none.dat" "$file"
	[[ $output == *"none.dat"* ]]
	head -c $(($(stat -c %s "$file") - 3000)) "$file" > "$BATS_TEST_TMPDIR/cut.dat"
	run -1 --separate-stderr weft export --to folded --diff "$BATS_TEST_TMPDIR/cut.dat" "$file"
	[ -z "$output" ]
	[[ $stderr == *"--diff: it is damaged"* || $stderr == *"--diff: "*"cut.dat"* ]]
	run -0 --separate-stderr weft export --to folded --diff "$golden/6.12-events-sched.dat" "$file"
	[[ $stderr == *"--diff: no stacks of that file have the weight self-time"* ]]
}

@test "flame: node takes its script for one" {
	need_command node
	weft export --to flame "$golden/6.12-function_graph.dat" 2> /dev/null | sed -n '/<script>/,/<\/script>/p' | sed '1d;$d' > "$BATS_TEST_TMPDIR/script.js"
	[ -s "$BATS_TEST_TMPDIR/script.js" ]
	node --check "$BATS_TEST_TMPDIR/script.js"
}

@test "speedscope: samples and weights are those of folded" {
	need_command python3
	file=$golden/6.12-function_graph.dat
	weft export --to folded "$file" 2> /dev/null | sort > "$BATS_TEST_TMPDIR/want"
	weft export --to speedscope "$file" 2> /dev/null | python3 -c 'import json, sys
data = json.load(sys.stdin)
profile = data["profiles"][0]
assert profile["type"] == "sampled" and profile["unit"] == "nanoseconds"
assert len(profile["samples"]) == len(profile["weights"]) and sum(profile["weights"]) == profile["endValue"]
for sample, weight in zip(profile["samples"], profile["weights"]):
    print(";".join(data["shared"]["frames"][i]["name"] for i in sample), weight)' | sort | diff "$BATS_TEST_TMPDIR/want" -
}

@test "speedscope: its file keeps to the schema that speedscope's own package has" {
	need_npm speedscope 1.25.0
	local schema=$NODE_PATH/speedscope/dist/release/file-format-schema.json file
	need_npm ajv 8.20.0
	for file in "$golden"/6.12-{function_graph,event-stacktrace,function-stacktrace}.dat; do
		weft export --to speedscope -q -o "$BATS_TEST_TMPDIR/graph.json" "$file" 2> /dev/null
		node -e 'const fs = require("fs"), Ajv = require("ajv");
const check = new Ajv({ strict: false }).compile(JSON.parse(fs.readFileSync(process.argv[1])));
if (!check(JSON.parse(fs.readFileSync(process.argv[2])))) throw new Error(JSON.stringify(check.errors));' "$schema" "$BATS_TEST_TMPDIR/graph.json"
	done
}

@test "folded: --weight off-cpu of one task is what it is among all, and ends when the task is back" {
	local name comm pids

	# A task is chosen by its PID: by --comm only the time in which it had this name.
	for name in 6.12-event-stacktrace 6.1-rt-event-stacktrace 6.1-mips64el-event-stacks; do
		weft export --to folded --weight off-cpu "$golden/$name.dat" 2> /dev/null | grep -v '\[no stack\]' > "$BATS_TEST_TMPDIR/all"
		[ "$(wc -l < "$BATS_TEST_TMPDIR/all")" -gt 5 ]
		cut -d ';' -f 1 "$BATS_TEST_TMPDIR/all" | sort -u > "$BATS_TEST_TMPDIR/comms"
		while read -r comm; do
			awk -F ';' -v comm="$comm" '$1 == comm' "$BATS_TEST_TMPDIR/all" | sort > "$BATS_TEST_TMPDIR/want"
			pids=$(sed -nE "s|^ *$comm-([0-9]+) .*|\\1|p" "$golden/$name.txt" | sort -u | paste -sd,)
			[ -n "$pids" ]
			weft export --to folded --weight off-cpu --pid "$pids" "$golden/$name.dat" 2> /dev/null | sort | diff "$BATS_TEST_TMPDIR/want" -
		done < "$BATS_TEST_TMPDIR/comms"
	done
}

# bats test_tags=long
@test "speedscope: its own program reads the file in Chromium and shows the self times that folded has" {
	need_npm speedscope 1.25.0
	need_command chromium
	local release=$BATS_TEST_TMPDIR/release file
	cp -r "$NODE_PATH/speedscope/dist/release" "$release"
	for file in "$golden"/6.12-function_graph.dat "$golden"/6.12-event-stacktrace.dat; do
		[[ $file = *graph* ]] && weight=self-time || weight=off-cpu
		weft export --to speedscope --weight $weight -q -o "$BATS_TEST_TMPDIR/profile.json" "$file" 2> /dev/null
		weft export --to folded --weight $weight -q -o "$BATS_TEST_TMPDIR/folded" "$file" 2> /dev/null
		printf 'speedscope.loadFileFromBase64("profile.json", "%s")' "$(base64 -w 0 "$BATS_TEST_TMPDIR/profile.json")" > "$BATS_TEST_TMPDIR/profile.js"
		timeout 240 python3 "$BATS_TEST_DIRNAME/export/browser.py" chromium "$BATS_TEST_TMPDIR/chromium" \
			"file://$release/index.html#localProfilePath=$BATS_TEST_TMPDIR/profile.js" '%[)].*</td>' "$(cat "$BATS_TEST_DIRNAME/export/speedscope.js")" > "$BATS_TEST_TMPDIR/page"
		python3 "$BATS_TEST_DIRNAME/export/speedscope.py" "$BATS_TEST_TMPDIR/folded" "$BATS_TEST_TMPDIR/page"
	done
}

@test "folded, flame, speedscope, pprof: a file without stacks is an error that says what to record, and leaves no file" {
	for to in folded flame speedscope pprof; do
		run -1 --separate-stderr weft export --to $to -o "$BATS_TEST_TMPDIR/out" -e sched_switch "$golden/6.12-events-sched.dat"
		[[ $stderr == *"there are no stacks to export"*"-p function_graph"*"-T"* ]]
		[ ! -e "$BATS_TEST_TMPDIR/out" ]
		run -1 --separate-stderr weft export --to $to --weight count "$golden/6.12-function_graph.dat"
		[[ $stderr == *"no stacks have the weight count: record events with stacks (-T)"* ]]
		[ -z "$output" ]
	done
}

# own_times FILE: the sum of the own times in ns, as weft graph has it
own_times()
{
	weft graph --top 0 --format json "$1" 2> /dev/null | jq '[.functions[].self_ns // 0] | add'
}

@test "folded: own times add up to those of weft graph to the nanosecond, also where CPUs lost events" {
	need_command jq
	for file in "$golden"/6.1-rt-function_graph.dat "$golden"/6.12-function_graph.dat tests/corpora/report/accept/graph-6.1*.dat; do
		sum=$(weft export --to folded "$file" 2> /dev/null | awk '{ sum += $NF } END { printf "%.0f\n", sum }')
		[ "$sum" -gt 0 ]
		[ "$sum" = "$(own_times "$file")" ]
	done
}
