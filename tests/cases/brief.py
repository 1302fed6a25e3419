#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Recordings of a made-up machine whose trouble is known, for weft brief.

brief.py FOLDER [NUMBER...]   makes FOLDER/cause-NN.dat, each with one planted cause, FOLDER/causes (NN, the kind, words that the brief has to say), and
                  FOLDER/control-NN.dat, of the same workloads without one; only these
                  numbers, if there are some

The machine is a simulation: tasks are generators that run, sleep, call, wait for a disk or a lock, on CPUs with queues; it writes the events
that a kernel would.
"""
import heapq
import os
import random
import sys

from planter import File

US, MS, S = 1000, 1000000, 1000000000
HARD, SOFT = 8, 16  # flags of events in interrupts


class Task:
    def __init__(self, name, pid, cpu, prio):
        self.name, self.pid, self.cpu, self.prio = name, pid, cpu, prio
        self.left, self.body, self.since = 0, None, 0


class Machine(File):
    def __init__(self, seed, cpus=2, **more):
        super().__init__(cpus=cpus, **more)
        self.random = random.Random(seed)
        self.now, self.begin, self.heap, self.count = S, S, [], 0
        self.running, self.queues = [None] * cpus, [[] for _ in range(cpus)]
        self.turn, self.stopped = [0] * cpus, [0] * cpus
        self.disk_free, self.sector, self.locks, self.next_pid = 0, 1000, {}, 500
        self.disk_time = lambda: self.random.uniform(0.1, 0.5) * MS

    # Time and CPUs.
    def at(self, when, what, *args):
        self.count += 1
        heapq.heappush(self.heap, (int(when), self.count, what, args))

    def say(self, cpu, what, flags=0, when=None, /, **fields):
        task = self.running[cpu]
        self.event(when if when is not None else self.now, cpu, task.pid if task else 0, what, flags, **fields)

    def run(self, until):
        while self.heap and self.heap[0][0] <= self.begin + until:
            self.now, _, what, args = heapq.heappop(self.heap)
            what(*args)

    def task(self, name, cpu, body, prio=120, start=0):
        task = Task(name, self.next_pid, cpu, prio)
        self.next_pid += 1
        self.names[task.pid] = name
        task.body = body(task)
        self.at(self.begin + start + self.random.randrange(100 * US), self.wake, task, cpu)
        return task

    def switch(self, cpu, state):
        """The CPU goes on with the next of its queue."""
        old, queue = self.running[cpu], self.queues[cpu]
        queue.sort(key=lambda task: task.prio)
        new = queue.pop(0) if queue else None
        if old is new:
            if new and new.left:
                self.go_on(new)
            return
        name = lambda task: (task.name, task.pid, task.prio) if task else ("swapper/%d" % cpu, 0, 120)
        (a, b, c), (d, e, f) = name(old), name(new)
        self.event(self.now, cpu, b, "sched_switch", prev_comm=a, prev_pid=b, prev_prio=c, prev_state=state, next_comm=d, next_pid=e, next_prio=f)
        self.running[cpu] = new
        self.turn[cpu] += 1
        if new:
            new.since = self.now
            if new.left:
                self.go_on(new)
            else:
                self.at(self.now + US, self.step, new)

    def go_on(self, task):
        """It runs what is left, or for a turn."""
        self.turn[task.cpu] += 1
        self.at(max(self.now, self.stopped[task.cpu]) + min(task.left, 3 * MS), self.ran, task, self.turn[task.cpu], self.now)

    def ran(self, task, turn, since):
        if self.turn[task.cpu] != turn:
            return
        if self.stopped[task.cpu] > self.now:  # an interrupt took the time
            self.at(self.stopped[task.cpu] + US, self.ran, task, turn, since)
            return
        task.left = max(0, task.left - (self.now - since))
        queue = self.queues[task.cpu]
        if not task.left:
            self.step(task)
        elif queue and min(other.prio for other in queue) <= task.prio and not (task.prio < 100 and queue[0].prio >= 100):
            queue.append(task)
            self.switch(task.cpu, 0x100)
        else:
            self.go_on(task)

    def step(self, task):
        """What it does next."""
        try:
            what, value = next(task.body)
        except StopIteration:
            what, value = "exit", None
        if what == "run":
            task.left = max(int(value), 1000)
            self.go_on(task)
        elif what == "exit":
            self.say(task.cpu, "sched_process_exit", comm=task.name, pid=task.pid, prio=task.prio)
            self.switch(task.cpu, 0x10)
        elif what == "throttled":  # wants to run, and its cgroup may not
            self.at(self.now + value, self.allow, task)
            self.switch(task.cpu, 0)
        else:  # sleeps, in this state, until somebody wakes it
            if what == "sleep":
                self.at(self.now + value, self.interrupt, task.cpu, 1 * US, self.wake, task, task.cpu)
            self.switch(task.cpu, 2 if what == "disk" else 1)

    def allow(self, task):
        self.queues[task.cpu].append(task)
        self.preempt(task.cpu)

    def wake(self, task, by, flags=0):
        if task in self.queues[task.cpu] or self.running[task.cpu] is task:
            return
        cpu, now = task.cpu, max(self.now, self.stopped[task.cpu])
        for what, when in (("sched_waking", self.now), ("sched_wakeup", self.now + 500)):
            self.say(by, what, flags, when, comm=task.name, pid=task.pid, prio=task.prio, target_cpu=cpu)
        self.queues[cpu].append(task)
        self.at(now + int(self.random.uniform(8, 40) * US), self.preempt, cpu)

    def preempt(self, cpu):
        current, queue = self.running[cpu], self.queues[cpu]
        if not queue:
            return
        if self.stopped[cpu] > self.now:
            self.at(self.stopped[cpu] + 5 * US, self.preempt, cpu)
            return
        best = min(task.prio for task in queue)
        if not current:
            self.switch(cpu, 0)
        elif current.left and (best < min(current.prio, 100) or (current.prio >= 100 and self.now - current.since > MS)):
            current.left = max(1000, current.left - (self.now - current.since) % (3 * MS))
            queue.append(current)
            self.switch(cpu, 0x100)

    def interrupt(self, cpu, lasts, inside=None, *args, irq=None, softirq=None):
        """What is inside happens at its end. An interrupt without a name is the timer's, of which no event tells."""
        if self.stopped[cpu] > self.now:
            self.at(self.stopped[cpu] + US, lambda: self.interrupt(cpu, lasts, inside, *args, irq=irq, softirq=softirq))
            return
        end = self.now + int(lasts)
        if irq:
            self.say(cpu, "irq_handler_entry", HARD, irq=irq, name="dev%d" % irq)
        if softirq:
            self.say(cpu, "softirq_entry", SOFT, vec=softirq)
        self.stopped[cpu] = end

        def ended():
            if irq:
                self.say(cpu, "irq_handler_exit", HARD, irq=irq, ret=1)
            if softirq:
                self.say(cpu, "softirq_exit", SOFT, vec=softirq)

        if inside:
            self.at(end - 1, inside, *args, *([HARD] if inside == self.wake else []))
        self.at(end, ended)

    # What tasks do, inside their generators.
    def call(self, task, number, args, body=(), returns=0):
        self.say(task.cpu, "sys_enter", id=number, args=(list(args) + [0] * 6)[:6])
        yield "run", self.random.uniform(2, 6) * US
        yield from body
        self.say(task.cpu, "sys_exit", id=number, ret=returns() if callable(returns) else returns)

    def disk(self, task, write=True, error=0, requeue=False):
        """A request, and the sleep until it is done."""
        self.sector += 8
        sector, rwbs = self.sector, "WS" if write else "R"
        self.say(task.cpu, "block_rq_issue", dev=254 << 20, sector=sector, nr_sector=8, bytes=4096, rwbs=rwbs, comm=task.name, cmd="")
        begin = max(self.now, self.disk_free)
        self.disk_free = begin + self.disk_time()
        if requeue:
            self.at(self.now + 20 * US, lambda: self.say(task.cpu, "block_rq_requeue", HARD, dev=254 << 20, sector=sector, nr_sector=8, rwbs=rwbs, cmd=""))
            self.at(self.now + 60 * US, lambda: self.say(task.cpu, "block_rq_issue", HARD, dev=254 << 20, sector=sector, nr_sector=8, bytes=4096,
                                                         rwbs=rwbs, comm=task.name, cmd=""))

        def done():
            self.say(0, "block_rq_complete", HARD, dev=254 << 20, sector=sector, nr_sector=8, error=error, rwbs=rwbs, cmd="")
            self.wake(task, 0, HARD)

        self.at(self.disk_free, lambda: self.interrupt(0, 4 * US, done, irq=24))
        yield "disk", None

    def mutex(self, task, address, inside):
        """A lock of the kernel."""
        lock = self.locks.setdefault(address, [None, []])
        if lock[0]:
            self.say(task.cpu, "contention_begin", lock_addr=address, flags=32)
            lock[1].append(task)
            yield "disk", None
            self.say(task.cpu, "contention_end", lock_addr=address, ret=0)
        lock[0] = task
        yield from inside
        lock[0] = lock[1].pop(0) if lock[1] else None
        if lock[0]:
            self.wake(lock[0], task.cpu)

    def futex(self, task, address, inside):
        """A mutex of a program."""
        lock = self.locks.setdefault(address, [None, []])
        if lock[0]:
            lock[1].append(task)
            yield from self.call(task, 202, [address, 128, 2], iter([("wait", None)]))
        lock[0] = task
        yield from inside
        lock[0] = lock[1].pop(0) if lock[1] else None
        if lock[0]:
            yield from self.call(task, 202, [address, 129, 1], self.waking(task, lock[0]), 1)

    def waking(self, task, other):
        self.wake(other, task.cpu)
        yield "run", US

    def nap(self, task, least, most):
        yield from self.call(task, 230, [1], iter([("sleep", int(self.random.uniform(least, most) * US))]))


