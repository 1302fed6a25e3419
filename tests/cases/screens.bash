# SPDX-License-Identifier: GPL-2.0-only
# weft on a terminal that tmux emulates: keys are typed, and the screen is what another program understood.
# shellcheck disable=SC2034

# screen_start WIDTH HEIGHT COMMAND...: runs it in a shell that prints its exit status and the state of the terminal.
screen_start()
{
	local width=$1 height=$2
	shift 2
	need_command tmux
	export SCREENS=weft-$$-$BATS_TEST_NUMBER
	printf '%s\n' "stty -g > $BATS_TEST_TMPDIR/stty.before" "$(printf '%q ' "$@")" \
		"echo \"STATUS \$?\"; stty -g > $BATS_TEST_TMPDIR/stty.after; echo ENDED; exec cat" > "$BATS_TEST_TMPDIR/run.sh"
	env -u TMUX LC_ALL="${SCREEN_LOCALE:-C.UTF-8}" tmux -L "$SCREENS" -f /dev/null new-session -d -x "$width" -y "$height" \
		"bash $BATS_TEST_TMPDIR/run.sh"
}

screen_end()
{
	[ -z "${SCREENS:-}" ] || tmux -L "$SCREENS" kill-server 2> /dev/null || true
}

screen_show()
{
	tmux -L "$SCREENS" capture-pane -p "$@"
}

screen_keys()
{
	tmux -L "$SCREENS" send-keys "$@"
}

# screen_await TEXT: until the screen has it; a failure shows the screen.
screen_await()
{
	for _ in $(seq 400); do
		! screen_show | grep -qF -- "$1" || return 0
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
		screen_show | grep -qF -- "$1" || return 0
		sleep 0.025
	done
	echo "the screen still has: $1"
	screen_show
	return 1
}
