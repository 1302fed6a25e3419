// SPDX-License-Identifier: LGPL-2.1-or-later
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/number.h"
#include "lib/ground/base/text.h"
#include "lib/screen/view/columns_internal.h"
#include "lib/screen/view/search_internal.h"
#include "lib/screen/view/view.h"

/* A session as lines of text: "mark A TIME NUMBER", "bookmark a TIME NUMBER", "filter on -f TEXT", "panes 1 5". */

static void put_place(const char *what, char letter, struct walk_place place, struct out *into)
{
	out_f(into, "%s %c %" PRIu64 " %" PRIu64 "\n", what, letter, place.ts, place.nth);
}

void view_save(const struct view *view, struct out *into)
{
	static const char *const options[] = {
		[VIEW_FILTER_EXPRESSION] = "-f", [VIEW_FILTER_EVENT] = "-e",  [VIEW_FILTER_PID] = "--pid",
		[VIEW_FILTER_COMM] = "--comm",   [VIEW_FILTER_CPU] = "--cpu", [VIEW_FILTER_QUERY] = NULL
	};

	out_str(into, "# weft view\n");
	put_place("cursor", '-', view->cursor, into);
	for (size_t i = 0; i < 2; i++)
		if (view->marks[i].set)
			put_place("mark", (char)('A' + i), view->marks[i].place, into);
	for (size_t i = 0; i < VIEW_BOOKMARKS; i++)
		if (view->bookmarked[i])
			put_place("bookmark", (char)('a' + i), view->bookmarks[i], into);
	for (size_t i = 0; i < view->nr_filters; i++) {
		const struct view_filter *filter = &view->filters[i];

		if (options[filter->kind])
			out_f(into, "filter %s %s%s %s\n", filter->off ? "off" : "on", filter->negated ? "-v " : "",
			      options[filter->kind], filter->text);
	}
	if (view->columns)
		out_f(into, "columns %s\n", view->columns->words);
	out_f(into, "panes %u %u\n", view->shown, view->second);
}

static bool take_place(const char *text, struct walk_place *ret)
{
	unsigned long long ts, nth;

	if (sscanf(text, "%llu %llu", &ts, &nth) != 2)
		return false;
	*ret = (struct walk_place){ ts, nth };
	return true;
}

static int load_filter(struct view *view, const char *text, struct fail *fail)
{
	bool off = !strncmp(text, "off ", 4);
	struct view_filter filter;
	int r;

	if ((!off && strncmp(text, "on ", 3) != 0) || !search_option(text + (off ? 4 : 3), &filter))
		return 0;
	r = view_filter_add(view, &filter, fail);
	if (!r)
		view->filters[view->nr_filters - 1].off = off;
	return r;
}

static int load_line(struct view *view, const char *line, struct fail *fail)
{
	struct walk_place place;
	char letter = '\0';
	unsigned first, second;
	int r = 0;

	if (!strncmp(line, "cursor - ", 9) && take_place(line + 9, &place)) {
		view->cursor = place;
	} else if (sscanf(line, "mark %c", &letter) == 1 && (letter == 'A' || letter == 'B') &&
		   take_place(line + 6, &place)) {
		view->marks[letter - 'A'].set = true;
		view->marks[letter - 'A'].place = place;
	} else if (sscanf(line, "bookmark %c", &letter) == 1 && letter >= 'a' && letter <= 'z' &&
		   take_place(line + 10, &place)) {
		view->bookmarked[letter - 'a'] = true;
		view->bookmarks[letter - 'a'] = place;
	} else if (!strncmp(line, "filter ", 7)) {
		r = load_filter(view, line + 7, fail);
	} else if (!strncmp(line, "columns ", 8)) {
		r = view_choose_columns(view, line + 8, fail);
	} else if (sscanf(line, "panes %1u %1u", &first, &second) == 2 && first) {
		r = view_show(view, (char)('0' + first), fail);
		if (!r && second && second != first && view->panes[first]) {
			view->shown = first;
			view->second = second;
			view->in_second = true;
			r = view_show(view, (char)('0' + second), fail);
			if (!r && !view->panes[second])
				view->second = 0;
			view->in_second = false;
		}
	}
	return r;
}

int view_load(struct view *view, const char *text, size_t len, struct fail *fail)
{
	struct text_word line;
	int r = 0;

	while (!r && text_next_line(&text, &len, &line)) {
		char copy[1024];

		if (line.len >= sizeof(copy))
			continue;
		memcpy(copy, line.at, line.len);
		copy[line.len] = '\0';
		r = load_line(view, copy, fail);
	}
	return r;
}
