#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The module weft for Python. The tests themselves are in bindings/python/tests; TRACES names the files that events and
# columns are compared on, in turns.
load lib

tests=$BATS_TEST_DIRNAME/../../bindings/python/tests
fixtures=$BATS_TEST_DIRNAME/../fixtures

setup_file()
{
	load lib
	export PYTHON=${PYTHON:-/usr/bin/python3}
	command -v "$PYTHON" > /dev/null || skip "$PYTHON is not installed"
	"$PYTHON" -c 'import os, sysconfig, sys; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' ||
		skip "the headers of Python are not installed (python3-dev)"
	make -s -C "$BATS_TEST_DIRNAME/../.." BUILD="$BUILD" PYTHON="$PYTHON" python
}

# unittests NAME: all tests of a file, and why some were skipped.
unittests()
{
	PYTHONPATH=$BUILD/python:$tests PYTHONDONTWRITEBYTECODE=1 PYTHONDEVMODE=1 timeout 300 "$PYTHON" -m unittest -v "test_$1" \
		> "$BATS_TEST_TMPDIR/out" 2>&1 || { cat "$BATS_TEST_TMPDIR/out"; return 1; }
	grep 'skipped' "$BATS_TEST_TMPDIR/out" | sed 's/^/# /' >&3 || :
	grep -q '^Ran [1-9]' "$BATS_TEST_TMPDIR/out"
}

@test "python: events, fields and texts are those of weft report, a view that is gone is an error, Ctrl-C interrupts" {
	unittests events
}

@test "python: places, contents and files that are made are those of the library" {
	unittests contents
}

@test "python: columns are those of weft export" {
	unittests columns
}

@test "python: tables are those of the commands, and numpy finds their figures in columns" {
	unittests analyses
}

@test "python: weft.span() marks what a block does" {
	unittests spans
}

@test "python: weft.live() has the events of the running kernel, and restores it" {
	need_tracefs
	unittests live
}

@test "python: no reference and no memory is left of 100,000 events" {
	unittests leaks
}

@test "python: DuckDB reads the same rows from a stream of Arrow" {
	need_npm @duckdb/node-api 1.5.6-r.1
	local library
	library=$(find "$NODE_PATH/@duckdb" -name libduckdb.so | head -n 1)
	[ -n "$library" ] || skip "there is no libduckdb.so for this machine"
	LIBDUCKDB=$library unittests columns.DuckDB
	LIBDUCKDB=$library unittests analyses.Analyses.test_a_table_is_arrow
}

