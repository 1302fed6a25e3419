# SPDX-License-Identifier: LGPL-2.1-or-later
"""Places of a trace, what it has besides events, and files that a program makes: against the command and the events in order."""
import pathlib
import struct
import tempfile
import unittest

import weft
from common import DEMO, SWITCHES, rows, weft as command


def lines(events):
    return [event.json for event in events]


class Places(unittest.TestCase):
    def setUp(self):
        self.trace = weft.open(DEMO)
        self.lines = lines(self.trace.events())
        self.times = [event.ts for event in self.trace.events()]

    def test_the_way_back_is_the_way_forward(self):
        self.assertEqual(lines(reversed(self.trace.events())), self.lines[::-1])

    def test_a_time_is_entered_as_often_as_wanted(self):
        events = self.trace.events()
        for ts in self.times[::7] + self.times[::-11] + [0, self.times[-1] + 1]:
            at = sum(time < ts for time in self.times)
            self.assertEqual(lines(events.seek(ts)), self.lines[at:])
            before = events.seek(ts).previous()
            self.assertEqual(before and before.json, self.lines[at - 1] if at else None)

    def test_a_place_is_taken_up_again(self):
        events = self.trace.events()
        for _ in range(20):
            next(events)
        place = events.place
        self.assertEqual(lines(self.trace.events().go(place)), self.lines[20:])

    def test_one_event_is_asked_for(self):
        self.assertEqual(self.trace.at(0).json, self.lines[0])
        self.assertEqual(self.trace.at(self.times[5] + 1).ts, next(t for t in self.times if t > self.times[5]))
        self.assertIsNone(self.trace.at(self.times[-1] + 1))
        self.assertIsNone(self.trace.before(0))
        switches = [event.ts for event in self.trace.events("sched_switch")]
        self.assertEqual(self.trace.before(switches[3], "sched_switch").ts, switches[2])
        with self.assertRaises(TypeError):
            self.trace.at(0, nonsense=1)

    def test_one_cpu_alone(self):
        for cpu in (0, 1):
            want = lines(self.trace.events(cpu=cpu))
            self.assertEqual(lines(self.trace.events().only_cpu(cpu)), want)
        with self.assertRaises(weft.Error):
            self.trace.events().only_cpu(77)

    def test_a_reader_that_counts_only_goes_forward(self):
        with self.assertRaises(weft.Error):
            self.trace.events(limit=3).seek(0)

    def test_a_view_is_gone_when_the_reader_moves(self):
        events = self.trace.events()
        view = next(events)
        events.seek(0)
        with self.assertRaises(ReferenceError):
            view.ts


class Contents(unittest.TestCase):
    def setUp(self):
        self.trace = weft.open(DEMO)

    def test_formats(self):
        formats = {format.name: format for format in self.trace.formats}
        switch = formats["sched_switch"]
        self.assertEqual(switch.system, "sched")
        self.assertIn(f"ID: {switch.id}\n", switch.text)
        self.assertTrue(switch.text.endswith(f"print fmt: {switch.print_fmt}\n"))
        fields = {field.name: field for field in switch.fields}
        self.assertEqual((fields["next_comm"].type, fields["next_comm"].bytes), ("char[16]", 16))
        self.assertTrue(fields["prev_state"].signed)
        self.assertGreater(len(formats), 600)

    def test_settings_tasks_symbols_lives(self):
        self.assertEqual(self.trace.settings["current_tracer"], self.trace.setting("current_tracer"))
        self.assertEqual(self.trace.tasks[65], "ls")
        symbols = self.trace.symbols()
        self.assertEqual(symbols, sorted(symbols, key=lambda symbol: symbol[0]))
        self.assertIn("schedule", [name for _, name, module in symbols if module is None])
        ended = {life.pid: life for life in self.trace.lives()}[65]
        self.assertEqual((ended.comm, ended.program, ended.began, ended.status), ("ls", "/bin/ls", None, 1))
        self.assertEqual(self.trace.who("program", 65, ended.ended), "ls")
        self.assertIsNone(self.trace.who("unit", 65, ended.ended))
        with self.assertRaises(weft.Error):
            self.trace.who("nonsense", 65, 0)


class Writing(unittest.TestCase):
    def setUp(self):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="weft-")) / "made.dat"

    def test_an_excerpt(self):
        with weft.open(SWITCHES) as trace:
            nr = trace.save(self.path, "sched_switch")
        self.assertEqual(rows("report", "--format", "json", self.path),
                         rows("report", "--format", "json", "-e", "sched_switch", SWITCHES))
        self.assertEqual(nr, len(rows("report", "--format", "json", self.path)))

    def test_events_of_a_program(self):
        writer = weft.Writer(clock="mono")
        kind = writer.type("sim", "step", [("number", "int", 8, 4, True), ("name", "char[8]", 12, 8, False)],
                           '"%d of %s", REC->number, REC->name')
        writer.task(7, "robot")
        for number in range(5):
            writer.add(1000 * number, kind, struct.pack("=i8s", number, b"arm"), cpu=number % 2, pid=7)
        writer.lost(1, 12)
        writer.add(9000, kind, struct.pack("=i8s", 9, b"leg"), cpu=1, pid=7)
        with self.assertRaises(weft.Error):
            writer.add(1, kind, b"", cpu=1)
        with self.assertRaises(TypeError):
            writer.type("sim", "x", ["no field"], '""')
        writer.save(self.path)
        with self.assertRaises(weft.Error):
            writer.add(10000, kind, bytes(12))
        with weft.open(self.path) as trace:
            events = [(event.ts, event.comm, event.kind, event.lost, event.kind == weft.RECORD and event.text) for event in trace.events()]
            self.assertEqual(trace.buffers[0].clock, "mono")
        self.assertEqual(events[4:], [(4000, "robot", weft.RECORD, None, "step: 4 of arm"), (9000, "", weft.LOST, 12, False),
                                      (9000, "robot", weft.RECORD, None, "step: 9 of leg")])
        self.assertIn(b"ok, version 7", command("check", self.path))


if __name__ == "__main__":
    unittest.main()
