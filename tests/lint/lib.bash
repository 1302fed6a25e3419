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

# broken WHAT: ends the whole lint, also from a pipe: it looks at nothing, so it could never fail
broken()
{
	echo "$0:1: $*" >&2
	kill $$
	exit 1
}

# need FILE...: the lists that the lint reads. They must exist in the project; a bad sample has those that it is about.
need()
{
	local file
	[ "$root" = "$project" ] || return 0
	for file; do [ -s "$file" ] || broken "there is no $file"; done
}

# found PATTERN...: the files below ROOT that match one pattern of find(1), except builds and the bad samples
found()
{
	find . \( -name '.git' -o -path './build*' -o -path './tests/lint/bad' -o -path './compile_commands.json' \) -prune -o -type f \( "$@" \) -print |
		sed 's,^\./,,'
}

# files PATTERN [-o PATTERN]...: lists these files. In the project each pattern must match one: after a move a lint would
# otherwise look at nothing, and pass.
files()
{
	local word pattern=() all=("$@")
	if [ "$root" = "$project" ]; then
		for word in "$@" -o; do
			if [ "$word" != -o ]; then
				pattern+=("$word")
				continue
			fi
			[ -n "$(found "${pattern[@]}" | head -n 1)" ] || broken "no file matches: ${pattern[*]}"
			pattern=()
		done
	fi
	found "${all[@]}" | sort
}

# Prints the object of each source file of standard input: that of the build, or one that is compiled below the directory
# TEMP where the build has none that is newer. The other arguments are flags of the compiler.
objects_of()
{
	local temp=$1 file object flags objects=${BUILD:-build}
	shift
	flags=$(pkg-config --cflags libtracefs libzstd libelf zlib 2>/dev/null | sed 's/-I/-isystem /g')
	while read -r file; do
		object=$objects/${file%.c}.o
		if [ ! -f "$object" ] || [ "$file" -nt "$object" ]; then
			object=$temp/${file%.c}.o
			mkdir -p "${object%/*}"
			# shellcheck disable=SC2086
			$CC -I"$root" -I"$project" -D_GNU_SOURCE -DWEFT_VERSION='""' -DWEFT_COMMIT='""' -DWEFT_LIBDIR='""' -DWEFT_BINDIR='""' -std=gnu17 $flags \
				"$@" -c -o "$object" "$file" || echo "$file:1: does not compile" >> "$temp/broken"
		fi
		[ ! -f "$object" ] || echo "$object"
	done
}

# Ends the lint: prints the lines of standard input, and exits with status 1 if there is one.
verdict()
{
	awk '{ print; bad = 1 } END { exit bad }'
	exit $?
}
