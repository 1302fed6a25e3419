/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_EXPORT_FLAME_TEXTS_INTERNAL_H
#define WEFT_FORMATS_EXPORT_FLAME_TEXTS_INTERNAL_H

/* The style and the script of a flame graph, page.css and page.js, as strings. The Makefile makes them. */
extern const char flame_page_css[], flame_page_js[];

#endif