# Workloads, each without any trouble.
def web(m, disk=True):
    def worker(task):
        while True:
            yield from m.nap(task, 500, 6000)
            yield "run", m.random.uniform(50, 300) * US
            if disk and m.random.random() < 0.2:
                yield from m.call(task, 17, [4, 0x1000, 4096], m.disk(task, False), 4096)
            yield from m.mutex(task, 0xffff888100001000, iter([("run", m.random.uniform(1, 5) * US)]))
            yield from m.call(task, 1, [3, 0x2000, 200], returns=200)

    for i in range(4):
        m.task("web-%d" % i, i % m.cpus, worker)


def store(m):
    def writer(task):
        while True:
            yield from m.nap(task, 2000, 9000)
            yield "run", m.random.uniform(100, 500) * US
            yield from m.call(task, 1, [5, 0x3000, 4096], returns=4096)
            yield from m.call(task, 74, [5], m.disk(task))

    for i in range(2):
        m.task("store-%d" % i, i % m.cpus, writer)
    web(m, False)


def quiet(m):
    def clock(task):
        while True:
            yield from m.nap(task, 20000, 60000)
            yield "run", m.random.uniform(30, 90) * US

    for i, name in enumerate(("cron", "sshd", "journald")):
        m.task(name, i % m.cpus, clock)


