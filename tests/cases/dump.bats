#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# weft extract --dump: the buffers of a kernel out of a dump of its memory. What the kernel had printed before is the
# judge; tests/guest/dump makes new dumps and compares whole ones.
load lib

setup()
{
	need_command zstd
	fixtures=$BATS_TEST_DIRNAME/../fixtures/dump
	dump=$BATS_TEST_TMPDIR/vmcore
	zstd -qdc "$fixtures/6.1-rt.elf.zst" > "$dump"
}

@test "dump: the text of each instance is the kernel's, hashed pointers included" {
	run -0 --separate-stderr weft extract --dump "$dump" --hash-key -o "$BATS_TEST_TMPDIR/out.dat"
	[[ "$stderr" == *"the top instance: 8,958 events in "*"the kernel counted 8,958"* ]]
	[[ "$stderr" == *"instance 'big': 2,355 events in "*"the kernel counted 2,355"* ]]
	weft report -B '' "$BATS_TEST_TMPDIR/out.dat" | cmp - <(zstd -qdc "$fixtures/6.1-rt.trace.zst")
	weft report -B big "$BATS_TEST_TMPDIR/out.dat" | cmp - <(zstd -qdc "$fixtures/6.1-rt.big.trace.zst")
	weft check "$BATS_TEST_TMPDIR/out.dat"
}

@test "dump: without --hash-key the file has no key, and pointers are placeholders" {
	weft extract -q --dump "$dump" -o "$BATS_TEST_TMPDIR/out.dat"
	weft info --settings "$BATS_TEST_TMPDIR/out.dat" > "$BATS_TEST_TMPDIR/settings"
	run -1 grep hash_key "$BATS_TEST_TMPDIR/settings"
	weft report -B '' "$BATS_TEST_TMPDIR/out.dat" | diff - <(zstd -qdc "$fixtures/6.1-rt.trace.zst") | grep '^<' > "$BATS_TEST_TMPDIR/differ"
	grep -q . "$BATS_TEST_TMPDIR/differ"
	run -1 grep -v ptrval "$BATS_TEST_TMPDIR/differ"
}

@test "dump: -B takes one instance, -o - is a pipe, and the dump may come through one" {
	cat "$dump" | weft extract -q --dump - -B big -o - > "$BATS_TEST_TMPDIR/out.dat"
	[ "$(weft report "$BATS_TEST_TMPDIR/out.dat" | grep -vc '^#')" = 2355 ]
	run -1 --separate-stderr weft extract --dump "$dump" -B none -o "$BATS_TEST_TMPDIR/none.dat"
	[[ "$stderr" == *"the dump has no buffer of an instance 'none'"* ]]
	[ ! -e "$BATS_TEST_TMPDIR/none.dat" ]
	run -0 --separate-stderr weft extract -s --dump "$dump" -o "$BATS_TEST_TMPDIR/snapshot.dat"
	[[ "$stderr" == *"the snapshot of the top instance: 0 events "* ]]
}

@test "dump: files of makedumpfile are read in every compression, whole and split, in any order" {
	need_command python3
	weft extract -q --dump "$dump" --hash-key -o "$BATS_TEST_TMPDIR/elf.dat"
	for codec in none zlib lzo snappy; do
		"$fixtures/kdump" "$dump" $codec "$BATS_TEST_TMPDIR/packed"
		weft extract -q --dump "$BATS_TEST_TMPDIR/packed" --hash-key -o "$BATS_TEST_TMPDIR/out.dat"
		cmp "$BATS_TEST_TMPDIR/elf.dat" "$BATS_TEST_TMPDIR/out.dat"
	done
	"$fixtures/kdump" "$dump" lzo "$BATS_TEST_TMPDIR"/part.{1,2,3,empty}
	weft extract -q --dump "$BATS_TEST_TMPDIR/part.3" --dump "$BATS_TEST_TMPDIR/part.empty" --dump "$BATS_TEST_TMPDIR/part.1" --dump "$BATS_TEST_TMPDIR/part.2" --hash-key \
		-o "$BATS_TEST_TMPDIR/out.dat"
	cmp "$BATS_TEST_TMPDIR/elf.dat" "$BATS_TEST_TMPDIR/out.dat"
	run -0 weft info --dump "$BATS_TEST_TMPDIR/part.3" --dump "$BATS_TEST_TMPDIR/part.1" --dump "$BATS_TEST_TMPDIR/part.2"
	[[ "$output" == *"kdump-compressed, of several files"* ]]
}

