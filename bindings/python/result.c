// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bindings/python/python_weft.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

/* What analyses have found. */

enum { ANALYSES_MAX = 64 };

static void result_dealloc(PyObject *self)
{
	struct result *result = (struct result *)self;

	weft_result_free(result->result);
	Py_XDECREF(result->names);
	object_end(self);
}

/* Whether Ctrl-C was pressed, or another signal's handler has raised an exception. */
static int interrupted(void *arg)
{
	PyGILState_STATE state = PyGILState_Ensure();
	int r = PyErr_CheckSignals();

	(void)arg;
	PyGILState_Release(state);
	return r;
}

/* Fills the bytes of the names, which the caller releases. */
static Py_ssize_t encode(PyObject *names, PyObject **bytes, const char **texts)
{
	Py_ssize_t nr = PyTuple_Size(names);

	if (nr > ANALYSES_MAX) {
		PyErr_Format(PyExc_ValueError, "more than %d analyses", ANALYSES_MAX);
		return -1;
	}
	for (Py_ssize_t i = 0; i < nr; i++) {
		PyObject *name = PyTuple_GetItem(names, i);

		bytes[i] = PyUnicode_Check(name) ? PyUnicode_AsUTF8String(name) : NULL;
		if (!bytes[i]) {
			if (!PyErr_Occurred())
				PyErr_SetString(PyExc_TypeError, "the name of an analysis is a text");
			while (i)
				Py_DECREF(bytes[--i]);
			return -1;
		}
		texts[i] = PyBytes_AsString(bytes[i]);
	}
	return nr;
}

static bool analyse(struct result *result, struct trace *trace, PyObject *sort, const weft_query *query)
{
	struct weft_analyse_options options = { .size = sizeof(options), .interrupted = interrupted };
	PyObject *bytes[ANALYSES_MAX], *column = NULL;
	const char *texts[ANALYSES_MAX], *damage;
	weft_reader *reader = weft_reader_new();
	struct weft_error error;
	Py_ssize_t nr;
	int r;

	if (!reader)
		return PyErr_NoMemory();
	nr = encode(result->names, bytes, texts);
	if (nr >= 0 && sort && sort != Py_None) {
		column = PyUnicode_AsUTF8String(sort);
		options.sort = column ? PyBytes_AsString(column) : NULL;
	}
	if (nr < 0 || PyErr_Occurred()) {
		for (Py_ssize_t i = 0; i < nr; i++)
			Py_DECREF(bytes[i]);
		weft_reader_free(reader);
		return false;
	}
	r = weft_reader_add(reader, trace->file, query, &error);
	if (!r) {
		Py_BEGIN_ALLOW_THREADS;
		r = weft_analyse(reader, texts, (size_t)nr, &options, &result->result, &error);
		Py_END_ALLOW_THREADS;
	}
	damage = weft_reader_damage(reader);
	if (r)
		raise_error(&error);
	else if (damage)
		warn_damage(damage);
	for (Py_ssize_t i = 0; i < nr; i++)
		Py_DECREF(bytes[i]);
	Py_XDECREF(column);
	weft_reader_free(reader);
	return !PyErr_Occurred();
}

PyObject *result_new(struct trace *trace, PyObject *names, PyObject *sort, weft_query *query)
{
	struct result *result = PyObject_New(struct result, python_weft.result);
	bool ok = result;

	if (result) {
		result->result = NULL;
		Py_INCREF(names);
		result->names = names;
		ok = analyse(result, trace, sort, query);
	}
	weft_query_free(query);
	if (ok)
		return (PyObject *)result;
	Py_XDECREF((PyObject *)result);
	return NULL;
}

static Py_ssize_t result_length(PyObject *self)
{
	return (Py_ssize_t)weft_result_tables(((struct result *)self)->result);
}

/* Whether a table is "tasks", or "sched.tasks" of the analysis sched. */
static bool is_named(const struct result *result, size_t index, PyObject *name)
{
	struct weft_table_info info = { .size = sizeof(info) };
	PyObject *whole;
	bool same;

	weft_table_info(weft_result_table(result->result, index), &info);
	if (!PyUnicode_CompareWithASCIIString(name, info.name))
		return true;
	whole = PyUnicode_FromFormat("%U.%s", PyTuple_GetItem(result->names, (Py_ssize_t)info.analysis), info.name);
	same = whole && !PyUnicode_Compare(whole, name);
	Py_XDECREF(whole);
	return same;
}

static PyObject *result_item(PyObject *self, PyObject *key)
{
	struct result *result = (struct result *)self;
	size_t nr = weft_result_tables(result->result);
	Py_ssize_t index;

	if (PyUnicode_Check(key)) {
		for (size_t i = 0; i < nr; i++)
			if (is_named(result, i, key))
				return table_at(result, i);
		if (!PyErr_Occurred())
			PyErr_SetObject(PyExc_KeyError, key);
		return NULL;
	}
	index = PyLong_AsSsize_t(key);
	if (index == -1 && PyErr_Occurred())
		return NULL;
	if (index >= 0 && (size_t)index < nr)
		return table_at(result, (size_t)index);
	PyErr_SetString(PyExc_IndexError, "there is no such table");
	return NULL;
}

