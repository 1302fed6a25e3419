# SPDX-License-Identifier: GPL-2.0-only
# perf_data.py OUTPUT [WORD...]: writes a small perf.data by the description of the format (tools/perf/Documentation/perf.data-file-format.txt,
# include/uapi/linux/perf_event.h). Words: big, pipe, zstd, killed, noformats, freq, count, tasks, filter, twice, samples, lost, stack, noid, cut, repeat, alone, same, rawless, bomb,
# sizezero, mono, ordered (the events of each CPU come in the order of time), zero (the last of these has a preempt count of 0), threads (OUTPUT is a
# directory).
import os
import struct
import subprocess
import sys

out, words = sys.argv[1], sys.argv[2:]
order = ">" if "big" in words else "<"


def pack(form, *values):
    return struct.pack(order + form, *values)


SWITCH = """name: sched_switch
ID: 316
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;
\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;
\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;
\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;
\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;
\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;
\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;

print fmt: "prev_comm=%s prev_pid=%d ==> next_comm=%s next_pid=%d", REC->prev_comm, REC->prev_pid, REC->next_comm, REC->next_pid
"""
PAGE = """\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;
\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;
\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;
\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;
"""
IDENTIFIER, IP, TID, TIME, CPU, PERIOD, CHAIN, RAW = 1 << 16, 1, 2, 4, 1 << 7, 1 << 8, 1 << 5, 1 << 10
SAMPLE = IDENTIFIER | IP | TID | TIME | CPU | RAW
if "stack" in words:
    SAMPLE |= CHAIN
if "noid" in words:
    SAMPLE &= ~IDENTIFIER


def mirrored(byte):
    return int(f"{byte:08b}"[::-1], 2)


def attr(kind, config, period=1, freq=False, what=None):
    flags = 1 << 18 | (1 << 10 if freq else 0) | (1 << 25 if "mono" in words else 0)
    flags = flags.to_bytes(8, "little")
    if order == ">":
        flags = bytes(mirrored(byte) for byte in flags)
    return pack("IIQQQQ", kind, 128, config, period, SAMPLE if what is None else what, 4) + flags + b"\0" * 44 + pack("i", 1) + b"\0" * 32


attrs = [(attr(2, 316, 4000 if "freq" in words else 10 if "count" in words else 1, "freq" in words), [11, 12])]
if "twice" in words:
    attrs.append((attr(2, 316), [21, 22]))
if "samples" in words:
    attrs.append((attr(1, 0), [31, 32]))
if "rawless" in words:
    # A tracepoint whose samples are an address and a stack, as of Android's simpleperf --trace-offcpu.
    attrs.append((attr(2, 317, what=SAMPLE & ~RAW), [41, 42]))


def record(kind, body, misc=0):
    return pack("IHH", kind, misc, 8 + len(body)) + body


def trailer(tid, time, cpu, ident):
    return pack("iiQII", tid, tid, time, cpu, 0) + (b"" if "noid" in words else pack("Q", ident))


def sample(time, cpu, tid, raw, ident=None, chain=()):
    body = b"" if "noid" in words else pack("Q", ident or 11 + cpu)
    body += pack("QiiQII", 0xFFFFFFFF81000000, tid, tid, time, cpu, 0)
    if "stack" in words:
        body += pack("Q", len(chain)) + b"".join(pack("Q", at & (1 << 64) - 1) for at in chain)
    if raw is not None:
        raw += b"\0" * (-(4 + len(raw)) % 8)
        body += pack("I", len(raw)) + raw
    elif ident < 41:
        body += pack("I", 4) + b"\0" * 4
    return record(9, body)


def switch(tid, prev, prev_pid, following, next_pid, flags=1, count=1):
    return pack("HBBi16sii q16sii", 316, flags, count, tid, prev, prev_pid, 120, 0, following, next_pid, 120)


def comm(tid, name, time=0):
    name = name.encode() + b"\0" + b"garbage"
    return record(3, pack("ii", tid, tid) + name + b"\0" * (-len(name) % 8) + trailer(tid, time, 0, 11))


def text(value):
    value = value.encode() + b"\0"
    return pack("I", len(value)) + value


records = [comm(100, "first"), comm(200, "second")]
# A new task is called as its parent.
records.append(record(7, pack("iiiiQ", 300, 100, 300, 100, 1000500) + trailer(100, 1000500, 0, 11)))
chain = (-128, 0xFFFFFFFF81000010, 0xFFFFFFFF81000020, -512, 0x401000, 0x402000)
events = [
    sample(1001000, 0, 100, switch(100, b"first", 100, b"second", 200), chain=chain),
    # Another CPU's are later in the file, and this CPU's are not in order.
    sample(1003000, 0, 300, switch(300, b"first", 300, b"second", 200, 5, 2)),
    sample(1002000, 0, 200, switch(200, b"second", 200, b"first", 300)),
    sample(1001500, 1, 0, switch(0, b"swapper/1", 0, b"other", 400, 0x11)),
]
if "zero" in words:
    events[1] = sample(1003000, 0, 300, switch(300, b"first", 300, b"second", 200, 5, 0))
if "renamed" in words:
    # No event names the task that has it.
    events = [sample(time, 0, 200, switch(200, b"x", 500, b"y", 600)) for time in (1001000, 1002000)]
    events.insert(1, comm(200, "later", 1001500))
if "ordered" in words:
    events[1:3] = events[2:0:-1]
if "twice" in words:
    events.append(sample(1001040, 0, 100, switch(100, b"first", 100, b"second", 200), 21))
