#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Recordings full of secrets, for weft redact. It shares no code with weft.

make FORMATS FILE WORDS ORDER BITS MACHINE: writes FILE, a trace.dat of version 6 with events of all formats of FORMATS: the files `format` in a folder or a .tar.gz, or
    a trace.dat of version 6 of a little-endian machine with 64 bits. In every record each name, path, address, text and hole is a secret, as are
    the names of tasks, symbols, texts of trace_printk, the machine's name and the options. WORDS gets a line for each secret: its kind, and
    it as hexadecimal digits.
rename FILE WORDS: gives each task of FILE, an uncompressed trace.dat of version 6, the name of a secret, in all bytes of the file: texts of the kernel, settings, records.
scan FILE WORDS: prints the kind of each secret that is in a byte of FILE or of a frame of zstd in it, and the secret.
kinds WORDS: prints how many secrets there are, and their kinds.
"""
import collections
import glob
import os
import random
import re
import struct
import subprocess
import sys
import tarfile
import tempfile

from planter import PAGE, File

KINDS = [("task", r".*comm|task_name"), ("path", r".*(path|filename|file_name|cgroup|dir|mount|__\w+_val)"), ("device", r".*(dev|device|disk|bdi|netdev|busid|driver|ifname|domain|fru.*|hwmon.*|chip|master|slave|iface)\w*"),
         ("socket", r".*(sock|sun_|addr_str|peer|server|host|url|sa_).*"), ("marker", r"buf|str|fmt|msg|message"), ("file", r".*(name|dentry|func|file).*")]

# Of CPUs and nodes, counts, and registers, which are zeros here.
MASKS = ("target_cpus", "cpumask", "mem_allowed", "hist", "args", "caller", "stack")


class Secrets:
    def __init__(self, seed):
        self.dice, self.words, self.seen = random.Random(seed), [], set()

    def add(self, kind, data):
        self.seen.add(data)
        self.words.append((kind, data))
        return data

    def word(self, kind, length):
        """Letters that neither a stand-in nor the kernel begins with; below six of them nobody could tell them from chance."""
        while True:
            data = bytes(self.dice.choice(b"QXZJVWKYqxzjvwky") for _ in range(length))
            if length < 6:
                return data
            if data not in self.seen:
                return self.add(kind, data)

    def bytes(self, kind, length):
        """High bytes: no text has them."""
        while True:
            data = bytes(self.dice.randrange(0x81, 0xfe) for _ in range(length))
            if length < 4:
                return bytes(length)
            if data not in self.seen:
                return self.add(kind, data)


def kind_of(name):
    return next((kind for kind, pattern in KINDS if re.fullmatch(pattern, name)), "string")


class Form:
    """The format of an event, as the kernel wrote it."""

    def __init__(self, system, text):
        self.system, self.source = system, text if text.endswith("\n") else text + "\n"
        self.name = re.search(r"^name: (\S+)", text, re.M)[1]
        self.number = int(re.search(r"^ID: (\d+)", text, re.M)[1])
        self.fields = [(what.strip(), int(at), int(size)) for what, at, size in re.findall(r"field:([^;]*);\s*offset:(\d+);\s*size:(\d+);", text)]
        self.size = (max([at + size for _, at, size in self.fields] + [8]) + 3) // 4 * 4

    def text(self):
        return self.source


class Planted(File):
    def __init__(self, secrets, forms, machine, order, word):
        super().__init__(machine, cpus=2, order=order, word=word)
        self.secrets, self.formats = secrets, {(form.system, form.name): form for form in forms}
        self.release = "6.12.0-" + secrets.word("release", 9).decode()
        self.turn = 0

    def record(self, task, name, flags, values):
        """Every field of it and every hole is a secret, but plain numbers, which tell nothing alone."""
        form, secrets = self.formats[name], self.secrets
        data, tail, covered = bytearray(form.size), b"", [(0, 8)]
        data[:8] = self.pack("HBBi", form.number, flags, 0, task)
        for what, at, size in form.fields:
            if at < 8:
                continue
            covered.append((at, at + size))
            label = re.search(r"(\w+)(\[[^\]]*\])?$", what)
            kind, fixed = kind_of(label[1]), label[2]
            if re.match(r"__(data|rel)_loc char", what):
                text = self.tail_of(secrets.word(kind, secrets.dice.randrange(6, 15)))
                place = form.size + len(tail) - (at + 4 if what.startswith("__rel") else 0)
                data[at:at + 4] = self.pack("I", len(text) << 16 | place)
                tail += text.ljust((len(text) + 3) // 4 * 4, b"\0")
            elif re.match(r"__(data|rel)_loc", what) and label[1] in MASKS:
                data[at:at + 4] = bytes(4)
            elif re.match(r"__(data|rel)_loc", what):
                text = secrets.bytes("bytes", 8)
                data[at:at + 4] = self.pack("I", len(text) << 16 | form.size + len(tail) - (at + 4 if what.startswith("__rel") else 0))
                tail += text
            elif fixed and re.match(r"(const )?(unsigned |signed )?char\b|u8\b|__u8\b|uint8_t\b", what):
                if size == 0:
                    tail += self.tail_of(secrets.word("marker", 14)).ljust(16, b"\0")
                elif re.match(r"(const )?char ", what) and label[1] != "rwbs":
                    data[at:at + size] = self.tail_of(secrets.word(kind, max(1, min(size - 1, 11))), size)[:size].ljust(size, b"\0")
                elif label[1] != "rwbs":
                    data[at:at + size] = secrets.bytes({4: "IP", 6: "MAC", 16: "IP"}.get(size, "bytes"), size)
            elif size == self.word and ("*" in what or re.fullmatch(r"(caller_|parent_|__probe_)?ip|call_site|addr|address|func|function|callback|skbaddr|location|ret_ip", label[1])):
                data[at:at + size] = self.address()
            elif size == 8 and re.fullmatch(r"ino|inode|dir|owner|parent_ino", label[1]):
                data[at:at + size] = secrets.bytes("inode", 8)
            elif size > 8 and size % 8 == 0 and fixed and label[1] not in MASKS:
                data[at:at + size] = secrets.bytes("bytes", size)
        covered.sort()
        for (_, end), (begin, _) in zip(covered, covered[1:] + [(form.size, 0)]):
            if begin > end:
                data[end:begin] = secrets.word("gap", begin - end)
        return bytes(data) + tail

    def tail_of(self, text, size=0):
        """What stood there before, behind the end of a name."""
        rest = max(0, size - len(text) - 1) if size else 0
        return text + b"\0" + (self.secrets.word("gap", rest) if rest else b"")

    def address(self):
        low = int.from_bytes(self.secrets.dice.randbytes(5), "big")
        value = (0xffff88 << 40 | low) if self.word == 8 else 0xc0000000 | low & 0x3fffffff
        return self.secrets.add("address", self.number(value, self.word))

    def pages(self, events, cpu):
        """Free space of pages holds what was there before."""
        out = []
        for page in super().pages(events, cpu):
            used = int.from_bytes(page[8:8 + self.word], "little" if self.order == "<" else "big") & 0xfffff
            free = PAGE - 8 - self.word - used
            out.append(page[:PAGE - free] + b"".join(self.secrets.word("free", 12) for _ in range(free // 12)) + bytes(free % 12) if free >= 12 else page)
        return out


def formats_of_file(path):
    """The formats of a file of version 6, each with a name like that of the file that it was."""
    with open(path, "rb") as file:
        data = file.read()
    at, texts = data.index(b"header_page\0") + 12, []

    def take(what):
        nonlocal at
        size, = struct.unpack_from(what, data, at)
        at += struct.calcsize(what)
        return size

    def text():
        nonlocal at
        size = take("<Q")
        at += size
        return data[at - size:at].decode()

    text()
    at += 13
    text()
    for _ in range(take("<I")):
        texts.append(("events/ftrace/any/format", text()))
    for _ in range(take("<I")):
        end = data.index(b"\0", at)
        system, at = data[at:end].decode(), end + 1
        for _ in range(take("<I")):
            texts.append(("events/%s/any/format" % system, text()))
    return texts


def read_formats(path):
    found = {}
    if path.endswith(".dat"):
        texts = formats_of_file(path)
    elif path.endswith(".tar.gz"):
        with tarfile.open(path) as tar:
            texts = [(member.name, tar.extractfile(member).read().decode()) for member in tar if member.name.endswith("/format")]
    else:
        texts = []
        for name in sorted(glob.glob(path + "/**/format", recursive=True)):
            with open(name, encoding="utf-8") as file:
                texts.append((name, file.read()))
    for name, text in texts:
        system = name.split("/")[-3]
        form = Form(system, text)
        if not any(form.number == other.number for other in found.values()):
            found.setdefault((system, form.name), form)
    return list(found.values())


def make(formats, path, words, order, bits, machine, rounds="2"):
    forms = read_formats(formats)
    secrets = Secrets(7 * len(forms))
    file = Planted(secrets, forms, machine, order, int(bits) // 8)
    for i, form in enumerate(form for _ in range(int(rounds)) for form in forms):
        pid = 1000 + i
        file.names[pid] = secrets.word("task", 11).decode()
        file.event(1000000 + i * 1000, i % 2, pid, (form.system, form.name))
    base = 0xffffffffa0000000 if bits == "64" else 0xbf000000
    file.kallsyms = "".join("%0*x t %s\t[%s]\n" % (int(bits) // 4, base + 64 * i, secrets.word("symbol", 10).decode(), secrets.word("module", 8).decode()) for i in range(300))
    file.printk = "".join('0x%x : "%s %%d"\n' % (base + 0x100000 + 64 * i, secrets.word("marker", 12).decode()) for i in range(100))
    word = lambda kind: secrets.word(kind, 10)
    file.uname = b"Linux " + word("host") + b" " + file.release.encode() + b" " + machine.encode()
    file.options = [(1, b"@" + word("date")), (6, word("hook") + b":prev_pid,0/" + word("hook")), (7, word("offset") * 2), (10, b"1 2 3 /home/" + word("path") + b"/" + word("file")),
                    (11, word("trace")), (12, word("shift") * 3), (13, word("guest") + b"\0" + word("guest")), (14, word("clock") * 2), (15, word("cpu") * 3), (77, word("unknown") * 4)]
    file.write(path)
    write_words(words, secrets)


def rename(path, words):
    with open(path, "rb") as file:
        data = bytearray(file.read())
    secrets, names = Secrets(len(data)), set(re.findall(rb"(?<=\n)\d+ ([\w./:-]{6,15})(?=\n)", bytes(data)))
    formats = b"".join(re.findall(rb"field:[^;]*;", bytes(data)))
    for name in sorted((name for name in names if name not in formats), key=len, reverse=True):
        new = secrets.word("task", len(name))
        for found in list(re.finditer(rb"(?<![\w])" + re.escape(name) + rb"(?![\w])", bytes(data))):
            data[found.start():found.end()] = new
    with open(path, "wb") as file:
        file.write(data)
    write_words(words, secrets)


def write_words(path, secrets):
    with open(path, "w", encoding="ascii") as out:
        out.writelines("%s %s\n" % (kind, data.hex()) for kind, data in secrets.words)


def read_words(path):
    with open(path, encoding="ascii") as file:
        return [(kind, bytes.fromhex(data)) for kind, data in map(str.split, file)]


def scan(path, words):
    with open(path, "rb") as file:
        data = file.read()
    parts, at = [data], data.find(b"\x28\xb5\x2f\xfd")
    while at >= 0:
        parts.append(subprocess.run(["zstd", "-dcq"], input=data[at:], capture_output=True, check=False).stdout)
        at = data.find(b"\x28\xb5\x2f\xfd", at + 1)
    wanted = {data: kind for kind, data in read_words(words) if b"\n" not in data and b"\0" not in data}
    with tempfile.TemporaryDirectory() as folder:
        everything, list_of = os.path.join(folder, "all"), os.path.join(folder, "words")
        with open(everything, "wb") as out:
            out.write(b"\n".join(parts))
        with open(list_of, "wb") as out:
            out.write(b"\n".join(wanted))
        found = subprocess.run(["grep", "-aoF", "-f", list_of, everything], capture_output=True, check=False, env={"LC_ALL": "C"}).stdout
    for word in sorted(set(found.split(b"\n"))):
        if word:
            print(wanted[word], word)


def kinds(words):
    count = collections.Counter(kind for kind, _ in read_words(words))
    print(sum(count.values()), *("%s:%d" % pair for pair in sorted(count.items())))


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
