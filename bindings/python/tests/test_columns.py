# SPDX-License-Identifier: LGPL-2.1-or-later
"""Columns are those of weft export, and consumers that are not weft read them."""
import csv
import ctypes
import io
import os
import unittest

import weft
from common import SWITCHES, TestCase, losses, traces
from common import weft as command

OWN = ["ts", "cpu", "pid", "comm", "tgid", "preempt_count", "instance", "system", "event", "lost", "text"]


def exported(path, names, *options):
    text = command("export", "--to", "csv", "--fields", ",".join(names), "-o", "-", *options, path, ok=(0, 1))
    return list(csv.DictReader(io.StringIO(text.decode(), newline="")))


def shown(values, name):
    """A column as CSV has it: None is empty, and a task without a name is <...>."""
    none = "<...>" if name == "comm" else ""
    return [none if value is None else str(value) for value in values]


def with_nulls(columns, name):
    valid = columns.get(name + "_valid")
    values = columns[name]
    return list(values) if valid is None else [v if ok else None for v, ok in zip(values, valid)]


class Columns(TestCase):
    def test_own_columns_are_those_of_export_csv(self):
        for path in traces() + [losses()]:
            with self.subTest(path=path.name), weft.open(path) as trace:
                columns = trace.columns(OWN).to_dict()
                want = exported(path, OWN)
                for name in OWN:
                    got = shown(with_nulls(columns, name), name)
                    if name == "comm":
                        got = [g if row["event"] != "lost" else "" for g, row in zip(got, want)]
                    self.assertEqual(got, [row[name] for row in want], name)

    def test_fields_are_those_of_export_csv(self):
        names = ["ts", "next_pid", "next_comm", "prev_state"]
        with weft.open(SWITCHES) as trace:
            columns = trace.columns("ts,next_pid, next_comm prev_state", "sched_switch").to_dict()
            want = exported(SWITCHES, names, "-e", "sched_switch")
            self.assertTrue(want)
            for name in names:
                self.assertEqual(shown(with_nulls(columns, name), name), [row[name] for row in want])

    def test_a_field_that_only_some_events_have_is_null_elsewhere(self):
        with weft.open(SWITCHES) as trace:
            columns = trace.columns("event next_pid").to_dict()
            want = exported(SWITCHES, ["event", "next_pid"])
            self.assertEqual(shown(with_nulls(columns, "next_pid"), "next_pid"), [row["next_pid"] for row in want])
            self.assertIn("next_pid_valid", columns)
            self.assertNotIn("ts_valid", trace.columns("ts").to_dict())

    def test_numbers_are_wrapped_without_a_copy_and_cannot_be_changed(self):
        with weft.open(SWITCHES) as trace:
            ts = trace.columns("ts").to_dict()["ts"]
        self.assertEqual((ts.format, ts.itemsize, ts.readonly), ("q", 8, True))
        try:
            import numpy
        except ImportError:
            self.skipTest("numpy is not here")
        array = numpy.asarray(ts)
        self.assertEqual(array.dtype, numpy.int64)
        self.assertEqual(array.__array_interface__["data"][0], ctypes.addressof(ctypes.c_char.from_buffer(ts.obj)))

    def test_columns_can_be_read_again_and_outlive_the_trace(self):
        with weft.open(SWITCHES) as trace:
            columns = trace.columns("ts cpu")
            first, second = columns.to_dict(), columns.to_dict()
        self.assertEqual(first["ts"].tolist(), second["ts"].tolist())
        self.assertRaisesRegex(ValueError, "closed", columns.to_dict)

    def test_wrong_names_are_errors(self):
        with weft.open(SWITCHES) as trace:
            self.assertRaisesRegex(weft.Error, "no event has a field 'next_pod'; did you mean 'next_pid'",
                                   trace.columns, "next_pod", "sched_switch")
            self.assertRaisesRegex(weft.Error, "'ts' is listed twice", trace.columns, "ts ts")
            self.assertRaisesRegex(weft.Error, "no columns are named", trace.columns, "")
            self.assertRaisesRegex(weft.Error, "'fields' is no column of one type", trace.columns, "fields")
            self.assertRaises(TypeError, trace.columns, [1])


class Schema(ctypes.Structure):
    pass


Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_void_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(Schema))),
    ("dictionary", ctypes.c_void_p),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Schema))),
    ("private_data", ctypes.c_void_p),
]


class Arrow(TestCase):
    """The structures as the specification has them."""

    def test_schema_names_the_types(self):
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        with weft.open(SWITCHES) as trace:
            capsule = trace.columns("ts cpu next_comm prev_state lost", "sched_switch").__arrow_c_schema__()
        schema = Schema.from_address(pointer(capsule, b"arrow_schema"))
        self.assertEqual((schema.format, schema.n_children), (b"+s", 5))
        children = [schema.children[i].contents for i in range(5)]
        self.assertEqual([(child.name, child.format, child.flags) for child in children],
                         [(b"ts", b"l", 0), (b"cpu", b"i", 0), (b"next_comm", b"u", 2), (b"prev_state", b"l", 2),
                          (b"lost", b"l", 2)])

    def test_a_stream_that_nobody_reads_is_released(self):
        with weft.open(SWITCHES) as trace:
            columns = trace.columns("ts")
            for _ in range(100):
                columns.__arrow_c_stream__()
                columns.__arrow_c_schema__()


def consumer():
    """A library that reads Arrow and is not weft; None: there is none."""
    for name in ("pyarrow", "polars", "duckdb"):
        try:
            return name, __import__(name)
        except ImportError:
            continue
    return None


class Consumers(TestCase):
    def test_a_consumer_reads_what_export_prints(self):
        found = consumer()
        if not found:
            self.skipTest("neither pyarrow nor polars nor duckdb is here")
        names = ["ts", "cpu", "next_comm", "next_pid"]
        with weft.open(SWITCHES) as trace:
            columns = trace.columns(names, "sched_switch")
            kind, library = found
            if kind == "pyarrow":
                got = library.RecordBatchReader.from_stream(columns).read_all().to_pydict()
            elif kind == "polars":
                got = library.DataFrame(columns).to_dict(as_series=False)
            else:
                got = {name: [row[i] for row in library.sql("select * from columns").fetchall()]
                       for i, name in enumerate(names)}
        for name in names:
            self.assertEqual(shown(got[name], name), [row[name] for row in exported(SWITCHES, names, "-e", "sched_switch")])


class DuckDB(TestCase):
    """The C library of DuckDB takes a stream; LIBDUCKDB is its path."""

    def test_duckdb_reads_what_export_prints(self):
        path = os.environ.get("LIBDUCKDB")
        if not path:
            self.skipTest("LIBDUCKDB names no library")
        import duckdb_by_ctypes

        names = ["ts", "cpu", "pid", "comm", "event", "next_comm", "next_pid", "prev_state", "lost"]
        for trace_path in (SWITCHES, losses()):
            with self.subTest(path=trace_path.name), weft.open(trace_path) as trace:
                got = duckdb_by_ctypes.table(path, trace.columns(names).__arrow_c_stream__())
                want = exported(trace_path, names)
                self.assertEqual(len(got), len(want))
                for have, row in zip(got, want):
                    if row["comm"] in ("<...>",):
                        row["comm"] = ""
                    self.assertEqual(["" if value is None else value for value in have], [row[name] for name in names])


if __name__ == "__main__":
    unittest.main()
