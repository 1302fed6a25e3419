#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The command line of weft profile-functions. The profiler itself is tested in tests/guest/scenarios.
load lib

@test "profile-functions: a wrong command line is a usage error" {
	for wrong in "--duration 0" "--duration x" "--limit 0" "--sort size" "--user root"; do
		# shellcheck disable=SC2086
		run --separate-stderr weft profile-functions $wrong
		[ "$status" -eq 2 ]
		[[ "$stderr" == "weft profile-functions: --${wrong:2:4}"* ]]
	done
}
