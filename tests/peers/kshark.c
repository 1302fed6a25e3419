// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints the number of entries that KernelShark's library loads from each stream of a file. These 15 lines are an
 * oracle.
 */
#include <stdio.h>
#include <stdlib.h>

#include <libkshark.h>

int main(int argc, char **argv)
{
	struct kshark_context *context = NULL;
	struct kshark_entry **rows = NULL;
	int stream;
	ssize_t n;

	if (argc != 2 || !kshark_instance(&context))
		return 2;
	stream = kshark_open(context, argv[1]);
	if (stream < 0) {
		fprintf(stderr, "kshark_open: %d\n", stream);
		return 1;
	}
	n = kshark_load_entries(context, stream, &rows);
	printf("%zd\n", n);
	return n < 0;
}
