# SPDX-License-Identifier: GPL-2.0-only
# parquet.py JSONL ROWS: the rows that duckdb.js --files read must equal the lines of jsonl: each row of each type, in
# order, with all its values.
import json
import sys

OWN = ('ts', 'cpu', 'pid', 'comm', 'tgid', 'flags', 'preempt_count', 'instance')


def text(value):
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, separators=(',', ':'))


def wanted(line):
    event = json.loads(line)
    if event['event'] == 'lost':
        return 'lost', {'ts': event['ts'], 'cpu': event['cpu'], 'count': event.get('lost'), 'instance': event.get('instance', '')}
    row = {'ts': event['ts'], 'cpu': event['cpu'], 'pid': event['pid'], 'instance': event.get('instance') or '',
           'comm': None if event['comm'] in ('<...>', '<XXX>') else event['comm']}
    for name, value in event['fields'].items():
        row['field_' + name if name in OWN else name] = value
    return event['event'], row


def main():
    want = {}
    for line in open(sys.argv[1], encoding='utf-8'):
        name, row = wanted(line)
        want.setdefault(name, []).append({key: text(value) for key, value in row.items()})
    got = {}
    for line in open(sys.argv[2], encoding='utf-8'):
        name, row = json.loads(line)
        if name == 'who':
            continue
        got.setdefault(name, []).append({key: value for key, value in row.items() if key not in ('tgid', 'flags', 'preempt_count')})
    assert set(got) == set(want), set(got) ^ set(want)
    for name, rows in want.items():
        assert len(rows) == len(got[name]), (name, len(rows), len(got[name]))
        for one, other in zip(rows, got[name]):
            assert one == other, (name, one, other)
    print(sum(len(rows) for rows in want.values()))


main()
