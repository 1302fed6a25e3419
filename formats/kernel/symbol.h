/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_KERNEL_SYMBOL_H
#define WEFT_FORMATS_KERNEL_SYMBOL_H

#include <stdbool.h>
#include <stdint.h>

struct context;
struct out;

/* Print addresses as kernel/trace/trace_output.c does. */

/* seq_print_ip_sym(): "0" for 0, else the symbol by the options sym-offset and sym-addr. */
void symbol_print_ip(const struct context *context, uint64_t ip, struct out *out);

/* trace_seq_print_sym(): NAME, or NAME+OFFSET/SIZE [MODULE]; 0x%08lx when there is no symbol. */
void symbol_print(const struct context *context, uint64_t address, bool offset, struct out *out);

/* Prints " <0123456789abcdef>" with the width of the kernel's long. */
void symbol_print_address(const struct context *context, uint64_t address, struct out *out);

#endif
