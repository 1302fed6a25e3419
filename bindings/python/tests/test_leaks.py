# SPDX-License-Identifier: LGPL-2.1-or-later
"""What was used is freed: references, and memory."""
import gc
import os
import sys
import unittest

import weft
from common import SWITCHES, TestCase

EVENTS = 100_000


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def use(trace):
    """Everything that a program does with a trace, and what fails."""
    count = 0
    for event in trace.events():
        count += 1
        event.ts, event.cpu, event.comm, event.text, event.name, event.pid, event.stack
        event.fields()
        event.get("next_pid")
        copy = event.copy()
        copy.fields()
        repr(copy)
    columns = trace.columns("ts cpu comm event next_comm next_pid lost text")
    columns.to_dict()["comm"][0]
    columns.__arrow_c_stream__()
    columns.__arrow_c_schema__()
    result = trace.analyse("sched", "latency")
    for table in result:
        list(table)
        table.__arrow_c_stream__()
        table.__arrow_c_array__()
    result.write("text")
    for wrong in (lambda: trace.events("nothing"), lambda: trace.columns("nothing"), lambda: trace.analyse("nothing"),
                  lambda: trace.events(nothing=1), lambda: result["nothing"]):
        try:
            wrong()
        except (weft.Error, TypeError, KeyError):
            pass
    return count


class Leaks(TestCase):
    def test_nothing_is_left_of_100000_events(self):
        seen = 0
        with weft.open(SWITCHES) as trace:
            for _ in range(5):
                seen += use(trace)
            gc.collect()
            references, memory = [sys.getrefcount(x) for x in self.watched(trace)], resident()
            while seen < EVENTS:
                seen += use(trace)
            gc.collect()
            # What others still held may be freed meanwhile.
            for after, before in zip([sys.getrefcount(x) for x in self.watched(trace)], references):
                self.assertLessEqual(after, before)
        self.assertLess(resident() - memory, 8 << 20)

    def watched(self, trace):
        return [trace, None, True, weft.Event, weft.Events, weft.Trace, weft.Columns, weft.Ragged, weft.Result, weft.Table,
                "next_pid"]


if __name__ == "__main__":
    unittest.main()
