// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/exported.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>

static void begin(struct loom *loom)
{
	loom_init(loom);
	loom_type(loom, "ftrace", "funcgraph_entry", "long func; int depth", "\"\"");
	loom_type(loom, "ftrace", "funcgraph_exit", "long func; int depth", "\"\"");
	loom_task(loom, 7, "sh");
}

TEST(folded_weighs_each_function_by_its_own_time)
{
	struct loom loom;
	char *text;

	begin(&loom);
	loom_play(&loom, "0 1000 7 funcgraph_entry func=0x10 depth=0\n"
			 "0 1100 7 funcgraph_entry func=0x20 depth=1\n"
			 "0 1400 7 funcgraph_exit func=0x20 depth=1\n"
			 "0 1500 7 funcgraph_entry func=0x20 depth=1\n"
			 "0 1510 7 funcgraph_exit func=0x20 depth=1\n"
			 "0 2000 7 funcgraph_exit func=0x10 depth=0\n");
	text = exported(&loom, "folded", NULL, NULL);
	if (text)
		CHECK_STR(text, "sh;0x10 690\nsh;0x10;0x20 310\n");
	free(text);
	loom_release(&loom);
}

TEST(folded_forgets_what_a_loss_may_have_ended)
{
	struct loom loom;
	char *text;

	begin(&loom);
	loom_play(&loom, "0 1000 7 funcgraph_entry func=0x10 depth=0\n"
			 "0 lost 5\n"
			 "0 2000 7 funcgraph_exit func=0x10 depth=0\n"
			 "0 3000 7 funcgraph_entry func=0x30 depth=0\n"
			 "0 3007 7 funcgraph_exit func=0x30 depth=0\n");
	text = exported(&loom, "folded", NULL, NULL);
	if (text)
		CHECK_STR(text, "sh;0x30 7\n");
	free(text);
	loom_release(&loom);
}

TEST(flame_escapes_the_names_of_tasks)
{
	struct loom loom;
	char *text;

	begin(&loom);
	loom_task(&loom, 8, "</g><script>\"'&\x01\xff");
	loom_play(&loom, "0 1000 8 funcgraph_entry func=0x10 depth=0\n"
			 "0 2000 8 funcgraph_exit func=0x10 depth=0\n");
	text = exported(&loom, "flame", NULL, NULL);
	if (text) {
		CHECK(strstr(text, "data-n=\"&#60;/g&#62;&#60;script&#62;&#34;&#39;&#38;\xef\xbf\xbd\xef\xbf\xbd\""));
		CHECK(!strstr(text, "</g><script>\""));
	}
	free(text);
	text = exported(&loom, "folded", NULL, NULL);
	if (text)
		CHECK_STR(text, "</g><script>\"'&??;0x10 1000\n");
	free(text);
	loom_release(&loom);
}
