// SPDX-License-Identifier: GPL-2.0-only
#include "lib/event/event.h"

#include <zstd.h>
