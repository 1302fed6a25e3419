#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft export --to pprof, as gzip and protoc decode it; export/pprof.proto names the fields.
load lib

golden=$BATS_TEST_DIRNAME/../fixtures/golden

setup()
{
	need_command protoc
	need_command python3
}

# stacks TYPE OPTION...: prints the profile as folded stacks
stacks()
{
	local type=$1
	shift
	weft export --to pprof "$@" 2> /dev/null | gzip -dc | protoc -Itests/cases/export --decode=weft.Profile tests/cases/export/pprof.proto |
		python3 tests/cases/export/pprof.py $type | LC_ALL=C sort
}

@test "pprof: stacks and their weights are those of folded" {
	for file in "$golden"/*graph*.dat "$golden"/*stack*.dat tests/fixtures/demo.dat; do
		weft export --to folded "$file" 2> /dev/null | LC_ALL=C sort > "$BATS_TEST_TMPDIR/want"
		stacks '' "$file" | diff "$BATS_TEST_TMPDIR/want" -
	done
}

@test "pprof: a profile has each weight of which there is any, or that of --weight" {
	local file=$golden/6.12-function_graph-event-stack.dat
	for weight in self-time count; do
		weft export --to folded --weight $weight "$file" 2> /dev/null | LC_ALL=C sort > "$BATS_TEST_TMPDIR/want"
		[ -s "$BATS_TEST_TMPDIR/want" ]
		stacks $weight "$file" | diff "$BATS_TEST_TMPDIR/want" -
		stacks '' --weight $weight "$file" | diff "$BATS_TEST_TMPDIR/want" -
	done
}

@test "pprof: it is gzip whose check sum is right, and smaller than what it holds" {
	weft export --to pprof -q -o "$BATS_TEST_TMPDIR/p" "$golden/6.12-function_graph.dat" 2> /dev/null
	gzip -t < "$BATS_TEST_TMPDIR/p"
	gzip -dc < "$BATS_TEST_TMPDIR/p" > "$BATS_TEST_TMPDIR/plain"
	[ "$(stat -c %s "$BATS_TEST_TMPDIR/p")" -lt "$(stat -c %s "$BATS_TEST_TMPDIR/plain")" ]
	python3 -c 'import gzip, sys; assert gzip.open(sys.argv[1]).read() == open(sys.argv[2], "rb").read()' \
		"$BATS_TEST_TMPDIR/p" "$BATS_TEST_TMPDIR/plain"
}

@test "pprof: a file without stacks is an error" {
	run -1 weft export --to pprof -o "$BATS_TEST_TMPDIR/none" "$golden/6.12-user_events.dat"
	[[ $output == *"there are no stacks to export"* ]]
}

@test "pprof: pprof-format of npm reads it, with the same sums" {
	need_npm pprof-format 2.3.2
	cd "$BATS_TEST_TMPDIR"
	weft export --to folded "$golden/6.12-function_graph.dat" 2> /dev/null | awk '{ s += $NF; n++ } END { print n, s }' > want
	weft export --to pprof -q -o graph.pb.gz "$golden/6.12-function_graph.dat" 2> /dev/null
	cat > sums.js <<-'EOF'
		const { Profile } = require('pprof-format');
		const profile = Profile.decode(require('zlib').gunzipSync(require('fs').readFileSync('graph.pb.gz')));
		console.log(profile.sample.length, profile.sample.reduce((sum, sample) => sum + Number(sample.value[0]), 0));
	EOF
	node sums.js | diff want -
}

@test "pprof: go tool pprof reads it, with the same sums" {
	need_command go
	go tool pprof -h > /dev/null 2>&1 || [ $? -le 2 ] || skip "go has no tool pprof"
	local file
	for file in "$golden"/6.12-{function_graph,function-stacktrace}.dat; do
		weft export --to folded "$file" 2> /dev/null | awk '{ s += $NF; n++ } END { print n, s }' > "$BATS_TEST_TMPDIR/want"
		weft export --to pprof -q -o "$BATS_TEST_TMPDIR/graph.pb.gz" "$file" 2> /dev/null
		HOME=$BATS_TEST_TMPDIR timeout 120 go tool pprof -raw "$BATS_TEST_TMPDIR/graph.pb.gz" 2> /dev/null |
			awk '/^Locations/ { exit } /^ +[0-9]+: / { s += $1; n++ } END { print n, s }' | diff "$BATS_TEST_TMPDIR/want" -
	done
}

@test "pprof: a sample has its process as a label: as many stacks as the kernel's text has for each" {
	for file in "$golden"/6.12-event-stacktrace.dat "$golden"/6.1-rt-event-stacktrace.dat; do
		weft report "$file" 2> /dev/null | sed -nE 's/^ *.{16}-([0-9]+) .*<stack trace>.*/\1/p' | sed 's/^0$/-/' | sort | uniq -c | awk '{ print $2, $1 }' |
			LC_ALL=C sort > "$BATS_TEST_TMPDIR/want"
		[ -s "$BATS_TEST_TMPDIR/want" ]
		weft export --to pprof --weight count -q "$file" 2> /dev/null | gzip -dc |
			protoc -Itests/cases/export --decode=weft.Profile tests/cases/export/pprof.proto |
			python3 tests/cases/export/pprof.py count pid | LC_ALL=C sort | diff "$BATS_TEST_TMPDIR/want" -
	done
}
