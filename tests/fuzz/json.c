// SPDX-License-Identifier: GPL-2.0-only
/* Input: any text as JSON, as a client of weft mcp sends it. What is taken for JSON can be walked and decoded. */
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/json_tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void walk(const struct json_tree *tree, const char *text, size_t len)
{
	struct buf string = BUF_INIT;
	int64_t number;

	for (size_t i = 1; i < tree->nr; i++) {
		const struct json_node *node = &tree->nodes[i];

		if (node->at < text || node->len > len - (size_t)(node->at - text) || node->first >= tree->nr ||
		    node->next >= tree->nr)
			abort();
		buf_clear(&string);
		(void)json_tree_string(node, &string);
		(void)json_tree_number(node, &number);
		(void)json_tree_member(tree, node, "method");
	}
	buf_release(&string);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *text = malloc(len ? len : 1);
	struct fail fail = FAIL_INIT;
	struct json_tree tree;

	if (!text)
		return 0;
	memcpy(text, data, len);
	if (!json_tree_parse(text, len, &tree, &fail)) {
		if (!json_tree_top(&tree))
			abort();
		walk(&tree, text, len);
		json_tree_release(&tree);
	} else if (!*fail.text) {
		abort();
	}
	free(text);
	return 0;
}
