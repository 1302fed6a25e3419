#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# Compares the output of babeltrace2 for a CTF export with weft's own jsonl of the same file, event by event on each
# CPU:
#
#	ctf.py TEXT JSONL
# TEXT is the output of babeltrace2 --clock-cycles, TEXT.err has its warnings. Prints "EVENTS events, VALUES values,
# LOST lost", or the first difference.
import collections
import json
import re
import sys

WARNING = re.compile(rb'WARNING: Tracer discarded (\d+) events? between .*stream_(\d+)"')
EVENT = re.compile(rb'\[(\d+)\] \([^)]*\) (?:[^ ]+ )?((?:[^ ]|(?<!:) )+:[^ ]*): \{ cpu_id = (\d+) \}, ')
ESCAPES = {ord('n'): 10, ord('t'): 9, ord('r'): 13, ord('a'): 7, ord('b'): 8, ord('f'): 12, ord('v'): 11, ord('e'): 27}


class Text:
    """A value as sink.text.pretty prints it."""

    def __init__(self, data, at):
        self.data, self.at = data, at

    def skip(self, word):
        assert self.data.startswith(word, self.at), (word, self.data[self.at:self.at + 60])
        self.at += len(word)

    def string(self):
        out = bytearray()
        self.skip(b'"')
        while self.data[self.at] != 34:
            c = self.data[self.at]
            if c == 92:
                self.at += 1
                c = self.data[self.at]
                if c == ord('x'):
                    c = int(self.data[self.at + 1:self.at + 3], 16)
                    self.at += 2
                else:
                    c = ESCAPES.get(c, c)
            out.append(c)
            self.at += 1
        self.at += 1
        return bytes(out)

    def pairs(self, close, named):
        items = []
        while True:
            self.skip(b' ')
            if self.data.startswith(close, self.at):
                self.at += len(close)
                return items
            end = self.data.index(b' = ', self.at)
            name = self.data[self.at:end].decode()
            self.at = end + 3
            items.append((name, self.value()) if named else self.value())
            if self.data.startswith(b',', self.at):
                self.at += 1

    def value(self):
        c = self.data[self.at:self.at + 1]
        if c == b'"':
            return self.string()
        if c == b'{':
            self.at += 1
            return dict(self.pairs(b'}', True))
        if c == b'[':
            self.at += 1
            return self.pairs(b']', False)
        number = re.compile(rb'-?(0x[0-9A-Fa-f]+|\d+)').match(self.data, self.at)
        self.at = number.end()
        return int(number.group(), 0)


def replaced(raw):
    """The text as weft's JSON has it: U+FFFD for each byte that is not UTF-8."""
    out = ''
    while raw:
        try:
            return out + raw.decode()
        except UnicodeDecodeError as error:
            out += raw[:error.start].decode() + '\ufffd'
            raw = raw[error.start + 1:]
    return out


def plain(value):
    return replaced(value) if isinstance(value, bytes) else value


def read_ctf(path):
    events, lost = collections.defaultdict(list), collections.Counter()
    for line in open(path + '.err', 'rb'):
        warning = WARNING.match(line)
        assert warning, line
        lost[int(warning.group(2))] += int(warning.group(1))
    for line in re.split(rb'\n(?=\[\d+\] )', open(path, 'rb').read()):
        event = EVENT.match(line)
        assert event or not line, line[:200]
        if not event:
            continue
        text = Text(line, event.end())
        context = text.value()
        text.skip(b', ')
        events[int(event.group(3))].append((int(event.group(1)), event.group(2).decode(), plain(context['procname']), text.value()))
    return events, lost


def read_jsonl(path):
    events, lost = collections.defaultdict(list), collections.Counter()
    for line in open(path, encoding='utf-8'):
        event = json.loads(line)
        if event['event'] == 'lost':
            lost[event['cpu']] += event['lost'] or 1
            continue
        name = event['system'] + ':' + event['event'] if event['event'] else 'unknown'
        events[event['cpu']].append((event['ts'], name, event['comm'], event['fields'], event['pid']))
    return events, lost


def same(want, got):
    if isinstance(got, list) and isinstance(want, str):
        return ''.join('%02x' % byte for byte in got) == want
    # For an empty text, babeltrace2 2.0 prints the text that the field had before.
    if want == '' and isinstance(got, bytes):
        return True
    if want is None:
        return got in (0, b'', []) or (isinstance(got, list) and not any(got))
    return plain(got) == want


def main():
    got, got_lost = read_ctf(sys.argv[1])
    want, want_lost = read_jsonl(sys.argv[2])
    values = 0
    assert got_lost == want_lost, ('lost', got_lost, want_lost)
    assert got.keys() == want.keys(), ('CPUs', got.keys(), want.keys())
    for cpu, events in want.items():
        assert len(events) == len(got[cpu]), ('events of CPU', cpu, len(got[cpu]), len(events))
        for (ts, name, comm, fields, pid), (got_ts, got_name, got_comm, got_fields) in zip(events, got[cpu]):
            got_name = 'unknown' if got_name.startswith('unknown:') else got_name
            assert (ts, name, comm) == (got_ts, got_name, got_comm if comm else comm), ((ts, name, comm), (got_ts, got_name, got_comm))
            assert got_fields.get('common_pid', pid) == pid, (ts, name, got_fields, pid)
            for key, value in fields.items():
                if name == 'ftrace:kernel_stack' and key == 'caller':
                    # jsonl lists as many entries as the format has, or none; this list keeps the entries that exist.
                    assert got_fields['caller'][:len(value or [])] == (value or [])[:len(got_fields['caller'])], (ts, value, got_fields)
                    assert len(got_fields['caller']) == got_fields.get('size', len(got_fields['caller'])), (ts, got_fields)
                    continue
                assert same(value, got_fields[key]), (ts, name, key, value, got_fields[key])
                values += 1
    print(sum(map(len, want.values())), 'events,', values, 'values,', sum(want_lost.values()), 'lost')


main()
