/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_FORMATS_EXPORT_EXPORTS_H
#define WEFT_FORMATS_EXPORT_EXPORTS_H

#include "formats/export/export.h"

/* The exporters that there are: one line here and one in export.c for each. */
extern const struct export_ops jsonl_export, csv_export; /* lines.c */

#endif
