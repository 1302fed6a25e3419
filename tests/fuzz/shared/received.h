/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_FUZZ_RECEIVED_H
#define WEFT_FUZZ_RECEIVED_H

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/ground/base/fail.h"
#include "lib/kernel/record/arrival.h"
#include "lib/kernel/record/recovery.h"

/*
 * What another machine sent becomes a recording in a folder of this process, which is then made into a file: nothing
 * outside of the parts may appear, and each failure has a text.
 */
static char received_root[] = "/dev/shm/weft-fuzz-received-XXXXXX";
static char received_output[64], received_made[64];

static inline int received_forget(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	return at->level ? remove(path) : 0;
}

static inline void received_clean(void)
{
	nftw(received_root, received_forget, 8, FTW_DEPTH | FTW_PHYS);
	rmdir(received_root);
}

static inline void received_prepare(void)
{
	if (*received_output)
		return;
	if (!mkdtemp(received_root))
		abort();
	snprintf(received_output, sizeof(received_output), "%s/k.dat", received_root);
	snprintf(received_made, sizeof(received_made), "%s.received_made", received_root);
	atexit(received_clean);
}

static inline int received_ignore(void *arg, bool on_stderr, const void *text, size_t len)
{
	(void)arg;
	(void)on_stderr;
	(void)text;
	(void)len;
	return 0;
}

/* The folder has the parts, and they have nothing but the metadata and spools. */
static inline void received_look_around(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (*entry->d_name != '.' && strcmp(entry->d_name, "metadata") != 0 &&
		    entry->d_name[strspn(entry->d_name, "0123456789.")])
			abort();
	if (dir)
		closedir(dir);
}

static inline void received_finish(struct arrival *arrival)
{
	bool has_begun = arrival_has_begun(arrival);
	struct fail fail = FAIL_INIT;
	struct recovery recovery;
	char *path = strdup(arrival_path(arrival));

	if (!path)
		abort();
	received_look_around(path);
	arrival_free(arrival);
	if (has_begun && !recovery_run(path, received_made, 0600, &recovery, &fail))
		recovery_release(&recovery);
	else if (has_begun && !*fail.text)
		abort();
	unlink(received_made);
	free(path);
	nftw(received_root, received_forget, 8, FTW_DEPTH | FTW_PHYS);
}

#endif
