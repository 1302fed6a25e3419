/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_SCHEMA_FIELDS_INTERNAL_H
#define WEFT_SCHEMA_FIELDS_INTERNAL_H

struct format;
struct out;
struct run;

/*
 * Prints " name=value" for each field after the common ones, as print_fields() of kernel/trace/trace_output.c (6.12)
 * does.
 */
void fields_put(const struct format *format, const struct run *run, struct out *out);

#endif
