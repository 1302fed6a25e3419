// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/probe/probe_room_internal.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/base/cleanup.h"
#include "lib/explain/probe.h"
#include "lib/tracefs/instance.h"

/*
 * Twice the number of tasks, because more tasks appear while the function is traced. Each concurrent call needs some
 * hundred bytes. The kernel's limit is KRETPROBE_MAXACTIVE_MAX (kernel/trace/trace_kprobe.c).
 */
enum { TIMES_TASKS = 2, ROOM_MIN = 256, ROOM_MAX = 4096 };

/* The number of threads of all processes; 0: unknown. */
static unsigned count_tasks(void)
{
	cleanup_file FILE *file = fopen("/proc/loadavg", "re");
	unsigned tasks = 0;

	return file && fscanf(file, "%*s %*s %*s %*u/%u", &tasks) == 1 ? tasks : 0;
}

void probe_make_room(const struct instance *top, struct probe *probe)
{
	cleanup_buf struct buf readme = BUF_INIT;
	unsigned tasks = count_tasks(), room = ROOM_MIN;

	if (probe->kind != PROBE_KRETPROBE || probe->max_active || instance_read(top, "README", &readme, NULL) ||
	    !strstr(buf_str(&readme), "r[maxactive]"))
		return;
	while (room < ROOM_MAX && room < TIMES_TASKS * tasks)
		room *= 2;
	probe->max_active = room;
}
