# SPDX-License-Identifier: GPL-2.0-only
"""speedscope.py FOLDED PAGE: compares what speedscope's table of functions shows (the page as its program left it) with
the self times that the folded stacks have. speedscope prints two decimals."""
import html
import re
import sys

UNITS = {'': 1, 'ns': 1, 'µs': 1e3, 'ms': 1e6, 's': 1e9}


def self_times(path):
    sums = {}
    with open(path) as text:
        for line in text:
            stack, weight = line.rsplit(' ', 1)
            frames = stack.split(';')
            for frame in frames:
                sums.setdefault(frame, 0)
            sums[frames[-1]] += int(weight)
    return sums


def shown(path):
    with open(path) as text:
        page = re.sub(r'<script.*?</script>', '', text.read(), flags=re.S)
    for row in re.findall(r'<tr.*?</tr>', page, re.S):
        cells = [html.unescape(re.sub('<[^>]*>', '', cell)).strip() for cell in re.findall(r'<td.*?</td>', row, re.S)]
        if len(cells) == 3 and cells[2]:
            yield cells[2], cells[1]


def main():
    want, rows, wrong = self_times(sys.argv[1]), 0, 0
    for name, text in shown(sys.argv[2]):
        number, unit = re.match(r'([0-9.,]+)([^ ]*)', text).groups()
        number = number.replace(',', '')
        rows += 1
        if name not in want or abs(float(number) * UNITS[unit] - want[name]) > 0.0051 * UNITS[unit]:
            print(name, text, want.get(name))
            wrong += 1
    print('%d functions, %d wrong' % (rows, wrong))
    return 0 if rows >= min(10, len(want)) and not wrong else 1


sys.exit(main())
