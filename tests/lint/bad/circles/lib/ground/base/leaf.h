/* SPDX-License-Identifier: GPL-2.0-only */
#include "lib/ground/base/one.h"
