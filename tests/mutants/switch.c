// SPDX-License-Identifier: GPL-2.0-only
#include "tests/mutants/switch.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

int mutant_acting = -1;
unsigned char *mutants_seen;
static size_t nr_seen;
static FILE *log_of_tests;

/* WEFT_MUTANTS_SEEN names a file with a byte for each mutant. It is mapped before a sandbox forbids to open files. */
__attribute__((constructor)) static void read_environment(void)
{
	const char *number = getenv("WEFT_MUTANT"), *seen = getenv("WEFT_MUTANTS_SEEN");
	int fd = seen ? open(seen, O_RDWR | O_CLOEXEC) : -1;
	struct stat st;

	if (number)
		mutant_acting = (int)strtol(number, NULL, 10);
	if (fd < 0)
		return;
	if (!fstat(fd, &st) && st.st_size > 0) {
		void *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

		if (bytes != MAP_FAILED) {
			mutants_seen = bytes;
			nr_seen = (size_t)st.st_size;
		}
	}
	close(fd);
	number = getenv("WEFT_MUTANTS_LOG");
	log_of_tests = number ? fopen(number, "ae") : NULL;
}

static double cpu_seconds(int who)
{
	struct rusage usage;

	getrusage(who, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/*
 * WEFT_MUTANTS_LOG names a file that gets a line for each unit test that passed: its name, its seconds of CPU, the
 * mutants that it reached.
 */
void test_ended(const char *name);
void test_ended(const char *name)
{
	static double before;
	double now = cpu_seconds(RUSAGE_SELF) + cpu_seconds(RUSAGE_CHILDREN);

	if (!log_of_tests)
		return;
	fprintf(log_of_tests, "%s %.4f", name, now - before);
	before = now;
	for (size_t i = 0; i < nr_seen; i++)
		if (mutants_seen[i])
			fprintf(log_of_tests, " %zu", i);
	fputc('\n', log_of_tests);
	fflush(log_of_tests);
	if (mutants_seen)
		memset(mutants_seen, 0, nr_seen);
}
