# SPDX-License-Identifier: GPL-2.0-only
"""The cells of the table of wakeups of weft-latency(1)."""
import bisect

from world import HARD, IDLE, SOFT, World

PARTS = (('queue_ns', 'the way to its queue'), ('idle_ns', 'the idle CPU'), ('irq_ns', 'interrupts'),
         ('softirq_ns', 'softirqs'), ('before_ns', 'the task before it'),
         ('resched_ns', 'the task before it, which was to go'), ('others_ns', 'tasks that ran first'),
         ('unknown_ns', 'what is not known'))
WORST = 1000


def split(cpu, begin, end, run, parts, others):
    """What a CPU did between two times; a run with this number is the task before."""
    first = bisect.bisect_right(cpu.starts, begin) - 1 if cpu.steps else 0
    for number in range(max(first, 0), len(cpu.steps)):
        at, mode, task, of = cpu.steps[number]
        if at >= end:
            break
        since = max(at, begin)
        until = min(end, cpu.steps[number + 1][0] if number + 1 < len(cpu.steps) else end)
        if until <= since:
            continue
        if mode in (IDLE, SOFT, HARD):
            parts[{IDLE: 'idle_ns', SOFT: 'softirq_ns', HARD: 'irq_ns'}[mode]] += until - since
        elif of == run:
            resched = sum(max(0, min(until, end or until) - max(since, begin))
                          for begin, end in cpu.resched.get(of, ()))
            parts['before_ns'] += until - since - resched
            parts['resched_ns'] += resched
        else:
            others[task] = others.get(task, 0) + until - since


def explain(world, waking, woken, at, queues, cpu_number):
    parts, others, before = dict.fromkeys([part for part, _ in PARTS], 0), {}, None
    since = waking if woken is None else woken
    if waking is not None and woken is not None:
        parts['queue_ns'] = woken - waking
    if queues and queues[-1][1] == cpu_number and queues[0][0] == since:
        for number, (begin, on) in enumerate(queues):
            cpu = world.cpus.get(on)
            if not cpu:
                continue
            step = bisect.bisect_right(cpu.starts, begin) - 1
            run = cpu.steps[step][3] if number == 0 and step >= 0 else None
            if number == 0 and step >= 0:
                before = cpu.steps[step][2]
            split(cpu, begin, queues[number + 1][0] if number + 1 < len(queues) else at, run, parts, others)
    parts['others_ns'] = sum(others.values())
    parts['unknown_ns'] = at - since + parts['queue_ns'] - sum(parts.values())
    return parts, others, before


TELLS = {'irq:softirq_raise', 'timer:hrtimer_start', 'timer:timer_start', 'net:net_dev_queue', 'net:netif_rx',
         'ipi:ipi_send_cpu'}


def named(world, task):
    real_time = f' (RT {99 - task.prio})' if task.prio is not None and task.prio < 99 else ''
    return f'{world.comm(task)}-{task.pid}{real_time}'


def tables(trace):
    world = World(trace)
    if 'sched:sched_switch' not in world.names or \
            not world.names & {'sched:sched_waking', 'sched:sched_wakeup', 'sched:sched_wakeup_new'}:
        return None
    for cpu in world.cpus.values():
        cpu.starts = [step[0] for step in cpu.steps]
    waits = [wait for wait in world.waits if wait[7]]
    waits.sort(key=lambda wait: -(wait[4] - (wait[3] if wait[2] is None else wait[2])))
    rows = {}
    for task, cpu, waking, woken, at, queues, _, _, waker, prio, comm in waits[:WORST]:
        parts, others, before = explain(world, waking, woken, at, queues, cpu)
        lasted = at - (woken if waking is None else waking)
        row = rows[task.pid, at, lasted] = dict(parts, cpu=cpu, comm=comm or world.comm(task), prio=prio)
        # With these events weft knows for whom an interrupt wakes; the oracle does not.
        if waker or not world.names & TELLS:
            # An interrupt or a timer has no PID.
            row['waker_pid'] = waker or None
        most = max(parts.values())
        name = next(name for part, name in PARTS if parts[part] == most)
        who = sorted(others.items(), key=lambda item: -item[1])
        if 'before' in name and 'queue' not in name:
            row['cause'] = f'{name}: {named(world, before)}' if before.pid else None
        elif name == 'tasks that ran first':
            # Of equal ones any may be named.
            if len(who) < 2 or who[0][1] != who[1][1]:
                row['cause'] = f'{name}: {named(world, who[0][0])}'
        else:
            row['cause'] = name
    return {'wakeups': (('pid', 'until', 'delay_ns'), rows)}
