# SPDX-License-Identifier: GPL-2.0-only
# Sourced by the lints. A lint runs as `tests/lint/NAME [ROOT]`. It prints FILE:LINE: WHAT for each violation below ROOT
# (default: the project) and exits with status 1 if there is one. tests/lint/bad/NAME is a small ROOT that the lint must
# reject.
set -u
export LC_ALL=C
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
project=$(cd "$here/../.." && pwd)
root=${1:-$project}
root=$(cd "$root" && pwd)
cd "$root" || exit 1
: "${CC:=gcc}"

# Lists the project's files below ROOT that match a pattern of find(1), except builds and the bad samples.
files()
{
	find . \( -name '.git' -o -path './build*' -o -path './tests/lint/bad' -o -path './compile_commands.json' \) -prune -o -type f \( "$@" \) -print |
		sed 's,^\./,,' | sort
}

# Ends the lint: prints the lines of standard input, and exits with status 1 if there is one.
verdict()
{
	awk '{ print; bad = 1 } END { exit bad }'
	exit $?
}