def compute(m):
    def job(task):
        for _ in range(2000):
            yield "run", m.random.uniform(2, 8) * MS
            yield from m.call(task, 1, [1, 0x1000, 80], returns=80)

    for cpu in range(m.cpus):
        m.task("cc1-%d" % cpu, cpu, job)


def pipe(m):
    """Readers that wait, once for long, for what writers send when they have made it, as through a pipe."""
    def reader(task):
        while True:
            yield from m.call(task, 0, [3, 0x1000, 4096], iter([("wait", None)]), 4096)
            yield "run", m.random.uniform(20, 60) * US

    def writer(task):
        for count in range(1000):
            yield "run", m.random.uniform(50, 200) * US
            yield from m.call(task, 1, [4, 0x2000, 4096], m.waking(task, other), 4096)
            if count == 40:
                yield "run", 280 * MS  # the last piece is a large one
            yield from m.nap(task, 500, 2500)

    def shell(task):
        """Of its opens the last is that of a FIFO, which sleeps until somebody opens the other end."""
        for _ in range(40):
            yield from m.call(task, 257, [0xffffff9c, 0x1000, 0], returns=3)
            yield from m.nap(task, 300, 900)
        yield from m.call(task, 257, [0xffffff9c, 0x1000, 0], iter([("sleep", 300 * MS)]), 3)

    other = m.task("wc", 1 % m.cpus, reader)
    m.task("make-report", 0, writer)
    m.task("sh", 0, shell)


