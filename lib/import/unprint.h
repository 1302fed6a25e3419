/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_IMPORT_UNPRINT_H
#define WEFT_IMPORT_UNPRINT_H

#include "lib/base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct format;

/*
 * Finds the fields of a record from the text that its print fmt made of them, as far as the print fmt is simple:
 * numbers and texts, names of numbers (__print_symbolic), x ? "a" : "b", and the states of sched_switch. What it finds
 * is a guess until printing the record gives the same text; the caller prints it. Invariants: bounded steps for any
 * text; the record is no longer than the text and the format's size. Not supported: byte orders and sizes of long other
 * than those of a 64-bit little-endian kernel.
 */
struct unprint;

/* NULL: the print fmt is not that simple, or memory is short. Borrows the format. */
struct unprint *unprint_new(const struct format *format);
void unprint_free(struct unprint *unprint);

/* Fills the record behind its common fields, which are zero; false: the text is not of this print fmt. */
bool unprint_run(const struct unprint *unprint, const char *text, size_t len, struct buf *record);

#endif
