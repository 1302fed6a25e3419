/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_PACK_PACK_TYPES_INTERNAL_H
#define WEFT_PACK_PACK_TYPES_INTERNAL_H

#include "lib/base/buf.h"
#include "lib/base/cleanup.h"

struct fail;

/*
 * What packing keeps of a kernel's type information: for the trace.dat of this descriptor, the parameters of
 * the functions whose arguments were recorded, and the enumerators that the formats name. Adds lines of "weft/types" to
 * the buf.
 */
int must_check pack_types_read(int fd, const char *path, struct buf *ret, struct fail *fail);

#endif
