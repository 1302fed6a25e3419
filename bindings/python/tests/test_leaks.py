# SPDX-License-Identifier: LGPL-2.1-or-later
"""What was used is freed: references, and memory."""
import ctypes
import gc
import os
import sys
import unittest

import weft
from common import SWITCHES, TestCase

EVENTS = 100_000
ROUNDS = 4


class Allocations(ctypes.Structure):
    """struct mallinfo2 of malloc.h, glibc 2.33."""
    _fields_ = [(name, ctypes.c_size_t) for name in
                "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]


def allocated():
    """The bytes that malloc() gave and that were not freed, 0 where the C library does not tell."""
    mallinfo2 = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if mallinfo2 is None:
        return 0
    mallinfo2.restype = Allocations
    now = mallinfo2()
    return now.uordblks + now.hblkhd


def address_space():
    """The bytes of all mappings. How many of their pages are resident is the kernel's choice, and no leak."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")


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
        passes = 0
        with weft.open(SWITCHES) as trace:
            for _ in range(5):
                use(trace)
            gc.collect()
            references, given = self.references(trace), allocated()
            mapped = [address_space()]
            for _ in range(ROUNDS):
                seen = 0
                while seen < EVENTS // ROUNDS:
                    seen += use(trace)
                    passes += 1
                gc.collect()
                mapped.append(address_space())
            # One reference that each pass leaves is a leak; the interpreter itself takes and gives some of None meanwhile.
            for name, before, after in zip(self.watched(trace), references, self.references(trace)):
                self.assertLess(after - before, passes // 2, repr(name))
            self.assertLess(allocated() - given, 1 << 20, "bytes that were not freed")
            # A leak grows in every round. The C library keeps stacks of threads, which are as many as ran at once by chance.
            grown = [after - before for before, after in zip(mapped, mapped[1:])]
            self.assertLess(min(grown), 1 << 20, "bytes of mappings")

    def references(self, trace):
        return [sys.getrefcount(x) for x in self.watched(trace)]

    def watched(self, trace):
        # From Python 3.12 on these are immortal: the interpreter no longer counts, while a module of the stable ABI does.
        mortal = [x for x in (None, True) if sys.getrefcount(x) < 1 << 28]
        return [trace, *mortal, weft.Event, weft.Events, weft.Trace, weft.Columns, weft.Ragged, weft.Result, weft.Table,
                "next_pid"]


if __name__ == "__main__":
    unittest.main()
