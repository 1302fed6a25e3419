#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# Checks a processed profile of version 60 as Firefox's profiler reads it: lengths of columns, indices, order of times.
# Then prints the figures that are asked for:
#
#	firefox.py sum FILE         the sum of all weights, in ns, or a number of samples
#	firefox.py stacks FILE      folded stacks, by function only
#	firefox.py markers FILE     how many markers there are of each name
#	firefox.py off FILE         ns that each task was blocked and runnable: PID, blocked, runnable
#	firefox.py counters FILE    the values of each counter, one after the other
import collections
import decimal
import itertools
import json
import sys

what, path = sys.argv[1:]
profile = json.load(open(path, encoding='utf-8'), parse_float=decimal.Decimal)
meta, shared = profile['meta'], profile['shared']
strings = shared['stringArray']


def table(columns, but=()):
    for name, column in columns.items():
        if isinstance(column, list):
            assert len(column) == columns['length'], (name, len(column), columns['length'])
    return columns


def indices(column, bound):
    assert all(value is None or 0 <= value < bound for value in column), (bound, column[:10])


assert meta['preprocessedProfileVersion'] == 60
for name in ('stackTable', 'frameTable', 'funcTable', 'resourceTable', 'nativeSymbols', 'sources'):
    table(shared[name])
stacks, frames, funcs = shared['stackTable'], shared['frameTable'], shared['funcTable']
indices(stacks['frame'], frames['length'])
indices(frames['func'], funcs['length'])
indices(funcs['name'], len(strings))
indices(stacks['category'] + frames['category'], len(meta['categories']))
assert all(prefix is None or prefix < i for i, prefix in enumerate(stacks['prefix']))

total, markers, folded = decimal.Decimal(0), collections.Counter(), collections.Counter()
assert len({(thread['pid'], thread['tid']) for thread in profile['threads']}) == len(profile['threads'])
for thread in profile['threads']:
    samples, marks = table(thread['samples']), table(thread['markers'])
    indices(samples['stack'], stacks['length'])
    assert samples['time'] == sorted(samples['time'])
    assert marks['startTime'] == sorted(marks['startTime'])
    indices(marks['name'], len(strings))
    indices(marks['category'], len(meta['categories']))
    for phase, start, end, data in zip(marks['phase'], marks['startTime'], marks['endTime'], marks['data']):
        assert (phase, end) == (0, None) or (phase == 1 and end >= start), (phase, start, end)
        assert data['type'] == meta['markerSchema'][0]['name']
    markers.update(strings[name] for name in marks['name'])
    unit = 1000000 if samples['weightType'] == 'tracing-ms' else 1
    for stack, weight in zip(samples['stack'], samples['weight']):
        total += weight * unit
        names = []
        while stack is not None:
            names.append(strings[funcs['name'][frames['func'][stacks['frame'][stack]]]])
            stack = stacks['prefix'][stack]
        assert names[-1] == thread['name'], (names, thread['name'])
        folded[';'.join(reversed(names[:-1]))] += int(weight * unit)

values = {}
for counter in profile['counters']:
    samples = table(counter['samples'])
    assert 0 <= counter['mainThreadIndex'] < len(profile['threads'])
    assert samples['time'] == sorted(samples['time'])
    values[counter['name']] = list(itertools.accumulate(samples['count']))

if what == 'off':
    off = collections.defaultdict(collections.Counter)
    for thread in profile['threads']:
        for stack, weight in zip(thread['samples']['stack'], thread['samples']['weight']):
            off[thread['tid']][strings[funcs['name'][frames['func'][stacks['frame'][stack]]]]] += int(weight * 1000000)
    for tid, times in sorted(off.items()):
        assert set(times) <= {'[blocked]', '[runnable]'}
        print(tid, times['[blocked]'], times['[runnable]'])
elif what == 'counters':
    for name, column in sorted(values.items()):
        print(name, *column)
elif what == 'sum':
    print(int(total))
elif what == 'markers':
    for name, count in sorted(markers.items()):
        print(name, count)
else:
    for stack, weight in sorted(folded.items()):
        print(stack, weight)
