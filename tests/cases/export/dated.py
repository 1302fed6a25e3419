# SPDX-License-Identifier: GPL-2.0-only
# dated.py FORMAT FILE TS: FILE was exported from a file with the option DATE. Prints the instant of the event with the
# time TS, which is the first one of the export, in ns since 1970, as a reader of the format understands the file.
import json
import re
import sys


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if not data[at - 1] & 0x80:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        value, at = varint(data, at)
        if tag & 7 == 2:
            value, at = data[at:at + value], at + value
        yield tag >> 3, value


def decimal(text):
    """Milliseconds, which have six digits behind the point, in ns."""
    whole, _, part = text.partition('.')
    return int(whole) * 10**6 + int(part.ljust(6, '0'))


def firefox(data, ts):
    profile = json.loads(data, parse_float=str)
    times = [str(t) for thread in profile['threads'] for t in thread['markers']['startTime'] if t is not None]
    return decimal(str(profile['meta']['startTime'])) + min(decimal(t) for t in times)


def perfetto(data, ts):
    for packet in (dict(fields(packet)) for _, packet in fields(data)):
        if 6 in packet:
            clocks = [dict(fields(clock)) for number, clock in fields(packet[6]) if number == 1]
            at = {clock[1]: clock[2] for clock in clocks}
            return ts - at[6] + at[1]  # BOOTTIME and REALTIME


def html(data, ts):
    facts = json.loads(re.search(rb'<script type="application/json" id="data">\n(.*?)</script>', data, re.DOTALL)[1])
    return int(facts['start']) + int(facts['date'])


def parquet(data, ts):
    at = data.rindex(b'weft.date_offset_ns') + len(b'weft.date_offset_ns')
    length, at = varint(data, at + 1)
    return ts + int(data[at:at + length])


if __name__ == '__main__':
    print(globals()[sys.argv[1]](open(sys.argv[2], 'rb').read(), int(sys.argv[3])))
