#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
load lib

@test "help: is one screen, with every command in it, and nothing cut" {
	run -0 weft help
	[ "${#lines[@]}" -le 24 ]
	[ "$(awk 'length > 80 || / $/' <<< "$output")" = "" ]
	while read -r name; do
		grep -qE "(^|  )$name +[^ ]" <<< "$output"
		# Its words are in the table of help.c.
		grep -qF "{ \"$name\", \"" cmd/help.c
	done < <(weft __describe | awk -F'\t' '$1 == "command" { print $2 }')
}
