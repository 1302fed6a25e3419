// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs `weft recover` on forged parts: metadata and spools with any contents, and links. Nothing outside of the parts
 * may be changed or copied, and the recovered file must be readable. The input is a list: u8 what, u8 buffer, u8 length
 * of the key, u16 length of the data, key, data. `what` is a kind of item, raw bytes of the metadata, a file or a link.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/ground/base/fail.h"
#include "lib/kernel/record/ledger_internal.h"
#include "lib/kernel/record/parts.h"
#include "lib/kernel/record/recovery.h"
#include "lib/pages/ring/page.h"
#include "lib/pages/trace/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { ITEMS_MAX = 64, RAW = LEDGER_KIND_END, SPOOL, LINK, OTHER, KINDS, NAME_SIZE = 32 };

static const char secret[] = "what nobody may take out of here";
static char root[] = "/dev/shm/weft-fuzz-parts-XXXXXX";
static char canary[64], output[64], made[64];

static int forget(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	return at->level ? remove(path) : 0;
}

static void write_file(int dir, const char *name, int flags, const void *data, size_t len)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags, 0600);

	if (fd < 0)
		return;
	if (write(fd, data, len) != (ssize_t)len)
		abort();
	close(fd);
}

static struct parts *begin(void)
{
	struct parts_file file = parts_file_here(7, true, 1, &(struct page_shape){ .size = 4096, .long_size = 8 }, 2);
	struct parts *parts = NULL;

	if (parts_new(output, NULL, &parts, NULL) || parts_describe(parts, &file, NULL) ||
	    ledger_add_text(parts->ledger, LEDGER_HEADER_PAGE, "header", NULL) ||
	    ledger_add_text(parts->ledger, LEDGER_HEADER_EVENT, "header", NULL) ||
	    ledger_add_text(parts->ledger, LEDGER_BUFFER, "4096 local", NULL))
		abort();
	return parts;
}

/* A text of the input as the name of a file. */
static void name_of(char name[NAME_SIZE], const uint8_t *text, size_t len)
{
	len = len < NAME_SIZE - 1 ? len : NAME_SIZE - 1;
	memcpy(name, text, len);
	name[len] = 0;
	if (strchr(name, '/') || !*name || *name == '.')
		snprintf(name, NAME_SIZE, "unfinished.1");
}

static void forge(struct parts *parts, unsigned what, unsigned buffer, const uint8_t *key, size_t key_len, size_t len)
{
	struct ledger_item item = {
		.kind = (enum ledger_kind)what, .buffer = buffer & 3, .data = (const char *)key + key_len, .len = len
	};
	char name[NAME_SIZE], text[256];

	name_of(name, key, key_len);
	switch (what) {
	case 0:
	case RAW:
		write_file(parts->dir, "metadata", O_APPEND, item.data, len);
		return;
	case SPOOL:
		snprintf(name, sizeof(name), "%u.%u", buffer & 1, buffer >> 1 & 1);
		write_file(parts->dir, name, O_TRUNC, item.data, len);
		return;
	case LINK:
		(void)!symlinkat(canary, parts->dir, name);
		return;
	case OTHER:
		write_file(parts->dir, name, O_TRUNC, item.data, len);
		return;
	}
	memcpy(text, key, key_len);
	text[key_len] = 0;
	item.key = text;
	if (ledger_add(parts->ledger, &item, NULL))
		abort();
}

/* The file outside is unchanged, and the recovered file has none of its bytes. */
static void look_around(void)
{
	char text[64] = "";
	int fd = open(canary, O_RDONLY | O_CLOEXEC);
	struct trace *trace = NULL;

	if (fd < 0 || read(fd, text, sizeof(text)) != (ssize_t)strlen(secret) || memcmp(text, secret, strlen(secret)))
		abort();
	close(fd);
	fd = open(made, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	for (ssize_t got; (got = read(fd, text, sizeof(text) - 1)) > 0;) {
		text[got] = 0;
		if (strstr(text, secret))
			abort();
	}
	if (!trace_open(made, &trace, NULL))
		trace_free(trace);
	close(fd);
	unlink(made);
}

static void recover(const char *path)
{
	struct recovery recovery = { .output = NULL };
	struct fail fail = FAIL_INIT;

	if (!recovery_run(path, made, 0600, &recovery, &fail))
		recovery_release(&recovery);
	else if (!*fail.text)
		abort();
	look_around();
}

static void clean(void)
{
	unlink(canary);
	rmdir(root);
}

static void prepare(void)
{
	if (*canary)
		return;
	if (!mkdtemp(root))
		abort();
	snprintf(canary, sizeof(canary), "%s.outside", root);
	snprintf(output, sizeof(output), "%s/k.dat", root);
	snprintf(made, sizeof(made), "%s.made", root);
	write_file(AT_FDCWD, canary, O_TRUNC, secret, strlen(secret));
	atexit(clean);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct parts *parts;
	char *path;

	/* The fuzzer sees compared bytes, so it may have written these bytes itself. */
	if (memmem(data, len, secret, strlen(secret)))
		return 0;
	prepare();
	parts = begin();
	path = strdup(parts->path);
	for (int i = 0; i < ITEMS_MAX && len >= 5; i++) {
		unsigned what = data[0] % KINDS, buffer = data[1];
		size_t left = len - 5, key = data[2] < left ? data[2] : left, size = data[3] | (size_t)data[4] << 8;

		size = size < left - key ? size : left - key;
		forge(parts, what, buffer, data + 5, key, size);
		data += 5 + key + size;
		len -= 5 + key + size;
	}
	parts_free(parts);
	if (path)
		recover(path);
	free(path);
	nftw(root, forget, 8, FTW_DEPTH | FTW_PHYS);
	return 0;
}
