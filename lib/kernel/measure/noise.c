// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/measure/noise.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/cpus.h"
#include "lib/ground/base/now.h"

enum { FIRST_LINE = 512 };

static bool read_start(const char *path, char *into, size_t size)
{
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, into, size - 1);

	if (len < 0)
		return false;
	into[len] = '\0';
	return true;
}

bool noise_parse(const char *text, uint64_t ticks, struct noise *ret)
{
	uint64_t user, nice, system, idle, iowait, irq, softirq, steal;

	if (!ticks ||
	    sscanf(text,
		   "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
		   &user, &nice, &system, &idle, &iowait, &irq, &softirq, &steal) != 8)
		return false;
	*ret = (struct noise){ .busy_ns = (user + nice + system + irq + softirq) * (NS_PER_S / ticks),
			       .stolen_ns = steal * (NS_PER_S / ticks) };
	return true;
}

bool noise_read(struct noise *ret)
{
	char text[FIRST_LINE];
	long ticks = sysconf(_SC_CLK_TCK);

	return ticks > 0 && read_start("/proc/stat", text, sizeof(text)) && noise_parse(text, (uint64_t)ticks, ret);
}

bool noise_governor(char ret[NOISE_GOVERNOR])
{
	long nr = sysconf(_SC_NPROCESSORS_CONF);

	for (long cpu = 0; cpu < nr && cpu < CPUS_MAX; cpu++) {
		char path[96], governor[NOISE_GOVERNOR];

		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%ld/cpufreq/scaling_governor", cpu);
		if (!read_start(path, governor, sizeof(governor)))
			continue;
		governor[strcspn(governor, "\n")] = '\0';
		if (*governor && strcmp(governor, "performance") != 0) {
			memcpy(ret, governor, sizeof(governor));
			return true;
		}
	}
	return false;
}
