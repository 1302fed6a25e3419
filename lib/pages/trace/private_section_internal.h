/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_PAGES_TRACE_PRIVATE_SECTION_INTERNAL_H
#define WEFT_PAGES_TRACE_PRIVATE_SECTION_INTERNAL_H

/*
 * weft's private section (weft-dat(5)), for the reader and the writer: u32 version, u32 count, and for each setting u32
 * buffer, name NUL, u64 size, bytes, NUL. Numbers are in the file's byte order. Version 7 has it as a section with an
 * id of its own, compressed like others; version 6 has the plain body at the end of the file, followed by a trailer:
 * u64 offset, magic.
 */
enum {
	SETTINGS_VERSION = 1,
	SETTINGS_MAX = 1 << 17,
	SETTINGS_TRAILER_SIZE = 16,
};

#define SETTINGS_TRAILER_MAGIC "weft-set"

#endif
