# SPDX-License-Identifier: GPL-2.0-only
# weft on a terminal that tmux emulates: keys are typed, and the screen is what another program understood.
# shellcheck disable=SC2034

# screen_start WIDTH HEIGHT COMMAND...: runs it in a shell that prints its exit status and the state of the terminal.
screen_start()
{
	local width=$1 height=$2
	shift 2
	need_command tmux
	# A server of its own for each start: one that is about to exit would take the next start for its own.
	SCREEN_STARTS=$((${SCREEN_STARTS:-0} + 1))
	export SCREENS=weft-$$-$BATS_TEST_NUMBER-$SCREEN_STARTS
	printf '%s\n' "stty -g > $BATS_TEST_TMPDIR/stty.before" "$(printf '%q ' "$@")" \
		"status=\$?; stty -g > $BATS_TEST_TMPDIR/stty.after; echo \"STATUS \$status\"; echo ENDED; exec cat" > "$BATS_TEST_TMPDIR/run.sh"
	env -u TMUX LC_ALL="${SCREEN_LOCALE:-C.UTF-8}" tmux -L "$SCREENS" -f /dev/null new-session -d -x "$width" -y "$height" \
		"bash $BATS_TEST_TMPDIR/run.sh"
}

screen_end()
{
	[ -z "${SCREENS:-}" ] || tmux -L "$SCREENS" kill-server 2> /dev/null || true
}

# screen_show [OPTION...]: what is on the screen, once two looks in a row have shown the same: a frame reaches the terminal in
# pieces, and a look between two of them sees half of it.
screen_show()
{
	local shown last=
	for _ in $(seq 40); do
		shown=$(tmux -L "$SCREENS" capture-pane -p "$@"; echo .)
		[ "$shown" != "$last" ] || break
		last=$shown
	done
	printf '%s' "${shown%.}"
}

screen_keys()
{
	tmux -L "$SCREENS" send-keys "$@"
}

# screen_await TEXT: until the screen has it; a failure shows the screen.
screen_await()
{
	for _ in $(seq 400); do
		! tmux -L "$SCREENS" capture-pane -p | grep -qF -- "$1" || return 0
		sleep 0.025
	done
	echo "the screen never had: $1"
	screen_show
	return 1
}

# screen_await_not TEXT
screen_await_not()
{
	for _ in $(seq 400); do
		tmux -L "$SCREENS" capture-pane -p | grep -qF -- "$1" || return 0
		sleep 0.025
	done
	echo "the screen still has: $1"
	screen_show
	return 1
}

# screen_await_line PATTERN: until a line of the screen matches this extended regular expression.
screen_await_line()
{
	for _ in $(seq 400); do
		! tmux -L "$SCREENS" capture-pane -p | grep -qE -- "$1" || return 0
		sleep 0.025
	done
	echo "the screen never had a line: $1"
	screen_show
	return 1
}

# screen_lines WIDTH: lines of report as the list of events of weft view shows them on a screen so wide: below 72 columns time,
# task and event; a line that is too long ends with a mark.
screen_lines()
{
	local comm=$(($1 / 5))
	if [ "$1" -lt 72 ]; then
		sed -E 's/^ *([^ ]+)-[0-9]+ +\[[0-9]+\] [^ ]+ +([0-9.]+): (.*)/\2|\1|\3/' |
			awk -F'|' -v comm="$comm" '{ printf "%s %-" comm "." comm "s %s\n", $1, $2, $3 }'
	else
		cat
	fi | awk -v width="$1" '{ print(length($0) > width ? substr($0, 1, width - 1) ">" : $0) }' | sed 's/ *$//'
}
