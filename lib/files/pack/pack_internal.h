/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FILES_PACK_PACK_INTERNAL_H
#define WEFT_FILES_PACK_PACK_INTERNAL_H

#include "lib/files/pack/folder_internal.h"
#include "lib/files/pack/pack.h"
#include "lib/files/pack/tree_internal.h"
#include "lib/pages/trace/trace.h"
#include "lib/pages/trace/writer.h"

/* Shared by the files of the packer. No other file may include this. */

/* A file of raw pages, by its name in the folder. */
struct pack_raw {
	uint32_t cpu;
	char *name;
};

struct pack_ring {
	char *name;
	char *root; /* the directory with its texts, in the folder; or NULL */
	struct tree tree;
	size_t base;          /* its index in the other trace.dat, or SIZE_MAX */
	struct pack_raw *raw; /* ascending; they replace the pages of the other trace.dat */
	size_t nr_raw;
};

struct pack {
	const struct pack_options *options;
	struct folder folder;
	struct trace *base;
	struct pack_ring *rings;
	size_t nr_rings;
	struct tree *event_trees;
	size_t nr_event_trees;
	char **owned; /* texts made here */
	size_t nr_owned;
	bool big_endian;
	uint8_t long_size;
	uint32_t page_size;
	struct writer_format *formats;
	struct writer_setting *settings;
	const char **cpustats;
	struct writer_metadata metadata;
	struct pack_summary summary;
};

enum { PACK_SETTINGS_MAX = 1 << 14, PACK_FORMATS_MAX = 1 << 14 };

int must_check pack_find_pages(struct pack *pack, struct fail *fail);
/* Fills `metadata`. */
int must_check pack_gather(struct pack *pack, struct fail *fail);

/* The word in brackets of "[local] global ..."; NULL without file, memory or brackets. */
char *pack_selected(const struct tree_file *file);

#endif
