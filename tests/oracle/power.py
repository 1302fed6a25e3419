# SPDX-License-Identifier: GPL-2.0-only
"""The cells of weft-power(1): idle states."""
from world import World, rank

AWAKE = 0xffffffff


def tables(trace):
    since, stays = {}, {}

    def see(world, cpu, format, record):
        if not format or format.full != 'power:cpu_idle':
            return
        state, number = format.get('state', record[5]), format.get('cpu_id', record[5])
        if number in since:
            begin, former = since.pop(number)
            stays.setdefault((number, former), []).append((world.now - begin, world.now))
        if state != AWAKE:
            since[number] = (world.now, state)

    world = World(trace, (see,))
    if 'power:cpu_idle' not in world.names:
        return None
    rows, cpus = {}, {}
    for key, items in stays.items():
        values, worst = [item[0] for item in items], max(items, key=lambda item: item[0])
        rows[key] = {'entries': len(items), 'total_ns': sum(values), 'p50_ns': rank(values, 500),
                     'p99_ns': rank(values, 990), 'max_ns': worst[0], 'max_at': worst[1]}
        row = cpus.setdefault(key[:1], {'idle_ns': 0})
        row['idle_ns'] += sum(values)
    return {'states': (('cpu', 'state'), rows)}
