// SPDX-License-Identifier: GPL-2.0-only
#include "tests/mutants/switch.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int mutant_acting = -1;
unsigned char *mutants_seen;

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

		if (bytes != MAP_FAILED)
			mutants_seen = bytes;
	}
	close(fd);
}
