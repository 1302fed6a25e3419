/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_EXPORT_PARQUET_THRIFT_READ_INTERNAL_H
#define WEFT_FORMATS_EXPORT_PARQUET_THRIFT_READ_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/bytes.h"

/*
 * Thrift's compact protocol (thrift_internal.h), read from untrusted bytes. Each function returns false, and reads no
 * byte behind the end, where the bytes are none of it.
 */
bool thrift_read_varint(struct bytes *in, uint64_t *ret);
bool thrift_read_int(struct bytes *in, int64_t *ret);
bool thrift_read_bytes(struct bytes *in, struct bytes *ret);
bool thrift_read_list(struct bytes *in, unsigned *ret_type, size_t *ret_nr);
bool thrift_skip(struct bytes *in, unsigned type);

/*
 * Reads a structure: calls `field` for each of its fields, which takes the field's value or says with *skip that it
 * does not.
 */
typedef bool (*thrift_field_fn)(void *arg, uint32_t field, unsigned type, struct bytes *in, bool *skip);
bool thrift_read_struct(struct bytes *in, thrift_field_fn field, void *arg);

#endif
