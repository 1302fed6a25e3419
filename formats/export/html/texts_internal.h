/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_EXPORT_HTML_TEXTS_INTERNAL_H
#define WEFT_FORMATS_EXPORT_HTML_TEXTS_INTERNAL_H

/*
 * The files of this directory that a browser runs, as strings: page.css of html/ is html_page_css. The Makefile makes
 * them. page.html is a timeline; its lines "weft: NAME" name the other files, and the data.
 */
extern const char html_page_html[], html_page_css[], html_model_js[], html_rows_js[], html_tools_js[];
extern const char html_view_js[], html_flame_view_js[];

#endif
