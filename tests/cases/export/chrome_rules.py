# SPDX-License-Identifier: GPL-2.0-only
"""chrome_rules.py FILE... (or -): applies the rules by which catapult's importer and Perfetto's JSON importer read a trace
of Chrome's format, and prints how many slices and instants they would show. A broken rule is a line on standard error, and
the status is 1. It shares nothing with weft. The rules:
- the file is one JSON object with traceEvents; each event has ph, pid and tid as integers, and all but metadata have ts;
- ts and dur are numbers of us that stay exact to the ns as doubles of the importer; dur is not negative;
- complete slices (X) of a row nest: one that begins inside another ends inside it;
- B and E of a row are balanced, have one name and do not go back in time;
- b and e are pairs with one category, number and name, and do not go back; a counter (C) has numbers;
- instants (i) have a scope: g, p or t; metadata (M) has a name that the importers know, with its argument;
- a row or process that has a name has one name."""
import json
import sys
from decimal import Decimal

NAMES = {'process_name': ('name', str), 'process_sort_index': ('sort_index', int), 'process_labels': ('labels', str),
         'thread_name': ('name', str), 'thread_sort_index': ('sort_index', int)}


class Rules:
    def __init__(self, path):
        self.path, self.broken = path, {}

    def breaks(self, rule, example=''):
        count, first = self.broken.get(rule, (0, example))
        self.broken[rule] = (count + 1, first)

    def ns(self, event, key):
        value = event.get(key)
        if isinstance(value, bool) or not isinstance(value, (int, Decimal)):
            self.breaks(key + ' is no number', repr(event)[:120])
            return 0
        exact = Decimal(value) * 1000
        if exact != exact.to_integral_value():
            self.breaks(key + ' is finer than 1 ns', value)
        # The importer holds a double.
        if round(Decimal(float(value)) * 1000) != exact:
            self.breaks(key + ' is not the same as a double', value)
        return int(exact)

    def see(self, trace):
        rows, slices, pairs, counts = {}, {}, {}, {'slices': 0, 'instants': 0}
        names = {}
        if not isinstance(trace, dict) or not isinstance(trace.get('traceEvents'), list):
            self.breaks('no object with traceEvents')
            return counts
        for event in trace['traceEvents']:
            kind, where = event.get('ph'), (event.get('pid'), event.get('tid'))
            if not isinstance(where[0], int) or (where[1] is not None or kind != 'M') and not isinstance(where[1], int):
                self.breaks('pid or tid is no integer', where)
            if not isinstance(event.get('args', {}), dict):
                self.breaks('args is no object')
            if kind == 'M':
                key, type_ = NAMES.get(event.get('name'), (None, None))
                value = event.get('args', {}).get(key)
                if key is None or not isinstance(value, type_):
                    self.breaks('metadata that no importer knows', event.get('name'))
                place = (where if event.get('name', '').startswith('thread') else where[0], event.get('name'))
                if names.setdefault(place, value) != value:
                    self.breaks('two names', (place, names[place], value))
                continue
            at = self.ns(event, 'ts')
            if not isinstance(event.get('name'), str):
                self.breaks('no name', kind)
            if kind == 'X':
                dur = self.ns(event, 'dur')
                if dur < 0:
                    self.breaks('dur is negative', dur)
                slices.setdefault(where, []).append((at, -dur, event['name']))
            elif kind == 'B':
                rows.setdefault(where, []).append((at, event['name']))
            elif kind == 'E':
                row = rows.setdefault(where, [])
                began, name = row.pop() if row else (at, None)
                if name != event['name']:
                    self.breaks('an end that is not of the innermost slice', (where, name, event['name']))
                if began > at:
                    self.breaks('a slice ends before it begins', (where, name))
                counts['slices'] += 1
            elif kind in ('b', 'e'):
                key = (event.get('cat'), event.get('id'), event['pid'])
                if None in key or (kind == 'b') == (key in pairs):
                    self.breaks('a pair is not one', key)
                elif kind == 'b':
                    pairs[key] = (at, event['name'])
                else:
                    began, name = pairs.pop(key)
                    if began > at or name != event['name']:
                        self.breaks('a pair goes back, or has two names', (key, name))
                counts['slices'] += kind == 'e'
            elif kind == 'C':
                if not event.get('args') or not all(isinstance(value, int) for value in event['args'].values()):
                    self.breaks('a counter without numbers', event['name'])
            elif kind == 'i':
                if event.get('s') not in ('g', 'p', 't'):
                    self.breaks('an instant without its scope', event['name'])
                counts['instants'] += 1
            else:
                self.breaks('a kind that weft does not write', kind)
        if any(rows.values()) or pairs:
            self.breaks('a slice does not end')
        for where, row in slices.items():
            stack = []
            for at, dur, name in sorted(row):
                while stack and stack[-1] <= at:
                    stack.pop()
                if stack and at - dur > stack[-1]:
                    self.breaks('a slice crosses another', (where, name, at))
                stack.append(at - dur)
            counts['slices'] += len(row)
        return counts


def main():
    status = 0
    for path in sys.argv[1:]:
        rules = Rules(path)
        with (sys.stdin if path == '-' else open(path)) as text:
            counts = rules.see(json.load(text, parse_float=Decimal))
        print(path, *('%s=%d' % each for each in sorted(counts.items())))
        for rule, (count, example) in sorted(rules.broken.items()):
            print('%s: %s: %d times%s' % (path, rule, count, ', such as %s' % (example,) if example != '' else ''), file=sys.stderr)
            status = 1
    return status


sys.exit(main())
