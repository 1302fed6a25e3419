// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bindings/python/python_weft.h"

#include <errno.h>
#include <string.h>

struct python_weft python_weft;

PyObject *raise_error(const struct weft_error *error)
{
	PyObject *args, *kind = python_weft.error;

	if (error->code == -ENOMEM)
		return PyErr_NoMemory();
	if ((error->code == -EINTR || error->code == -EAGAIN) && PyErr_Occurred())
		return NULL;
	args = Py_BuildValue("(is)", -error->code, error->text);
	if (args)
		PyErr_SetObject(kind, args);
	Py_XDECREF(args);
	return NULL;
}

bool warn_damage(const char *damage)
{
	return !damage || PyErr_WarnFormat(python_weft.damage, 1, "%s", damage) == 0;
}

PyObject *text_of(const char *text, size_t len)
{
	return PyUnicode_DecodeUTF8(text, (Py_ssize_t)len, "replace");
}

PyObject *refuse_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	(void)type;
	(void)args;
	(void)kwargs;
	PyErr_SetString(PyExc_TypeError, "only weft.open() and the methods of a trace make such an object");
	return NULL;
}

PyObject *refuse_pickle(PyObject *self, PyObject *ignored)
{
	(void)self;
	(void)ignored;
	PyErr_SetString(PyExc_TypeError,
			"it belongs to an open trace and cannot be pickled: open the file there, or pass "
			"values, such as event.fields() or columns.to_dict()");
	return NULL;
}

void object_end(void *self)
{
	PyTypeObject *type = Py_TYPE((PyObject *)self);

	PyObject_Free(self);
	Py_DECREF((PyObject *)type);
}

PyTypeObject *module_add_type(PyObject *module, const char *name, PyType_Spec *spec)
{
	PyObject *type = PyType_FromSpec(spec);

	if (!type)
		return NULL;
	Py_INCREF(type);
	if (PyModule_AddObject(module, name, type)) {
		Py_DECREF(type);
		Py_DECREF(type);
		return NULL;
	}
	return (PyTypeObject *)type;
}

static bool add_exceptions(PyObject *module)
{
	python_weft.error = PyErr_NewExceptionWithDoc(
		"weft.Error",
		"A file cannot be read, or what was asked for has no sense for it. An OSError with errno.",
		PyExc_OSError, NULL);
	python_weft.damage =
		PyErr_NewExceptionWithDoc("weft.DamageWarning", "A file is damaged: what could be read was read.",
					  PyExc_UserWarning, NULL);
	if (!python_weft.error || !python_weft.damage)
		return false;
	Py_INCREF(python_weft.error);
	Py_INCREF(python_weft.damage);
	return !PyModule_AddObject(module, "Error", python_weft.error) &&
	       !PyModule_AddObject(module, "DamageWarning", python_weft.damage);
}

static PyObject *open_file(PyObject *module, PyObject *args, PyObject *kwargs)
{
	static const char *const keys[] = { "path", "offset", "trust_sizes", "plugins", NULL };
	struct weft_open_options options = { .size = sizeof(options) };
	long long offset = 0;
	int trust = 0, r;
	PyObject *path, *bytes, *plugins = NULL, *dir = NULL;
	struct trace *trace;
	struct weft_error error;

	(void)module;
	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$LpO:open", (char **)(uintptr_t)keys, &path, &offset, &trust,
					 &plugins) ||
	    (plugins && plugins != Py_None && !PyUnicode_FSConverter(plugins, &dir)))
		return NULL;
	if (!PyUnicode_FSConverter(path, &bytes)) {
		Py_XDECREF(dir);
		return NULL;
	}
	trace = PyObject_New(struct trace, python_weft.trace);
	if (!trace) {
		Py_XDECREF(dir);
		Py_DECREF(bytes);
		return NULL;
	}
	trace->file = NULL;
	trace->path = NULL;
	options.offset = offset;
	options.trust_sizes = trust;
	options.plugins = dir ? PyBytes_AsString(dir) : NULL;
	Py_BEGIN_ALLOW_THREADS;
	r = weft_file_open(PyBytes_AsString(bytes), &options, &trace->file, &error);
	Py_END_ALLOW_THREADS;
	trace->path = PyUnicode_DecodeFSDefault(PyBytes_AsString(bytes));
	Py_DECREF(bytes);
	Py_XDECREF(dir);
	if (r)
		raise_error(&error);
	if (r || !trace->path || !warn_damage(weft_file_damage(trace->file))) {
		Py_DECREF((PyObject *)trace);
		return NULL;
	}
	return (PyObject *)trace;
}