def server(m):
    """A server that sleeps until it is asked, in a call of which most are short."""
    def serve(task):
        while True:
            yield from m.call(task, 47, [3, 0x1000, 0], iter([("wait", None)]), 64)
            yield "run", m.random.uniform(100, 300) * US
            yield from m.call(task, 44, [3, 0x1000, 64], m.waking(task, asker), 64)

    def ask(task):
        for count in range(1000):
            yield from m.call(task, 44, [3, 0x1000, 64], m.waking(task, served), 64)
            yield from m.call(task, 45, [3, 0x1000, 64], iter([("wait", None)]), 64)
            yield from m.nap(task, 1000, 4000)
            if count == 50:
                yield from m.nap(task, 300000, 300001)

    served = m.task("postgres", 1 % m.cpus, serve)
    asker = m.task("client", 0, ask)


def scan(m):
    """A program that reads many files waits for the disk as often, and most of the time."""
    def find(task):
        while True:
            yield from m.call(task, 0, [5, 0x1000, 4096], m.disk(task, False), 4096)
            yield "run", m.random.uniform(20, 60) * US

    m.disk_time = lambda: m.random.uniform(0.5, 0.9) * MS
    m.task("find", 0, find)


def realtime(m):
    def control(task):
        while True:
            yield from m.nap(task, 990, 1010)
            yield "run", m.random.uniform(60, 90) * US

    m.task("control", 1 % m.cpus, control, prio=9)
    web(m)


WORKLOADS = (web, store, quiet, compute, realtime, pipe, server, scan)


# Causes: each changes a machine, and returns the kind of its trouble and the words that name it.
def hog(m):
    """It is late itself, by 3 ms, which is less than what it does to others."""
    def body(task):
        yield "sleep", 200 * MS
        yield "run", 150 * MS

    m.task("hog", 0, body, prio=49)
    m.at(m.begin + 199 * MS, lambda: m.interrupt(0, 4 * MS, irq=31))
    return "latency", "behind hog"


def full(m):
    def body(task):
        while True:
            yield "run", 50 * MS

    for i in range(8):
        m.task("crunch-%d" % i, i % m.cpus, body)
    return "cpu", "crunch"


def long_irq(m):
    m.at(m.begin + 300 * MS, lambda: m.interrupt(1, 30 * MS, irq=31))
    return "latency", "dev31"


def storm(m):
    def again():
        m.interrupt(0, 300 * US, irq=33)
        m.at(m.now + 700 * US, again)

    m.at(m.begin + 10 * MS, again)
    return "cpu", "dev33"


def timers(m):
    def again():
        m.say(0, "local_timer_entry", HARD, vector=236)
        m.say(0, "hrtimer_expire_entry", HARD, m.now + 1 * US, hrtimer=0xffff888100aa0000, now=m.now, function=0xffffffff81001000)
        m.say(0, "hrtimer_expire_exit", HARD, m.now + 4 * US, hrtimer=0xffff888100aa0000)
        m.say(0, "local_timer_exit", HARD, m.now + 8 * US, vector=236)
        m.stopped[0] = m.now + 8 * US
        m.at(m.now + 60 * US, again)

    m.at(m.begin + 10 * MS, again)
    return "cpu", "fired"


