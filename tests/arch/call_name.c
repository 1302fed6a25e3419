// SPDX-License-Identifier: GPL-2.0-only
/* Reads lines of MACHINE NUMBER and prints MACHINE NUMBER NAME. NAME is weft's name of the system call, or "-". */
#include "lib/meaning/uapi/names.h"

#include <inttypes.h>
#include <stdio.h>

int main(void)
{
	char machine[32];
	int64_t number;

	while (scanf("%31s %" SCNd64, machine, &number) == 2) {
		const char *name = system_call_name(machine, number);

		printf("%s %" PRId64 " %s\n", machine, number, name ? name : "-");
	}
	return 0;
}
