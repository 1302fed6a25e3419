# SPDX-License-Identifier: LGPL-2.1-or-later
"""Events, their fields and their texts are those of weft report."""
import gc
import json
import os
import pickle
import signal
import threading
import unittest
import warnings

import weft
from common import DEMO, SWITCHES, TestCase, losses, rows, traces
from common import weft as command


class Events(TestCase):
    def test_lines_are_those_of_report_json(self):
        for path in traces():
            with self.subTest(path=path.name), weft.open(path) as trace:
                want = command("report", "--format", "json", path, ok=(0, 1)).splitlines()
                got = [event.json.encode() for event in trace.events()]
                self.assertEqual(got, want)

    def test_fields_are_those_of_export_jsonl(self):
        for path in traces():
            with self.subTest(path=path.name), weft.open(path) as trace:
                for event, row in self.pairs(trace.events(), rows("export", "--to", "jsonl", "-o", "-", path)):
                    self.compare(event, row)

    def pairs(self, events, want):
        count = 0
        for count, (event, row) in enumerate(zip(events, want), 1):
            yield event, row
        self.assertEqual(count, len(want))

    def compare(self, event, row):
        self.assertEqual((event.ts, event.cpu), (row["ts"], row["cpu"]))
        if event.kind == weft.LOST:
            self.assertEqual(("lost", row.get("lost")), (row["event"], event.lost))
            return
        self.assertEqual((event.pid, event.comm, event.system, event.name),
                         (row["pid"], row["comm"], row["system"], row["event"]))
        for name, value in row["fields"].items():
            has = event[name]
            if isinstance(has, bytes):
                has = has.hex()
            self.assertEqual(has, value, name)

    def test_words_choose_as_the_options_of_report_do(self):
        for words, options in (
            ({"event": "sched_switch"}, ["-e", "sched_switch"]),
            ({"filter": "next_pid > 0", "cpu": 0}, ["-f", "next_pid > 0", "--cpu", "0"]),
            ({"since": "+1ms", "limit": 7}, ["--since", "+1ms", "--limit", "7"]),
            ({"comm": ["*swap*", "*idle*"]}, ["--comm", "*swap*", "--comm", "*idle*"]),
        ):
            with self.subTest(words=words), weft.open(SWITCHES) as trace:
                want = rows("report", "--format", "json", *options, SWITCHES)
                self.assertEqual([json.loads(event.json) for event in trace.events(**words)], want)
                self.assertTrue(want)

    def test_a_time_of_an_event_is_a_word_for_since(self):
        with weft.open(SWITCHES) as trace:
            times = [event.ts for event in trace.events()]
            self.assertEqual([event.ts for event in trace.events(since=times[5])][0], times[5])

    def test_a_wrong_word_is_an_error_with_the_message_of_report(self):
        with weft.open(SWITCHES) as trace:
            with self.assertRaisesRegex(weft.Error, "the file knows no event 'sched_swich'; did you mean"):
                trace.events("sched_swich")
            with self.assertRaisesRegex(TypeError, "no word 'evnt'"):
                trace.events(evnt="sched_switch")
            with self.assertRaises(TypeError):
                trace.events(cpu=1.5)
            with self.assertRaises(ValueError):
                trace.events("sched_switch\0")
        with self.assertRaises(weft.Error) as caught:
            weft.open("/nonexistent.dat")
        self.assertEqual(caught.exception.errno, 2)

    def test_lost_events_are_items(self):
        path = losses()
        with weft.open(path) as trace:
            lost = [event.lost for event in trace.events() if event.kind == weft.LOST]
            want = [row["lost"] for row in rows("export", "--to", "jsonl", "-o", "-", path) if row["event"] == "lost"]
            self.assertEqual(lost, want)
            self.assertEqual(lost, [None, 12])

    def test_a_view_is_gone_after_the_next_event_and_a_copy_is_not(self):
        with weft.open(SWITCHES) as trace:
            events = trace.events("sched_switch")
            first = next(events)
            fields, copy = first.fields(), first.copy()
            next(events)
            for use in (lambda: first.ts, lambda: first["next_pid"], first.copy, first.fields, lambda: first.text):
                self.assertRaisesRegex(ReferenceError, "keep event.copy", use)
            self.assertIn("gone", repr(first))
            self.assertEqual((copy.fields(), copy.ts), (fields, copy.ts))
            del events
            gc.collect()
            self.assertEqual(copy["next_pid"], fields["next_pid"])
        self.assertRaisesRegex(ValueError, "closed", lambda: copy.ts)
        self.assertRaisesRegex(ValueError, "closed", trace.events)

    def test_all_views_are_gone_at_the_end(self):
        with weft.open(SWITCHES) as trace:
            for event in trace.events():
                pass
            self.assertRaises(ReferenceError, lambda: event.ts)

    def test_text_of_a_copy_is_that_of_the_view(self):
        for path in traces():
            with self.subTest(path=path.name), weft.open(path) as trace:
                for event in trace.events(limit=300):
                    self.assertEqual(event.copy().line, event.line)

    def test_fields_answer_like_a_mapping(self):
        with weft.open(SWITCHES) as trace:
            event = next(trace.events("sched_switch"))
            self.assertIn("next_pid", event)
            self.assertNotIn("nobody", event)
            self.assertEqual(event.get("nobody", 7), 7)
            self.assertRaises(KeyError, lambda: event["nobody"])
            self.assertRaises(TypeError, lambda: event[0])

    def test_pickling_is_refused_with_a_reason(self):
        with weft.open(SWITCHES) as trace:
            events = trace.events()
            for thing in (trace, events, next(events), trace.columns("ts")):
                self.assertRaisesRegex(TypeError, "cannot be pickled: open the file there", pickle.dumps, thing)

    def test_only_the_module_makes_objects(self):
        for kind in (weft.Trace, weft.Event, weft.Events, weft.Columns, weft.Result, weft.Table, weft.Ragged):
            self.assertRaises(TypeError, kind)

    def test_ctrl_c_interrupts(self):
        # A job in the background ignores it.
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler))
        with weft.open(SWITCHES) as trace, self.assertRaises(KeyboardInterrupt):
            threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
            while True:
                for event in trace.events():
                    event.text

    def test_facts_of_the_file_are_those_of_info(self):
        with weft.open(DEMO) as trace:
            text = command("info", DEMO).decode()
            self.assertIn(trace.release, text)
            self.assertEqual(trace.buffers[0].name, "")
            self.assertEqual(trace.buffers[0].first, next(trace.events()).ts)
            self.assertIsNone(trace.setting("no such file"))


class Damage(unittest.TestCase):
    def test_damage_warns_at_the_end_and_hides_nothing(self):
        data = SWITCHES.read_bytes()
        path = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"weft-cut-{os.getpid()}.dat")
        with open(path, "wb") as file:
            file.write(data[: len(data) * 9 // 10])
        self.addCleanup(os.unlink, path)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with weft.open(path) as trace:
                got = [event.line for event in trace.events()]
        self.assertTrue(any(issubclass(warning.category, weft.DamageWarning) for warning in caught))
        self.assertEqual(len(got), sum(1 for _ in command("report", "-R", path, ok=(0, 1)).splitlines() if not
                                       _.startswith(b"#")))


if __name__ == "__main__":
    unittest.main()
