// SPDX-License-Identifier: LGPL-2.1-or-later
static int bad_key(struct pane *pane, const struct key *key, struct fail *fail)
{
	if (key_is(key, 'j') || key_is(key, '='))
		return 1;
	return 0;
}

const struct pane_ops bad_pane = {
	.help = "j\tthe next line\n",
	.key = bad_key,
};
