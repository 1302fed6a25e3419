# SPDX-License-Identifier: GPL-2.0-only
"""The cells of weft-graph(1): how often functions were called, and how long that took."""
from world import World, rank


def is_inside(stacks, task, function, begin):
    """Whether a call is in one of the same function that has not returned at the end."""
    return any(name == function and since <= begin for _, name, since in stacks.get(task, ()))


def tables(trace):
    calls, stacks = {}, {}

    def see(world, cpu, format, record):
        if not format or format.system != 'ftrace':
            return

        def get(name):
            return format.get(name, record[5])
        stack = stacks.setdefault(world.actor, [])
        if format.name in ('funcgraph_entry', 'fgraph_retaddr_entry'):
            # What is as deep has returned, although no event tells.
            while stack and stack[-1][0] >= get('depth'):
                stack.pop()
            stack.append((get('depth'), trace.symbol(get('func')), world.now))
        elif format.name == 'funcgraph_exit':
            while stack and stack[-1][0] >= get('depth'):
                stack.pop()
            calls.setdefault(trace.symbol(get('func')), []).append(
                (get('rettime') - get('calltime'), get('calltime'), get('rettime'), cpu.number, world.actor))

    World(trace, (see,))
    if not calls:
        return None
    rows = {}
    for function, items in calls.items():
        values, recursive, total, last = [item[0] for item in items], 0, 0, {}
        # Of calls that begin at one time the one that ends last is outside.
        for lasted, begin, end, _, task in sorted(items, key=lambda item: (item[1], -item[2])):
            if (task in last and end <= last[task] and lasted) or is_inside(stacks, task, function, begin):
                recursive += 1
            else:
                total += lasted
                last[task] = end
        worst = max(items, key=lambda item: item[0])
        rows[function,] = {
            'calls': len(items), 'recursive': recursive, 'total_ns': total, 'p50_ns': rank(values, 500),
            'p99_ns': rank(values, 990), 'max_ns': worst[0], 'max_at': worst[2], 'max_cpu': worst[3],
            'max_pid': worst[4].pid}
    return {'functions': (('function',), rows)}
