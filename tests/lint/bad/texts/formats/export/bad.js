/* SPDX-License-Identifier: GPL-2.0-only */

function show(on { }
