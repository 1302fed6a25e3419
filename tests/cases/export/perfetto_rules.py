# SPDX-License-Identifier: GPL-2.0-only
"""
Applies the rules of Perfetto's importer to the bytes of a trace, and prints what the importer would make of it:
perfetto_rules.py FILE... (or - for standard input). It reads the wire format by itself and shares nothing with weft.
A broken rule is a line on standard error, and the exit status is 1. The rules:
- clocks: the times of a clock do not go back from one pair of clocks to the next (the importer refuses such a pair and
  then knows no way from that clock to the trace's time), and each event's clock has a way to the trace's time;
- sequences: the first packet of a sequence says that there is nothing before it; what a packet refers to (names of
  functions, types of events, tracks and their parents) precedes it;
- no packet limits how far the importer sorts, so events may come in any order;
- slices: each end closes the innermost open slice of its track; no slice is open inside the same system call;
- CPUs: what a sched_switch takes from a CPU is what the one before gave to it, unless a slice on a track "not recorded"
  says that nothing is known about the time between both;
- flows: an arrow leads from the begin of one slice to that of a later one;
- texts: a print event has the form that atrace gave it.
"""
import re
import sys

BOOT, SEQUENCE_CLOCK = 6, 64
CLOCKS_OF_BUNDLES = {0: BOOT, 2: SEQUENCE_CLOCK, 3: SEQUENCE_CLOCK, 4: 5}
PRINT, SWITCH, SYS_ENTER, SYS_EXIT, GRAPH_ENTRY, GRAPH_EXIT = 3, 4, 329, 330, 437, 438
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
ATRACE = re.compile(rb'(B\|\d+\|.*|E|E\|.*|[SF]\|\d+\|[^|]+\|-?\d+.*|I\|\d+\|[^|]+.*|N\|\d+\|[^|]+\|[^|]+.*'
                    rb'|C\|\d+\|[^|]+\|-?\d+(\|.*)?|G\|\d+\|[^|]+\|[^|]+\|-?\d+.*|H\|\d+\|[^|]+\|(.*\|)?-?\d+.*)\n*', re.DOTALL)


def fields(data):
    """Yields (number, value): an integer, or the bytes of a string or message."""
    at, end = 0, len(data)
    while at < end:
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                break
            shift += 7
        number, wire = value >> 3, value & 7
        assert wire in (0, 1, 2), 'field %d has wire type %d' % (number, wire)
        if wire == 1:
            yield number, int.from_bytes(data[at:at + 8], 'little')
            at += 8
            continue
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                break
            shift += 7
        if wire == 2:
            assert at + value <= end, 'field %d ends behind its message' % number
            yield number, data[at:at + value]
            at += value
        else:
            yield number, value


def signed(value):
    return value - (1 << 64) if value >> 63 else value


class Machine:
    def __init__(self):
        self.last = {}  # by clock: its time in the last pair of clocks
        self.ways = {BOOT}  # the clocks that have a way to boot time
        self.refused = set()  # clocks with a pair that was refused: they never have a way again
        self.events = []  # (time, order, CPU, PID, number of the field, payload)
        self.generic = {}  # by number of the field: (event's name, fields' names)
        self.lost = set()


