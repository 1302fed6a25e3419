// SPDX-License-Identifier: GPL-2.0-only
#include "lib/one/own.h"
#include "lib/two/other_internal.h"
