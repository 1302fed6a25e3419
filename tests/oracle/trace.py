# SPDX-License-Identifier: GPL-2.0-only
"""Reads trace.dat, versions 6 and 7, and the pages of the kernel's ring buffer, without any code of weft.

Trace(path) has `cpus`: for each CPU its records (time, type, flags, preempt count, pid, bytes) in order; a record of
type LOST stands where events were lost. merged() has all of them in the order of time, and of CPUs at equal times.
"""
import bisect
import heapq
import re
import struct
import subprocess

LOST = -1
# Of a CPU with more pages the rest is not read, so that large files take no longer than others.
PAGES = 600


class Refused(Exception):
    """The file has something that this reader does not know."""


def unpack_frames(frames, expected):
    if not frames:
        return b''
    done = subprocess.run(['zstd', '-dcq'], input=b''.join(frames), stdout=subprocess.PIPE, check=False)
    if done.returncode or len(done.stdout) != expected:
        raise Refused('frames cannot be decompressed')
    return done.stdout


class Bytes:
    """Numbers and strings of a file, one after the other."""

    def __init__(self, data, order, at=0):
        self.data, self.order, self.at = data, order, at

    def number(self, code):
        value, = struct.unpack_from(self.order + code, self.data, self.at)
        self.at += struct.calcsize('=' + code)
        return value

    def raw(self, size):
        self.at += size
        return self.data[self.at - size:self.at]

    def string(self):
        end = self.data.index(b'\0', self.at)
        text = self.data[self.at:end]
        self.at = end + 1
        return text.decode('utf-8', 'replace')


FIELD = re.compile(r'^\s*field:(.*?);\s*offset:(\d+);\s*size:(\d+);(?:\s*signed:(\d);)?', re.M)


class Format:
    """A type of events, from its `format` file."""

    def __init__(self, system, text, order):
        self.system, self.order = system, order
        self.name = re.search(r'^name:\s*(\S+)', text, re.M).group(1)
        self.id = int(re.search(r'^ID:\s*(\d+)', text, re.M).group(1))
        self.print = text[text.find('print fmt:'):]
        self.fields = {}
        for declared, offset, size, signed in FIELD.findall(text):
            array = re.search(r'\[(\w*)\]\s*$', declared)
            name = re.sub(r'\[\w*\]', '', declared).split()[-1].lstrip('*')
            kind = 'dynamic' if '__data_loc' in declared else 'array' if array else 'number'
            self.fields.setdefault(name, (kind, int(offset), int(size), signed == '1', 'char' in declared))
        self.full = system + ':' + self.name

    def get(self, name, data):
        if name not in self.fields:
            return None
        kind, offset, size, signed, text = self.fields[name]
        if kind == 'dynamic':
            place, = struct.unpack_from(self.order + 'I', data, offset)
            content = data[place & 0xffff:(place & 0xffff) + (place >> 16)]
            return content.split(b'\0')[0].decode('utf-8', 'replace')
        content = data[offset:offset + size] if size else data[offset:]
        if kind == 'array' and text:
            return content.split(b'\0')[0].decode('utf-8', 'replace')
        if kind == 'array':
            return content
        return int.from_bytes(content, 'little' if self.order == '<' else 'big', signed=signed)


