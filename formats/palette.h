/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_PALETTE_H
#define WEFT_FORMATS_PALETTE_H

#include <stddef.h>
#include <stdint.h>

struct out;

/* The colours of weft's texts: escape sequences that use the terminal's own palette. */
#define COLOR_DIM "\033[2m"
#define COLOR_BOLD "\033[1m"
#define COLOR_REVERSE "\033[7m"
#define COLOR_RED "\033[31m"
#define COLOR_GREEN "\033[32m"
#define COLOR_YELLOW "\033[33m"
#define COLOR_BLUE "\033[34m"
#define COLOR_MAGENTA "\033[35m"
#define COLOR_CYAN "\033[36m"
#define COLOR_NONE "\033[0m"

/* The colour of a task: always the same for one PID; red is reserved for errors. */
const char *palette_task(int32_t pid);

/* The colour of a duration in ns, by its size. */
const char *palette_duration(uint64_t ns);

/* Prints a text in a colour; without one if `color` is "". Control characters in the text are escaped. */
void palette_put(const char *color, const char *text, size_t len, struct out *out);

#endif
