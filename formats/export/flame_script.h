/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_FORMATS_EXPORT_FLAME_SCRIPT_H
#define WEFT_FORMATS_EXPORT_FLAME_SCRIPT_H

/* What is in every flame graph: its styles, and the script of its mouse, keys and search (flame.c says what they find in the file). */
extern const char flame_style[], flame_script[];

#endif
