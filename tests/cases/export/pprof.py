#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# pprof.py TYPE: reads a pprof profile as protoc decodes it from standard input and prints it as folded stacks. Checks
# that each reference between its objects has a target.
import ast
import re
import sys

root = {}
stack = [root]
for line in sys.stdin:
    line = line.strip()
    if line == '}':
        stack.pop()
    elif line.endswith('{'):
        message = {}
        stack[-1].setdefault(line[:-1].strip(), []).append(message)
        stack.append(message)
    elif line:
        name, value = re.match(r'(\w+): (.*)', line).groups()
        value = ast.literal_eval('b' + value).decode() if value.startswith('"') else value == 'true' if value in ('true', 'false') else int(value)
        stack[-1].setdefault(name, []).append(value)

strings = root['string_table']
assert strings[0] == ''
functions = {f['id'][0]: strings[f['name'][0]] if 'name' in f else '' for f in root['function']}
locations = {}
for location in root['location']:
    assert location['id'][0] > 0 and location['mapping_id'] == [root['mapping'][0]['id'][0]]
    locations[location['id'][0]] = functions[location['line'][0]['function_id'][0]]
types = [strings[t['type'][0]] for t in root['sample_type']]
assert strings[root['default_sample_type'][0]] == types[0]
units = {'self-time': 'nanoseconds', 'off-cpu': 'nanoseconds', 'count': 'count'}
assert [strings[t['unit'][0]] for t in root['sample_type']] == [units[t] for t in types]
column = types.index(sys.argv[1]) if len(sys.argv) > 1 else 0
# The stacks of processes of one name stand apart, with labels; folded has their sum. pprof.py TYPE LABEL sums up by label.
sums = {}
for sample in root.get('sample', []):
    assert len(sample['value']) == len(types)
    if not sample['value'][column]:
        continue
    name = ';'.join(locations[i].replace(';', ':') for i in reversed(sample['location_id']))
    labels = {strings[label['key'][0]]: str(label['num'][0]) if 'num' in label else strings[label['str'][0]] for label in sample.get('label', [])}
    assert '' not in labels.values()
    if len(sys.argv) > 2:
        name = labels.get(sys.argv[2], '-')
    sums[name] = sums.get(name, 0) + sample['value'][column]
for name, value in sums.items():
    print(name, value)
