/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_TRACE_PRIVATE_SECTION_H
#define WEFT_TRACE_PRIVATE_SECTION_H

/*
 * weft's private section (weft-dat(5)), for the reader and the writer: u32 version, u32 count, and for each setting u32
 * buffer, name NUL, u64 size, bytes, NUL. Numbers are in the file's byte order. Version 7 has it as a section of its own id,
 * compressed like others; version 6 has the plain body at the end of the file, with a trailer behind it: u64 offset, magic.
 */
enum {
	SETTINGS_VERSION = 1,
	SETTINGS_MAX = 1 << 17,
	SETTINGS_TRAILER_SIZE = 16,
};

#define SETTINGS_TRAILER_MAGIC "weft-set"

/* Version 6 has no place for a latency text beside pages: it is a setting of this name there. */
#define SETTING_LATENCY "weft/latency"

#endif
