# SPDX-License-Identifier: GPL-2.0-only
"""The cells of weft-tasks(1) of tasks that began in the trace."""
from trace import Refused
from world import RUN, World


class Life:
    def __init__(self, parent, began):
        self.parent, self.began, self.ended, self.execs, self.children, self.task = parent, began, None, 0, 0, None


def tables(trace):
    lives, all_lives = {}, []

    def see(world, cpu, format, record):
        if not format:
            return

        def get(name):
            return format.get(name, record[5])
        if format.full in ('sched:sched_process_fork', 'task:task_newtask'):
            pid = get('child_pid' if format.system == 'sched' else 'pid')
            life = lives.get(pid)
            # Both report a fork; the first tells when it was.
            if life and life.ended is None:
                return
            lives[pid] = Life(world.actor.pid, world.now)
            all_lives.append((pid, lives[pid]))
            parent = lives.get(world.actor.pid)
            if parent:
                parent.children += 1
        elif format.full == 'sched:sched_process_exec':
            if get('pid') != get('old_pid'):
                raise Refused('a thread that took over the PID of its process')
            if get('pid') in lives:
                lives[get('pid')].execs += 1
        elif format.full == 'sched:sched_process_exit' and record[4] in lives:
            life = lives[record[4]]
            life.ended, life.task = world.now, world.actor

    world = World(trace, (see,))
    if not all_lives:
        return None
    rows = {}
    for pid, life in all_lives:
        row = rows[pid, life.began] = {'parent_pid': life.parent, 'execs': life.execs, 'children': life.children}
        # Without the events of ends other events tell when a task lived for certain.
        if 'sched:sched_process_exit' in world.names:
            row.update(ended=life.ended, end='alive' if life.ended is None else 'ended',
                       life_ns=(world.now if life.ended is None else life.ended) - life.began)
        if life.task and world.switches:
            # The exit comes before the last switch: what the task still runs is after its life.
            row['run_ns'] = life.task.spent(life.ended)[RUN]
    return {'tasks': (('pid', 'began'), rows)}


def wanted(row):
    return row['began'] is not None
