# SPDX-License-Identifier: LGPL-2.1-or-later
"""The events of the running kernel: this machine's own, with the tracing that the test asks for."""
import os
import select
import signal
import subprocess
import sys
import time
import unittest

import weft
from common import WEFT

INSTANCES = "/sys/kernel/tracing/instances"


def ours():
    return {name for name in os.listdir(INSTANCES) if name.startswith(f"weft-live-py-{os.getpid()}")}


class Live(unittest.TestCase):
    def setUp(self):
        self.instance = f"weft-live-py-{os.getpid()}"

    def live(self, words, *args, **query):
        return weft.live(f"-B {self.instance} {words}", *args, program=WEFT, **query)

    def test_events_of_a_command(self):
        with self.live("-F -c -e sched:sched_process_exec -- sh -c '/bin/true; /bin/true'") as live:
            names = [event["filename"] for event in live]
            self.assertIn("sched_process_exec", [format.name for format in live.trace.formats])
        self.assertEqual(names[1:], ["/bin/true", "/bin/true"])
        self.assertEqual(ours(), set())

    def test_a_query_chooses_and_words_may_be_a_list(self):
        words = ["-B", self.instance, "-F", "-c", "-e", "sched", "--", "sh", "-c", "/bin/true"]
        with weft.live(words, "sched_process_exec", program=WEFT, filter="filename ~ '*true'") as live:
            self.assertEqual([event["filename"] for event in live], ["/bin/true"])

    def test_stop_and_a_descriptor(self):
        live = self.live("-e sched:sched_switch")
        self.assertTrue(select.select([live], [], [], 60)[0])
        event = next(live)
        copy = event.copy()
        self.assertEqual(copy.name, "sched_switch")
        self.assertIsInstance(copy.wall, (int, type(None)))
        live.stop()
        self.assertGreaterEqual(sum(1 for event in live), 0)
        live.close()
        self.assertEqual(ours(), set())
        self.assertRaises(ValueError, lambda: copy.text)
        self.assertRaises(ValueError, next, live)
        self.assertRaises(ValueError, live.stop)

    def test_ctrl_c_interrupts_the_wait(self):
        live = self.live("-e syscalls:sys_enter_swapoff")
        # The signal comes when the program waits for an event.
        wake = f"import os\nwhile 'poll' not in open('/proc/{os.getpid()}/wchan').read(): pass\nos.kill({os.getpid()}, {signal.SIGINT})"
        waker = subprocess.Popen([sys.executable, "-c", wake])
        self.assertRaises(KeyboardInterrupt, next, live)
        waker.wait()
        live.close()

    def test_analyses_of_the_running_kernel(self):
        words = "--for syscalls -F -c -- dd if=/dev/zero of=/dev/null bs=1 count=3000"
        with self.live(words) as live:
            table = live.analyse("syscalls")["syscalls"]
        calls = dict(zip(table["syscall"], table["calls"]))
        self.assertTrue(3000 <= calls["write"] < 3100)
        seen = []

        def see(result, interval):
            seen.append((len(result), interval))
            self.assertRaises(RuntimeError, live.close)
            self.assertRaises(RuntimeError, next, live)
            if not interval.is_whole:
                live.stop()

        with self.live("--for sched") as live:
            live.intervals("sched", 50_000_000, see)
        self.assertTrue(seen[-1][1].is_whole and seen[-1][0])
        self.assertEqual(sum(i.events for _, i in seen[:-1]), seen[-1][1].events)
        with self.live("--for sched") as live, self.assertRaises(ZeroDivisionError):
            live.intervals("sched", 50_000_000, lambda *_: 1 / 0)
        self.assertEqual(ours(), set())

    def test_what_is_refused(self):
        for words in ("-e no_such_event", "--no-such-option"):
            with self.assertRaises(weft.Error):
                self.live(words)
        self.assertRaises(weft.Error, weft.live, "-e sched", program="/nonexistent")
        self.assertRaises(TypeError, weft.live, "-e sched", nonsense=3)
        self.assertRaises(TypeError, weft.live, [3])

    def test_the_death_of_the_caller(self):
        program = f"import weft, signal\nlive = weft.live('-B {self.instance} -e sched:sched_switch', program='{WEFT}')\nprint(1, flush=True)\nsignal.pause()"
        caller = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
        self.assertEqual(caller.stdout.readline(), b"1\n")
        self.assertEqual(len(ours()), 1)
        caller.kill()
        caller.wait()
        caller.stdout.close()
        end = time.monotonic() + 60
        while ours() and time.monotonic() < end:
            time.sleep(0.01)
        self.assertEqual(ours(), set())


if __name__ == "__main__":
    unittest.main()
