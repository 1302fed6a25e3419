/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_PROBE_PROBE_ROOM_INTERNAL_H
#define WEFT_PROBE_PROBE_ROOM_INTERNAL_H

struct instance;
struct probe;

/*
 * Sets max_active of a kretprobe, the number of concurrent calls of its function that it can follow; it misses further
 * calls. The kernel's default, 10 or twice the number of CPUs, suits functions that do not sleep. Every task can be in
 * a function that sleeps. So if the user chose no number, the number of tasks is used. Other probes, and kernels that
 * do not accept a number, are left unchanged.
 */
void probe_make_room(const struct instance *top, struct probe *probe);

#endif
