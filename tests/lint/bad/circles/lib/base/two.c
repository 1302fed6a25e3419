// SPDX-License-Identifier: GPL-2.0-only
#include "lib/base/three.h"
