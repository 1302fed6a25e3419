# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the tests share: the files, and the command that says what is right. WEFT is the command, TRACES the files."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[3]
GOLDEN = ROOT / "tests/fixtures/golden"
SWITCHES = GOLDEN / "6.12-events-sched.dat"
DEMO = ROOT / "tests/fixtures/demo.dat"
WEFT = os.environ.get("WEFT", str(ROOT / "build/weft"))


def weft(*args, ok=(0,)):
    """The output of the command."""
    done = subprocess.run([WEFT, *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    assert done.returncode in ok, (args, done.returncode, done.stderr)
    return done.stdout


def rows(*args):
    """The lines of JSON that the command prints."""
    return [json.loads(line) for line in weft(*args, ok=(0, 1)).splitlines()]


def losses():
    """A file in which events were lost: the kernel's text of DEMO, with the kernel's lines about losses in it."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="weft-")) / "lost.dat"
    lines = weft("report", DEMO).decode().splitlines(keepends=True)
    events = [i for i, line in enumerate(lines) if "[001]" in line]
    lines.insert(events[20], "CPU:1 [LOST 12 EVENTS]\n")
    lines.insert(events[10], "CPU:1 [LOST EVENTS]\n")
    path.with_suffix(".txt").write_text("".join(lines))
    weft("import", "-q", "-o", path, path.with_suffix(".txt"))
    return path


def traces():
    """The files that everything has to be equal on."""
    named = os.environ.get("TRACES", "").split()
    return [pathlib.Path(path) for path in named] if named else sorted(GOLDEN.glob("*.dat"))


class TestCase(unittest.TestCase):
    """Damage is a warning, and only the tests of warnings want to see it."""

    def setUp(self):
        catch = warnings.catch_warnings()
        catch.__enter__()
        self.addCleanup(catch.__exit__, None, None, None)
        warnings.simplefilter("ignore")
