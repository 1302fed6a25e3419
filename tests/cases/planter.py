# SPDX-License-Identifier: GPL-2.0-only
"""Writes a trace.dat of version 6 from nothing but events with known answers, for a machine of either byte order and word size.
It shares no code with weft.

    file = File("x86_64", cpus=2)
    file.event(1000, 0, 42, "sched_process_exit", comm="sh", pid=42)
    file.write("x.dat")
"""
import re
import struct

PAGE = 4096
SIZES = {"char": 1, "u8": 1, "short": 2, "u16": 2, "int": 4, "u32": 4, "pid_t": 4, "dev_t": 4, "u64": 8, "sector_t": 8, "s64": 8}
SIGNED = ("int", "pid_t", "long", "short", "s64")

# What the kernel's formats of these events have, in its order.
EVENTS = {
    "sched:sched_switch": "char prev_comm[16]; pid_t prev_pid; int prev_prio; long prev_state; char next_comm[16]; pid_t next_pid; int next_prio",
    "sched:sched_waking": "char comm[16]; pid_t pid; int prio; int target_cpu",
    "sched:sched_wakeup": "char comm[16]; pid_t pid; int prio; int target_cpu",
    "sched:sched_process_exit": "char comm[16]; pid_t pid; int prio",
    "raw_syscalls:sys_enter": "long id; ulong args[6]",
    "raw_syscalls:sys_exit": "long id; long ret",
    "irq:irq_handler_entry": "int irq; __data_loc char[] name",
    "irq:irq_handler_exit": "int irq; int ret",
    "irq:softirq_entry": "u32 vec",
    "irq:softirq_exit": "u32 vec",
    "block:block_rq_issue": "dev_t dev; sector_t sector; u32 nr_sector; u32 bytes; char rwbs[8]; char comm[16]; __data_loc char[] cmd",
    "block:block_rq_complete": "dev_t dev; sector_t sector; u32 nr_sector; int error; char rwbs[8]; __data_loc char[] cmd",
    "block:block_rq_requeue": "dev_t dev; sector_t sector; u32 nr_sector; char rwbs[8]; __data_loc char[] cmd",
    "block:block_bio_queue": "dev_t dev; sector_t sector; u32 nr_sector; char rwbs[8]; char comm[16]",
    "lock:contention_begin": "ulong lock_addr; u32 flags",
    "lock:contention_end": "ulong lock_addr; int ret",
    "signal:signal_deliver": "int sig; int errno; int code; ulong sa_handler; ulong sa_flags",
    "oom:mark_victim": "int pid",
    "vmscan:mm_vmscan_direct_reclaim_begin": "int order; ulong gfp_flags",
    "vmscan:mm_vmscan_direct_reclaim_end": "ulong nr_reclaimed",
    "mce:mce_record": "u64 mcgcap; u64 status; u64 addr; u32 cpu",
    "thermal:thermal_zone_trip": "__data_loc char[] thermal_zone; int id; int trip",
    "sched:sched_process_hang": "char comm[16]; pid_t pid",
    "ftrace:print": "ulong ip; char buf[]",
    "ftrace:funcgraph_entry": "ulong func; int depth",
    "ftrace:funcgraph_exit": "ulong func; int depth; u32 overrun; u64 calltime; u64 rettime",
    "irq_vectors:local_timer_entry": "int vector",
    "irq_vectors:local_timer_exit": "int vector",
    "timer:hrtimer_expire_entry": "ulong hrtimer; s64 now; ulong function",
    "timer:hrtimer_expire_exit": "ulong hrtimer",
}


class Format:
    """Where the fields of an event lie."""

    def __init__(self, name, number, declared, word):
        self.system, self.name = name.split(":")
        self.number, self.fields = number, []
        at = 8
        for field in declared.split("; "):
            kind, label = re.fullmatch(r"(.*?)(\w+(?:\[\d*\])?)", field).groups()
            kind, array = kind.strip(), re.search(r"\[(\d*)\]", label)
            size = word if kind in ("long", "ulong") else 4 if kind.startswith("__data_loc") else SIZES[kind]
            align = 8 if size == 8 and word == 8 else min(size, 4)
            at = (at + align - 1) // align * align
            count = int(array[1] or 0) if array else 1
            self.fields.append((kind, label.split("[")[0], label, at, size, count))
            at += size * count
        self.size = (at + 3) // 4 * 4

    def text(self):
        lines = ["name: %s\nID: %d\nformat:\n" % (self.name, self.number)]
        common = [("unsigned short common_type", 0, 2, 0), ("unsigned char common_flags", 2, 1, 0),
                  ("unsigned char common_preempt_count", 3, 1, 0), ("int common_pid", 4, 4, 1)]
        for what, at, size, signed in common:
            lines.append("\tfield:%s;\toffset:%d;\tsize:%d;\tsigned:%d;\n" % (what, at, size, signed))
        lines.append("\n")
        for kind, _, label, at, size, count in self.fields:
            lines.append("\tfield:%s %s;\toffset:%d;\tsize:%d;\tsigned:%d;\n"
                         % (kind.replace("ulong", "unsigned long"), label, at, size * count, kind in SIGNED))
        first = self.fields[0][1]
        lines.append('\nprint fmt: "%s", REC->%s\n' % (first + "=%s" if self.fields[0][5] != 1 else first + "=%d", first))
        return "".join(lines)


