#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What weft redact is judged by; it shares no code with weft.

plant FILE WORDS: writes secrets into an uncompressed trace.dat of a little-endian machine with 64 bits, version 6, and their list into WORDS:
    as names of tasks and files in all records, behind the ends of names, in registers that a system call does not take, in the free space of pages,
    in marks, and in texts of the file.
scan FILE WORDS: prints the words that are in the bytes of FILE or in a frame of zstd in it.
same OLD NEW: compares two answers in JSON: numbers are equal, and texts are as long as before; rows that sort the same may change their places.
"""
import json
import random
import re
import struct
import subprocess
import sys

PAGE = 4096
ARGUMENTS = {0: 3, 1: 3, 3: 1, 5: 2, 9: 6, 10: 3, 11: 2, 12: 1, 39: 0, 59: 3, 257: 4, 231: 1, 110: 0}  # of calls of x86-64


KEPT = (b"socket", b"anon_inode:[eventpoll]", b"deleted")


class Planter:
    def __init__(self, data):
        self.data, self.words, self.random = data, {}, random.Random(60)
        self.formats = {}
        for text in re.finditer(rb"name: (\S+)\nID: (\d+)\nformat:\n(.*?)\n\nprint fmt", data, re.S):
            fields = re.findall(rb"field:([^;]*?);\s*offset:(\d+);\s*size:(\d+);", text[3])
            self.formats[int(text[2])] = (text[1].decode(), [(f.decode(), int(o), int(s)) for f, o, s in fields])

    def word(self, kind, length):
        """A word that no other is like: letters that no stand-in begins with."""
        text = "".join(self.random.choice("QXZJVWKY") for _ in range(length)).encode()
        if length >= 5:
            self.words.setdefault(text, kind)
        return text

    def put(self, kind, at, length):
        self.data[at:at + length] = self.word(kind, length)

    def text(self, kind, at, size):
        """A name that fills what was there, and a secret behind its end."""
        length = bytes(self.data[at:at + size]).find(b"\0")
        length = size if length < 0 else length
        self.put(kind, at, length)
        if size - length > 5:
            self.put("tail", at + length + 1, size - length - 1)

    def record(self, at, length):
        number, = struct.unpack_from("<H", self.data, at)
        name, fields = self.formats.get(number, ("", []))
        for declared, offset, size in fields:
            if declared.startswith("__data_loc char"):
                where, = struct.unpack_from("<I", self.data, at + offset)
                self.text("string", at + (where & 0xffff), where >> 16)
            elif re.search(r"char \w+\[\d+\]", declared) and "rwbs" not in declared:
                self.text("name", at + offset, size)
            elif declared == "char buf[]":
                self.text("mark", at + offset, length - offset)
            elif name == "sys_enter" and declared.startswith("unsigned long args"):
                call, = struct.unpack_from("<q", self.data, at + 8)
                for i in range(ARGUMENTS.get(call, 6), 6):
                    self.put("register", at + offset + 8 * i, 8)
        covered = sorted((offset, offset + size) for _, offset, size in fields)
        for (_, end), (begin, _) in zip(covered, covered[1:]):
            if begin > end:
                self.put("gap", at + end, begin - end)

    def page(self, base):
        commit, = struct.unpack_from("<I", self.data, base + 8)
        lost, commit, at = commit >> 30 & 1, commit & 0xfffffff, 0
        if not commit or commit > PAGE - 16:
            return
        while commit - at >= 4:
            head, = struct.unpack_from("<I", self.data, base + 16 + at)
            kind = head & 31
            if 1 <= kind <= 28:
                self.record(base + 16 + at + 4, kind * 4)
                at += 4 + kind * 4
            elif kind == 0:
                length, = struct.unpack_from("<I", self.data, base + 16 + at + 4)
                self.record(base + 16 + at + 8, length - 4)
                at += 4 + length
            elif kind in (30, 31):
                at += 8
            else:
                break
        free = base + 16 + commit + 8 * lost
        while base + PAGE - free >= 24:
            self.put("free", free, 16)
            free += 16


def plant(path, words):
    with open(path, "rb") as file:
        data = bytearray(file.read())
    planter = Planter(data)
    at = data.rindex(b"flyrecord\0") + 10
    first, size = struct.unpack_from("<QQ", data, at)
    while first % PAGE == 0 and size % PAGE == 0 and at < first + size <= len(data):
        for base in range(first, first + size, PAGE):
            planter.page(base)
        at += 16
        first, size = struct.unpack_from("<QQ", data, at)
    # Paths in lists of open files, maps, functions and mounts, and names of functions.
    for line in list(re.finditer(rb"(?:\t| \d+ | - | /[^ \n]* )(/[ -~]+)\n", bytes(data))):
        for part in re.finditer(rb"[^/ ()]{5,}", line[1]):
            if part[0] not in KEPT:
                planter.put("path", line.start(1) + part.start(), len(part[0]))
    for line in list(re.finditer(rb"\n[0-9a-f]+ [0-9a-f]{2,} ([a-z_]{5,})(?=\n)", bytes(data))):
        planter.put("function", line.start(1), len(line[1]))
    # Names of tasks and of the host in the texts of the file.
    for line in list(re.finditer(rb"\n\d+ ([a-z][\w./-]{5,14})\n", bytes(data))):
        planter.put("saved", line.start(1), len(line[1]))
    for line in list(re.finditer(rb"Linux (\S+) \d", bytes(data))):
        planter.put("host", line.start(1), len(line[1]))
    with open(path, "wb") as file:
        file.write(data)
    with open(words, "wb") as file:
        file.write(b"".join(word + b"\n" for word in planter.words))
    print(len(planter.words), " ".join(sorted(set(planter.words.values()))))


def pieces(data):
    yield data
    at = data.find(b"\x28\xb5\x2f\xfd")
    while at >= 0:
        yield subprocess.run(["zstd", "-dcq"], input=data[at:], capture_output=True, check=False).stdout
        at = data.find(b"\x28\xb5\x2f\xfd", at + 1)


def scan(path, words):
    with open(path, "rb") as file:
        data = file.read()
    with open(words, "rb") as file:
        wanted = file.read().split()
    everything = b"\0".join(pieces(data))
    for word in wanted:
        if word in everything:
            print(word.decode())


def shape(value, key=None):
    if isinstance(value, dict):
        return {name: shape(part, name) for name, part in value.items()}
    if isinstance(value, list):
        return sorted((shape(part) for part in value), key=json.dumps)
    # Addresses and inodes ("pipe:[4711]") are shifted, so they may have more digits.
    return f"text of {len(re.sub('0x[0-9a-f]+|:.[0-9]+]', '0', value))}" if isinstance(value, str) else value


def same(old, new):
    with open(old, encoding="utf-8") as first, open(new, encoding="utf-8") as second:
        a, b = json.load(first), json.load(second)
    # What the kernel is called, and when it ran, is what a redacted file does not say.
    for answer in (a, b):
        if isinstance(answer, dict):
            answer.pop("recording", None)
    if shape(a) != shape(b):
        sys.exit(f"{old} and {new} differ")


globals()[sys.argv[1]](*sys.argv[2:])
