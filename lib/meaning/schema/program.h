/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_SCHEMA_PROGRAM_H
#define WEFT_MEANING_SCHEMA_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/meaning/schema/env.h"

struct fail;
struct format;
struct out;
struct schema;
struct schema_abi;

/*
 * A program prints the fields of one event type as the kernel's TP_printk did: compiled once from the print fmt, run
 * for every event.
 * Invariants: running cannot fail, allocates nothing, looks up no name, and reads nothing outside the record, whatever
 * the record holds. Programs are immutable: any number of threads may run one. The text is the output of
 * include/trace/stages/stage3_trace_output.h and lib/vsprintf.c, without the newline at its end.
 */
struct program;

/*
 * The program of a format; compiled on first use, owned by the schema, NULL only when memory is short. When the print
 * fmt cannot be compiled, the program prints every field as name=value, and *ret_note (may be NULL) has the reason. The
 * note also names enumerators whose values are unknown; else it is NULL. Not thread-safe.
 */
const struct program *schema_program(struct schema *schema, const struct format *format, const char **ret_note);

/* Whether the program prints name=value because the print fmt could not be compiled. */
bool program_shows_fields(const struct program *program);

void program_run(const struct program *program, const struct program_env *env, const uint8_t *data, size_t len,
		 struct out *out);

/*
 * Prints every field after the common ones as name=value: the kernel's `fields` option (print_fields() of
 * trace_output.c).
 */
void program_fields(const struct schema_abi *abi, const struct format *format, const struct program_env *env,
		    const uint8_t *data, size_t len, struct out *out);

/*
 * Formats like the kernel's bstr_printf() (lib/vsprintf.c): `format` is the trace_printk format, `args` the packed
 * words of a bprint entry.
 */
void program_bprintf(const struct schema *schema, const struct program_env *env, const char *format,
		     const uint8_t *args, size_t len, struct out *out);

#endif