/* All tables, for iter(). */
static PyObject *result_iter(PyObject *self)
{
	struct result *result = (struct result *)self;
	PyObject *list = PyList_New(0), *iter;

	for (size_t i = 0; list && i < weft_result_tables(result->result); i++) {
		PyObject *table = table_at(result, i);

		if (!table || PyList_Append(list, table))
			Py_CLEAR(list);
		Py_XDECREF(table);
	}
	iter = list ? PyObject_GetIter(list) : NULL;
	Py_XDECREF(list);
	return iter;
}

PyObject *limits_of(const weft_result *result, size_t analysis)
{
	static const struct {
		const char *name;
		enum weft_limit which;
	} known[] = { { "cut", WEFT_LIMIT_CUT },
		      { "broken", WEFT_LIMIT_BROKEN },
		      { "missing", WEFT_LIMIT_MISSING },
		      { "notes", WEFT_LIMIT_NOTES } };
	PyObject *dict = PyDict_New();

	for (size_t i = 0; dict && i < sizeof(known) / sizeof(*known); i++) {
		const char *text = weft_result_limit(result, analysis, known[i].which);
		PyObject *value = text_of(text, strlen(text));

		if (!value || PyDict_SetItemString(dict, known[i].name, value))
			Py_CLEAR(dict);
		Py_XDECREF(value);
	}
	return dict;
}

static PyObject *get_limits(PyObject *self, void *ignored)
{
	const struct result *result = (const struct result *)self;
	PyObject *dict = PyDict_New();

	(void)ignored;
	for (Py_ssize_t i = 0; dict && i < PyTuple_Size(result->names); i++) {
		PyObject *limits = limits_of(result->result, (size_t)i);

		if (!limits || PyDict_SetItem(dict, PyTuple_GetItem(result->names, i), limits))
			Py_CLEAR(dict);
		Py_XDECREF(limits);
	}
	return dict;
}

static PyObject *result_write(PyObject *self, PyObject *args, PyObject *kwargs)
{
	static const char *const keys[] = { "format", "analysis", "top", "width", NULL };
	static const char *const forms[] = { "text", "json", "csv" };
	const struct result *result = (const struct result *)self;
	struct weft_write_options options = { .size = sizeof(options) };
	unsigned long analysis = 0, top = 0, width = 0;
	struct weft_error error;
	const char *format;
	PyObject *written;
	size_t len, form = 0;
	char *text;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "s|$kkk:write", (char **)(uintptr_t)keys, &format, &analysis,
					 &top, &width))
		return NULL;
	options.top = top;
	options.width = (unsigned)width;
	while (form < 3 && strcmp(format, forms[form]))
		form++;
	if (form == 3)
		return PyErr_Format(PyExc_ValueError, "unknown format '%s'; use text, json or csv", format);
	if (weft_result_write(result->result, analysis, (enum weft_form)(form + WEFT_FORM_TEXT), &options, &text, &len,
			      &error))
		return raise_error(&error);
	written = PyBytes_FromStringAndSize(text, (Py_ssize_t)len);
	weft_free(text);
	return written;
}

static PyObject *result_repr(PyObject *self)
{
	return PyUnicode_FromFormat("<weft.Result of %R, %zd tables>", ((struct result *)self)->names,
				    result_length(self));
}

static PyMethodDef methods[] = {
	{ "write", (PyCFunction)(void (*)(void))result_write, METH_VARARGS | METH_KEYWORDS,
	  "write(format, *, analysis=0, top=0, width=0)\n--\n\n"
	  "What the command of an analysis prints, as bytes: 'text', 'json' or 'csv'." },
	{ "__reduce__", refuse_pickle, METH_NOARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

static PyMemberDef members[] = {
	{ "names", T_OBJECT, offsetof(struct result, names), READONLY, "the names of the analyses" },
	{ NULL, 0, 0, 0, NULL },
};

static PyGetSetDef attributes[] = {
	{ "limits", get_limits, NULL, "for each analysis a dict of what limits its tables: cut, broken, missing, notes",
	  NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot slots[] = {
	{ Py_tp_dealloc, result_dealloc },
	{ Py_tp_repr, result_repr },
	{ Py_tp_iter, result_iter },
	{ Py_mp_length, result_length },
	{ Py_mp_subscript, result_item },
	{ Py_tp_methods, methods },
	{ Py_tp_members, members },
	{ Py_tp_getset, attributes },
	{ Py_tp_new, refuse_new },
	{ Py_tp_doc,
	  "The tables of analyses; Trace.analyse() makes it. result['tasks'], result['sched.tasks'], result[0]." },
	{ 0, NULL },
};

static PyType_Spec spec = { "weft.Result", sizeof(struct result), 0, Py_TPFLAGS_DEFAULT, slots };

bool module_add_result(PyObject *module)
{
	python_weft.result = module_add_type(module, "Result", &spec);
	return python_weft.result;
}
