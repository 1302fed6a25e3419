/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_FORMATS_EXPORT_HTML_SCRIPT_H
#define WEFT_FORMATS_EXPORT_HTML_SCRIPT_H

/* The constant parts of every timeline, in this order; the data, as JSON, follow the head. */
extern const char html_head[]; /* html_page.c, as all others without a file name here */
extern const char html_middle[];
extern const char html_model[]; /* html_model.c */
extern const char html_between[];
extern const char html_tools[]; /* html_tools.c */
extern const char html_view[];  /* html_view.c */
extern const char html_behind[];
extern const char html_flame_view[]; /* html_flame_view.c */
extern const char html_foot[];

#endif