# bats test_tags=long
@test "python: the same on captures and samples" {
	need_shared samples
	TRACES=$(printf '%s ' "$SHARED"/samples/*.dat) unittests events.Events.test_lines_are_those_of_report_json
	TRACES=$(printf '%s ' tests/corpora/report/seeds/*.dat) unittests events.Events.test_lines_are_those_of_report_json
	TRACES=$(printf '%s ' tests/corpora/report/seeds/*.dat) unittests columns.Columns.test_own_columns_are_those_of_export_csv
}

@test "python: hostile files raise or warn, and crash nothing" {
	cat > "$BATS_TEST_TMPDIR/read.py" <<-'PY'
		import sys, warnings, weft
		warnings.simplefilter('ignore')
		for path in sys.argv[1:]:
		    for use in (lambda t: [(e.line, e.json, e.fields(), e.copy().text, e.stack) for e in t.events(limit=2000)],
		                lambda t: t.columns('ts cpu pid comm tgid event lost text', limit=2000).to_dict(),
		                lambda t: [list(table) for table in t.analyse('summary', 'sched')],
		                lambda t: t.buffers):
		        try:
		            with weft.open(path) as trace:
		                use(trace)
		        except weft.Error:
		            pass
	PY
	local files=(tests/corpora/report/*/*.dat tests/corpora/container/*/*)
	[ ! -d "$SHARED/hostile" ] || files+=("$SHARED"/hostile/*.dat)
	PYTHONPATH=$BUILD/python PYTHONDEVMODE=1 timeout 500 "$PYTHON" "$BATS_TEST_TMPDIR/read.py" "${files[@]}"
}

@test "python: one build serves another Python" {
	local other found=
	for other in /usr/bin/python3.1[0-9] /root/.pyenv/versions/3.*/bin/python3; do
		[ -x "$other" ] || continue
		"$other" -c 'import sys; sys.exit(sys.version_info[:2] < (3, 9))' || continue
		[ "$("$other" -V)" != "$("$PYTHON" -V)" ] || continue
		found=1
		PYTHON=$other unittests events
		PYTHON=$other unittests columns
	done
	[ -n "$found" ] || skip "there is no other Python since 3.9"
}

@test "python: weft.pyi names what the module has" {
	PYTHONPATH=$BUILD/python run -0 "$PYTHON" - bindings/python/weft.pyi <<-'PY'
		import ast, re, sys, weft
		names = {}
		for node in ast.parse(open(sys.argv[1]).read()).body:
		    if isinstance(node, ast.ClassDef):
		        names[node.name] = {getattr(part, 'name', None) or part.target.id for part in node.body
		                            if isinstance(part, (ast.FunctionDef, ast.AnnAssign))}
		    elif isinstance(node, ast.FunctionDef):
		        names[node.name] = set()
		# The words of a query stand in the module's own table; show_self is for analyses.
		words = set(re.findall(r'{ "(\w+)", WEFT_QUERY_', open('bindings/python/query.c').read()))
		events = next(part for node in ast.parse(open(sys.argv[1]).read()).body if getattr(node, 'name', '') == 'Trace'
		              for part in node.body if getattr(part, 'name', '') == 'events').args
		assert {part.arg for part in events.posonlyargs + events.kwonlyargs} - {'self'} == words - {'show_self'}, words
		public = {name for name in dir(weft) if not name.startswith('_') and name not in ('RECORD', 'LOST')}
		assert public == {name for name in names if not name.startswith('_')}, public ^ set(names)
		for name, parts in names.items():
		    kind = getattr(weft, name)
		    if not isinstance(kind, type) or name in ('Error', 'DamageWarning', 'Buffer', 'Field', 'Format', 'Life', 'Slice', 'CpuStats', 'ClockPiece', 'Interval'):
		        continue
		    has = {part for part in vars(kind) if not part.startswith('__')}
		    assert has == {part for part in parts if not part.startswith('__')}, (name, has ^ parts)
		    assert all(getattr(kind, part).__doc__ for part in has), name
	PY
}

@test "python: weft.pyi is typed throughout, and programs that use it are" {
	need_command mypy
	mypy --strict bindings/python/weft.pyi > "$BATS_TEST_TMPDIR/out" || { cat "$BATS_TEST_TMPDIR/out"; return 1; }
	cat > "$BATS_TEST_TMPDIR/program.py" <<-'PY'
		import weft
		with weft.open("trace.dat") as trace:
		    for event in trace.events("sched_switch", cpu="0-3", mark="frame*", file=["/etc/*", "/usr/*"], limit=3):
		        reveal_type(event.ts)
		    trace.analyse("sched", mark="frame*", file="/etc/*")
		    reveal_type(trace.columns("ts comm").to_dict())
		    trace.intervals("sched", 10**9, lambda result, interval: print(len(result), interval.events))
		    trace.events(nonsense=3)
	PY
	run -1 env MYPYPATH=bindings/python mypy --strict --cache-dir "$BATS_TEST_TMPDIR/cache" "$BATS_TEST_TMPDIR/program.py"
	[[ "$output" == *'"builtins.int"'* && "$output" == *'Unexpected keyword argument "nonsense"'* && "$output" == *"Found 1 error"* ]]
}

@test "examples: wakeups.py answers its question with a picture" {
	"$PYTHON" -c 'import numpy, matplotlib' 2> /dev/null || skip "numpy and matplotlib are not installed"
	PYTHONPATH=$BUILD/python run -0 "$PYTHON" examples/wakeups.py "$fixtures/golden/6.1-rt-events-sched.dat" "$BATS_TEST_TMPDIR/picture.svg"
	grep -q '</svg>' "$BATS_TEST_TMPDIR/picture.svg"
	local delays
	delays=$(weft sched --format json "$fixtures/golden/6.1-rt-events-sched.dat" | jq '[.wakeups[] | select(.part == "waking to running") | .max_ns][0] / 1000')
	[[ $output == *"largest $(printf %.1f "$delays") us"* ]]
}

# What TRAPpy makes of the text of trace-cmd: words with '=', whose values are numbers where they can be.
@test "examples: the frames of events are what a reader of trace-cmd's text makes of it" {
	local event
	need_command trace-cmd
	"$PYTHON" -c 'import numpy, pandas' 2> /dev/null || skip "pandas is not installed"
	for event in sched_switch sched_stat_runtime sched_process_exit sched_process_exec sched_migrate_task; do
		PYTHONPATH=$BUILD/python "$PYTHON" examples/frames.py "$fixtures/golden/6.12-events-sched.dat" $event > "$BATS_TEST_TMPDIR/got"
		trace-cmd report -q -t -r $event -i "$fixtures/golden/6.12-events-sched.dat" 2> /dev/null > "$BATS_TEST_TMPDIR/text"
		"$PYTHON" - "$BATS_TEST_TMPDIR/text" $event <<-'PY' | diff - "$BATS_TEST_TMPDIR/got"
			import re, sys
			import pandas as pd
			rows, times, line, base = [], [], 0, None
			for text in open(sys.argv[1]):
			    found = re.match(r"\s*(.*)-(\d+)\s+\[(\d+)\]\s+(\S+\s+)?(\d+\.\d+): (\w+):\s+(.*)", text)
			    if not found:
			        continue
			    comm, pid, cpu, _, time, name, words = found.groups()
			    base = base or float(time)
			    if name == sys.argv[2]:
			        row = {"__comm": comm, "__pid": int(pid), "__cpu": int(cpu), "__line": line}
			        for word in words.split():
			            key, value = word.split("=", 1)
			            row[key] = int(value) if value.isdigit() else value
			        rows.append(row)
			        times.append(float(time) - base)
			    line += 1
			pd.DataFrame(rows, index=pd.Index(times, name="Time")).to_csv(sys.stdout)
		PY
		[ "$(wc -l < "$BATS_TEST_TMPDIR/got")" -gt 1 ]
	done
}