def long_softirq(m):
    m.at(m.begin + 300 * MS, lambda: m.interrupt(0, 45 * MS, softirq=3))
    return "latency", "NET_RX"


def slow_disk(m):
    m.disk_time = lambda: 150 * MS if m.random.random() < 0.03 else m.random.uniform(0.1, 0.5) * MS
    return "io", "254:0"


def busy_disk(m):
    def flood(task):
        while True:
            yield from m.call(task, 18, [7, 0x1000, 4096], m.disk(task), 4096)

    m.disk_time = lambda: m.random.uniform(2, 6) * MS
    for i in range(3):
        m.task("dd-%d" % i, i % m.cpus, flood)
    return "io", "254:0"


def bad_disk(m):
    def reader(task):
        while True:
            yield from m.nap(task, 20000, 40000)
            yield from m.call(task, 0, [7, 0x1000, 4096], m.disk(task, False, error=-5), -5)

    m.task("backup", 0, reader)
    return "errors", "254:0"


def requeued(m):
    def reader(task):
        while True:
            yield from m.nap(task, 5000, 10000)
            yield from m.call(task, 0, [7, 0x1000, 4096], m.disk(task, False, requeue=True), 4096)

    m.task("backup", 0, reader)
    return "errors", "254:0"


def throttled(m):
    def writer(task):
        while True:
            yield "run", 300 * US
            m.at(m.now + 245 * MS, m.wake, task, 0)
            yield from m.call(task, 1, [7, 0x1000, 262144], iter([("disk", None)]), 262144)

    m.task("dd", 1 % m.cpus, writer)
    return "io", "dd"


def kernel_lock(m):
    def holder(task):
        yield "sleep", 50 * MS
        while True:
            yield from m.mutex(task, 0xffff8881cafe0000, iter([("sleep", 150 * MS)]))
            yield "sleep", 20 * MS

    def waiter(task):
        yield "sleep", 60 * MS
        while True:
            yield from m.mutex(task, 0xffff8881cafe0000, iter([("run", 20 * US)]))
            yield "sleep", 5 * MS

    m.task("holder", 0, holder)
    m.task("waiter", 1 % m.cpus, waiter)
    return "locks", "0xffff8881cafe0000"


def program_lock(m):
    def holder(task):
        yield "sleep", 50 * MS
        while True:
            yield from m.futex(task, 0x7f0000cafe00, iter([("sleep", 120 * MS)]))
            yield "sleep", 20 * MS

    def waiter(task):
        yield "sleep", 60 * MS
        while True:
            yield from m.futex(task, 0x7f0000cafe00, iter([("run", 20 * US)]))
            yield "sleep", 5 * MS

    m.task("ledger-writer", 0, holder)
    m.task("ledger-reader", 1 % m.cpus, waiter)
    return "locks", "0x7f0000cafe00"


def crashed(m):
    def body(task):
        yield "sleep", 200 * MS
        yield "run", 100 * US
        m.say(task.cpu, "signal_deliver", sig=11, errno=0, code=1, sa_handler=0, sa_flags=0)

    def handles(task):
        yield "sleep", 50 * MS
        yield "run", 100 * US
        m.say(task.cpu, "signal_deliver", sig=11, errno=0, code=1, sa_handler=0x58054580, sa_flags=0)

    m.task("payroll", 0, body)
    # A handler of its own takes the signal, as a runtime's that finds null pointers so.
    m.task("runtime", 1 % m.cpus, handles)
    return "errors", "payroll"


def out_of_memory(m):
    m.task("cache", 0, lambda task: iter([("sleep", 900 * MS)]))
    pid = m.next_pid - 1
    m.at(m.begin + 300 * MS, lambda: m.say(0, "mark_victim", pid=pid))
    return "memory", "oom:mark_victim"


