# SPDX-License-Identifier: GPL-2.0-only
# Reads a Perfetto trace as protoc --decode prints it, and prints figures of it:
# perfetto.py counts|switches|nesting|lost|names|calls FILE
import re
import sys


def read(lines):
    """Messages as lists of (name, value)."""
    message = []
    for line in lines:
        line = line.strip()
        if line == '}':
            return message
        if line.endswith('{'):
            message.append((line[:-1].strip(), read(lines)))
        else:
            name, value = line.split(': ', 1)
            message.append((name, value))
    return message


def all_of(message, name):
    return [value for key, value in message if key == name]


def one(message, name, default=None):
    return (all_of(message, name) or [default])[0]


def bundles(packets):
    for packet in packets:
        yield from all_of(packet, 'ftrace_events')


def described(packets):
    names = {}
    for bundle in bundles(packets):
        for each in all_of(bundle, 'generic_event_descriptors'):
            assert one(each, 'field_id') not in names
            names[one(each, 'field_id')] = one(one(each, 'event_descriptor'), 'name').strip('"')
    return names


def events(packets):
    for bundle in bundles(packets):
        for event in all_of(bundle, 'event'):
            rest = [(key, value) for key, value in event if key not in ('timestamp', 'pid')]
            assert len(rest) == 1, event
            yield int(one(bundle, 'cpu')), event, rest[0][0], rest[0][1]


def counts(packets):
    names, seen = described(packets), {}
    for _, _, name, _ in events(packets):
        name = names.get(name, name)
        assert not name.isdigit(), name
        seen[name] = seen.get(name, 0) + 1
    for name in sorted(seen):
        print(name, seen[name])


def switches(packets):
    for _, event, name, fields in sorted(events(packets), key=lambda each: int(one(each[1], 'timestamp'))):
        if name == 'sched_switch':
            print(' '.join('%s=%s' % (key, one(fields, key).strip('"')) for key in ('prev_comm', 'prev_pid', 'prev_prio')), '==>',
                  ' '.join('%s=%s' % (key, one(fields, key).strip('"')) for key in ('next_comm', 'next_pid', 'next_prio')))


def nesting(packets):
    """The number of calls of the function graph and of slices; each must end the innermost open one."""
    open_calls, calls, last = {}, 0, {}
    symbols = set()
    for packet in packets:
        for interned in all_of(packet, 'interned_data'):
            for symbol in all_of(interned, 'kernel_symbols'):
                symbols.add(one(symbol, 'iid'))
    for cpu, event, name, fields in sorted(events(packets), key=lambda each: int(one(each[1], 'timestamp'))):
        track = one(event, 'pid') if one(event, 'pid') != '0' else 'idle %d' % cpu
        stack = open_calls.setdefault(track, [])
        if name in ('funcgraph_entry', 'funcgraph_exit'):
            assert one(fields, 'func') in symbols
        if name == 'funcgraph_entry':
            assert not stack or int(stack[-1][1]) < int(one(fields, 'depth'))
            stack.append((one(fields, 'func'), one(fields, 'depth')))
        elif name == 'funcgraph_exit':
            assert stack.pop() == (one(fields, 'func'), one(fields, 'depth'))
            calls += 1
    slices = {}
    for packet in packets:
        for event in all_of(packet, 'track_event'):
            uuid = one(event, 'track_uuid')
            assert int(one(packet, 'timestamp')) >= last.get(uuid, 0)
            last[uuid] = int(one(packet, 'timestamp'))
            if one(event, 'type') == '1':
                slices[uuid] = slices.get(uuid, 0) + 1
            elif one(event, 'type') == '2':
                slices[uuid] -= 1
                assert slices[uuid] >= 0
                calls += 1
    assert not any(open_calls.values()) and not any(slices.values())
    print(calls)


def lost(packets):
    tracks = {}
    for packet in packets:
        for track in all_of(packet, 'track_descriptor'):
            tracks[one(track, 'uuid')] = one(track, 'name').strip('"')
        for event in all_of(packet, 'track_event'):
            if one(event, 'type') == '3':
                print(tracks[one(event, 'track_uuid')] + ': ' + one(event, 'name').strip('"'))
    print(sum(one(bundle, 'lost_events') == 'true' for bundle in bundles(packets)), 'bundles')


def names(packets):
    for packet in packets:
        for tree in all_of(packet, 'process_tree'):
            for thread in all_of(tree, 'threads'):
                print(one(thread, 'tid'), one(thread, 'name').strip('"'), one(thread, 'tgid'))


def calls(packets):
    for _, event, name, fields in sorted(events(packets), key=lambda each: int(one(each[1], 'timestamp'))):
        if name == 'sys_exit':
            print('sys_exit', one(fields, 'id'), one(fields, 'ret'))
        elif name == 'sys_enter':
            print('sys_enter', one(fields, 'id'), *all_of(fields, 'args'))


with open(sys.argv[2], encoding='utf-8') as text:
    trace = read(line for line in text if line.strip())
assert all(name == 'packet' for name, _ in trace)
globals()[sys.argv[1]]([packet for _, packet in trace])