class File:
    def __init__(self, machine="x86_64", cpus=2, order="<", word=8, release="6.12.0"):
        self.machine, self.cpus, self.order, self.word, self.release = machine, cpus, order, word, release
        self.formats = {name.split(":")[1]: Format(name, 100 + i, text, word) for i, (name, text) in enumerate(EVENTS.items())}
        self.events = []
        self.names = {}
        self.lost = []  # (CPU, time, how many): before the first event from then on
        self.kallsyms = self.printk = ""
        self.uname, self.options = None, []  # options of version 6: (number, bytes)

    def event(self, at, cpu, task, event, flags=0, /, **fields):
        self.events.append((int(at), cpu, task, event, flags, fields))

    def pack(self, what, *values):
        return struct.pack(self.order + what, *values)

    def record(self, task, name, flags, values):
        form = self.formats[name]
        data = bytearray(form.size)
        data[:8] = self.pack("HBBi", form.number, flags, 0, task)
        for kind, label, _, at, size, count in form.fields:
            value = values.get(label, 0)
            if kind.startswith("__data_loc"):
                text = (value or "").encode() + b"\0"
                data[at:at + 4] = self.pack("I", len(text) << 16 | len(data))
                data += text
                data += bytes(-len(data) % 4)
            elif kind == "char" and count != 1:
                text = (value or "").encode()
                data[at:at + (count or len(text))] = text[:count - 1].ljust(count, b"\0") if count else text + b"\0" + bytes(-(len(text) + 1) % 4)
            elif count != 1:
                for i, part in enumerate(value or [0] * count):
                    data[at + i * size:at + (i + 1) * size] = self.number(part, size)
            else:
                data[at:at + size] = self.number(value, size)
        return bytes(data)

    def number(self, value, size):
        return (value & (1 << 8 * size) - 1).to_bytes(size, "little" if self.order == "<" else "big")

    def head(self, kind, delta):
        return self.pack("I", kind | delta << 5 if self.order == "<" else kind << 27 | delta)

    def pages(self, events, cpu):
        """The pages of a CPU: 8 bytes of time, a word with the bytes that are used, records."""
        room = PAGE - 8 - self.word
        lost = sorted((at, count) for number, at, count in self.lost if number == cpu)
        pages, data, first, last, flag = [], b"", None, 0, 0

        def close(data, first, flag):
            tail = self.number(flag, self.word) if flag else b""
            commit = len(data) | (3 << 30 if flag else 0)
            return (self.pack("Q", first) + self.number(commit, self.word) + data + tail).ljust(PAGE, b"\0")

        for at, _, task, name, flags, fields in events:
            body = self.record(task, name, flags, fields)
            gap = lost and at >= lost[0][0]
            if first is None or gap or len(data) + len(body) + 32 > room:
                if first is not None:
                    pages.append(close(data, first, flag))
                data, first, last, flag = b"", at, at, 0
                if gap:
                    flag = lost.pop(0)[1]
            delta = at - last
            if delta >= 1 << 27:
                data += self.head(30, delta & (1 << 27) - 1) + self.pack("I", delta >> 27)
                delta = 0
            if len(body) <= 112:
                data += self.head(len(body) // 4, delta) + body
            else:
                data += self.head(0, delta) + self.pack("I", len(body) + 4) + body
            last = at
        if first is not None:
            pages.append(close(data, first, flag))
        return pages

    def text(self, text, what="Q"):
        data = text.encode() if isinstance(text, str) else text
        return self.pack(what, len(data)) + data

    def write(self, path):
        word = self.word
        out = [b"\x17\x08\x44tracing6\0", bytes([self.order == ">", word]), self.pack("I", PAGE)]
        page = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t commit;\toffset:8;\tsize:%d;\tsigned:1;\n" % word
        page += "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\tfield: char data;\toffset:%d;\tsize:%d;\tsigned:1;\n" % (8 + word, PAGE - 8 - word)
        event = "# compressed entry header\n\ttype_len    :    5 bits\n\ttime_delta  :   27 bits\n\tarray       :   32 bits\n\n"
        event += "\tpadding     : type == 29\n\ttime_extend : type == 30\n\ttime_stamp : type == 31\n\tdata max type_len  == 28\n"
        out += [b"header_page\0", self.text(page), b"header_event\0", self.text(event)]
        forms = list(self.formats.values())
        own = [form for form in forms if form.system == "ftrace"]
        out += [self.pack("I", len(own))] + [self.text(form.text()) for form in own]
        systems = sorted({form.system for form in forms} - {"ftrace"})
        out.append(self.pack("I", len(systems)))
        for system in systems:
            inside = [form for form in forms if form.system == system]
            out += [system.encode() + b"\0", self.pack("I", len(inside))] + [self.text(form.text()) for form in inside]
        names = "".join("%d %s\n" % pair for pair in sorted(self.names.items()))
        out += [self.text(self.kallsyms, "I"), self.text(self.printk, "I"), self.text(names), self.pack("I", self.cpus), b"options  \0"]
        uname = (self.uname or ("Linux planted %s %s" % (self.release, self.machine)).encode()) + b"\0"
        for number, data in [(5, uname), (4, b"[local] global\0")] + self.options:
            out.append(self.pack("HI", number, len(data)) + data)
        out.append(self.pack("H", 0))
        out.append(b"flyrecord\0")
        pages = []
        for cpu in range(self.cpus):
            mine = sorted((e for e in self.events if e[1] == cpu), key=lambda e: e[0])
            pages.append(b"".join(self.pages(mine, cpu)))
        at = sum(map(len, out)) + 16 * self.cpus
        at = begin = (at + PAGE - 1) // PAGE * PAGE
        for part in pages:
            out.append(self.pack("QQ", at, len(part)))
            at += len(part)
        data = b"".join(out)
        with open(path, "wb") as file:
            file.write(data.ljust(begin, b"\0") + b"".join(pages))
