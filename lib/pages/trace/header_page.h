/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_PAGES_TRACE_HEADER_PAGE_H
#define WEFT_PAGES_TRACE_HEADER_PAGE_H

#include <stdbool.h>
#include <stdint.h>

/* The number after `name`, "size:" or "offset:", in the line of header_page that describes `field`, " commit;". */
bool header_number(const char *text, const char *field, const char *name, uint32_t *ret);

/* Returns whether a sub-buffer of the kernel can have this size. */
bool page_size_ok(uint32_t page_size);

#endif