if "samples" in words:
    events.append(sample(1001100, 0, 100, None, 31))
if "rawless" in words:
    events.append(sample(1001100, 0, 100, None, 41))
if "lost" in words:
    events.insert(2 if "ordered" in words else len(events), record(2, pack("QQ", 11, 7) + trailer(200, 1002500, 0, 11)))
    # The same ones again, as perf tells them at the end.
    events.append(record(13, pack("Q", 7) + trailer(0, 0, 0, 11)))
if "repeat" in words:
    # As perf may write a piece of a buffer once more: that of CPU 0.
    mine = [event for event in events if struct.unpack_from(order + "I", event, 8 + 32)[0] == 0]
    events += [event for event in mine if struct.unpack_from(order + "I", event)[0] in (2, 9)]
if "alone" in words or "same" in words:
    # An event that perf wrote again when it wrote what all buffers had since; or one that the kernel recorded twice.
    last = next(event for event in reversed(events) if struct.unpack_from(order + "I", event)[0] == 9)
    events += [record(68, b""), last] if "alone" in words else [last]
if "sizezero" in words:
    events.append(b"\x44\0\0\0\0\0\0\0")
tail = [record(68, b"")]
index = [(11, 0), (12, 1)] + ([(21, 0), (22, 1)] if "twice" in words else [])
tid = 100 if "tasks" in words else (1 << 64) - 1
records.insert(0, record(69, pack("Q", len(index)) + b"".join(pack("QQQQ", i, 0, cpu, tid) for i, cpu in index)))
packed = b"".join(events)
if "zstd" in words or "bomb" in words:
    if "bomb" in words:
        packed = b"\x44\0\0\0\0\0" + pack("H", 8)
        packed *= 1 << 24
    squeezed = subprocess.run(["zstd", "-c", "-q"], input=packed, stdout=subprocess.PIPE, check=True).stdout
    # Pieces that end anywhere.
    step = 90 if "zstd" in words else 60000
    events = [record(81, squeezed[i : i + step]) for i in range(0, len(squeezed), step)]
data = b"".join(records + events + tail)

formats = b"\x17\x08\x44tracing" + b"0.6\0" + bytes([order == ">", 8]) + pack("I", 4096)
formats += b"header_page\0" + pack("Q", len(PAGE)) + PAGE.encode() + b"header_event\0" + pack("Q", 2) + b"x\n"
formats += pack("I", 0) + pack("I", 1) + b"sched\0" + pack("I", 1) + pack("Q", len(SWITCH)) + SWITCH.encode()
formats += pack("I", 0) + pack("I", 0) + pack("Q", 0)
command = ["perf", "record"] + ([] if "tasks" in words else ["-a"]) + (["--filter", "prev_pid != 0"] if "filter" in words else [])
features = {3: text("machine"), 4: text("6.1.0-test"), 5: text("6.1.9"), 6: text("x86_64"), 7: pack("II", 2, 2)}
features[11] = pack("I", len(command)) + b"".join(text(word) for word in command)
names = ["sched:sched_switch"] * 2 if "twice" in words else ["sched:sched_switch", "cpu-clock" if "samples" in words else "sched:sched_waking"]
features[12] = pack("II", len(attrs), 128) + b"".join(
    bits + pack("I", len(ids)) + text(name) + b"".join(pack("Q", i) for i in ids) for (bits, ids), name in zip(attrs, names)
)
if "noformats" not in words:
    features[1] = formats
magic = b"PERFILE2" if order == "<" else b"2ELIFREP"

if "pipe" in words:
    file = magic + pack("Q", 16)
    for bits, ids in attrs:
        file += record(64, bits + b"".join(pack("Q", i) for i in ids))
    for number, body in features.items():
        if number not in (1, 12):
            body += b"\0" * (-len(body) % 8)
            file += record(80, pack("Q", number) + body)
    file += record(66, pack("I", len(formats)) + b"\0" * 4) + formats + b"\0" * (-len(formats) % 8)
    file += data
    if "cut" in words:
        file += b"[ perf record: Captured and wrote 0.001 MB ]\n"
else:
    threads = "threads" in words
    ids_at, ids = 104, b""
    table = b""
    for bits, of in attrs:
        table += bits + pack("QQ", ids_at + len(ids), 8 * len(of))
        ids += b"".join(pack("Q", i) for i in of)
    attrs_at = ids_at + len(ids)
    data_at = attrs_at + len(table)
    main = b"".join(records + tail) if threads else data
    bits = [0] * 4
    for number in features:
        bits[number // 64] |= 1 << number % 64
    killed = "killed" in words
    head = magic + pack("QQQQQQQQ", 104, 144, attrs_at, len(table), data_at, 0 if killed else len(main), 0, 0) + pack("4Q", *bits)
    file = head + ids + table + main
    if killed:
        file = file[:-20]
    else:
        at = len(file) + 16 * len(features)
        sections, bodies = b"", b""
        for number in sorted(features):
            sections += pack("QQ", at + len(bodies), len(features[number]))
            bodies += features[number]
        file += sections + bodies
    if threads:
        os.mkdir(out)
        for cpu in (0, 1):
            mine = [event for event in events if struct.unpack_from(order + "I", event, 8 + 32)[0] == cpu]
            with open(f"{out}/data.{cpu}", "wb") as part:
                part.write(b"".join(mine))
        out += "/data"
with open(out, "wb") as whole:
    whole.write(file)
