// SPDX-License-Identifier: GPL-2.0-only
#include "lib/meaning/event/event.h"

#include <zstd.h>