static PyObject *analyses(PyObject *module, PyObject *ignored)
{
	PyObject *dict = PyDict_New();
	struct weft_analysis_info info = { .size = sizeof(info) };

	(void)module;
	(void)ignored;
	for (size_t i = 0; dict && weft_analysis_at(i, &info) > 0; i++) {
		PyObject *summary = PyUnicode_FromString(info.summary);

		if (!summary || PyDict_SetItemString(dict, info.name, summary))
			Py_CLEAR(dict);
		Py_XDECREF(summary);
	}
	return dict;
}

static PyMethodDef methods[] = {
	{ "open", (PyCFunction)(void (*)(void))open_file, METH_VARARGS | METH_KEYWORDS,
	  "open(path, *, offset=0, trust_sizes=False, plugins=None)\n--\n\n"
	  "Opens a trace.dat. `offset` is added to all its times; trust_sizes also reads a file that claims more than\n"
	  "any real recording has. Warns with DamageWarning if the file is damaged, and reads what can be read." },
	{ "live", (PyCFunction)(void (*)(void))live_new, METH_VARARGS | METH_KEYWORDS,
	  "live(words, event=None, /, *, program=None, plugins=None, **query)\n--\n\n"
	  "Iterates over the events of the running kernel. `words` are those of weft stream, as a text or a list:\n"
	  "'-e sched', '-F -c -- make'. The query chooses some of the events." },
	{ "analyse", (PyCFunction)(void (*)(void))results_new, METH_VARARGS | METH_KEYWORDS,
	  "analyse(traces, *names, threads=0, **query)\n--\n\n"
	  "Runs analyses of several traces, up to `threads` at the same time: a list with a Result for each." },
	{ "analyses", analyses, METH_NOARGS,
	  "analyses()\n--\n\nThe analyses that Trace.analyse() knows: a dict of their names and what they do." },
	{ "counter", mark_counter, METH_VARARGS,
	  "counter(name, value)\n--\n\nMarks the value of a counter in a trace that is being recorded." },
	{ "instant", mark_instant, METH_VARARGS,
	  "instant(name)\n--\n\nMarks a moment in a trace that is being recorded." },
	{ NULL, NULL, 0, NULL },
};

static struct PyModuleDef definition = {
	PyModuleDef_HEAD_INIT,
	.m_name = "weft",
	.m_doc = "Reads traces of the Linux kernel: events with typed fields, columns for pandas, polars, DuckDB and "
		 "numpy, "
		 "and the tables of weft's analyses.",
	.m_size = -1,
	.m_methods = methods,
};

static bool fill(PyObject *module)
{
	return add_exceptions(module) && module_add_trace(module) && module_add_events(module) &&
	       module_add_event(module) && module_add_columns(module) && module_add_ragged(module) &&
	       module_add_result(module) && module_add_table(module) && module_add_span(module) &&
	       module_add_contents(module) && module_add_intervals(module) && module_add_writer(module) &&
	       module_add_live(module) && module_add_filter(module) && module_add_slices(module) &&
	       !PyModule_AddIntConstant(module, "RECORD", WEFT_RECORD) &&
	       !PyModule_AddIntConstant(module, "LOST", WEFT_LOST) &&
	       !PyModule_AddStringConstant(module, "__version__", weft_version());
}

PyMODINIT_FUNC PyInit_weft(void);
PyMODINIT_FUNC PyInit_weft(void)
{
	PyObject *module = PyModule_Create(&definition);

	if (module && !fill(module))
		Py_CLEAR(module);
	return module;
}
