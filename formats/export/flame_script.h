/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_FORMATS_EXPORT_FLAME_SCRIPT_H
#define WEFT_FORMATS_EXPORT_FLAME_SCRIPT_H

/*
 * The constant parts of every flame graph: its styles, and the script for mouse, keys and search. flame.c documents the
 * elements of the file that the script uses.
 */
extern const char flame_style[], flame_script[];

#endif
