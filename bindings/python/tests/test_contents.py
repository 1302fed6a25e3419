# SPDX-License-Identifier: LGPL-2.1-or-later
"""Places of a trace, what it has besides events, and files that a program makes: against the command and the events in order."""
import pathlib
import struct
import tempfile
import unittest

import weft
from common import DEMO, GOLDEN, SWITCHES, WEFT, rows, weft as command


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


    def test_stats_clock_names_address(self):
        counts = {stats.cpu: stats.entries + stats.read for stats in self.trace.stats()}
        events = rows("report", "--format", "json", DEMO)
        self.assertEqual(counts, {cpu: sum(event["cpu"] == cpu for event in events) for cpu in counts})
        self.assertIn("ls", self.trace.names("program"))
        name = {name: address for address, name, module in self.trace.symbols() if module is None}
        self.assertEqual(self.trace.address("schedule"), name["schedule"])
        self.assertIsNone(self.trace.address("no_such_function"))
        for piece in self.trace.clock():
            self.assertIn(piece.sampled, self.trace.when(piece.wall_ns))
        with self.assertRaises(weft.Error):
            self.trace.stats(7)

    def test_slices_add_up_to_what_sched_says(self):
        with weft.open(SWITCHES) as trace:
            slices = trace.slices("run", "state")
            ran = {}
            for slice in slices:
                if slice.kind == "run" and slice.pid:
                    ran[slice.pid] = ran.get(slice.pid, 0) + slice.end - slice.start
            want = {}
            for row in trace.analyse("sched", show_self=True)["tasks"]:
                want[row["pid"]] = want.get(row["pid"], 0) + row["run_ns"]
            self.assertEqual({pid: ns for pid, ns in ran.items() if ns}, {pid: ns for pid, ns in want.items() if ns and pid})
            self.assertIn("sleeping", {slice.state for slice in slices if slice.kind == "state"})
            with self.assertRaises(ValueError):
                trace.slices("nonsense")


class Asking(unittest.TestCase):
    def setUp(self):
        self.trace = weft.open(SWITCHES)

    def test_a_filter_is_asked(self):
        events = self.trace.events()
        wanted = events.filter("sched_switch", filter="next_pid > 0")
        passed = [event.json for event in events if wanted(event)]
        self.assertEqual(passed, lines(self.trace.events("sched_switch", filter="next_pid > 0")))
        with self.assertRaises(ValueError):
            wanted(next(self.trace.events()))
        with self.assertRaises(TypeError):
            wanted(3)
        with self.assertRaises(weft.Error):
            events.filter("no_such_event")

    def test_a_handler_makes_the_text(self):
        events = self.trace.events("sched_switch")
        kernel = next(self.trace.events("sched_switch")).text
        events.handler("sched:sched_switch", lambda event: f"{event['prev_pid']} -> {event['next_pid']}" + " long" * 300)
        event = next(events)
        self.assertEqual(event.text, f"sched_switch: {event['prev_pid']} -> {event['next_pid']}" + " long" * 300)
        events.handler("sched:sched_switch", lambda event: None)
        self.assertEqual(event.text, kernel)
        events.handler("sched:sched_switch", lambda event: event["nonsense"])
        with self.assertRaises(KeyError):
            event.text
        events.handler("sched:sched_switch", None)
        self.assertEqual(event.text, kernel)
        with self.assertRaises(weft.Error):
            events.handler("nonsense", None)

    def test_decoded_fields(self):
        path = GOLDEN / "6.12-events-syscalls.dat"
        folder = pathlib.Path(WEFT).parent
        plugins = folder / "plugins" if (folder / "plugins").is_dir() else folder.parent / "lib/weft/plugins"
        with weft.open(path, plugins=plugins) as trace:
            got = [event.decoded() for event in trace.events()]
        want = [row.get("decoded", {}) for row in rows("report", "--format", "json", "--decode", "--plugin-dir", plugins, path)]
        self.assertTrue(any(want))
        self.assertEqual([{key: str(value) for key, value in row.items()} for row in got],
                         [{key: str(value) for key, value in row.items()} for row in want])

    def test_analyses_of_several_files_with_threads_and_progress(self):
        alone = [weft.open(path).analyse("sched", "summary").write("json") for path in (SWITCHES, DEMO)]
        together = weft.analyse([self.trace, weft.open(DEMO)], "sched", "summary", threads=2)
        self.assertEqual([result.write("json") for result in together], alone)
        parts = []
        result = self.trace.analyse("sched", threads=2, progress=parts.append)
        self.assertEqual(result.write("json"), alone[0])
        self.assertEqual((parts, parts[-1]), (sorted(parts), 1))
        with self.assertRaises(ZeroDivisionError):
            self.trace.analyse("sched", progress=lambda part: 1 / 0)
        with self.assertRaises(weft.Error):
            weft.analyse([self.trace], "nonsense")
        with self.assertRaises(TypeError):
            weft.analyse([3], "sched")

    def test_why(self):
        got = self.trace.analyse("why", why={"of": "wakeup", "slowest": 2}).write("json")
        self.assertEqual(got, command("why", "--wakeup", "--slowest", "2", "--format", "json", SWITCHES))
        with self.assertRaises(ValueError):
            self.trace.analyse("why", why={"of": "nonsense"})


class Writing(unittest.TestCase):
    def setUp(self):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="weft-")) / "made.dat"

    def test_an_excerpt(self):
        with weft.open(SWITCHES) as trace:
            nr = trace.save(self.path, "sched_switch")
        self.assertEqual(rows("report", "--format", "json", self.path),
                         rows("report", "--format", "json", "-e", "sched_switch", SWITCHES))
        self.assertEqual(nr, len(rows("report", "--format", "json", self.path)))

    def test_a_redacted_file(self):
        with weft.open(DEMO) as trace:
            counts = trace.redact(self.path, key=b"0123456789abcdef")
            with self.assertRaises(ValueError):
                trace.redact(self.path, key=b"short")
        self.assertGreater(counts["records"], counts["emptied"])
        key, want = self.path.with_name("key"), self.path.with_name("want.dat")
        key.write_bytes(b"0123456789abcdef" * 2)
        command("redact", "-q", "--key", key, "-o", want, DEMO)
        self.assertEqual(self.path.read_bytes(), want.read_bytes())
        with self.assertRaises(ValueError):
            trace.redact(self.path)

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
