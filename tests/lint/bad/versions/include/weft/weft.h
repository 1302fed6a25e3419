/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define WEFT_VERSION_NUMBER 300