@test "dump: info --dump --format json says what the lines say, as its schema has it" {
	need_command python3 jq
	cd "$BATS_TEST_TMPDIR"
	weft info --dump "$dump" --format json > dump.json
	weft info --format schema > schema.json
	python3 -c 'import json, jsonschema; jsonschema.Draft202012Validator(json.load(open("schema.json"))).validate(json.load(open("dump.json")))'
	weft info --dump "$dump" > lines
	[ "$(jq -r '.dump.release' dump.json)" = "$(awk '$1 == "release" { print $2 }' lines)" ]
	[ "$(jq -r '.dump | select(.panic_cpu != null) | "CPU \(.panic_cpu), task \(.panic_comm)-\(.panic_pid)"' dump.json)" = "$(sed -n 's/^panic *//p' lines)" ]
	[ "$(jq -r '.dump.buffers[] | "\(if .instance == "" then "(top)" else .instance end)\(if .snapshot then " (snapshot)" else "" end) \(.cpus) \(.events) \(.counted) \(.overwritten)"' dump.json)" = \
		"$(sed '1,/^BUFFER/d' lines | awk '{ n = NF; print $1 ($2 == "(snapshot)" ? " " $2 : ""), $(n - 5), $(n - 2), $(n - 1), $n }')" ]
}

@test "dump: a kernel with symbols of functions only: its variables are found by what they hold" {
	need_command python3
	"$fixtures/hide" "$dump" ftrace_trace_arrays ftrace_events ftrace_common_fields trace_options trace_clocks modules init_task \
		nr_cpu_ids init_uts_ns
	run -0 --separate-stderr weft extract --dump "$dump" --hash-key -o "$BATS_TEST_TMPDIR/out.dat"
	[[ "$stderr" == *"1353 formats of events, 94076 symbols, 78 names of tasks"* ]]
	[[ "$stderr" == *"has no symbols of variables"*"--symbols"* ]]
	weft report -B '' "$BATS_TEST_TMPDIR/out.dat" | cmp - <(zstd -qdc "$fixtures/6.1-rt.trace.zst")
	weft report -B big "$BATS_TEST_TMPDIR/out.dat" | cmp - <(zstd -qdc "$fixtures/6.1-rt.big.trace.zst")
}

