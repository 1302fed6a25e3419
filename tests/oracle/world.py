# SPDX-License-Identifier: GPL-2.0-only
"""What each CPU and each task did, by the events of a trace: the definitions of weft-sched(1), from the events alone."""
import re

from trace import Refused

RUN, WAIT, SLEEP, BLOCKED, OTHER, UNKNOWN = 'run', 'wait', 'sleep', 'blocked', 'other', 'unknown'
TASK, IDLE, SOFT, HARD = 'task', 'idle', 'soft', 'hard'
NEED_RESCHED, HARDIRQ, SOFTIRQ, NMI = 4, 8, 16, 64

# Pairs of events around interrupts, besides those of irq_vectors.
HARD_NAMES = {'irq:irq_handler_entry': 1, 'irq:irq_handler_exit': -1, 'ipi:ipi_entry': 1, 'ipi:ipi_exit': -1}


def rank(values, per_mille):
    """The nearest rank; nothing of too few values."""
    if not values or (per_mille == 990 and len(values) < 100):
        return None
    return sorted(values)[max(1, -(-per_mille * len(values) // 1000)) - 1]


class Letters:
    """The letters of prev_state, from the print fmt of the traced kernel."""

    def __init__(self, text):
        text = text[text.index('prev_state'):]
        self.pairs = [(int(bit, 0), letter) for bit, letter in re.findall(r'\{\s*(0x[0-9a-f]+|\d+),\s*"(\w+)"\s*\}', text)]
        plus = re.search(r'prev_state & ([0-9a-fx|()+< -]+?) \? "\+"', text)
        # The text comes from the file: nothing but numbers and operators is evaluated.
        self.plus = eval(plus.group(1), {'__builtins__': {}}) if plus else 0
        if not self.pairs:
            raise Refused('no letters of prev_state')

    def of(self, state):
        for bit, letter in self.pairs:
            if state & bit:
                return letter
        return '+' if state & self.plus else 'R'


MODES = {'S': SLEEP, 'I': SLEEP, 'P': SLEEP, 'D': BLOCKED, 'T': OTHER, 't': OTHER}


class Task:
    def __init__(self, pid, generation, now):
        self.pid, self.generation, self.born, self.died = pid, generation, now, None
        self.comm, self.prio, self.mode, self.cpu, self.ran_on = '', None, UNKNOWN, None, None
        self.spans = [(now, UNKNOWN)]
        self.waking = self.woken = None
        self.early = self.new = self.sure = False
        self.voluntary = self.involuntary = self.wakeups = self.migrations = self.moves = 0
        self.delays = []  # (time, end, CPU)
        self.soft = 0
        self.waker = None

    def enter(self, mode, now):
        self.mode = mode
        self.spans.append((now, mode))

    def spent(self, until, since=None):
        """The time in each mode, from `since` on."""
        spent = dict.fromkeys((RUN, WAIT, SLEEP, BLOCKED, OTHER, UNKNOWN), 0)
        until = min(until, self.died) if self.died is not None else until
        ends = [span[0] for span in self.spans[1:]] + [until]
        for (begin, mode), end in zip(self.spans, ends):
            begin = begin if since is None else max(begin, since)
            end = min(end, until)
            if end > begin:
                spent[mode] += end - begin
        return spent


class Cpu:
    def __init__(self, number):
        self.number, self.task, self.hard, self.switches = number, None, 0, 0
        self.left = None   # the task that a sched_switch took from the CPU, as long as its events may still come
        self.steps = []    # (time, mode, task, number of its run)
        self.run = 0
        self.resched = {}  # by run: the spans [from, to] with need-resched; to None: it is set

    def step(self, now):
        if self.task is None:
            return
        mode = HARD if self.hard else SOFT if self.task.soft else IDLE if not self.task.pid else TASK
        if not self.steps or self.steps[-1][1:] != (mode, self.task, self.run):
            self.steps.append((now, mode, self.task, self.run))


class World:
    """Walks over the events once; see(), if given, is called with each event after what it changes."""

    def __init__(self, trace, see=()):
        self.trace, self.tasks, self.live, self.cpus = trace, [], {}, {}
        self.start = self.now = None
        self.waits = []  # (task, CPU where it ran, waking, woken, end, queues: [(time, CPU)], new, ..., its name then)
        self.queues = {}
        self.last = None  # what the last event changed: (what, task, ...)
        self.names = set()
        self.actor = None
        switch = trace.by_name.get('sched:sched_switch')
        self.letters = Letters(switch.print) if switch else None
        self.switches = switch and any(record[1] == switch.id for cpu in trace.cpus.values() for record in cpu)
        handlers = {'sched:sched_switch': self.switch, 'sched:sched_waking': self.waking,
                    'sched:sched_wakeup': self.wakeup, 'sched:sched_wakeup_new': self.wakeup_new,
                    'sched:sched_process_fork': self.fork, 'task:task_newtask': self.newtask,
                    'sched:sched_migrate_task': self.migrate, 'task:task_rename': self.rename,
                    'sched:sched_process_exec': self.exec}
        by_id = {format.id: handlers.get(format.full) for format in trace.formats.values()}
        hard = {id: self.depth_of(format) for id, format in trace.formats.items()}
        soft = {id: {'irq:softirq_entry': 1, 'irq:softirq_exit': -1}.get(format.full, 0)
                for id, format in trace.formats.items()}
        for now, number, record in trace.merged():
            _, type, flags, _, pid, data = record
            format = trace.formats.get(type)
            self.start = now if self.start is None else self.start
            self.now = now
            self.last = None
            cpu = self.cpus.get(number) or self.cpus.setdefault(number, Cpu(number))
            self.take(cpu, pid, now)
            if format:
                self.names.add(format.full)
                cpu.hard = max(0, cpu.hard + hard[type])
                if cpu.task:
                    cpu.task.soft = max(0, cpu.task.soft + soft[type])
                if by_id[type]:
                    by_id[type](cpu, format, data, now, flags, pid)
                cpu.step(now)
            if cpu.task and cpu.task.pid == pid:
                self.need_resched(cpu, flags, now)
            for function in see:
                function(self, cpu, format, record)

    @staticmethod
    def need_resched(cpu, flags, now):
        spans = cpu.resched.setdefault(cpu.run, [])
        is_set = spans and spans[-1][1] is None
        if flags & NEED_RESCHED and not is_set:
            spans.append([now, None])
        elif is_set and not flags & (NEED_RESCHED | HARDIRQ | SOFTIRQ | NMI):
            spans[-1][1] = now

    @staticmethod
    def depth_of(format):
        if format.system == 'irq_vectors':
            return 1 if format.name.endswith('_entry') else -1 if format.name.endswith('_exit') else 0
        return HARD_NAMES.get(format.full, 0)

    def task_of(self, pid, cpu, now):
        key = pid or ('idle', cpu.number)
        if key not in self.live:
            self.live[key] = self.add(pid, now)
        return self.live[key]

    def add(self, pid, now):
        generation = sum(task.pid == pid for task in self.tasks) if pid else 0
        self.tasks.append(Task(pid, generation, now))
        return self.tasks[-1]

    def end(self, task, now):
        task.died = now
        del self.live[task.pid]

    def give(self, cpu, task):
        if cpu.task is not task:
            cpu.run += 1
        cpu.task = task

    def take(self, cpu, pid, now):
        """An event of a CPU names its task."""
        if cpu.task and cpu.task.pid == pid:
            cpu.left = None
            self.actor = cpu.task
            return
        if cpu.left is not None and cpu.left.pid == pid:
            self.actor = cpu.left
            return
        if cpu.task and self.switches:
            raise Refused(f'a task on CPU {cpu.number} at {now} to which no switch was recorded')
        task = self.task_of(pid, cpu, now)
        if task.mode == RUN and self.switches:
            raise Refused(f'task {pid} on two CPUs at {now}')
        task.enter(RUN, now)
        task.cpu = cpu.number
        self.give(cpu, task)
        cpu.step(now)
        self.actor = task

    def switch(self, cpu, format, data, now, flags, pid):
        prev_pid, next_pid = format.get('prev_pid', data), format.get('next_pid', data)
        prev = cpu.task
        if prev.pid != prev_pid:
            raise Refused('switches that were not recorded')
        letter = self.letters.of(format.get('prev_state', data))
        if prev.pid:
            prev.comm, prev.prio = format.get('prev_comm', data), format.get('prev_prio', data)
            prev.waking = prev.woken = None
            prev.enter(MODES.get(letter, WAIT), now)
            if letter in 'XxZ':
                self.end(prev, now)
            if letter in 'R+':
                prev.involuntary += 1
            else:
                prev.voluntary += 1
        else:
            prev.enter(SLEEP, now)
        task = self.task_of(next_pid, cpu, now)
        self.last = ('switch', prev, task, letter)
        if task.mode == RUN and task is not prev:
            raise Refused('switches that were not recorded')
        if next_pid:
            task.comm, task.prio = format.get('next_comm', data), format.get('next_prio', data)
            if task.mode == WAIT and (task.waking is not None or task.woken is not None):
                self.waits.append((task, cpu.number, task.waking, task.woken, now, self.queues.pop(task, []), task.new,
                                   task.sure, task.waker, task.prio, task.comm))
            if task.ran_on not in (None, cpu.number):
                task.moves += 1
            task.ran_on = cpu.number
        task.enter(RUN, now)
        task.waking = task.woken = None
        task.new, task.cpu = False, cpu.number
        cpu.left, cpu.hard = prev, 0
        cpu.switches += 1
        self.give(cpu, task)

    def wake(self, cpu, format, data, now, flags, pid, kind):
        woken_pid = format.get('pid', data)
        if not woken_pid:
            return
        task = self.task_of(woken_pid, cpu, now)
        if kind == 'new' and task.mode not in (OTHER, UNKNOWN, RUN):
            self.end(task, now)
            task = self.task_of(woken_pid, cpu, now)
        task.comm, task.prio = format.get('comm', data), format.get('prio', data)
        target = format.get('target_cpu', data)
        target = cpu.number if target is None else target
        if kind == 'wakeup' and task.mode == WAIT and task.waking is not None and task.woken is None:
            task.woken = now
            self.queues[task] = [(now, target)]
            self.last = ('woken', task)
            return
        if task.mode not in (SLEEP, BLOCKED, OTHER, UNKNOWN):
            if kind == 'waking' and task.mode == WAIT and task.woken is not None:
                raise Refused('switches that were not recorded')
            task.early = kind == 'waking'
            return
        task.sure = kind != 'wakeup' or task.early or 'sched:sched_waking' not in self.names
        task.new = kind == 'new'
        task.early = False
        task.waking, task.woken = (now, None) if kind == 'waking' else (None, now)
        task.waker = 0 if flags & (HARDIRQ | SOFTIRQ | NMI) else pid
        task.wakeups += kind != 'new'
        task.enter(WAIT, now)
        self.queues[task] = [(now, target)]
        self.last = ('waking', task, cpu.task)

    def waking(self, *event):
        self.wake(*event, 'waking')

    def wakeup(self, *event):
        self.wake(*event, 'wakeup')

    def wakeup_new(self, *event):
        self.wake(*event, 'new')

    def begin(self, pid, comm, cpu, now):
        task = self.live.get(pid)
        if task and (task.mode == RUN or task.spans[-1] == (task.born, OTHER)):
            task.comm = comm or task.comm
            return
        if task:
            self.end(task, now)
        task = self.task_of(pid, cpu, now)
        task.spans = []
        task.enter(OTHER, now)
        task.comm = comm
        self.last = ('fork', task, cpu.task)

    def fork(self, cpu, format, data, now, flags, pid):
        self.begin(format.get('child_pid', data), format.get('child_comm', data), cpu, now)

    def newtask(self, cpu, format, data, now, flags, pid):
        self.begin(format.get('pid', data), format.get('comm', data), cpu, now)

    def migrate(self, cpu, format, data, now, flags, pid):
        pid = format.get('pid', data)
        if not pid:
            return
        task = self.task_of(pid, cpu, now)
        task.comm = format.get('comm', data)
        task.migrations += 1
        if task in self.queues:
            self.queues[task].append((now, format.get('dest_cpu', data)))

    def rename(self, cpu, format, data, now, flags, pid):
        renamed = format.get('pid', data)
        task = self.live.get(pid if renamed is None else renamed)
        if task:
            task.comm = format.get('newcomm', data)

    def exec(self, cpu, format, data, now, flags, pid):
        if cpu.task and cpu.task.pid:
            cpu.task.comm = format.get('filename', data).rsplit('/', 1)[-1].encode()[:15].decode('utf-8', 'ignore')

    def comm(self, task):
        return task.comm or self.trace.comms.get(task.pid, '<...>')
