# SPDX-License-Identifier: GPL-2.0-only
# Reads a Perfetto trace as protoc --decode prints it, and prints figures of it:
# perfetto.py counts|switches|nesting|lost|names|calls|paths|lengths FILE
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


def facts(packets):
    """What plugins know of the events that the file describes, as report prints it."""
    fields = {}
    for bundle in bundles(packets):
        for each in all_of(bundle, 'generic_event_descriptors'):
            fields[one(each, 'field_id')] = {one(field, 'number'): one(field, 'name').strip('"')
                                             for field in all_of(one(each, 'event_descriptor'), 'field')}
    for _, _, number, values in sorted(events(packets), key=lambda event: int(one(event[1], 'timestamp'))):
        known = [(fields[number][key], value.strip('"')) for key, value in values if number in fields]
        known = [name[len('decoded_'):] + '=' + value for name, value in known if name.startswith('decoded_')]
        if known:
            print(' '.join(known))


def compact_wakings(packets):
    """Time, CPU, task, its name, target CPU, priority and flags of each sched_waking in the compact form."""
    for bundle in bundles(packets):
        for compact in all_of(bundle, 'compact_sched'):
            columns = [all_of(compact, 'waking_' + name)
                       for name in ('timestamp', 'pid', 'target_cpu', 'prio', 'comm_index', 'common_flags')]
            comms, ts = all_of(compact, 'intern_table'), 0
            assert len({len(column) for column in columns}) == 1
            for step, pid, target, prio, comm, flags in zip(*columns):
                ts += int(step)
                yield ts, int(one(bundle, 'cpu')), int(pid), comms[int(comm)].strip('"'), int(target), int(prio), int(flags)


def wakings(packets):
    for ts, cpu, pid, comm, target, prio, flags in sorted(compact_wakings(packets)):
        print(ts, cpu, 'comm=%s pid=%d prio=%d target_cpu=%03d' % (comm, pid, prio, target), 'h' if flags & 8 else '', 's' if flags & 16 else '', sep=' ')


def counts(packets):
    names, seen = described(packets), {}
    for _ in compact_wakings(packets):
        seen['sched_waking'] = seen.get('sched_waking', 0) + 1
    for _, _, name, _ in events(packets):
        name = re.sub('^(sys_(enter|exit))_.*', r'\1', names.get(name, name))
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
    open_calls, calls = {}, 0
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
    """Each system call that the importer draws, and the result of those that end."""
    for _, event, name, fields in sorted(events(packets), key=lambda each: int(one(each[1], 'timestamp'))):
        if name == 'sys_exit':
            print('sys_exit', one(fields, 'id'), one(fields, 'ret'))
        elif name == 'sys_enter':
            print('sys_enter', one(fields, 'id'), *all_of(fields, 'args'))


def task_slices(packets):
    """The slices on the tracks of tasks: how many of each name."""
    tracks, counts = set(), {}
    for packet in packets:
        for track in all_of(packet, 'track_descriptor'):
            if one(track, 'thread'):
                tracks.add(one(track, 'uuid'))
        for event in all_of(packet, 'track_event'):
            if one(event, 'track_uuid') in tracks and one(event, 'type') == '1':
                counts[one(event, 'name')] = counts.get(one(event, 'name'), 0) + 1
    for name in sorted(counts):
        print(name.strip('"'), counts[name])


def paths(packets):
    """Of each slice without others inside, on a track of an interval that is explained: track, task, name and length."""
    tracks, open_slices = {}, {}
    for packet in packets:
        for track in all_of(packet, 'track_descriptor'):
            if one(track, 'name', '').startswith('"why: '):
                tracks[one(track, 'uuid')] = one(track, 'name').strip('"')
        for event in all_of(packet, 'track_event'):
            track, time = one(event, 'track_uuid'), int(one(packet, 'timestamp'))
            if track not in tracks:
                continue
            stack = open_slices.setdefault(track, [])
            if one(event, 'type') in ('1', 'TYPE_SLICE_BEGIN'):
                if stack:
                    stack[-1][2] = True
                stack.append([one(event, 'name').strip('"'), time, False])
            else:
                name, start, outer = stack.pop()
                if not outer:
                    print(tracks[track], stack[-1][0], name, time - start, sep='\t')


def lengths(packets):
    """How long the slices of each name are together, by the depth and the name of their track."""
    tracks, open_slices, sums = {}, {}, {}
    for packet in packets:
        for track in all_of(packet, 'track_descriptor'):
            tracks[one(track, 'uuid')] = one(track, 'name', '').strip('"')
        for event in all_of(packet, 'track_event'):
            track, time = one(event, 'track_uuid'), int(one(packet, 'timestamp'))
            stack = open_slices.setdefault(track, [])
            if one(event, 'type') == '1':
                stack.append((one(event, 'name').strip('"'), time))
            elif one(event, 'type') == '2':
                name, start = stack.pop()
                key = (tracks[track], len(stack), name)
                sums[key] = sums.get(key, 0) + time - start
    for (track, depth, name), length in sorted(sums.items()):
        print(track, depth, name, length, sep='\t')


def machines(packets):
    """The sched_switch of each machine."""
    counts = {}
    for packet in packets:
        for bundle in all_of(packet, 'ftrace_events'):
            for event in all_of(bundle, 'event'):
                if one(event, 'sched_switch') is not None:
                    number = one(packet, 'machine_id', '0')
                    counts[number] = counts.get(number, 0) + 1
    print(*('%s:%d' % each for each in sorted(counts.items())))


def texts(packets):
    names = described(packets)
    for _, _, name, fields in events(packets):
        if name == 'print':
            print('atrace', one(fields, 'buf'))
        elif names.get(name) == 'print':
            print('instant', one(fields, '2'), one(fields, '3'))


with open(sys.argv[2], encoding='utf-8') as text:
    trace = read(line for line in text if line.strip())
assert all(name == 'packet' for name, _ in trace)
globals()[sys.argv[1]]([packet for _, packet in trace])