@test "dump: --symbols takes a System.map, which KASLR has moved, and says what is wrong with a file" {
	need_command python3
	hidden=(ftrace_trace_arrays ftrace_events ftrace_common_fields trace_options trace_clocks savedcmd modules init_task nr_cpu_ids ptr_key)
	"$fixtures/hide" "$dump" "${hidden[@]}" vmemmap_base
	cat > "$BATS_TEST_TMPDIR/map" <<-'EOF'
		ffffffff81000000 d _stext
		ffffffff82b4e070 d ftrace_trace_arrays
		ffffffff82b51a20 d ftrace_events
		ffffffff82b51a00 d ftrace_common_fields
		ffffffff82b4df40 d trace_options
		ffffffff8202bec0 d trace_clocks
		ffffffff83fe38d8 d savedcmd
		ffffffff82b3b260 d modules
		ffffffff82a24a40 d init_task
		ffffffff82c4b010 d nr_cpu_ids
		ffffffff82c09a60 d init_uts_ns
		ffffffff82c55230 d ptr_key
		ffffffff824130f0 d vmemmap_base
	EOF
	run -0 --separate-stderr weft extract --dump "$dump" --symbols "$BATS_TEST_TMPDIR/map" --hash-key -o "$BATS_TEST_TMPDIR/out.dat"
	[[ "$stderr" == *" 78 names of tasks"* ]]
	[[ "$stderr" != *"no symbols of variables"* ]]
	weft report -B '' "$BATS_TEST_TMPDIR/out.dat" | cmp - <(zstd -qdc "$fixtures/6.1-rt.trace.zst")
	# A vmlinux has them in its table.
	if command -v ld objcopy > /dev/null; then
		awk '$3 != "_stext" { printf "%s = 0x%s;\n", $3, $1 } $3 == "_stext" { printf "_stext = 0x%s;\n", $1 }' "$BATS_TEST_TMPDIR/map" > "$BATS_TEST_TMPDIR/script"
		echo 'int main;' | gcc -x c -c - -o "$BATS_TEST_TMPDIR/empty.o"
		ld -r "$BATS_TEST_TMPDIR/empty.o" $(sed 's/^\(.*\) = \(.*\);$/--defsym=\1=\2/' "$BATS_TEST_TMPDIR/script") -o "$BATS_TEST_TMPDIR/vmlinux"
		weft extract -q --dump "$dump" --symbols "$BATS_TEST_TMPDIR/vmlinux" --hash-key -o "$BATS_TEST_TMPDIR/out.dat"
		weft report -B '' "$BATS_TEST_TMPDIR/out.dat" | cmp - <(zstd -qdc "$fixtures/6.1-rt.trace.zst")
	fi
	sed 's/^[0-9a-f]*/0000000000000000/' "$BATS_TEST_TMPDIR/map" > "$BATS_TEST_TMPDIR/zeros"
	run -1 --separate-stderr weft extract --dump "$dump" --symbols "$BATS_TEST_TMPDIR/zeros" -o "$BATS_TEST_TMPDIR/no.dat"
	[[ "$stderr" == *"zeros' has no addresses: a copy of /proc/kallsyms must be made by root"* ]]
	run -1 --separate-stderr weft extract --dump "$dump" --symbols "$dump" -o "$BATS_TEST_TMPDIR/no.dat"
	[[ "$stderr" == *"has no symbols: give the System.map of that kernel"* ]]
	grep -v _stext "$BATS_TEST_TMPDIR/map" > "$BATS_TEST_TMPDIR/other"
	run -1 --separate-stderr weft extract --dump "$dump" --symbols "$BATS_TEST_TMPDIR/other" -o "$BATS_TEST_TMPDIR/no.dat"
	[[ "$stderr" == *"does not have the symbols of a kernel"* ]]
	run -2 --separate-stderr weft extract --symbols "$BATS_TEST_TMPDIR/map"
	[[ "$stderr" == *"--symbols goes with --dump"* ]]
}

@test "dump: parts that are not all, or of different dumps, are an error that names them" {
	need_command python3
	"$fixtures/kdump" "$dump" none "$BATS_TEST_TMPDIR"/part.{1,2,3}
	"$fixtures/kdump" "$dump" none "$BATS_TEST_TMPDIR/whole"
	run -1 --separate-stderr weft info --dump "$BATS_TEST_TMPDIR/part.1"
	[[ "$stderr" == *"part.1' is a part of a dump of several files: the pages from 0x"*"give all of them"* ]]
	run -1 --separate-stderr weft info --dump "$BATS_TEST_TMPDIR/part.1" --dump "$BATS_TEST_TMPDIR/part.3"
	[[ "$stderr" == *"are in none of the files"* ]]
	run -1 --separate-stderr weft info --dump "$BATS_TEST_TMPDIR/part.1" --dump "$BATS_TEST_TMPDIR/part.1"
	[[ "$stderr" == *"have the same pages"* ]]
	run -1 --separate-stderr weft info --dump "$BATS_TEST_TMPDIR/part.1" --dump "$BATS_TEST_TMPDIR/whole"
	[[ "$stderr" == *"whole' is not a part of a dump of several files: give it alone"* ]]
	# Another crash: the name of the machine in the header.
	printf other | dd of="$BATS_TEST_TMPDIR/part.2" bs=1 seek=$((12 + 65)) conv=notrunc status=none
	run -1 --separate-stderr weft info --dump "$BATS_TEST_TMPDIR/part.1" --dump "$BATS_TEST_TMPDIR/part.2" --dump "$BATS_TEST_TMPDIR/part.3"
	[[ "$stderr" == *"parts of different dumps"* ]]
}

