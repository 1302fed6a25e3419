/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_TESTS_UNIT_PLUGGED_H
#define WEFT_TESTS_UNIT_PLUGGED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"

/* One event format and the plugins of a directory of the build, for tests of what plugins say about a record. */
struct plugged {
	struct schema *schema;
	struct plugins *plugins;
	struct out out;
	struct fail fail;
};

/* The common fields at the beginning of each format. */
#define PLUGGED_COMMON                                                                 \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"         \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"         \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

/* The path of `rest` in the directory of the build that contains this test. */
void plugged_path(char *path, size_t size, const char *rest);

bool plugged_init(struct plugged *plugged, const char *dir, const char *machine, const char *system,
		  const char *format);
void plugged_release(struct plugged *plugged);

/* What the plugin says about a record, as a string in plugged->out. */
const char *plugged_decode(struct plugged *plugged, int32_t id, const void *record, size_t len);

#endif
