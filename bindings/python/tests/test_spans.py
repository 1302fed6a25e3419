# SPDX-License-Identifier: LGPL-2.1-or-later
"""Marks of a Python program: a file takes the place of trace_marker."""
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM = """
import weft
try:
    with weft.span("outer") as outer:
        with weft.span("req", cookie=4711):
            weft.counter("queue", -3)
        weft.instant("tick")
        raise KeyError
except KeyError:
    pass
for wrong in (lambda: weft.span(), lambda: weft.span(7), lambda: weft.span("x", "y"), lambda: weft.counter("q"),
              lambda: weft.span("x", 1 << 70)):
    try:
        wrong()
    except (TypeError, OverflowError):
        continue
    raise SystemExit("it was taken")
"""


class Spans(unittest.TestCase):
    def test_words(self):
        with tempfile.NamedTemporaryFile("wb") as file:
            fd = os.open(file.name, os.O_WRONLY)
            process = subprocess.Popen([sys.executable, "-c", PROGRAM], pass_fds=[fd], env={**os.environ, "WEFT_MARKER_FD": str(fd)})
            self.assertEqual(process.wait(), 0)
            os.close(fd)
            with open(file.name) as text:
                self.assertEqual(text.read().replace(str(process.pid), "PID"),
                                 "B|PID|outerS|PID|req|4711C|PID|queue|-3F|PID|req|4711I|PID|tickE|PID")

    def test_nobody_records(self):
        env = {**os.environ, "WEFT_MARKER_FD": ""}
        code = "import weft\nwith weft.span('x'): pass"
        self.assertEqual(subprocess.call([sys.executable, "-c", code], env=env), 0)


if __name__ == "__main__":
    unittest.main()
