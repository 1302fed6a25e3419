# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tables are those that the commands of the analyses print; their figures follow from columns with numpy alone."""
import csv
import io
import json
import os
import signal
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest

import weft
from common import DEMO, ROOT, SWITCHES, TestCase, traces
from common import weft as command

SESSION = ROOT / "tests/fixtures/session/demo.dat"
TRICK = """
import os, signal, sys, threading, weft
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a job in the background ignores
with weft.open(sys.argv[1]) as trace:
    threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        while True:
            trace.analyse("sched", "summary")
    except KeyboardInterrupt:
        print("interrupted")
"""


class Analyses(TestCase):
    def test_what_is_written_is_what_the_command_prints(self):
        for path in traces():
            with self.subTest(path=path.name), weft.open(path) as trace:
                for name in weft.analyses():
                    self.compare(trace, path, name)

    def test_intervals_are_parts_of_all(self):
        seen = []
        with weft.open(SWITCHES) as trace:
            trace.intervals("sched", 5_000_000, lambda *both: seen.append(both))
            (whole, all_events), parts = seen[-1], seen[:-1]
            self.assertEqual(whole["tasks"]["run_ns"], trace.analyse("sched")["tasks"]["run_ns"])
            self.assertTrue(all_events.is_whole and not any(interval.is_whole for _, interval in parts))
            self.assertEqual(sum(interval.events for _, interval in parts), all_events.events)
            self.assertEqual([a.end for _, a in parts[:-1]], [b.start for _, b in parts[1:]])
            seen.clear()
            trace.intervals("sched", 5_000_000, lambda *both: not seen.append(both))
            self.assertEqual(len(seen), 1)
            self.assertRaises(KeyError, trace.intervals, "sched", 5_000_000, lambda *_: {}[0])
            self.assertRaises(TypeError, trace.intervals, "sched")
            self.assertRaises(weft.Error, trace.intervals, "why", 1, print)
            self.assertRaises(weft.Error, trace.intervals, "nonsense", 1, print)

    def compare(self, trace, path, name):
        done = subprocess.run([os.environ.get("WEFT", "build/weft"), name, "--format", "json", str(path)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        try:
            result = trace.analyse(name)
        except weft.Error:
            self.assertEqual((done.returncode, done.stdout), (1, b""), name)
            return
        self.assertEqual(result.write("json"), done.stdout, name)
        with tempfile.TemporaryDirectory() as folder:
            command(name, "--format", "csv", "-o", folder + "/tables", path, ok=(0, 1))
            files = {file.stem: file.read_bytes() for file in pathlib.Path(folder, "tables").glob("*.csv")}
        whole = result.write("csv").split(b"\n\n") if len(files) > 1 else [result.write("csv").rstrip(b"\n")]
        self.assertEqual(sorted(part.rstrip(b"\n") for part in whole), sorted(text.rstrip(b"\n") for text in files.values()), name)

    def test_text_is_that_of_the_command_but_for_the_lines_to_paste(self):
        def plain(text):
            return [line.partition(b": weft report")[0].partition(b", from")[0] for line in text.splitlines()]

        for name in ("sched", "summary", "latency"):
            with weft.open(DEMO) as trace:
                self.assertEqual(plain(trace.analyse(name).write("text")), plain(command(name, DEMO)))

    def test_cells_are_those_of_json(self):
        with weft.open(SWITCHES) as trace:
            result = trace.analyse("sched", "latency")
            want = json.loads(command("sched", "--format", "json", SWITCHES))
            for table in result:
                if table.analysis == "sched":
                    self.assertEqual(list(table), want[table.name])
                    self.assertEqual(len(table), len(want[table.name]))
            tasks = result["tasks"]
            self.assertEqual(tasks["run_ns"], [row["run_ns"] for row in want["tasks"]])
            self.assertEqual(tasks[-1], want["tasks"][-1])
            self.assertEqual(result["sched.tasks"].columns, tuple(want["tasks"][0]))
            for which in ("cut", "broken", "missing"):
                self.assertEqual(result.limits["sched"][which] or None, want[which])
            self.assertEqual(tasks.limits, result.limits["sched"])
            self.assertRaises(KeyError, lambda: result["nothing"])
            self.assertRaises(IndexError, lambda: result[1000])
            self.assertRaises(IndexError, lambda: tasks[len(tasks)])
        self.assertEqual(tasks["pid"], [row["pid"] for row in want["tasks"]])

    def test_several_analyses_in_one_pass_find_what_each_finds_alone(self):
        names = ["sched", "syscalls", "irq", "tasks", "summary"]
        with weft.open(SESSION) as trace:
            names = [name for name in names if self.has(trace, name)]
            together = trace.analyse(*names)
            for i, name in enumerate(names):
                self.assertEqual(together.write("json", analysis=i), trace.analyse(name).write("json"))
        self.assertIn("sched", names)

    def has(self, trace, name):
        try:
            return trace.analyse(name) is not None
        except weft.Error:
            return False

    def test_words_and_sort_are_those_of_the_command(self):
        with weft.open(SWITCHES) as trace:
            result = trace.analyse("sched", sort="wait", cpu=0, comm="*s*")
            want = command("sched", "--format", "json", "--sort", "wait", "--cpu", "0", "--comm", "*s*", SWITCHES)
            self.assertEqual(result.write("json"), want)
            self.assertRaisesRegex(weft.Error, "no table has a column 'wat'", trace.analyse, "sched", sort="wat")
            self.assertRaisesRegex(weft.Error, "there is no analysis 'shed'", trace.analyse, "shed")
            self.assertRaises(TypeError, trace.analyse, 7)

    def test_a_table_is_arrow(self):
        with weft.open(SWITCHES) as trace:
            table = trace.analyse("sched")["tasks"]
        for _ in range(20):
            self.assertEqual(len(table.__arrow_c_array__()), 2)
            table.__arrow_c_schema__()
        stream = table.__arrow_c_stream__()
        if not os.environ.get("LIBDUCKDB"):
            self.skipTest("LIBDUCKDB names no library")
        import duckdb_by_ctypes

        got = duckdb_by_ctypes.table(os.environ["LIBDUCKDB"], stream)
        text = command("sched", "--format", "csv", "--table", table.name, SWITCHES).decode()
        want = list(csv.reader(io.StringIO(text)))[1 : len(table) + 1]
        self.assertEqual(len(got), len(want))
        for have, row in zip(got, want):
            for value, text in zip(have, row):
                self.assertEqual("" if value is None else value, text if "." not in text else str(float(text)))

    def test_ctrl_c_interrupts_an_analysis(self):
        done = subprocess.run([sys.executable, "-c", TRICK, str(SWITCHES)], stdout=subprocess.PIPE, check=False,
                              timeout=60)
        self.assertEqual(done.stdout, b"interrupted\n")


class Figures(TestCase):
    """The figures of the table of tasks, from columns."""

    def test_figures_of_tasks_follow_from_columns_with_numpy(self):
        try:
            import numpy as np
        except ImportError:
            self.skipTest("numpy is not here")
        with weft.open(SESSION) as trace:
            switches = {k: np.asarray(v) for k, v in trace.columns("ts cpu prev_pid next_pid", "sched_switch").to_dict().items()}
            everything = {k: np.asarray(v) for k, v in trace.columns("ts cpu").to_dict().items()}
        run = {}
        for cpu in np.unique(everything["cpu"]):
            here = switches["cpu"] == cpu
            ts = switches["ts"][here]
            # From the first event on the task that the first switch leaves ran, and the last one runs to the end.
            edges = np.concatenate(([everything["ts"].min()], ts, [everything["ts"].max()]))
            pids = np.concatenate((switches["prev_pid"][here][:1], switches["next_pid"][here]))
            for pid, lasted in zip(pids, np.diff(edges)):
                run[int(pid)] = run.get(int(pid), 0) + int(lasted)
        want = json.loads(command("sched", "--format", "json", SESSION))["tasks"]
        self.assertEqual({row["pid"]: run[row["pid"]] for row in want}, {row["pid"]: row["run_ns"] for row in want})


if __name__ == "__main__":
    unittest.main()
