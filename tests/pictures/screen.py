#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Draws a screen of weft view as SVG: screen.py WEFT FILE WIDTHxHEIGHT AWAIT KEY... > OUT.svg

tmux emulates the terminal and types the keys; the picture is taken when the screen has the text AWAIT and stands still. It
stands still when weft and tmux have nothing to do, however slow the machine is.
"""
import html
import os
import re
import subprocess
import sys
import time

# The colours of a dark terminal: the sixteen, and the default ones.
COLOURS = ("#1c1c1c #d75f5f #87af5f #d7af5f #5f87d7 #af87d7 #5fafaf #bcbcbc "
           "#6c6c6c #ff8787 #afd787 #ffd787 #87afff #d7afff #87d7d7 #ffffff").split()
INK, PAPER = "#d0d0d0", "#1c1c1c"
WIDTH, HEIGHT, SIZE = 8.4, 17, 14


def colour(codes):
    """The colour after 38 or 48, which takes its part of the codes."""
    kind = codes.pop(0)
    if kind == 2:
        return "#%02x%02x%02x" % (codes.pop(0), codes.pop(0), codes.pop(0))
    number = codes.pop(0)
    if number < 16:
        return COLOURS[number]
    if number >= 232:
        return "#" + "%02x" % (8 + 10 * (number - 232)) * 3
    number -= 16
    return "#" + "".join("%02x" % (55 + 40 * part if part else 0) for part in (number // 36, number // 6 % 6, number % 6))


class Pen:
    def __init__(self):
        self.reset()

    def reset(self):
        self.ink, self.paper, self.bold, self.dim, self.reverse, self.under = None, None, False, False, False, False

    def take(self, codes):
        codes = [int(code or 0) for code in codes.split(";")]
        while codes:
            code = codes.pop(0)
            if code == 0:
                self.reset()
            elif code in (1, 2, 4, 7):
                setattr(self, {1: "bold", 2: "dim", 4: "under", 7: "reverse"}[code], True)
            elif code == 22:
                self.bold = self.dim = False
            elif code in (24, 27):
                setattr(self, {24: "under", 27: "reverse"}[code], False)
            elif 30 <= code <= 37 or 90 <= code <= 97:
                self.ink = COLOURS[code - 30 if code < 90 else code - 82]
            elif 40 <= code <= 47 or 100 <= code <= 107:
                self.paper = COLOURS[code - 40 if code < 100 else code - 92]
            elif code == 38:
                self.ink = colour(codes)
            elif code == 48:
                self.paper = colour(codes)
            elif code == 39:
                self.ink = None
            elif code == 49:
                self.paper = None

    def colours(self):
        ink, paper = self.ink or INK, self.paper or PAPER
        return (paper, ink) if self.reverse else (ink, paper)


def runs(line, pen):
    """The parts of a line that look alike: (column, text, ink, paper, weight, opacity)."""
    column = 0
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        if part.startswith("\x1b"):
            pen.take(part[2:-1])
        elif part:
            ink, paper = pen.colours()
            yield column, part, ink, paper, pen.bold, pen.dim
            column += len(part)


def svg(lines, width):
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %d" font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" '
           'font-size="%d">' % (width * WIDTH + 16, len(lines) * HEIGHT + 16, SIZE),
           '<rect width="100%%" height="100%%" rx="6" fill="%s"/>' % PAPER]
    pen = Pen()
    for row, line in enumerate(lines):
        for column, text, ink, paper, bold, dim in runs(line, pen):
            x, y = 8 + column * WIDTH, 8 + row * HEIGHT
            if paper != PAPER:
                out.append('<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>' % (x, y, len(text) * WIDTH, HEIGHT, paper))
            if text.strip():
                out.append('<text x="%.1f" y="%d" textLength="%.1f" xml:space="preserve" fill="%s"%s%s>%s</text>' % (
                    x, y + 13, len(text) * WIDTH, ink, ' font-weight="bold"' if bold else "", ' opacity=".6"' if dim else "",
                    html.escape(text)))
    return "\n".join(out + ["</svg>"])


def threads(pid):
    """The directories in /proc of all threads of a process and of its children."""
    try:
        for tid in os.listdir("/proc/%d/task" % pid):
            path = "/proc/%d/task/%s" % (pid, tid)
            yield path
            with open(path + "/children", encoding="ascii") as children:
                for child in children.read().split():
                    yield from threads(int(child))
    except OSError:
        return  # it has ended


def is_idle(pid):
    """Whether each thread sleeps."""
    for path in threads(pid):
        try:
            with open(path + "/stat", encoding="ascii", errors="replace") as stat:
                if stat.read().rpartition(") ")[2][0] != "S":
                    return False
        except OSError:
            return False
    return True


def main():
    weft, path, size, awaited, *keys = sys.argv[1:]
    width, height = map(int, size.split("x"))
    tmux = ["tmux", "-L", "weft-picture-%d" % os.getpid(), "-f", "/dev/null"]
    env = {name: value for name, value in os.environ.items() if name not in ("TMUX", "NO_COLOR")}
    env["LC_ALL"] = "C.UTF-8"

    def screen(*options):
        return subprocess.run(tmux + ["capture-pane", "-p", *options], check=True, capture_output=True, text=True).stdout

    def still(text):
        before, pids = "", [int(pid) for pid in subprocess.run(
            tmux + ["display-message", "-p", "#{pid} #{pane_pid}"], check=True, capture_output=True, text=True).stdout.split()]
        for _ in range(1000):
            # tmux hands on what was typed, and weft takes it, before both sleep.
            idle = all(map(is_idle, pids))
            shown = screen()
            if idle and text in shown and shown == before:
                return
            before = shown if idle else ""
            time.sleep(0.1)
        sys.exit("picture: the screen never had: " + text)

    subprocess.run(tmux + ["new-session", "-d", "-x", str(width), "-y", str(height), weft, "view", path], check=True, env=env)
    try:
        still("? keys")
        for key in keys:
            subprocess.run(tmux + ["send-keys", key], check=True)
            still("")
        still(awaited)
        print(svg(screen("-e").rstrip("\n").split("\n"), width))
    finally:
        subprocess.run(tmux + ["kill-server"], check=False)


main()
