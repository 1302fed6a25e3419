#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft mcp: a server of the Model Context Protocol over files. The judge of its lines is Python's JSON.
load lib

setup()
{
	cd "$BATS_TEST_TMPDIR" || return 1
	session=$BATS_TEST_DIRNAME/../fixtures/session
}

# ask EXPRESSION LINE...: the lines are sent to the server; prints an expression of Python over the list `a` of answers
ask()
{
	need_command python3
	local what=$1
	shift
	printf '%s\n' "$@" | weft mcp "$session/slow.dat" "$session/sleep.dat" > answers
	python3 -c "import json; a = [json.loads(line) for line in open('answers')]; print($what)"
}

call()
{
	printf '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"%s","arguments":%s}}' "$1" "$2"
}

@test "mcp: the handshake of 2025-11-25, and no answer to a notification" {
	[ "$(ask '[(x["id"], x["result"].get("protocolVersion")) for x in a]' \
		'{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}' \
		'{"jsonrpc":"2.0","method":"notifications/initialized"}' '{"jsonrpc":"2.0","id":"p","method":"ping"}')" = "[(7, '2025-11-25'), ('p', None)]" ]
}

@test "mcp: server/discover of 2026-07-28, and an unknown revision is refused with those that are known" {
	local meta='"_meta":{"io.modelcontextprotocol/protocolVersion":'

	[ "$(ask 'a[0]["result"]["supportedVersions"][0], a[0]["result"]["resultType"], a[1]["result"]["resultType"], a[2]["error"]["code"]' \
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\",\"params\":{$meta\"2026-07-28\"}}}" \
		"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\",\"params\":{$meta\"2026-07-28\"}}}" \
		"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/list\",\"params\":{$meta\"2031-01-01\"}}}")" = "2026-07-28 complete complete -32022" ]
}

@test "mcp: every analysis is a tool, and answers with its tables" {
	ask '"\n".join(t["name"] for t in a[0]["result"]["tools"])' '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' > names
	weft help | grep -o '^  \(summary\|sched\|syscalls\|latency\|tasks\|why\) ' | tr -d ' ' | sort -u > analyses
	[ -z "$(comm -13 <(sort names) analyses)" ]
	[ "$(ask 'sorted(a[0]["result"]["structuredContent"])[:3]' "$(call sched '{"file":"a"}')")" = "['broken', 'cpus', 'cut']" ]
	weft sched --format json "$session/slow.dat" > want
	[ "$(ask 'a[0]["result"]["structuredContent"]["tasks"] == json.load(open("want"))["tasks"]' "$(call sched '{}')")" = True ]
	[ "$(ask 'a[0]["result"]["content"][0]["text"]' "$(call files '{}')")" = "a  slow.dat
b  sleep.dat" ]
	ask 'a[0]["result"]["content"][0]["text"]' "$(call events '{"file":"b","limit":2}')" | grep -qv '^#'
	[ "$(ask 'json.loads(a[0]["result"]["content"][0]["text"])[0]["n"] > 9' "$(call sql '{"sql":"select count(*) as n from ftrace_event"}')")" = True ]
	[ "$(ask 'sorted(a[0]["result"]["structuredContent"])[:3], a[0]["result"]["structuredContent"]["stands_out"]' "$(call brief '{"ask":"locks"}')")" = "['broken', 'cut', 'for_more'] []" ]
	[ "$(ask '"changes" in a[0]["result"]["structuredContent"]' "$(call compare '{}')")" = True ]
}

@test "mcp: what is wrong is told in one sentence, and nothing but the files is opened" {
	need_command strace
	local say='(a[0].get("error") or a[0]["result"]["content"][0]).get("text") or a[0]["error"]["message"]'

	[[ "$(ask "$say" "$(call sched '{"path":"/etc/passwd"}')")" == *"has no argument"* ]]
	[[ "$(ask "$say" "$(call sched '{"file":"z"}')")" == *"there is no such file"* ]]
	[[ "$(ask "$say" "$(call sched '{"since":"x"}')")" == *"is not a time"* ]]
	[[ "$(ask "$say" "$(call none '{}')")" == *"there is no such tool"* ]]
	[[ "$(ask "$say" '{"jsonrpc":')" == *"there is no value"* ]]
	[[ "$(ask "$say" "$(call sql '{"sql":"--input=/etc/passwd"}')")" == *"no statement"* ]]
	[[ "$(ask "$say" '{"jsonrpc":"2.0","id":1,"method":"resources/list"}')" == *"no such method"* ]]
	call sched '{"comm":"--input=/etc/passwd"}' | strace -f -e trace=open,openat,socket,connect -o calls "$WEFT" mcp "$session/slow.dat" > answers ||
		skip "strace does not work here"
	grep -q slow.dat calls
	run ! grep -E '/etc/passwd|connect\(|AF_INET' calls
	run -2 weft mcp
}

@test "mcp: a file that cannot be read ends the server at once" {
	run -1 weft mcp "$session/slow.dat" nosuch.dat < /dev/null
	[[ "$output" == *"cannot open 'nosuch.dat': No such file or directory" ]]
	run -1 weft mcp "$session" < /dev/null
	[[ "$output" == *"is a directory; name a file" ]]
	run -2 weft mcp --no-such "$session/slow.dat" < /dev/null
}

@test "mcp: an answer is as short as the client asks, and tells what is left out" {
	[ "$(ask 'len(a[0]["result"]["content"][0]["text"]) <= 1500, a[0]["result"]["structuredContent"]["rows_left_out"]["tasks"] > 3' \
		"$(call sched '{"max_bytes":1500}')")" = "True True" ]
	ask 'a[0]["result"]["content"][0]["text"]' "$(call events '{"max_bytes":2000,"limit":200}')" | tail -n 2 | grep -q '^# [0-9]* more lines'
}

@test "mcp: a line without end is refused, and the next one is answered" {
	need_command python3
	python3 -c "print('x' * 3000000); print('{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"ping\"}')" | weft mcp "$session/slow.dat" > answers
	[ "$(wc -l < answers)" = 2 ]
	grep -q 'more than 1 MiB' answers
	grep -q '"id":5,"result"' answers
}

@test "--max-bytes cuts rows, not syntax, of every analysis, and tells how many" {
	need_command python3
	local size what

	for what in summary sched syscalls latency tasks why; do
		weft $what --format json "$session/slow.dat" > whole
		for size in 1024 2000 4096 9000 65536; do
			weft $what --format json --max-bytes $size "$session/slow.dat" > part 2> said || { grep -q 'more than --max-bytes' said; continue; }
			[ "$(stat -c %s part)" -le $size ]
			python3 - whole part <<-'EOF'
				import json, sys
				whole, part = (json.load(open(name)) for name in sys.argv[1:])
				for name, rows in whole.items():
				    if isinstance(rows, list) and name != "longest":
				        assert rows[:len(part[name])] == part[name], name
				        assert len(rows) - len(part[name]) == part["rows_left_out"].get(name, 0), name
			EOF
		done
	done
	weft sched --max-bytes 1100 "$session/slow.dat" > text
	[ "$(stat -c %s text)" -le 1100 ]
	grep -q 'and [0-9]* more' text
	run ! grep -q 'none among' text
	run -2 weft sched --max-bytes 100 --every 1s "$session/slow.dat"
}
