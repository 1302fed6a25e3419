# SPDX-License-Identifier: GPL-2.0-only
"""The cells of weft-block(1) that the driver's side of a request decides: from its last issue to its completion."""
from trace import Refused
from world import World, rank

OPERATIONS = {'R': 'read', 'W': 'write', 'D': 'discard', 'E': 'discard', 'F': 'flush'}


def operation(rwbs):
    """A flush that comes with data stands before the letter of the data."""
    letter = rwbs[1] if rwbs[0] == 'F' and rwbs[1:2] and rwbs[1] in 'RWDE' else rwbs[0]
    return OPERATIONS.get(letter, 'other')


def tables(trace):
    issued, ended, errors = {}, {}, {}

    def see(world, cpu, format, record):
        if not format or format.full not in ('block:block_rq_issue', 'block:block_rq_complete', 'block:block_rq_requeue'):
            return
        device, sector, rwbs = (format.get(name, record[5]) for name in ('dev', 'sector', 'rwbs'))
        # A flush has no place on the disk: it ends at sector -1.
        key = (device, sector if operation(rwbs) != 'flush' else 0, operation(rwbs))
        if format.name == 'block_rq_issue':
            _, size, _ = issued.get(key, (None, None, None))
            issued[key] = (world.now, format.get('bytes', record[5]), format.get('nr_sector', record[5]))
        elif format.name == 'block_rq_requeue':
            return
        elif key in issued:
            since, size, sectors = issued.pop(key)
            if sectors and format.get('nr_sector', record[5]) != sectors:
                raise Refused('a request that ended in parts')
            row = f'{device >> 20}:{device & 0xfffff}', key[2]
            ended.setdefault(row, []).append((world.now - since, world.now, sectors * 512))
            errors[row] = errors.get(row, 0) + (format.get('error', record[5]) not in (0, None))

    World(trace, (see,))
    if not ended:
        return None
    rows = {}
    for row, items in ended.items():
        values, worst = [item[0] for item in items], max(items, key=lambda item: item[0])
        rows[row] = {'requests': len(items), 'bytes': sum(item[2] for item in items), 'd2c_ns': sum(values),
                     'd2c_p50_ns': rank(values, 500), 'd2c_p99_ns': rank(values, 990), 'd2c_max_ns': worst[0],
                     'max_at': worst[1], 'size_p50_bytes': rank([item[2] for item in items], 500),
                     'errors': errors[row]}
    return {'requests': (('device', 'operation'), rows)}
