# SPDX-License-Identifier: GPL-2.0-only
# Small recordings with bytes that the test chooses. Use `load hostile` after `load lib`.

# tiny_tree DIR [COMM]: writes tracefs files to pack, with one CPU and no events. Task 41 is COMM.
tiny_tree()
{
	mkdir -p "$1/events" "$1/per_cpu/cpu0"
	: > "$1/per_cpu/cpu0/records"
	printf '\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n' > "$1/events/header_page"
	printf '\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n' >> "$1/events/header_page"
	printf '# compressed entry header\n\ttype_len    :    5 bits\n\ttime_delta  :   27 bits\n\tarray       :   32 bits\n' > "$1/events/header_event"
	printf '41 %s\n' "${2:-loom}" > "$1/saved_cmdlines"
	echo '[local] global counter' > "$1/trace_clock"
	echo nop > "$1/current_tracer"
	echo 'Linux loom 6.1.0 x86_64' > "$1/uname"
}

# tiny_event DIR SYSTEM NAME ID PRINT_FMT [TEXT]: adds an event type with `int x` and `char text[16]`, and one event:
# x=5, TEXT
tiny_event()
{
	mkdir -p "$1/events/$2/$3"
	cat > "$1/events/$2/$3/format" << END
name: $3
ID: $4
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:int x;	offset:8;	size:4;	signed:1;
	field:char text[16];	offset:12;	size:16;	signed:0;

print fmt: $5
END
	perl -e 'print pack("L< S< S< L< L< a16", 1000 << 5 | 7, $ARGV[0], 0, 41, 5, $ARGV[1])' "$4" "${6:-}" >> "$1/per_cpu/cpu0/records"
}

# tiny_pack DIR FILE: packs the files of DIR into FILE
tiny_pack()
{
	perl -e 'local $/; my $r = <STDIN>; print pack("Q< Q< a4080", 1000000000, length($r), $r)' < "$1/per_cpu/cpu0/records" > "$1/per_cpu/cpu0/trace_pipe_raw"
	rm "$1/per_cpu/cpu0/records"
	"$WEFT" pack -q "$1" -o "$2"
}