class Trace:
    def __init__(self):
        self.machines = {}
        self.symbols = set()
        self.tracks = {}  # by uuid: (name, parent)
        self.flows = {}  # by number: (time, type) of its slices
        self.slices = []  # (time, order, uuid, type, name)
        self.sequences = set()
        self.broken = {}
        self.order = 0

    def breaks(self, rule, example=''):
        count, first = self.broken.get(rule, (0, example))
        self.broken[rule] = (count + 1, first)

    def machine(self, number):
        return self.machines.setdefault(number, Machine())

    # Reading

    def packet(self, data):
        parts = list(fields(data))
        numbers = dict(parts)
        machine = self.machine(numbers.get(98, 0))
        sequence = numbers.get(10)
        if not sequence:
            self.breaks('a packet belongs to no sequence')
        if (sequence, numbers.get(98, 0)) not in self.sequences:
            self.sequences.add((sequence, numbers.get(98, 0)))
            if not numbers.get(13, 0) & 1:
                self.breaks('a sequence does not say that it begins')
        for number, value in parts:
            if number == 6:
                self.snapshot(machine, value)
            elif number == 12:
                for kind, text in fields(value):
                    if kind == 26:
                        self.symbols.add(dict(fields(text))[1])
            elif number == 60:
                self.track(value)
            elif number == 1:
                self.bundle(machine, value)
            elif number == 11:
                self.track_event(numbers.get(8), value)
            elif number in (36, 50):
                self.breaks('a packet limits how far the importer sorts')

    def pair(self, machine, times):
        for clock, time in times.items():
            if time < machine.last.get(clock, 0):
                self.breaks('a pair of clocks goes back, and the importer refuses it', 'clock %d to %d' % (clock, time))
                machine.refused |= set(times) - {BOOT}
                machine.ways -= machine.refused
                return
        machine.last.update(times)
        if machine.ways & set(times):
            machine.ways |= set(times) - machine.refused

    def snapshot(self, machine, data):
        times = {}
        for number, value in fields(data):
            if number == 1:
                clock = dict(fields(value))
                times[clock[1]] = clock.get(2, 0)
        self.pair(machine, times)

    def track(self, data):
        track = dict(fields(data))
        parent = track.get(5)
        if parent is not None and parent not in self.tracks:
            self.breaks('the parent of a track is not described before it')
        self.tracks[track[1]] = track.get(2, b'').decode()

    def track_event(self, time, data):
        event = dict(fields(data))
        if event.get(11) not in self.tracks:
            self.breaks('a track is not described before its events')
            return
        self.order += 1
        if (event.get(9) == COUNTER) != (30 in event):
            self.breaks('a counter without a value, or a slice with one', self.tracks.get(event.get(11)))
        if event.get(9) == COUNTER:
            return
        for number, value in fields(data):
            if number == 47:
                self.flows.setdefault(value, []).append((signed(time), event.get(9)))
        self.slices.append((signed(time), self.order, event[11], event.get(9), event.get(23, b'').decode()))

    def bundle(self, machine, data):
        parts = list(fields(data))
        head = {number: value for number, value in parts if number != 2}
        cpu, clock = head.get(1), BOOT
        if cpu is None or cpu >= 1024:
            self.breaks('a bundle has no CPU below 1024', str(cpu))
            return
        if 5 in head:
            clock = CLOCKS_OF_BUNDLES.get(head[5])
            if clock is None:
                self.breaks('a bundle has a clock that the importer does not know', str(head[5]))
                return
            if 6 in head and 7 in head:
                self.pair(machine, {clock: head[6], BOOT: head[7]})
        if head.get(3):
            machine.lost.add(cpu)
        for number, value in parts:
            if number == 11:
                self.describe(machine, value)
            elif number == 2:
                self.event(machine, cpu, clock, value)

    def describe(self, machine, data):
        head = dict(fields(data))
        names, name = {}, b''
        for number, value in fields(head[2]):
            if number == 1:
                name = value
            elif number == 2:
                field = dict(fields(value))
                names[field[3]] = field[1].decode()
                if field[3] >= 32:
                    self.breaks('a described event has a field number above 31', name.decode())
        if head[1] in machine.generic and machine.generic[head[1]] != (name.decode(), names):
            self.breaks('a type of event is described twice', name.decode())
        machine.generic[head[1]] = (name.decode(), names)

    def event(self, machine, cpu, clock, data):
        time = pid = kind = payload = None
        for number, value in fields(data):
            if number == 1:
                time = signed(value)
            elif number == 2:
                pid = value
            elif kind is None:
                kind, payload = number, value
        if kind is None or time is None or pid is None:
            self.breaks('an event lacks its time, PID or type')
            return
        if clock not in machine.ways:
            self.breaks('an event has no way from its clock to the time of the trace', 'clock %d' % clock)
            return
        if kind >= 65536 and kind not in machine.generic:
            self.breaks('a type of event is not described before its events', str(kind))
        if kind in (GRAPH_ENTRY, GRAPH_EXIT) and dict(fields(payload)).get(2 if kind == GRAPH_ENTRY else 3) not in self.symbols:
            self.breaks('the name of a function does not precede its calls')
        self.order += 1
        machine.events.append((time, self.order, cpu, pid, kind, payload))

    # What the importer makes of it

    def names_of_slices(self):
        """Slices by name, as weft defines them on tracks of its own."""
        stacks, counts = {}, {}
        for time, _, uuid, kind, name in sorted(self.slices):
            stack = stacks.setdefault(uuid, [])
            if kind == BEGIN:
                stack.append((name, time))
            elif kind == INSTANT:
                counts[('instant', name)] = counts.get(('instant', name), 0) + 1
            elif not stack:
                self.breaks('a slice ends that did not begin', self.tracks[uuid])
            else:
                began = stack.pop()
                key = ('slice', self.tracks[uuid] if self.tracks[uuid] else began[0])
                counts[key] = counts.get(key, 0) + 1
                counts.setdefault('unknown', {}).setdefault(self.tracks[uuid], []).append((began[1], time))
        for uuid, stack in stacks.items():
            if stack:
                self.breaks('a slice on a track of weft does not end', self.tracks[uuid])
        return counts

    def see_calls(self, machine, counts):
        open_calls, lost = {}, machine.lost
        for _, _, _, pid, kind, payload in machine.events:
            if kind not in (SYS_ENTER, SYS_EXIT):
                continue
            number = dict(fields(payload)).get(1, 0)
            stack = open_calls.setdefault(pid, [])
            if kind == SYS_ENTER:
                if stack and not lost:
                    self.breaks('a system call begins inside another', 'number %d in %d of task %d' % (number, stack[-1], pid))
                stack.append(number)
            elif stack and stack[-1] == number:
                stack.pop()
                counts['calls'] = counts.get('calls', 0) + 1

    def see_graph(self, machine, counts):
        stacks = {}
        for _, _, cpu, pid, kind, payload in machine.events:
            if kind not in (GRAPH_ENTRY, GRAPH_EXIT):
                continue
            func = dict(fields(payload)).get(2 if kind == GRAPH_ENTRY else 3)
            stack = stacks.setdefault(('idle', cpu) if not pid else pid, [])
            if kind == GRAPH_ENTRY:
                stack.append(func)
            elif not stack or stack.pop() != func:
                self.breaks('a call of the function graph ends that is not the innermost one')
            else:
                counts['functions'] = counts.get('functions', 0) + 1
        if any(stacks.values()):
            self.breaks('a call of the function graph does not end')

    def see_switches(self, machine, counts, unknown):
        last = {}
        for time, _, cpu, _, kind, payload in machine.events:
            if kind != SWITCH:
                continue
            switch = dict(fields(payload))
            before = last.get(cpu)
            counts['switches'] = counts.get('switches', 0) + 1
            if before and before[1] != switch.get(2, 0) and (before[0], time) not in unknown:
                self.breaks('a switch takes from a CPU what was not on it', 'CPU %d, at %d' % (cpu, time))
            last[cpu] = (time, switch.get(6, 0))

    def see_texts(self, machine):
        for _, _, _, _, kind, payload in machine.events:
            if kind == PRINT and not ATRACE.fullmatch(dict(fields(payload)).get(2, b'')):
                self.breaks('a print event has not the form that the importer knows', repr(dict(fields(payload)).get(2)))

    def see_flows(self):
        for ends in self.flows.values():
            if len(ends) != 2 or ends[0][1] != BEGIN or ends[1][1] != BEGIN or ends[0][0] >= ends[1][0]:
                self.breaks('an arrow does not lead from one slice to a later one', str(ends))

    def judge(self):
        self.see_flows()
        counts = {}
        slices = self.names_of_slices()
        unknown = {span for spans in slices.pop('unknown', {}).values() for span in spans}
        for number in sorted(self.machines):
            machine = self.machines[number]
            machine.events.sort(key=lambda event: event[:2])
            counts['events'] = counts.get('events', 0) + len(machine.events)
            self.see_calls(machine, counts)
            self.see_graph(machine, counts)
            self.see_switches(machine, counts, unknown)
            self.see_texts(machine)
        return counts


def read(path):
    with (sys.stdin.buffer if path == '-' else open(path, 'rb')) as file:
        data = file.read()
    trace = Trace()
    for number, packet in fields(data):
        assert number == 1, 'a trace has a field %d' % number
        trace.packet(packet)
    return trace


def main():
    failed = False
    for path in sys.argv[1:]:
        trace = read(path)
        counts = trace.judge()
        print(path, *('%s=%d' % each for each in sorted(counts.items())))
        for rule, (count, example) in sorted(trace.broken.items()):
            failed = True
            print('%s: %s: %d times%s' % (path, rule, count, ' (%s)' % example if example else ''), file=sys.stderr)
    return failed


if __name__ == '__main__':
    sys.exit(main())
