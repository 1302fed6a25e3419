# SPDX-License-Identifier: GPL-2.0-only
"""fleet.py DIRECTORY WEFT [HOSTS [RECORDINGS]]: makes the recordings of a fleet out of pieces of real ones, and truth.json.

Each machine has some recordings of different hours of a day. The pieces have other times in each, and every delay is a
little longer or shorter by chance, with a fixed seed. What is planted into a few machines, and into all of one release
of the kernel, is in truth.json, with the numbers that are in the files.
"""
import bisect
import json
import os
import random
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "cases"))
from planter import File, Format  # noqa: E402

FIXTURES = os.path.join(HERE, "..", "fixtures")
DAY = 1_764_201_600_000_000_000  # 2025-11-27, in ns
RELEASES = ["6.1.187", "6.12.117", "6.12.118", "6.18.4"]
SLOW_RELEASE = "6.12.118"
PLANTED = 3  # machines for each shift
FUNCTIONS = {0xffffffff81000000 + 0x100 * i: "fleet_step_%02d" % i for i in range(12)}
NEW_FUNCTION = 0xffffffff81100000
FUNCTIONS[NEW_FUNCTION] = "fleet_new_path"


def events(weft, name):
    text = subprocess.run([weft, "report", "--format", "json", os.path.join(FIXTURES, name)], stdout=subprocess.PIPE, check=True).stdout
    return [event for event in map(json.loads, text.splitlines()) if "event" in event]


class Template:
    """What some seconds of a machine are: [time, CPU, bytes] of each event, and which of them move together."""

    def __init__(self, file):
        self.file, self.rows, self.groups = file, [], []

    def add(self, at, cpu, pid, name, fields):
        self.rows.append((at, cpu, self.file.record(pid, name, 0, fields)))
        return len(self.rows) - 1

    def group(self, kind, moved, by, room):
        """The rows `moved` move by a share of `by` ns, at most `room`, earlier."""
        self.groups.append((kind, moved, by, room))


def add_tasks(template, piece):
    """Switches, wakeups and softirqs. A wakeup can begin earlier, but after all that the task did before."""
    waking, quiet, softirq = {}, {}, {}
    for event in piece:
        fields, name, at = event["fields"], event["event"], event["ts"]
        if name in ("sched_switch", "sched_waking", "sched_wakeup", "softirq_entry", "softirq_exit"):
            row = template.add(at, event["cpu"], event["pid"], name, fields)
        if name == "sched_waking" and fields["pid"] not in waking:
            waking[fields["pid"]] = (row, at)
        elif name == "sched_switch":
            pid = fields["next_pid"]
            first, since = waking.pop(pid, (None, 0))
            if first is not None:
                template.group("wakeup", [first], at - since, max(0, since - quiet.get(pid, 0) - 1000))
            quiet[fields["prev_pid"]] = at
        elif name == "softirq_entry":
            softirq[event["cpu"]] = (row, at)
        elif name == "softirq_exit" and event["cpu"] in softirq:
            first, since = softirq.pop(event["cpu"])
            template.group("softirq", [first], at - since, 1 << 40)


def add_calls(template, calls, begin):
    """System calls. Returns the rows of what openat returned."""
    opened, inside = [], {}
    for event in calls:
        fields, name = event["fields"], event["event"]
        at = begin + event["ts"] - calls[0]["ts"]
        enter = name.startswith("sys_enter_")
        if not enter and not name.startswith("sys_exit_") or "__syscall_nr" not in fields:
            continue
        row = template.add(at, event["cpu"], 30000 + event["pid"], "sys_enter" if enter else "sys_exit",
                           {"id": fields["__syscall_nr"], "ret": fields.get("ret", 0)})
        if enter:
            inside[event["pid"]] = name[10:]
        elif inside.pop(event["pid"], "") == name[9:] == "openat":
            opened.append(row)
    return opened


def add_disk(template, requests, begin):
    issued = {}
    for event in requests:
        fields, name = event["fields"], event["event"]
        at = begin + event["ts"] - requests[0]["ts"]
        if name not in ("block_rq_issue", "block_rq_complete"):
            continue
        row = template.add(at, event["cpu"], event["pid"], name, fields)
        key = fields["dev"], fields["sector"]
        if name == "block_rq_issue":
            issued[key] = (row, at)
        elif key in issued:
            first, since = issued.pop(key)
            template.group("block", [first], at - since, 1 << 40)


