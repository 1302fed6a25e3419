# SPDX-License-Identifier: GPL-2.0-only
"""The cells of weft-locks(1): waits for locks of the kernel, all locks of a type together."""
from world import BLOCKED, OTHER, RUN, SLEEP, WAIT, World, rank

SPIN, READ, WRITE, RT, PERCPU, MUTEX = 1, 2, 4, 8, 16, 32


def tables(trace):
    waits, under_way = {}, {}

    def see(world, cpu, format, record):
        if not format or format.system != 'lock':
            return
        data = record[5]
        key = (world.actor, format.get('lock_addr', data))
        if format.name == 'contention_begin':
            under_way.setdefault(key, (world.now, format.get('flags', data)))
        elif format.name == 'contention_end' and key in under_way:
            since, flags = under_way.pop(key)
            spent = world.actor.spent(world.now, since)
            waits.setdefault((key[1], flags), []).append(
                (world.now - since, world.now, spent[SLEEP] + spent[BLOCKED] + spent[OTHER], spent[WAIT],
                 format.get('ret', data) != 0))

    world = World(trace, (see,))
    if not waits or not world.switches:
        return None
    rows = {}
    for (address, _), items in waits.items():
        values, worst = [item[0] for item in items], max(items, key=lambda item: item[0])
        slept, queued = sum(item[2] for item in items), sum(item[3] for item in items)
        rows[worst[1],] = {'waits': len(items), 'total_ns': sum(values), 'p50_ns': rank(values, 500),
                           'p99_ns': rank(values, 990), 'max_ns': worst[0], 'sleep_ns': slept, 'wait_ns': queued,
                           'spin_ns': sum(values) - slept - queued, 'given_up': sum(item[4] for item in items)}
    # An address may be shown as a symbol: the row is found by the end of its longest wait.
    return {'locks': (('max_at',), rows)}
