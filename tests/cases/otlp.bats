#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Spans of OpenTelemetry: joined with a recording's tasks by time of day, process and thread.
load lib

# span NAME START-MS LENGTH-MS ID [PARENT] [ATTRIBUTES]: START-MS counts from 2026-11-28 20:47:46 UTC.
span()
{
	local start=$((1795898866000000000 + $2 * 1000000))

	printf '{"traceId":"4BF92F3577B34DA6A3CE929D0E0E4736","spanId":"%s","parentSpanId":"%s","name":"%s","kind":2,' "$4" "${5:-}" "$1"
	printf '"startTimeUnixNano":"%s","endTimeUnixNano":"%s","attributes":[%s],"status":{"code":2}}' "$start" $((start + $3 * 1000000)) "${6:-}"
}

# attribute KEY TYPE VALUE
attribute() { printf '{"key":"%s","value":{"%s":%s}}' "$@"; }

# request PID SPAN...: a line as the file exporter of the collector writes it
request()
{
	local pid=$1 IFS=,

	shift
	printf '{"resourceSpans":[{"resource":{"attributes":[%s,%s]},"scopeSpans":[{"scope":{"name":"x"},"spans":[%s]}]}]}\n' \
		"$(attribute service.name stringValue '"shop"')" "$(attribute process.pid intValue "\"$pid\"")" "$*"
}

setup()
{
	cd "$BATS_TEST_TMPDIR" || return
	cp "$BATS_TEST_DIRNAME/../fixtures/session/why.dat" .
	{
		# confd has one thread; deploy's is named by its number, another span names a thread that several are called like.
		request 111 "$(span 'GET /|cart' 900 300 00f067aa0ba902b7 '' "$(attribute thread.native_id intValue '"111"')")" \
			"$(span 'query\t1' 950 100 00f067aa0ba902b8 00f067aa0ba902b7)"
		request 113 "$(span worker 1000 51 00f067aa0ba902b9 '' "$(attribute thread.native_id intValue 113)")"
		request 112 "$(span unclear 1010 20 00f067aa0ba902ba '' "$(attribute thread.name stringValue '"weft"')")"
		request 9999 "$(span elsewhere 1100 1 00f067aa0ba902bb)"
	} > spans.json
}

@test "import: --otlp joins spans with tasks, by the thread's number, its name, the process, or time only, and says which" {
	run -0 weft import --otlp --tasks-from why.dat -o spans.dat spans.json
	[[ $output == *"5 spans are joined: 2 by the thread's number, 1 by the thread's name, 1 by the process, 1 by time only"* ]]
	[[ $output == *"does not know the processes of 1 of them"* ]]
	weft sql --format csv spans.dat 'SELECT name, joined, status, kind, span_id, parent_span_id FROM e_text_otlp_span ORDER BY ts' | diff - /dev/fd/3 3<<- 'END'
		name,joined,status,kind,span_id,parent_span_id
		GET_/|cart,thread,error,server,00f067aa0ba902b7,0000000000000000
		query_1,name,error,server,00f067aa0ba902b8,00f067aa0ba902b7
		worker,thread,error,server,00f067aa0ba902b9,0000000000000000
		unclear,process,error,server,00f067aa0ba902ba,0000000000000000
		elsewhere,time,error,server,00f067aa0ba902bb,0000000000000000
	END
	weft sql --format csv spans.dat 'SELECT name, kind, depth, track, cookie, dur FROM mark ORDER BY ts' | diff - /dev/fd/3 3<<- 'END'
		name,kind,depth,track,cookie,dur
		GET /|cart,span,0,,,300000000
		query 1,span,1,,,100000000
		worker,span,0,,,51000000
		unclear,async,0,4bf92f3577b34da6a3ce929d0e0e4736,2114624201508885,20000000
		elsewhere,async,0,4bf92f3577b34da6a3ce929d0e0e4736,2114624201508885,1000000
	END
	# Both have the same 59 bits of an id: the last five are those that a cookie has no room for.
	[ $((0x00f067aa0ba902ba >> 5)) = 2114624201508885 ]
	weft report --time utc spans.dat | grep -qF '20:47:46.900000000: otlp: B|111|GET /|cart'
	[ "$(weft report spans.dat | grep -c 4bf92f3577b34da6a3ce929d0e0e4736)" = 9 ]
}

