// SPDX-License-Identifier: GPL-2.0-only
/*
 * entries FILE [PLUGIN]: prints what KernelShark's library loads from a file, with a plugin that reads it: for each
 * entry a line, and below it its fields of numbers. An oracle, and the host of examples/kernelshark.c.
 */
#include <stdio.h>
#include <stdlib.h>

#include <libkshark.h>

static void print_fields(const struct kshark_entry *entry)
{
	char **names = NULL;
	int nr = kshark_get_all_event_field_names(entry, &names);

	for (int i = 0; i < nr; i++) {
		int64_t value = -1;

		if (kshark_get_event_field_type(entry, names[i]) == KS_INTEGER_FIELD &&
		    !kshark_read_event_field_int(entry, names[i], &value))
			printf("\t%s=%lld\n", names[i], (long long)value);
		free(names[i]);
	}
	free(names);
}

static void print(struct kshark_context *context, int sd, struct kshark_entry **rows, ssize_t nr)
{
	struct kshark_data_stream *stream = kshark_get_data_stream(context, sd);
	int *ids = kshark_get_all_event_ids(stream), *pids = NULL;
	ssize_t tasks = kshark_get_task_pids(context, sd, &pids);

	printf("%d CPUs, %zd tasks, sched/sched_switch is %d\n", stream->n_cpus, tasks,
	       kshark_find_event_id(stream, "sched/sched_switch"));
	for (ssize_t i = 0; i < nr; i++) {
		char *text = kshark_dump_entry(rows[i]);

		printf("%s\n", text ? text : "");
		print_fields(rows[i]);
		free(text);
		free(rows[i]);
	}
	free(ids);
	free(pids);
	free(rows);
}

int main(int argc, char **argv)
{
	struct kshark_context *context = NULL;
	struct kshark_entry **rows = NULL;
	ssize_t nr;
	int sd;

	if (argc < 2 || !kshark_instance(&context) || (argc > 2 && !kshark_register_plugin(context, "weft", argv[2])))
		return 2;
	sd = kshark_open(context, argv[1]);
	nr = sd < 0 ? -1 : kshark_load_entries(context, sd, &rows);
	if (nr < 0) {
		fprintf(stderr, "KernelShark cannot read '%s'\n", argv[1]);
		return 1;
	}
	print(context, sd, rows, nr);
	kshark_close(context, sd);
	kshark_free(context);
	return 0;
}
