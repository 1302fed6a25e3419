#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# frames.py TRACE EVENT...: a pandas.DataFrame of each event, as TRAPpy and LISA give it, printed as CSV.
import sys

import numpy as np
import pandas as pd

import weft


class Frames:
    """frames.sched_switch: a row for each event, by its time in seconds since the first event of the trace."""

    def __init__(self, path):
        self.trace = weft.open(path)
        self.formats = {format.name: format for format in self.trace.formats}
        every = self.trace.columns("ts event").to_dict()
        self.names = np.asarray(every["event"])
        self.times = np.asarray(every["ts"]) / 1e9
        for i in np.flatnonzero(np.diff(self.times) <= 0) + 1:  # each event has a time of its own
            self.times[i] = np.nextafter(self.times[i - 1], np.inf)

    def __getattr__(self, event):
        fields = [field.name for field in self.formats[event].fields if not field.name.startswith("common_")]
        own = {"__comm": "comm", "__pid": "pid", "__cpu": "cpu"}
        columns = own | {name: "fields." + name for name in fields}
        data = self.trace.columns(" ".join(columns.values()), event).to_dict()
        lines = np.flatnonzero(self.names == event)
        index = pd.Index(self.times[lines] - self.times[0], name="Time")
        frame = pd.DataFrame({name: data[column] for name, column in columns.items()}, index=index)
        frame.insert(3, "__line", lines)
        return frame


if __name__ == "__main__":
    frames = Frames(sys.argv[1])
    for event in sys.argv[2:]:
        getattr(frames, event).to_csv(sys.stdout)
