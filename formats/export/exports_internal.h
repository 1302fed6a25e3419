/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_EXPORT_EXPORTS_INTERNAL_H
#define WEFT_FORMATS_EXPORT_EXPORTS_INTERNAL_H

#include "formats/export/export.h"

/* jsonl and csv are in lines.c, the others in files of their names. */
#define EXPORT_EXTERN(name) extern const struct export_ops name##_export;
EXPORTS(EXPORT_EXTERN)
#undef EXPORT_EXTERN

#endif
