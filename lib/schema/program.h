/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_SCHEMA_PROGRAM_H
#define WEFT_SCHEMA_PROGRAM_H

#include "lib/base/cleanup.h"
#include "lib/schema/env.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fail;
struct format;
struct out;
struct schema;

/*
 * A program prints the fields of one event type the way the kernel's TP_printk did: compiled once from the print fmt,
 * run for every event. Invariants: running cannot fail, allocates nothing, looks nothing up by name, and reads nothing
 * outside the record, whatever the record holds. Programs are immutable: any number of threads may run one.
 * The text is what include/trace/stages/stage3_trace_output.h and lib/vsprintf.c produce, without the newline at its end.
 */
struct program;

/*
 * The program of a format; compiled on first use, owned by the schema, never NULL but without memory. When the print fmt is beyond
 * the compiler, it prints every field as name=value: *ret_note, if asked for, then says why. It also tells of names whose values
 * nobody knows; else it is NULL. Not for several threads at once.
 */
const struct program *schema_program(struct schema *schema, const struct format *format, const char **ret_note);

/* Whether it prints name=value because the compiler did not know the print fmt. */
bool program_shows_fields(const struct program *program);

void program_run(const struct program *program, const struct program_env *env, const uint8_t *data, size_t len,
		 struct out *out);

/* Every field behind the common ones as name=value: the kernel's `fields` option (print_fields() of trace_output.c). */
void program_fields(const struct schema *schema, const struct format *format, const struct program_env *env,
		    const uint8_t *data, size_t len, struct out *out);

/*
 * Formats as the kernel's bstr_printf() does (lib/vsprintf.c): `format` is the trace_printk format, `args` the packed words
 * of a bprint entry.
 */
void program_bprintf(const struct schema *schema, const struct program_env *env, const char *format,
		     const uint8_t *args, size_t len, struct out *out);

#endif
