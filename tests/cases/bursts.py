# SPDX-License-Identifier: GPL-2.0-only
"""The oracle of time-of-day.bats.

bursts.py N [S]   calls getsid(0) N times, one after the other or within S seconds, and prints CLOCK_REALTIME in ns before and after each call
bursts.py --check PAIRS JSON BOUND-NS   whether each sys_enter of JSON, the lines of 'weft report --format json --time utc', was between its
                  two times, give or take the bound: prints how many were, and the most that one was outside
"""
import datetime
import json
import os
import sys
import time


def burst(number, seconds):
    pairs = []
    for i in range(number):
        before = time.clock_gettime_ns(time.CLOCK_REALTIME)
        os.getsid(0)
        pairs.append((before, time.clock_gettime_ns(time.CLOCK_REALTIME)))
        if seconds:
            time.sleep(seconds / number)
    for before, after in pairs:
        print(before, after)


def instant(text):
    day, ns = text.rstrip('Z').split('.')
    return int(datetime.datetime.fromisoformat(day + '+00:00').timestamp()) * 10**9 + int(ns)


def check(pairs, events, bound):
    times = [instant(json.loads(line)['wall']) for line in open(events)]
    pairs = [tuple(map(int, line.split())) for line in open(pairs)]
    assert len(times) == len(pairs), (len(times), len(pairs))
    outside = [max(before - at, at - after, 0) for at, (before, after) in zip(times, pairs)]
    print(sum(away <= bound for away in outside), max(outside))


if sys.argv[1] == '--check':
    check(sys.argv[2], sys.argv[3], int(sys.argv[4]))
else:
    burst(int(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 0)
