// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bindings/python/python_weft.h"

#include <stdio.h>
#include <string.h>

/* Keyword arguments become the words of a query. */

enum sort_of_word { WORDS, TIME, SWITCH };

static const struct word {
	const char *name;
	enum weft_query_key key;
	enum sort_of_word sort;
} known[] = {
	{ "event", WEFT_QUERY_EVENT, WORDS },
	{ "filter", WEFT_QUERY_FILTER, WORDS },
	{ "not_filter", WEFT_QUERY_NOT_FILTER, WORDS },
	{ "longer", WEFT_QUERY_LONGER, WORDS },
	{ "cpu", WEFT_QUERY_CPU, WORDS },
	{ "pid", WEFT_QUERY_PID, WORDS },
	{ "comm", WEFT_QUERY_COMM, WORDS },
	{ "since", WEFT_QUERY_SINCE, TIME },
	{ "until", WEFT_QUERY_UNTIL, TIME },
	{ "limit", WEFT_QUERY_LIMIT, WORDS },
	{ "tail", WEFT_QUERY_TAIL, WORDS },
	{ "instance", WEFT_QUERY_INSTANCE, WORDS },
	{ "no_hardirq", WEFT_QUERY_NO_HARDIRQ, SWITCH },
	{ "no_softirq", WEFT_QUERY_NO_SOFTIRQ, SWITCH },
	{ "no_self", WEFT_QUERY_NO_SELF, SWITCH },
	{ "show_self", WEFT_QUERY_SELF, SWITCH },
	{ "mark", WEFT_QUERY_MARK, WORDS },
	{ "file", WEFT_QUERY_FILE, WORDS },
};

static bool add(weft_query *query, enum weft_query_key key, const char *text)
{
	struct weft_error error;

	if (!weft_query_add(query, key, text, &error))
		return true;
	raise_error(&error);
	return false;
}

/* A number is a time as event.ts has it, in ns; options take seconds. */
static bool add_time(weft_query *query, enum weft_query_key key, PyObject *value)
{
	unsigned long long ns = PyLong_AsUnsignedLongLong(value);
	char text[48];

	if (ns == (unsigned long long)-1 && PyErr_Occurred())
		return false;
	snprintf(text, sizeof(text), "%llu.%09llu", ns / 1000000000, ns % 1000000000);
	return add(query, key, text);
}

static bool add_text(weft_query *query, enum weft_query_key key, PyObject *value)
{
	PyObject *text = PyObject_Str(value), *bytes = text ? PyUnicode_EncodeFSDefault(text) : NULL;
	char *at;
	bool ok = false;

	/* It fails for a text with a NUL, of which the library would see only a part. */
	if (bytes && !PyBytes_AsStringAndSize(bytes, &at, NULL))
		ok = add(query, key, at);
	Py_XDECREF(text);
	Py_XDECREF(bytes);
	return ok;
}

static bool add_value(weft_query *query, const struct word *word, PyObject *value)
{
	if (PyUnicode_Check(value))
		return add_text(query, word->key, value);
	if (PyLong_Check(value) && !PyBool_Check(value))
		return word->sort == TIME ? add_time(query, word->key, value) : add_text(query, word->key, value);
	PyErr_Format(PyExc_TypeError, "%s: a text, a number, or a list of them is wanted", word->name);
	return false;
}

static bool add_list(weft_query *query, const struct word *word, PyObject *list)
{
	PyObject *items = PySequence_Tuple(list);
	bool ok = items;

	for (Py_ssize_t i = 0; ok && i < PyTuple_Size(items); i++)
		ok = add_value(query, word, PyTuple_GetItem(items, i));
	Py_XDECREF(items);
	return ok;
}

static bool add_word(weft_query *query, const struct word *word, PyObject *value)
{
	int on;

	if (value == Py_None)
		return true;
	if (word->sort == SWITCH) {
		on = PyObject_IsTrue(value);
		return on >= 0 && (!on || add(query, word->key, NULL));
	}
	if (PyList_Check(value) || PyTuple_Check(value))
		return add_list(query, word, value);
	return add_value(query, word, value);
}

static const struct word *find(PyObject *key)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!PyUnicode_CompareWithASCIIString(key, known[i].name))
			return &known[i];
	PyErr_Format(PyExc_TypeError, "there is no word '%U' in a query", key);
	return NULL;
}

weft_query *query_of(PyObject *events, PyObject *kwargs)
{
	weft_query *query = weft_query_new();
	PyObject *key, *value;
	Py_ssize_t at = 0;
	bool ok = query;

	if (!query)
		PyErr_NoMemory();
	if (ok && events)
		ok = add_word(query, &known[0], events);
	while (ok && kwargs && PyDict_Next(kwargs, &at, &key, &value)) {
		const struct word *word = find(key);

		ok = word && add_word(query, word, value);
	}
	if (ok)
		return query;
	weft_query_free(query);
	return NULL;
}
