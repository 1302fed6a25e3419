# SPDX-License-Identifier: GPL-2.0-only
"""import-analyses.py EXCEPTIONS NAME COMMAND ONE OTHER: compares what an analysis tells (--format json) of a recording
and of its imported text. Times may differ by the rounding to 1 us of each part; everything else must be equal. EXCEPTIONS
has lines of NAME, COMMAND, PLACE (globs) and a reason, separated by tabs. Prints the differences that have no reason, and
on stderr the numbers of the lines that were used."""
import json
import re
import sys

TIME = re.compile(r"(_ns|_at|since|until|_us|delay|_ts)$|^(from|at|max|min|p\d+)$|_(p50|p90|p99|max|min|total|self|sum)$")
KEYS = ("comm", "task", "pid", "tid", "call", "name", "function", "kind", "source", "cpu", "number", "error", "retval",
        "event", "id", "part", "what", "waker", "wakeup", "bucket")
HINT = ("since", "at_ns", "from_ns")


def key(row):
    if not isinstance(row, dict):
        return str(row)
    return tuple(str(row[k]) for k in KEYS if k in row) + tuple(str(round(row[k] / 2000)) for k in HINT
                                                               if isinstance(row.get(k), (int, float)))


def flatten(value, where, into):
    if isinstance(value, dict):
        for name, part in value.items():
            flatten(part, where + "/" + name, into)
    elif isinstance(value, list):
        seen = {}
        for part in sorted(value, key=key):
            name = "|".join(key(part)) if isinstance(part, dict) else ""
            seen[name] = seen.get(name, 0) + 1
            flatten(part, "%s[%s#%d]" % (where, name, seen[name]), into)
    else:
        into[where] = value


def near(where, one, other, number):
    if one == other:
        return True
    numbers = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in (one, other))
    last = where.rsplit("/", 1)[-1]
    if not numbers:
        return False
    if isinstance(one, float) or isinstance(other, float):
        return abs(one - other) <= 0.05 + abs(one) * 0.05
    return bool(TIME.search(last)) and abs(one - other) <= 1500 * (2 + number)


def globbed(text):
    return re.compile(".*".join(re.escape(part) for part in text.split("*")))


def main():
    exceptions, name, command, *files = sys.argv[1:]
    rules = [[globbed(part) for part in line.split("\t")[:3]] for line in open(exceptions) if not line.startswith("#")]
    flat = []
    for file in files:
        into = {}
        flatten(json.load(open(file)), "", into)
        flat.append(into)
    counts = [v for k, v in flat[0].items() if k.endswith(("count", "calls", "switches", "runs")) and isinstance(v, int)]
    number = max(counts, default=1)
    bad = []
    for where in sorted(set(flat[0]) | set(flat[1])):
        one, other = (into.get(where, "(missing)") for into in flat)
        if near(where, one, other, number):
            continue
        rule = next((i for i, rule in enumerate(rules)
                     if all(part.fullmatch(text) for part, text in zip(rule, (name, command, where)))), None)
        if rule is None:
            bad.append("%s %s %s: %s, imported %s" % (name, command, where, one, other))
        else:
            print(rule, file=sys.stderr)
    print("\n".join(bad), end="\n" if bad else "")
    return 1 if bad else 0


sys.exit(main())