@test "import: --otlp takes what spans say where there is no recording" {
	run -0 weft import --otlp -o spans.dat spans.json
	[[ $output == *"5 spans are joined: 2 by the thread's number, 3 by the process"* ]]
	sed 's/process.pid/host.pid/; s/native_id/other/g' spans.json > plain.json
	run -0 weft import --otlp -o spans.dat plain.json
	[[ $output == *"5 spans are joined: 5 by time only"* ]]
	if command -v jq > /dev/null; then
		jq . plain.json | weft import -q --otlp -o pretty.dat -
		diff <(weft report spans.dat) <(weft report pretty.dat)
	fi
}

@test "merge: spans stand in the recording, and marks tells where their time went" {
	weft import -q --otlp --tasks-from why.dat -o spans.dat spans.json
	weft merge -q -o all.dat why.dat spans.dat
	weft marks --format csv --table marks all.dat > got
	# The clock of the trace runs 0.182 ppm slower than the time of day.
	awk -F , 'NR > 1 { print $1, $3, int(($4 + 500) / 1000) }' got | LC_ALL=C sort | diff - /dev/fd/3 3<<- 'END'
		GET /|cart 1 300000
		elsewhere 1 1000
		query 1 1 100000
		unclear 1 20000
		worker 1 51000
	END
	# The parts of a thread's spans add up to them; of the others nothing is known.
	weft marks --format json all.dat | tr -d '\n' | grep -o '"mark":"[^"]*","kind":"[^"]*","count":[0-9]*,"total_ns":[0-9]*\|"on_cpu_ns":[0-9]*,"irq_ns":[0-9]*,"wait_ns":[0-9]*,"blocked_ns":[0-9]*,"unknown_ns":[0-9]*' |
		sed 's/.*"total_ns"://; s/"[a-z_]*"://g' | awk -F , 'NF == 1 { total = $1 } NF == 5 { n++; if ($1 + $2 + $3 + $4 + $5 != total) bad++ } END { print n, bad + 0 }' > sums
	[ "$(cat sums)" = '3 0' ]
	# No event of the recording has changed its meaning.
	diff <(weft sched --format csv why.dat) <(weft sched --format csv all.dat)
	# What confd did is selected by what lies inside its span.
	[ "$(weft report --mark 'GET*' all.dat | grep -c 'confd-111')" -gt 0 ]
	[ "$(weft report --mark 'GET*' all.dat | grep -c 'deploy-113')" = 0 ]
}

@test "import: --otlp refuses what is cut, what is none, and what has no spans" {
	head -c 300 spans.json > cut.json
	run -1 weft import --otlp -o never.dat cut.json
	[[ $output == *"request 1 does not end"* ]]
	run -1 weft import --otlp -o never.dat why.dat
	echo '{"resourceLogs":[]}' > logs.json
	run -1 weft import --otlp -o never.dat logs.json
	[[ $output == *"has no 'resourceSpans'"* ]]
	echo '{"resourceSpans":[]}' > none.json
	run -1 weft import --otlp -o never.dat none.json
	[[ $output == *"has no spans"* ]]
	{ cat spans.json; request 1 "$(span backwards 5 -1 00f067aa0ba902bc)"; } > one-bad.json
	run -0 weft import --otlp -o some.dat one-bad.json
	[[ $output == *"1 spans lack"* || $output == *"1 span lacks"* ]]
	run -1 weft import --otlp --strict -o never.dat one-bad.json
	[ ! -e never.dat ]
	run -2 weft import --otlp --log -o never.dat spans.json
	run -2 weft import --tasks-from why.dat -o never.dat spans.json
}

