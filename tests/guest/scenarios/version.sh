# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	weft --version > /tmp/version.txt
	check "weft --version prints its version" matches /tmp/version.txt '^weft [0-9]'
	check "weft runs without libraries of another kind" equal "$(weft --version 2>&1 >/dev/null)" ""
}
