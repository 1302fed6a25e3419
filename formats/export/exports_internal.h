/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_FORMATS_EXPORT_EXPORTS_INTERNAL_H
#define WEFT_FORMATS_EXPORT_EXPORTS_INTERNAL_H

#include "formats/export/export.h"

/* All exporters: each has one line here and one in export_run.c. */
extern const struct export_ops jsonl_export, csv_export; /* lines.c */
extern const struct export_ops perfetto_export;          /* perfetto.c */
extern const struct export_ops sqlite_export;            /* sqlite.c */
extern const struct export_ops chrome_export;            /* chrome.c */
extern const struct export_ops folded_export;            /* folded.c */
extern const struct export_ops flame_export;             /* flame.c */
extern const struct export_ops speedscope_export;        /* speedscope.c */
extern const struct export_ops html_export;              /* html.c */
extern const struct export_ops parquet_export;           /* parquet.c */
extern const struct export_ops ctf_export;               /* ctf.c */
extern const struct export_ops pprof_export;             /* pprof.c */
extern const struct export_ops firefox_export;           /* firefox.c */

#endif
