/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_PROBE_PROBE_ROOM_H
#define WEFT_PROBE_PROBE_ROOM_H

struct instance;
struct probe;

/*
 * A kretprobe can follow so many calls of its function at once (max_active), and misses those beyond. The kernel's own number, 10 or twice
 * the CPUs, is right for functions that do not sleep; of others every task may be in one. So where nobody chose, the number is of the
 * tasks that there are. It changes nothing of other probes, and on kernels that take no number.
 */
void probe_make_room(const struct instance *top, struct probe *probe);

#endif