@test "dump: compressed pages that are damaged are counted, and what they held" {
	need_command python3
	"$fixtures/kdump" "$dump" lzo "$BATS_TEST_TMPDIR/packed"
	size=$(stat -c %s "$BATS_TEST_TMPDIR/packed")
	dd if=/dev/zero of="$BATS_TEST_TMPDIR/packed" bs=1 seek=$((size - size / 24)) count=9000 conv=notrunc status=none
	run -1 --separate-stderr weft extract --dump "$BATS_TEST_TMPDIR/packed" -o "$BATS_TEST_TMPDIR/out.dat"
	[[ "$stderr" == *"8,785 events in "*"the kernel counted 8,958"*"the dump lacks 2 pages of it"* ]]
	[[ "$stderr" == *"the compressed bytes of 2 pages of the dump are damaged"* ]]
}

@test "dump: a list that is broken in the middle is read from its end, too" {
	need_command python3
	"$fixtures/kdump" "$dump" zlib "$BATS_TEST_TMPDIR/packed"
	size=$(stat -c %s "$BATS_TEST_TMPDIR/packed")
	dd if=/dev/zero of="$BATS_TEST_TMPDIR/packed" bs=1 seek=$((size - size / 16)) count=2000 conv=notrunc status=none
	run -0 --separate-stderr weft extract --dump "$BATS_TEST_TMPDIR/packed" -o "$BATS_TEST_TMPDIR/out.dat"
	[[ "$stderr" =~ ", "([0-9]+)" formats of events" ]]
	[ "${BASH_REMATCH[1]}" -gt 1300 ]
	[[ "$stderr" == *"the kernel's list of events is damaged: formats may be missing"* ]]
}

@test "dump: info lists what is there" {
	run -0 --separate-stderr weft info --dump "$dump"
	[[ "$output" == *"release   6.1.0-56-rt-amd64"* ]]
	echo "$output" | tr -s ' ' | grep -qE '^\(top\) 2 [0-9.]+ [KM]iB 8958 8958 0$'
	echo "$output" | tr -s ' ' | grep -qE '^big 2 [0-9.]+ [KM]iB 2355 2355 0$'
}

@test "dump: what is no dump, is cut off, or lacks the kernel's tables is an error that says so" {
	run -1 --separate-stderr weft extract --dump "$BATS_TEST_DIRNAME/lib.bash" -o "$BATS_TEST_TMPDIR/out.dat"
	[[ "$stderr" == *"is no dump of a kernel"* ]]
	head -c 100000 "$dump" > "$BATS_TEST_TMPDIR/cut"
	run -1 --separate-stderr weft extract --dump "$BATS_TEST_TMPDIR/cut" -o "$BATS_TEST_TMPDIR/out.dat"
	[[ "$stderr" == "weft: "* ]]
	sed 's/VMCOREINFO/VMCOREINFX/; s/OSRELEASE=/OSRELEASX=/' "$dump" > "$BATS_TEST_TMPDIR/noinfo"
	run -1 --separate-stderr weft extract --dump "$BATS_TEST_TMPDIR/noinfo" -o "$BATS_TEST_TMPDIR/out.dat"
	[[ "$stderr" == *"it has no VMCOREINFO, neither as a note nor in its memory"* ]]
	[ ! -e "$BATS_TEST_TMPDIR/out.dat" ]
	run -2 --separate-stderr weft extract --btf "$dump"
	[[ "$stderr" == *"--btf goes with --dump"* ]]
}

