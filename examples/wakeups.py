#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# %% [markdown]
# How late do tasks get a CPU after they were woken, and on which CPU?
#
#     python3 examples/wakeups.py trace.dat wakeups.png
#
# The trace needs the events sched_waking and sched_switch: weft record --for sched -- make

# %% Columns of the trace, as arrays of numpy that share their memory with weft's
import sys

import numpy as np

import weft

path, picture = sys.argv[1:]
with weft.open(path) as trace:
    woken = {name: np.asarray(column) for name, column in trace.columns("ts fields.pid", "sched_waking").to_dict().items()}
    runs = {name: np.asarray(column) for name, column in trace.columns("ts cpu next_pid", "sched_switch").to_dict().items()}

# %% For each switch to a task, the last time before it at which the task was woken
delays = []
for pid in np.unique(woken["fields.pid"]):
    wakings = woken["ts"][woken["fields.pid"] == pid]
    here = runs["next_pid"] == pid
    starts, cpus = runs["ts"][here], runs["cpu"][here]
    first = np.searchsorted(starts, wakings)  # the run that each waking led to
    led = first < len(starts)
    run, which = np.unique(first[led], return_index=True)  # the first waking of each run
    delays.append(np.column_stack((starts[run], starts[run] - wakings[led][which], cpus[run])))
at, delay, cpu = np.concatenate(delays).T
print(f"{len(delay)} wakeups: median {np.median(delay) / 1e3:.1f} us, largest {delay.max() / 1e3:.1f} us")

# %% The picture
import matplotlib

matplotlib.use("svg" if picture.endswith(".svg") else "agg")
from matplotlib import pyplot

figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3), width_ratios=(3, 2), layout="constrained")
for number in np.unique(cpu):
    here = cpu == number
    left.scatter((at[here] - at.min()) / 1e6, delay[here] / 1e3, s=12, label=f"CPU {number}")
    right.plot(np.sort(delay[here]) / 1e3, np.linspace(0, 100, here.sum()), drawstyle="steps-post")
left.set(xlabel="time of the run, ms", ylabel="delay, us", yscale="log", title="from waking to running")
right.set(xlabel="delay, us", ylabel="% of wakeups", xscale="log", title="at most so late")
left.legend(frameon=False)
pyplot.savefig(picture, metadata={"Date": None} if picture.endswith(".svg") else None, dpi=100)
