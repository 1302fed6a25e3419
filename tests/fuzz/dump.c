// SPDX-License-Identifier: GPL-2.0-only
/*
 * Input: the bytes of a dump; or "patch", and then changes of a dump in tests/fixtures/dump: for each u32 place, u8
 * length, and so many bytes; "small" changes the small one, of which a hundred can be read in a second. Whatever is
 * found is written, as weft extract --dump does.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/ground/base/bytes.h"
#include "lib/ground/base/cleanup.h"
#include "lib/memory/crash/crash.h"
#include "lib/memory/dump/dump.h"
#include "lib/pages/codec/frame.h"
#include "lib/pages/trace/writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { WHOLE_MAX = 32 << 20 };

struct base {
	const char *path;
	uint8_t *bytes;
	size_t size;
};

/* The fixture is decompressed once. */
static void load(struct base *base)
{
	char command[128];
	FILE *pipe;

	if (base->bytes)
		return;
	snprintf(command, sizeof(command), "zstd -qdc %s", base->path);
	pipe = popen(command, "re");
	base->bytes = malloc(WHOLE_MAX);
	if (!pipe || !base->bytes)
		abort();
	base->size = fread(base->bytes, 1, WHOLE_MAX, pipe);
	pclose(pipe);
}

static void put(int fd, const void *bytes, size_t len, off_t at)
{
	if (pwrite(fd, bytes, len, at) != (ssize_t)len)
		abort();
}

static void patch(int fd, struct base *base, const uint8_t *data, size_t len)
{
	struct bytes in = bytes_of(data, len, false);
	const uint8_t *change;
	uint32_t at;
	uint8_t nr;

	load(base);
	put(fd, base->bytes, base->size, 0);
	while (bytes_u32(&in, &at) && bytes_u8(&in, &nr) && bytes_take(&in, nr, &change))
		if (base->size > nr)
			put(fd, change, nr, (off_t)(at % (base->size - nr)));
}

static void extract(struct dump *dump)
{
	const struct writer_options form = { .version = 7, .compress = false };
	const struct crash_choice choice = { .hash_key = true, .version = "weft" };
	struct crash *crash;
	cleanup_fd int fd = -1;
	uint64_t size;

	if (crash_open(dump, NULL, &crash, NULL))
		return;
	fd = memfd_create("file", MFD_CLOEXEC);
	(void)!crash_write(crash, &choice, &form, fd, &size, NULL);
	crash_free(crash);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct base whole = { .path = "tests/fixtures/dump/6.1-rt.elf.zst" };
	static struct base small = { .path = "tests/fixtures/dump/small.elf.zst" };
	cleanup_fd int fd = memfd_create("dump", MFD_CLOEXEC);
	struct dump *dump;

	if (fd < 0)
		abort();
	if (len >= 5 && !memcmp(data, "patch", 5))
		patch(fd, &whole, data + 5, len - 5);
	else if (len >= 5 && !memcmp(data, "small", 5))
		patch(fd, &small, data + 5, len - 5);
	else
		put(fd, data, len, 0);
	if (!dump_open(fd, "dump", &dump, NULL)) {
		extract(dump);
		dump_free(dump);
	}
	return 0;
}