@test "dump: 16 GB of memory, most of them a hole in the file, take no longer, also where VMCOREINFO is searched in vain" {
	need_command python3
	cat > "$BATS_TEST_TMPDIR/enlarge" <<-'EOF'
		import struct, sys
		with open(sys.argv[1], 'rb') as file:
		    data = file.read()
		number, = struct.unpack_from('<H', data, 56)
		headers = [list(struct.unpack_from('<IIQQQQQQ', data, 64 + i * 56)) for i in range(number)]
		for header in headers:
		    header[2] += 56
		size, at = 16 << 30, len(data) + 56
		headers.append([1, 0, at, 0, 1 << 32, size, size, 0])
		with open(sys.argv[1], 'wb') as file:
		    file.write(data[:56] + struct.pack('<H', number + 1) + data[58:64])
		    file.write(b''.join(struct.pack('<IIQQQQQQ', *header) for header in headers) + data[64 + 56 * number:])
		    file.truncate(at + size)
	EOF
	sed 's/VMCOREINFO/VMCOREINFX/; s/OSRELEASE=/OSRELEASX=/' "$dump" > "$BATS_TEST_TMPDIR/noinfo"
	python3 "$BATS_TEST_TMPDIR/enlarge" "$dump"
	python3 "$BATS_TEST_TMPDIR/enlarge" "$BATS_TEST_TMPDIR/noinfo"
	[ "$(stat -c %s "$dump")" -gt 17000000000 ]
	timeout 60 weft extract -q --dump "$dump" --hash-key -o "$BATS_TEST_TMPDIR/out.dat"
	weft report -B big "$BATS_TEST_TMPDIR/out.dat" | cmp - <(zstd -qdc "$fixtures/6.1-rt.big.trace.zst")
	run -1 --separate-stderr timeout 60 weft info --dump "$BATS_TEST_TMPDIR/noinfo"
	[[ "$stderr" == *"it has no VMCOREINFO, neither as a note nor in its memory"* ]]
}

@test "dump: pages that the dump lacks are counted, and the rest is in the file" {
	# The program header of a range in which pages of a ring buffer lie becomes that of nothing (PT_NULL).
	printf '\0\0\0\0' | dd of="$dump" bs=1 seek=$((64 + 56 * 283)) conv=notrunc status=none
	run -1 --separate-stderr weft extract --dump "$dump" -o "$BATS_TEST_TMPDIR/out.dat"
	[[ "$stderr" == *"the top instance: 4,745 events in "*"the kernel counted 8,958"*"the dump lacks 56 pages of it"* ]]
	weft report -B '' "$BATS_TEST_TMPDIR/out.dat" | grep -v '^#' > "$BATS_TEST_TMPDIR/some"
	[ "$(grep -vc 'LOST' "$BATS_TEST_TMPDIR/some")" = 4745 ]
	diff "$BATS_TEST_TMPDIR/some" <(zstd -qdc "$fixtures/6.1-rt.trace.zst") | grep '^<' > "$BATS_TEST_TMPDIR/differ" || true
	run -1 grep -v 'ptrval\|LOST' "$BATS_TEST_TMPDIR/differ"
}

@test "dump: what README shows of extract --dump is what it prints, but for numbers and the release" {
	local shape='s/ of [^ ]*, / of KERNEL, /; s/[0-9][0-9,.]*/N/g; s/N [KM]iB/N MiB/g'
	cd "$BATS_TEST_TMPDIR"
	command=$(sed -n 's/^    \$ \(weft extract --dump vmcore .*\)/\1/p' "$OLDPWD/README.md")
	[ -n "$command" ]
	eval "$command" 2> said
	awk -v command="    \$ $command" '$0 == command { on = 1; next } on && !/^    / { exit } on { print substr($0, 5) }' "$OLDPWD/README.md" | sed "$shape" > shown
	grep -v "'weft summary" said | sed "$shape" | diff shown -
}