class Trace:
    def __init__(self, path):
        with open(path, 'rb') as file:
            self.data = file.read()
        if self.data[:10] != b'\x17\x08\x44tracing':
            raise Refused('not a trace.dat')
        head = Bytes(self.data, '<', 10)
        self.version = int(head.string())
        self.order = '>' if head.raw(1) == b'\1' else '<'
        head.order = self.order
        self.file_long = head.raw(1)[0]
        self.page = head.number('I')
        self.formats, self.comms, self.options, self.cpus, self.clock = {}, {}, [], {}, ''
        self.known_until = None  # of some CPU nothing is known after this time
        self.kallsyms, self.symbols = b'', None
        self.long, self.data_at = 8, 16
        if self.version == 6:
            self.read_v6(head)
        else:
            self.read_v7(head)
        del self.data
        self.uname = next((value.split(b'\0')[0].decode() for key, value in self.options if key == 5), '')
        self.by_name = {format.full: format for format in self.formats.values()}

    # The metadata are the same in both versions.
    def read_header_page(self, body):
        body.at += len('header_page') + 1
        text = body.raw(body.number('Q')).decode()
        fields = {name: (int(offset), int(size)) for name, offset, size in
                  re.findall(r'field:\s*.*?(\w+);\s*offset:(\d+);\s*size:(\d+);', text)}
        if 'commit' in fields:
            self.long, self.data_at = fields['commit'][1], fields['data'][0]
        body.at += len('header_event') + 1
        body.raw(body.number('Q'))

    def add_format(self, system, text):
        format = Format(system, text.decode('utf-8', 'replace'), self.order)
        self.formats[format.id] = format

    def read_ftrace(self, body):
        for _ in range(body.number('I')):
            self.add_format('ftrace', body.raw(body.number('Q')))

    def read_events(self, body):
        for _ in range(body.number('I')):
            system = body.string()
            for _ in range(body.number('I')):
                self.add_format(system, body.raw(body.number('Q')))

    def read_comms(self, body):
        for line in body.raw(body.number('Q')).decode('utf-8', 'replace').split('\n'):
            if ' ' in line:
                pid, comm = line.split(' ', 1)
                self.comms[int(pid)] = comm

    def read_kallsyms(self, body):
        self.kallsyms = body.raw(body.number('I'))

    def symbol(self, address):
        """The function that the address lies in; where several have one address, the first of the file. Or its digits."""
        if self.symbols is None:
            places = {}
            for line in self.kallsyms.decode('utf-8', 'replace').split('\n'):
                words = line.split()
                if len(words) >= 3 and words[1] in 'tTwW':
                    places.setdefault(int(words[0], 16), words[2])
            self.symbols = sorted(places.items())
            self.addresses = [place for place, _ in self.symbols]
        at = bisect.bisect_right(self.addresses, address) - 1
        return self.symbols[at][1] if at >= 0 else f'0x{address:x}'

    def read_v6(self, body):
        self.read_header_page(body)
        self.read_ftrace(body)
        self.read_events(body)
        self.read_kallsyms(body)
        body.raw(body.number('I'))
        self.read_comms(body)
        nr_cpus = body.number('I')
        tag = body.raw(10)
        if tag.startswith(b'options'):
            while True:
                option = body.number('H')
                if not option:
                    break
                self.options.append((option, body.raw(body.number('I'))))
            tag = body.raw(10)
        if not tag.startswith(b'flyrecord'):
            raise Refused('a text of the latency tracers')
        if any(option == 3 for option, _ in self.options):
            raise Refused('several instances')
        places = [(body.number('Q'), body.number('Q')) for _ in range(nr_cpus)]
        if any(option == 4 for option, _ in self.options):
            self.clock = body.raw(body.number('Q')).decode()
        for cpu, (offset, size) in enumerate(places):
            self.read_cpu(cpu, self.data[offset:offset + size], self.page)

    def section(self, offset, chunked=False):
        body = Bytes(self.data, self.order, offset)
        _, flags, _, size = (body.number(code) for code in 'HHIQ')
        if not flags & 1:
            return Bytes(body.raw(size), self.order)
        packed, whole = body.number('I'), body.number('I')
        return Bytes(unpack_frames([body.raw(packed)], whole), self.order)

    def read_v7(self, head):
        if head.string() not in ('zstd', 'none'):
            raise Refused('another compression')
        head.string()
        at, buffers, places = head.number('Q'), [], {}
        while at:
            body, at = self.section(at), 0
            while body.at + 6 <= len(body.data):
                option, size = body.number('H'), body.number('I')
                value = body.raw(size)
                if option == 0:
                    at, = struct.unpack_from(self.order + 'Q', value)
                    break
                if 16 <= option <= 21:
                    places[option], = struct.unpack_from(self.order + 'Q', value)
                elif option == 3:
                    buffers.append(value)
                elif option == 22:
                    raise Refused('a text of the latency tracers')
                else:
                    self.options.append((option, value))
        for option, read in ((16, self.read_header_page), (17, self.read_ftrace), (18, self.read_events),
                             (19, self.read_kallsyms),
                             (21, self.read_comms)):
            if option in places:
                read(self.section(places[option]))
        full = [buffer for buffer in map(self.read_buffer_option, buffers) if buffer[3]]
        if len(full) > 1 or (full and full[0][0]):
            raise Refused('several instances')
        for name, clock, page, cpus, packed in full:
            self.clock = clock
            for cpu, offset, size in cpus:
                self.read_cpu(cpu, self.read_chunks(offset, page) if packed else self.data[offset:offset + size], page)

    def read_buffer_option(self, value):
        body = Bytes(value, self.order)
        offset, name, clock, page = body.number('Q'), body.string(), body.string(), body.number('I')
        cpus = [(body.number('I'), body.number('Q'), body.number('Q')) for _ in range(body.number('I'))]
        flags, = struct.unpack_from(self.order + 'H', self.data, offset + 2)
        return name, clock, page, [cpu for cpu in cpus if cpu[2]], flags & 1

    # Whether the size in the option counts the number of chunks depends on the writer.
    def read_chunks(self, offset, page):
        body = Bytes(self.data, self.order, offset)
        frames, whole = [], 0
        for _ in range(body.number('I')):
            if whole > PAGES * page:
                break
            packed, length = body.number('I'), body.number('I')
            frames.append(body.raw(packed))
            whole += length
        return unpack_frames(frames, whole)

    def read_cpu(self, cpu, pages, page):
        records = self.cpus.setdefault(cpu, [])
        for at in range(0, min(len(pages), PAGES * page), page):
            self.read_page(pages[at:at + page], records)
        if len(pages) > PAGES * page and records:
            last = records[-1][0]
            self.known_until = last if self.known_until is None else min(last, self.known_until)
        if not records:
            del self.cpus[cpu]

    # include/linux/ring_buffer.h describes the types of the head of a record.
    def read_page(self, page, records):
        order, little = self.order, self.order == '<'
        time, = struct.unpack_from(order + 'Q', page)
        commit, = struct.unpack_from(order + ('Q' if self.long == 8 else 'I'), page, 8)
        at, lost = self.data_at, bool(commit & 1 << 31)
        end = at + (commit & 0x7ffffff)
        if end > len(page):
            raise Refused('a damaged page')
        while at + 4 <= end:
            head, = struct.unpack_from(order + 'I', page, at)
            kind, delta = (head & 31, head >> 5) if little else (head >> 27, head & 0x7ffffff)
            more, = struct.unpack_from(order + 'I', page, at + 4) if at + 8 <= end else (0,)
            if kind == 29:
                if not delta:
                    break
                time, at = time + delta, at + 4 + more
                continue
            if kind == 30:
                time, at = time + (more << 27 | delta), at + 8
                continue
            if kind == 31:
                time, at = (more << 27 | delta) | (time & 0xf8 << 56), at + 8
                continue
            time += delta
            start, size = (at + 8, more - 4) if not kind else (at + 4, kind * 4)
            at = start + (size + 3 & ~3)
            if at > end:
                raise Refused('a damaged record')
            if lost:
                records.append((time, LOST, 0, 0, 0, b''))
                lost = False
            data = page[start:start + size]
            type, flags, preempt, pid = struct.unpack_from(order + 'HBBi', data)
            records.append((time, type, flags, preempt, pid, data))

    def merged(self):
        def of(cpu):
            return ((record[0], cpu, record) for record in self.cpus[cpu])
        return heapq.merge(*(of(cpu) for cpu in sorted(self.cpus)), key=lambda item: item[:2])

    def keep(self, most):
        """Keeps the longest stretch of events without a loss, of `most` events; returns its first and last time."""
        events = [event for event in self.merged() if self.known_until is None or event[0] < self.known_until]
        cuts = [-1] + [number for number, (_, _, record) in enumerate(events) if record[1] == LOST] + [len(events)]
        begin, end = max(zip(cuts, cuts[1:]), key=lambda cut: cut[1] - cut[0])
        begin, end = begin + 1, min(end, begin + 1 + most)
        # A stretch has all events of its first and of its last moment.
        while begin and begin < end and events[begin][0] == events[begin - 1][0]:
            begin += 1
        while end < len(events) and end > begin and events[end][0] == events[end - 1][0]:
            end -= 1
        if end - begin < 2:
            raise Refused('too few events')
        since = events[begin][0] if begin else None
        until = events[end - 1][0] if end < len(events) or self.known_until is not None else None
        kept = events[begin:end]
        self.cpus = {}
        for _, cpu, record in kept:
            self.cpus.setdefault(cpu, []).append(record)
        return since, until