def lost(m):
    m.lost += [(0, m.begin + 300 * MS, 9000)]
    return "errors", "lost"


def reclaim(m):
    def stall(task):
        while True:
            yield "sleep", 40 * MS
            m.say(task.cpu, "mm_vmscan_direct_reclaim_begin", order=0, gfp_flags=0)
            yield "run", 30 * MS
            m.say(task.cpu, "mm_vmscan_direct_reclaim_end", nr_reclaimed=32)

    m.task("java", 1 % m.cpus, stall)
    return "memory", "java"


def no_space(m):
    def logger(task):
        while True:
            yield from m.nap(task, 3000, 9000)
            yield from m.call(task, 1, [9, 0x1000, 100], returns=-28)

    m.task("logger", 0, logger)
    return "errors", "ENOSPC"


def in_vain(m):
    def seeker(task):
        while True:
            yield from m.call(task, 4, [0x1000, 0x2000], returns=-2)

    m.task("seeker", 1 % m.cpus, seeker)
    return "errors", "stat failed with ENOENT"


def quota(m):
    def body(task):
        while True:
            yield "run", 20 * MS
            yield "throttled", 80 * MS

    m.task("capped", 1 % m.cpus, body)
    return "cpu", "capped"


def one_fsync(m):
    count = [0]

    def service():
        count[0] += 1
        return 400 * MS if count[0] == 60 else m.random.uniform(0.1, 0.5) * MS

    m.disk_time = service
    return "io", "254:0"


def machine_check(m):
    m.at(m.begin + 300 * MS, lambda: m.say(1 % m.cpus, "mce_record", mcgcap=7, status=1, addr=0, cpu=1))
    return "errors", "mce:mce_record"


def hung(m):
    m.at(m.begin + 300 * MS, lambda: m.say(0, "sched_process_hang", comm="mount.nfs", pid=77))
    return "errors", "sched:sched_process_hang"


def in_kernel(m):
    """A normal task that does not let others run for 80 ms: nothing preempts it."""
    def body(task):
        yield "sleep", 150 * MS
        while True:
            task.prio = 48
            yield "run", 80 * MS
            task.prio = 120
            yield "sleep", 250 * MS

    m.task("greedy", 1 % m.cpus, body)
    return "latency", "greedy"


CAUSES = ((hog, web), (full, web), (long_irq, web), (storm, quiet), (long_softirq, web), (slow_disk, store), (busy_disk, quiet), (bad_disk, web),
          (requeued, quiet), (throttled, web), (kernel_lock, web), (program_lock, web), (crashed, store), (out_of_memory, web), (lost, web),
          (reclaim, quiet), (no_space, web), (one_fsync, store), (machine_check, web), (hung, quiet), (in_kernel, realtime), (in_vain, store),
          (quota, quiet), (timers, web))


def main(folder, *numbers):
    wanted = [int(number) for number in numbers] or range(100)
    os.makedirs(folder, exist_ok=True)
    with open(folder + "/causes", "w", encoding="ascii") as causes:
        for i, (cause, workload) in enumerate(CAUSES):
            if i not in wanted:
                continue
            m = Machine(i, cpus=2 + 2 * (i % 2))
            workload(m)
            kind, words = cause(m)
            m.run(S)
            m.write("%s/cause-%02d.dat" % (folder, i))
            causes.write("%02d %s %s\n" % (i, kind, words))
    for i in range(3 * len(WORKLOADS)):
        if i not in wanted:
            continue
        m = Machine(100 + i, cpus=2 + 2 * (i // len(WORKLOADS) % 2))
        WORKLOADS[i % len(WORKLOADS)](m)
        m.run(S // 2 if i % 2 else S)
        m.write("%s/control-%02d.dat" % (folder, i))


if __name__ == "__main__":
    main(*sys.argv[1:])