def add_functions(template, begin, new):
    for i, func in enumerate(list(FUNCTIONS)[:12] + [NEW_FUNCTION] * new):
        at = begin + i * 10000
        template.add(at, 0, 40000, "funcgraph_entry", {"func": func})
        template.add(at + 3000 + 100 * i, 0, 40000, "funcgraph_exit", {"func": func, "calltime": at, "rettime": at + 3000 + 100 * i})


class Machine(File):
    """Rows that are bytes already."""

    def record(self, task, name, flags, values):
        return values if isinstance(values, bytes) else super().record(task, name, flags, values)


def templates(weft, number):
    quota, calls = events(weft, "quota.dat"), events(weft, "golden/6.12-events-syscalls.dat")
    disk = [event for event in events(weft, "resources/block.dat") if event["system"] == "block"]
    file, ret = Machine(cpus=4), []
    each = len(quota) // number
    for i in range(number):
        piece = quota[i * each:(i + 1) * each]
        for new in (False, True):
            template = Template(file)
            add_tasks(template, piece)
            template.opened = add_calls(template, calls[i * 3:], piece[0]["ts"])
            add_disk(template, disk, piece[0]["ts"])
            add_functions(template, piece[-1]["ts"], new)
            template.begin = min(row[0] for row in template.rows) - 100_000_000
            ret.append(template)
    return ret


def failed(file, body, errno):
    """The same sys_exit with another result."""
    at = next(field[3] for field in file.formats["sys_exit"].fields if field[1] == "ret")
    return body[:at] + file.number(-errno, 8) + body[at + 8:]


def make(directory, weft, hosts, recordings):
    dice = random.Random(58)
    made = templates(weft, recordings)
    chosen = dice.sample(range(hosts), 6 * PLANTED)
    shifts = {kind: chosen[i * PLANTED:(i + 1) * PLANTED] for i, kind in enumerate(("wakeup", "softirq", "block", "errors", "lost", "program"))}
    truth = {"hosts": hosts, "recordings": hosts * recordings, "slow_release": SLOW_RELEASE, "new_function": FUNCTIONS[NEW_FUNCTION],
             "events": 0, "lost": 0, "emfile": 0, "planted": {kind: ["h%05d" % i for i in sorted(of)] for kind, of in shifts.items()}}
    for host in range(hosts):
        release = RELEASES[host % len(RELEASES)]
        own = dice.gauss(1, 0.01)
        for number in range(recordings):
            template = made[2 * number + (release == SLOW_RELEASE)]
            file = Machine(cpus=4, release=release)
            file.uname = ("Linux h%05d %s x86_64" % (host, release)).encode()
            file.kallsyms = "".join("%x t %s\n" % pair for pair in sorted(FUNCTIONS.items()))
            file.names = {30117: "sh", 30122: "cat", 40000: "stepper"}
            base = 10**12 * (number + 1) + host * 10**6
            file.options.append((1, b"0x%x\0" % ((DAY + number * 3600 * 10**9 - base) // 1000)))
            rows = [[at, cpu, body] for at, cpu, body in template.rows]
            for kind, moved, by, room in template.groups:
                factor = own * dice.gauss(1, 0.03)
                if host in shifts.get(kind, ()):
                    factor *= {"wakeup": 1.3, "softirq": 3, "block": 2}[kind]
                if kind == "wakeup" and release == SLOW_RELEASE:
                    factor *= 1.05
                for row in moved:
                    rows[row][0] -= min(room, int((factor - 1) * by))
            if host in shifts["errors"]:
                for row in template.opened[::2]:
                    rows[row][2] = failed(file, rows[row][2], 24)
                    truth["emfile"] += 1
            for at, cpu, body in rows:
                file.events.append((base + at - template.begin, cpu, 0, "", 0, body))
            if host in shifts["program"]:
                # A task that has a CPU of its own.
                since = base + 1000
                for i in range(2):
                    file.event(since + i * 50_000_000, 3, 50000 * i, "sched_switch", prev_pid=50000 * i, prev_comm="miner" if i else "swapper/3",
                               prev_prio=120, next_pid=0 if i else 50000, next_comm="swapper/3" if i else "miner", next_prio=120)
            if host in shifts["lost"]:
                some = sorted(event[0] for event in file.events if event[1] == 0)
                file.lost.append((0, some[len(some) // 2], 7))
                truth["lost"] += 7
            truth["events"] += len(file.events)
            file.write(os.path.join(directory, "h%05d-%02d.dat" % (host, number)))
    with open(os.path.join(directory, "truth.json"), "w") as out:
        json.dump(truth, out, indent=1)


if __name__ == "__main__":
    make(sys.argv[1], sys.argv[2], *(list(map(int, sys.argv[3:])) + [1000, 10][len(sys.argv[3:]):]))