@test "export: --to otlp writes spans that jq, and weft import --otlp, read again" {
	need_command jq
	weft import -q --otlp --tasks-from why.dat -o spans.dat spans.json
	weft merge -q -o all.dat why.dat spans.dat
	weft export -q --to otlp -o out.json all.dat
	# Each one is there, of its process and thread, to the nanoseconds that the two clocks leave.
	jq -r '.resourceSpans[] | (.resource.attributes[] | select(.key == "process.pid") | .value.intValue) as $pid | .scopeSpans[].spans[] |
		[.name, $pid, ([.attributes[] | select(.key == "thread.native_id") | .value.intValue][0] // "-"), (((.endTimeUnixNano | tonumber) - (.startTimeUnixNano | tonumber)) / 1000000 | round)] | join(" ")' out.json |
		grep -v elsewhere | LC_ALL=C sort | diff - /dev/fd/3 3<<- 'END'
		GET /|cart 111 111 300
		query 1 111 111 100
		unclear 112 - 20
		worker 113 113 51
	END
	spans() { jq -c '.resourceSpans[].scopeSpans[].spans[]' "$1"; }
	# A child has its parent's trace; the ids of a span of a process are those that it had.
	[ "$(spans out.json | jq -r 'select(.name == "query 1") | .parentSpanId')" = "$(spans out.json | jq -r 'select(.name | startswith("GET")) | .spanId')" ]
	[ "$(spans out.json | jq -r 'select(.name == "query 1" or (.name | startswith("GET"))) | .traceId' | sort -u | wc -l)" = 1 ]
	[ "$(spans out.json | jq -r 'select(.name == "unclear") | .traceId')" = 4bf92f3577b34da6a3ce929d0e0e4736 ]
	[ "$(spans out.json | jq -r '.traceId, .spanId' | grep -cE '^([0-9a-f]{32}|[0-9a-f]{16})$')" = 10 ]
	[ "$(spans out.json | jq -r .spanId | sort -u | wc -l)" -ge 4 ]
	grep -v '"elsewhere"' out.json > known.json
	run -0 weft import --otlp --tasks-from why.dat -o again.dat known.json
	[[ $output == *"4 spans are joined: 3 by the thread's number, 1 by the process"* ]]
	# Without a time of day there is nothing, and it says so.
	printf '             app-7363  ( 7360) [001] ....  10.000100: tracing_mark_write: B|7360|x\n' | weft import -q -o plain.dat -
	run -0 --separate-stderr weft export --to otlp plain.dat
	[ "$output" = '{"resourceSpans":[]}' ]
	[[ $stderr == *"does not tell the time of day"* ]]
	run -0 --separate-stderr weft export --to otlp why.dat
	[ "$output" = '{"resourceSpans":[]}' ]
	[[ $stderr == *"there are no spans of programs"* ]]
}

@test "otlp: a file without a buffer is refused in words" {
	run -1 weft export -q --to otlp -o "$BATS_TEST_TMPDIR/out" "$BATS_TEST_DIRNAME/../corpora/commands/found/two-without-names.dat"
	[[ "$output" == *"the file has no buffer whose marks could be spans"* ]]
	[ ! -e "$BATS_TEST_TMPDIR/out" ]
}

@test "redact: spans of OpenTelemetry keep their times, and lose their names" {
	weft import -q --otlp --tasks-from why.dat -o spans.dat spans.json
	weft redact -q -o out.dat spans.dat
	local part
	for part in spans out; do
		weft marks --format json "$part.dat" | jq -c '[.marks[] | [.kind, .count, .total_ns, .max_ns]] | sort' > "$part"
	done
	[ "$(jq length spans)" -ge 4 ]
	diff spans out
	run -1 grep -qaE 'GET /|query|elsewhere' out.dat
}
