# SPDX-License-Identifier: GPL-2.0-only
"""The cells of weft-sched(1)."""
from world import BLOCKED, HARD, IDLE, OTHER, RUN, SLEEP, SOFT, TASK, UNKNOWN, WAIT, World, rank


def longest(items):
    """The first of the largest: (lasted, end, CPU)."""
    return max(items, key=lambda item: item[0], default=None)


def put_delays(cells, items, count, prefix):
    values, worst = [item[0] for item in items], longest(items)
    cells.update({count: len(values), prefix + 'p50_ns': rank(values, 500), prefix + 'p99_ns': rank(values, 990),
                  prefix + 'max_ns': worst[0] if worst else None, prefix + 'max_at': worst[1] if worst else None,
                  prefix + 'max_cpu': worst[2] if worst else None})


def tables(trace):
    world = World(trace)
    if 'sched:sched_switch' not in world.names:
        return None
    delays, parts = {}, {'waking to queued': [], 'queued to running': [], 'waking to running': []}
    for task, cpu, waking, woken, at, _, new, sure, _, _, _ in world.waits:
        if new or not sure:
            continue
        since = woken if waking is None else waking
        delays.setdefault(task, []).append((at - since, at, cpu))
        parts['waking to running'].append((at - since, at, cpu))
        if woken is not None:
            parts['queued to running'].append((at - woken, at, cpu))
            if waking is not None:
                parts['waking to queued'].append((woken - waking, at, cpu))
    tasks = {}
    for task in world.tasks:
        if not task.pid:
            continue
        spent = task.spent(world.now)
        row = tasks[task.pid, task.generation] = {
            'comm': world.comm(task), 'prio': task.prio, 'run_ns': spent[RUN], 'wait_ns': spent[WAIT],
            'sleep_ns': spent[SLEEP], 'blocked_ns': spent[BLOCKED], 'other_ns': spent[OTHER],
            'unknown_ns': spent[UNKNOWN], 'voluntary': task.voluntary, 'involuntary': task.involuntary,
            'wakeups': task.wakeups,
            'migrations': task.migrations if 'sched:sched_migrate_task' in world.names else task.moves}
        put_delays(row, delays.get(task, []), 'delays', 'delay_')
    cpus = {}
    # Where no such event was recorded, the time in them is not known.
    soft = 'irq:softirq_entry' in world.names
    hard = any(name in ('irq:irq_handler_entry', 'ipi:ipi_entry') or name.startswith('irq_vectors:') for name in world.names)
    for number, cpu in world.cpus.items():
        spent = dict.fromkeys((TASK, IDLE, SOFT, HARD), 0)
        for (begin, mode, _, _), end in zip(cpu.steps, [step[0] for step in cpu.steps[1:]] + [world.now]):
            spent[mode] += end - begin
        cpus[number,] = {'tasks_ns': spent[TASK], 'idle_ns': spent[IDLE], 'softirq_ns': spent[SOFT] if soft else None,
                         'irq_ns': spent[HARD] if hard else None, 'unknown_ns': world.now - world.start - sum(spent.values()),
                         'switches': cpu.switches}
    wakeups = {}
    for part, items in parts.items():
        put_delays(wakeups.setdefault((part,), {}), items, 'count', '')
    return {'tasks': (('pid', 'generation'), tasks), 'cpus': (('cpu',), cpus), 'wakeups': (('part',), wakeups)}
