# SPDX-License-Identifier: GPL-2.0-only
# Sourced by the lints. A lint is run as `tests/lint/NAME [ROOT]`: it prints FILE:LINE: WHAT for each violation below ROOT
# (the project by default) and exits 1 if there was one. tests/lint/bad/NAME is a small ROOT that it must reject.
set -u
export LC_ALL=C
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
project=$(cd "$here/../.." && pwd)
root=${1:-$project}
root=$(cd "$root" && pwd)
cd "$root" || exit 1
: "${CC:=gcc}"

# The project's files below ROOT that match a pattern of find(1), without builds and the bad samples.
files()
{
	find . \( -name '.git' -o -path './build*' -o -path './tests/lint/bad' -o -path './compile_commands.json' \) -prune -o -type f \( "$@" \) -print |
		sed 's,^\./,,' | sort
}

# Ends the lint: exit status 1 if standard input had a line; the lines are printed.
verdict()
{
	awk '{ print; bad = 1 } END { exit bad }'
	exit $?
}
