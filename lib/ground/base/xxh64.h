/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_GROUND_BASE_XXH64_H
#define WEFT_GROUND_BASE_XXH64_H

#include <stddef.h>
#include <stdint.h>

/*
 * The 64-bit xxHash of the bytes with seed 0, as `xxhsum -H64` prints it; the checksum of a zstd frame is its lower
 * half.
 */
uint64_t xxh64(const void *data, size_t len);

#endif
