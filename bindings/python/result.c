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
int interrupted(void *arg)
{
	PyGILState_STATE state = PyGILState_Ensure();
	int r = PyErr_Occurred() || PyErr_CheckSignals();

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

/* progress(part) of the program; what it raises ends the reading. */
static void progress(void *arg, double part)
{
	PyGILState_STATE state = PyGILState_Ensure();
	PyObject *done = PyErr_Occurred() ? NULL : PyObject_CallFunction(arg, "d", part);

	Py_XDECREF(done);
	PyGILState_Release(state);
}

bool result_of(weft_reader *reader, PyObject *names, const struct analyse_words *words, weft_result **ret)
{
	struct weft_analyse_options options = {
		.size = sizeof(options), .interrupted = interrupted, .threads = words->threads, .why = words->why
	};
	PyObject *bytes[ANALYSES_MAX], *column = NULL;
	const char *texts[ANALYSES_MAX], *damage;
	struct weft_error error;
	Py_ssize_t nr = encode(names, bytes, texts);
	int r = -1;

	if (nr < 0)
		return false;
	if (words->progress) {
		options.progress = progress;
		options.arg = words->progress;
	}
	if (words->sort && words->sort != Py_None) {
		column = PyUnicode_AsUTF8String(words->sort);
		options.sort = column ? PyBytes_AsString(column) : NULL;
	}
	if (!PyErr_Occurred()) {
		Py_BEGIN_ALLOW_THREADS;
		r = weft_analyse(reader, texts, (size_t)nr, &options, ret, &error);
		Py_END_ALLOW_THREADS;
		damage = weft_reader_damage(reader);
		if (r)
			raise_error(&error);
		else if (damage)
			warn_damage(damage);
	}
	for (Py_ssize_t i = 0; i < nr; i++)
		Py_DECREF(bytes[i]);
	Py_XDECREF(column);
	return !r;
}

PyObject *result_wrap(weft_result *found, PyObject *names)
{
	struct result *result = PyObject_New(struct result, python_weft.result);

	if (!result) {
		weft_result_free(found);
		return NULL;
	}
	result->result = found;
	Py_INCREF(names);
	result->names = names;
	return (PyObject *)result;
}

PyObject *result_new(struct trace *trace, PyObject *names, const struct analyse_words *words, weft_query *query)
{
	weft_reader *reader = weft_reader_new();
	weft_result *found = NULL;
	struct weft_error error;
	PyObject *result = NULL;

	if (!reader)
		PyErr_NoMemory();
	else if (weft_reader_add(reader, trace->file, query, &error))
		raise_error(&error);
	else if (result_of(reader, names, words, &found))
		result = result_wrap(found, names);
	weft_reader_free(reader);
	weft_query_free(query);
	/* A warning of damage may be an exception. */
	if (PyErr_Occurred())
		Py_CLEAR(result);
	return result;
}

/* A list of results without their findings, one for each file; the names are those of all. */
static PyObject *empty_results(PyObject *names, Py_ssize_t nr)
{
	PyObject *list = PyList_New(0);

	for (Py_ssize_t i = 0; list && i < nr; i++) {
		struct result *result = PyObject_New(struct result, python_weft.result);

		if (result) {
			result->result = NULL;
			Py_INCREF(names);
			result->names = names;
		}
		if (!append_new(list, (PyObject *)result))
			Py_CLEAR(list);
	}
	return list;
}

/* The files of a tuple of traces; NULL: an exception. */
static weft_file **files_of(PyObject *traces)
{
	Py_ssize_t nr = PyTuple_Size(traces);
	weft_file **files = PyMem_Calloc((size_t)nr + 1, sizeof(*files));

	if (!files)
		PyErr_NoMemory();
	for (Py_ssize_t i = 0; files && i < nr; i++) {
		PyObject *trace = PyTuple_GetItem(traces, i);

		if (Py_TYPE(trace) != python_weft.trace)
			PyErr_SetString(PyExc_TypeError, "files that weft.open() has opened are wanted");
		else if (trace_is_open((struct trace *)trace))
			files[i] = ((struct trace *)trace)->file;
		if (!files[i]) {
			PyMem_Free(files);
			files = NULL;
		}
	}
	return files;
}

/* Fills the results of `list`; false: an exception. */
static bool analyse_all(PyObject *traces, PyObject *names, const weft_query *query, unsigned threads, PyObject *list)
{
	const struct weft_analyse_options options = { .size = sizeof(options),
						      .interrupted = interrupted,
						      .threads = threads };
	size_t nr_files = (size_t)PyTuple_Size(traces);
	PyObject *bytes[ANALYSES_MAX];
	const char *texts[ANALYSES_MAX];
	weft_file **files = files_of(traces);
	weft_result **results = files ? PyMem_Calloc(nr_files + 1, sizeof(*results)) : NULL;
	Py_ssize_t nr = results ? encode(names, bytes, texts) : -1;
	struct weft_error error = { .code = 0 };
	int r = -1;

	if (nr >= 0) {
		Py_BEGIN_ALLOW_THREADS;
		r = weft_analyse_files(files, nr_files, query, texts, (size_t)nr, &options, results, &error);
		Py_END_ALLOW_THREADS;
		for (size_t i = 0; !r && i < nr_files; i++)
			((struct result *)PyList_GetItem(list, (Py_ssize_t)i))->result = results[i];
	}
	for (Py_ssize_t i = 0; i < nr; i++)
		Py_DECREF(bytes[i]);
	PyMem_Free(results);
	PyMem_Free(files);
	/* A signal's handler may have raised in another thread than this one. */
	if (r && !PyErr_Occurred() && !PyErr_CheckSignals())
		raise_error(&error);
	return !r;
}

PyObject *results_new(PyObject *module, PyObject *args, PyObject *kwargs)
{
	PyObject *words = kwargs ? PyDict_Copy(kwargs) : PyDict_New(), *threads, *traces = NULL, *names = NULL;
	PyObject *list = NULL;
	weft_query *query = NULL;
	unsigned long nr = 0;

	(void)module;
	threads = words ? PyDict_GetItemString(words, "threads") : NULL;
	if (threads) {
		nr = PyLong_AsUnsignedLong(threads);
		if (!PyErr_Occurred() && PyDict_DelItemString(words, "threads"))
			PyErr_Clear();
	}
	if (words && !PyErr_Occurred() && PyTuple_Size(args) < 1)
		PyErr_SetString(PyExc_TypeError, "analyse() wants traces and names of analyses");
	if (words && !PyErr_Occurred())
		traces = PySequence_Tuple(PyTuple_GetItem(args, 0));
	if (traces)
		names = PyTuple_GetSlice(args, 1, PyTuple_Size(args));
	if (names)
		query = query_of(NULL, words);
	if (query)
		list = empty_results(names, PyTuple_Size(traces));
	if (list && !analyse_all(traces, names, query, (unsigned)nr, list))
		Py_CLEAR(list);
	weft_query_free(query);
	Py_XDECREF(names);
	Py_XDECREF(traces);
	Py_XDECREF(words);
	return list;
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
