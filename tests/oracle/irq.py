# SPDX-License-Identifier: GPL-2.0-only
"""The cells of weft-irq(1): sources and CPUs."""
import re

from trace import Refused
from world import RUN, World, rank

COLUMN = {'irq': ('irqs', 'irq_ns'), 'softirq': ('softirqs', 'softirq_ns'), 'vector': ('vectors', 'vector_ns'),
          'ipi': ('vectors', 'vector_ns'), 'timer': ('timers', 'timer_ns'), 'hrtimer': ('timers', 'timer_ns')}


class Source:
    def __init__(self):
        self.lasted, self.own, self.delays = [], 0, []


class Irq:
    def __init__(self, trace):
        self.trace, self.sources, self.open, self.works = trace, {}, {}, {}
        self.raised, self.expires, self.queued, self.cpus = {}, {}, {}, {}
        entry = trace.by_name.get('irq:softirq_entry')
        self.vectors = dict(re.findall(r'\{\s*(\d+),\s*"(\w+)"', entry.print)) if entry else {}

    def source(self, kind, name):
        return self.sources.setdefault((kind, name), Source())

    def enter(self, world, kind, identity, name):
        """Interrupts nest on the task that they hit: on PREEMPT_RT that task takes a softirq with it."""
        self.open.setdefault(world.actor, []).append([kind, identity, name, world.now, 0, world.actor])

    def leave(self, world, cpu, kind, identity):
        stack = self.open.get(world.actor, [])
        if not any(run[:2] == [kind, identity] for run in stack):
            return
        while stack[-1][:2] != [kind, identity]:
            raise Refused('runs that do not nest')
        _, _, name, since, inner, task = stack.pop()
        lasted = world.now - since
        on = task.spent(world.now, since)[RUN] if world.switches and task.pid else lasted
        source = self.source(kind, name)
        source.lasted.append((lasted, world.now, cpu.number))
        source.own += on - inner
        if stack:
            stack[-1][4] += on
        count, time = COLUMN[kind]
        row = self.cpus.setdefault(cpu.number, {})
        row[count] = row.get(count, 0) + 1
        row[time] = row.get(time, 0) + on - inner

    def delay(self, world, cpu, kind, name, since):
        self.source(kind, name).delays.append((world.now - since, world.now, cpu.number))

    def see(self, world, cpu, format, record):
        if not format:
            return
        self.cpus.setdefault(cpu.number, {})

        def get(name):
            return format.get(name, record[5])
        name, system = format.name, format.system
        if system == 'irq_vectors' and name.endswith('_entry'):
            self.enter(world, 'vector', name[:-6], name[:-6])
        elif system == 'irq_vectors' and name.endswith('_exit'):
            self.leave(world, cpu, 'vector', name[:-5])
        elif name == 'irq_handler_entry':
            self.enter(world, 'irq', get('irq'), f'{get("irq")} {get("name")}')
        elif name == 'irq_handler_exit':
            self.leave(world, cpu, 'irq', get('irq'))
        elif name == 'softirq_raise':
            self.raised.setdefault((cpu.number, get('vec')), world.now)
        elif name == 'softirq_entry':
            vector = self.vectors.get(str(get('vec')), str(get('vec')))
            if (cpu.number, get('vec')) in self.raised:
                self.delay(world, cpu, 'softirq', vector, self.raised.pop((cpu.number, get('vec'))))
            self.enter(world, 'softirq', get('vec'), vector)
        elif name == 'softirq_exit':
            self.leave(world, cpu, 'softirq', get('vec'))
        elif name in ('timer_expire_entry', 'hrtimer_expire_entry'):
            kind = name.split('_')[0]
            which, function = get(kind), self.trace.symbol(get('function')) if get('function') else None
            if kind == 'hrtimer' and self.expires.get(which):
                late = max(0, get('now') - self.expires.pop(which))
                self.source(kind, function).delays.append((late, world.now, cpu.number))
            self.enter(world, kind, which, function)
        elif name in ('timer_expire_exit', 'hrtimer_expire_exit'):
            kind = name.split('_')[0]
            self.leave(world, cpu, kind, get(kind))
        elif name == 'hrtimer_start':
            self.expires[get('hrtimer')] = get('expires')
        elif name == 'workqueue_queue_work':
            self.queued[get('work')] = world.now
        elif name == 'workqueue_execute_start':
            function = self.trace.symbol(get('function'))
            if get('work') in self.queued:
                self.delay(world, cpu, 'work', function, self.queued.pop(get('work')))
            self.works[get('work')] = (world.now, function)
        elif name == 'workqueue_execute_end' and get('work') in self.works:
            since, function = self.works.pop(get('work'))
            self.source('work', function).lasted.append((world.now - since, world.now, cpu.number))
            row = self.cpus[cpu.number]
            row['works'] = row.get('works', 0) + 1


def put(row, items, prefix):
    worst = max(items, key=lambda item: item[0], default=(None, None, None))
    values = [item[0] for item in items]
    row.update({prefix + 'p50_ns': rank(values, 500), prefix + 'p99_ns': rank(values, 990),
                prefix + 'max_ns': worst[0], prefix + 'max_at': worst[1], prefix + 'max_cpu': worst[2]})


def tables(trace):
    irq = Irq(trace)
    World(trace, (irq.see,))
    rows = {}
    for (kind, name), source in irq.sources.items():
        if not source.lasted:
            continue
        row = rows[kind, name] = {'count': len(source.lasted), 'total_ns': sum(item[0] for item in source.lasted),
                                  'self_ns': None if kind == 'work' else source.own, 'delays': len(source.delays)}
        put(row, source.lasted, '')
        put(row, source.delays, 'delay_')
    if not rows:
        return None
    # A run under way at the end has a delay, but no row of its own.
    cpus = {(number,): dict.fromkeys(('irqs', 'irq_ns', 'softirqs', 'softirq_ns', 'vectors', 'vector_ns', 'timers',
                                      'timer_ns', 'works'), 0) | row for number, row in irq.cpus.items()}
    return {'sources': (('kind', 'source'), rows), 'cpus': (('cpu',), cpus)}
