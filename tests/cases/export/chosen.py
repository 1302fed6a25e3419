#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""chosen.py WEFT FILE OPTION...: how long the chosen tasks ran, in ns and all together, as each command and export that
shows it says: a line for each. The first one is weft sched."""
import json
import subprocess
import sys
from decimal import Decimal

WEFT, FILE, WORDS = sys.argv[1], sys.argv[2], sys.argv[3:]


def weft(*words):
    return subprocess.run([WEFT, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout.decode()


def export(name):
    return json.loads(weft('export', '-q', '--to', name, '-o', '-', *WORDS, FILE), parse_float=Decimal)


def sched():
    return sum(task['run_ns'] for task in json.loads(weft('sched', '--self', '--top', '0', '--format', 'json', *WORDS, FILE))['tasks'])


def sql():
    # The rows of who go on to the last event, which may be of a task that is not chosen.
    query = """SELECT sum(coalesce(dur, (SELECT max(ts + dur) FROM who) - ts)) AS ns FROM sched JOIN thread USING (utid)
               WHERE tid != 0"""
    return json.loads(weft('sql', '-q', '--format', 'json', *WORDS, FILE, query))[0]['ns']


def chrome():
    """The rows of CPUs are threads of process 0, those of their interrupts begin later."""
    return sum(int(line['dur'] * 1000) for line in export('chrome')['traceEvents']
               if line['ph'] == 'X' and line['pid'] == 0 and line['tid'] < 64 and not line['name'].startswith('swapper'))


def firefox():
    profile = export('firefox')
    running = [category['name'] for category in profile['meta']['categories']].index('Running')
    total = Decimal(0)
    for thread in profile['threads']:
        markers = thread['markers']
        total += sum(to - since for since, to, category in zip(markers['startTime'], markers['endTime'], markers['category'])
                     if category == running)
    return int(total * 1000000)


for ask in (sched, sql, chrome, firefox):
    print(ask.__name__, ask())
