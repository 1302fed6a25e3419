# SPDX-License-Identifier: GPL-2.0-only
"""The cells of weft-syscalls(1), by system call."""
from trace import Refused
from world import BLOCKED, OTHER, RUN, SLEEP, UNKNOWN, WAIT, World, rank

RESTARTED = (-512, -513, -514, -516)


class Call:
    def __init__(self):
        self.lasted, self.errors, self.endless = [], 0, 0
        self.parts = dict.fromkeys((RUN, WAIT, SLEEP, BLOCKED, OTHER, UNKNOWN), 0)
        self.worst = None


def tables(trace):
    raw = any(record[1] == trace.by_name[name].id for name in ('raw_syscalls:sys_enter', 'raw_syscalls:sys_exit')
              if name in trace.by_name for cpu in trace.cpus.values() for record in cpu)
    calls, under_way, names = {}, {}, {}
    if raw and 'x86_64' not in trace.uname:
        raise Refused('system calls of another machine')

    def enter(world, number):
        task = world.actor
        under_way[task] = (number, world.now)

    def leave(world, cpu, number, result):
        task = world.actor
        if task not in under_way:
            return
        opened, since = under_way.pop(task)
        if number not in (opened, -1):
            return
        call = calls.setdefault(opened, Call())
        call.lasted.append(world.now - since)
        restores = names.get(opened) == 'rt_sigreturn' or (raw and opened == 15)
        call.errors += -4095 <= result <= -1 and result not in RESTARTED and not restores
        for mode, time in task.spent(world.now, since).items():
            call.parts[mode] += time
        if call.worst is None or world.now - since > call.worst[0]:
            call.worst = (world.now - since, world.now, cpu.number, task.pid)

    def see(world, cpu, format, record):
        if not format:
            return
        data = record[5]
        if raw and format.full == 'raw_syscalls:sys_enter':
            enter(world, format.get('id', data))
        elif raw and format.full == 'raw_syscalls:sys_exit':
            leave(world, cpu, format.get('id', data), format.get('ret', data))
        elif not raw and format.system == 'syscalls':
            number = format.get('__syscall_nr', data)
            number = format.get('nr', data) if number is None else number
            names[number] = format.name.split('_', 2)[2]
            if format.name.startswith('sys_enter_'):
                enter(world, number)
            else:
                leave(world, cpu, number, format.get('ret', data))
        elif format.full == 'sched:sched_switch' and world.last and world.last[1] in under_way and \
                world.last[1].died is not None:
            number, _ = under_way.pop(world.last[1])
            calls.setdefault(number, Call()).endless += 1

    world = World(trace, (see,))
    if not any(name.startswith(('syscalls:', 'raw_syscalls:')) for name in world.names):
        return None
    rows = {}
    for number, call in calls.items():
        worst = call.worst or (None, None, None, None)
        row = rows[number,] = {
            'calls': len(call.lasted) + call.endless, 'errors': call.errors, 'total_ns': sum(call.lasted),
            'p50_ns': rank(call.lasted, 500), 'p90_ns': rank(call.lasted, 900), 'p99_ns': rank(call.lasted, 990),
            'max_ns': worst[0], 'max_at': worst[1], 'max_cpu': worst[2], 'max_pid': worst[3], 'endless': call.endless}
        if number in names:
            row['syscall'] = names[number].replace('newf', 'f')
            del row['syscall']
        if world.switches:
            row.update(on_cpu_ns=call.parts[RUN], blocked_ns=call.parts[SLEEP] + call.parts[BLOCKED] + call.parts[OTHER],
                       wait_ns=call.parts[WAIT])
    return {'syscalls': (('nr',), rows)}
