// SPDX-License-Identifier: GPL-2.0-only
const char page[] = "function show(on) {\n"
		    "}\n";
