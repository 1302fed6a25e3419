// SPDX-License-Identifier: GPL-2.0-only
/* hist_tracecmd FILE EVENT FIELD: the loop of examples/hist.c with libtracecmd, for a comparison of its time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace-cmd.h>

enum { VALUES = 1 << 16 };

static unsigned long count[VALUES];

struct wanted {
	struct tep_event *event;
	struct tep_format_field *field;
};

static int take(struct tracecmd_input *input, struct tep_record *record, int cpu, void *arg)
{
	const struct wanted *wanted = arg;
	unsigned long long value;

	(void)cpu;
	if (tep_find_event_by_record(tracecmd_get_tep(input), record) == wanted->event &&
	    !tep_read_number_field(wanted->field, record->data, &value) && value < VALUES)
		count[value]++;
	return 0;
}

int main(int argc, char **argv)
{
	struct tracecmd_input *input = argc == 4 ? tracecmd_open(argv[1], 0) : NULL;
	struct wanted wanted = { .event = NULL };

	if (input)
		wanted.event = tep_find_event_by_name(tracecmd_get_tep(input), NULL, argv[2]);
	if (wanted.event)
		wanted.field = tep_find_field(wanted.event, argv[3]);
	if (!wanted.field || tracecmd_iterate_events(input, NULL, 0, take, &wanted))
		return 1;
	for (int i = 0; i < VALUES; i++)
		if (count[i])
			printf("%d %lu\n", i, count[i]);
	tracecmd_close(input);
	return 0;
}
