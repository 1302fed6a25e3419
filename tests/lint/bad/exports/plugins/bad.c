// SPDX-License-Identifier: GPL-2.0-only
__attribute__((visibility("default"))) int weft_plugin, other;
