/* SPDX-License-Identifier: GPL-2.0-only */
/* A buffer owns its bytes, grows by itself, is released by its owner, and all of that is told here in one line only, which goes on and on until nobody finds its beginning any more. */
