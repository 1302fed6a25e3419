// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bindings/python/python_weft.h"

#include <string.h>

/* What CPUs and tasks did, as a list. The type is set once, when the module is imported. */
static PyTypeObject *slice_type;

static const char *const kinds[] = { "run",      "state",   "call", "irq",  "softirq", "tasklet", "vector",
				     "function", "counter", "loss", "mark", "async",   "instant", "pair" };
static const char *const ends[] = { "known", "lost", "open" };
static const char *const states[] = { "unknown", "new",      "running", "preempted", "waking",
				      "queued",  "sleeping", "blocked", "stopped",   "dead" };

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static PyObject *word(const char *const *words, size_t nr, unsigned at)
{
	return at < nr ? PyUnicode_FromString(words[at]) : PyUnicode_FromString("unknown");
}

static PyObject *number_if(bool has, int64_t number)
{
	if (has)
		return PyLong_FromLongLong(number);
	Py_RETURN_NONE;
}

static PyObject *state_of(const struct weft_slice *slice)
{
	if (slice->kind == WEFT_SLICE_STATE)
		return word(states, COUNT(states), (unsigned)slice->state);
	Py_RETURN_NONE;
}

static int see(void *arg, const struct weft_slice *slice)
{
	PyObject *const items[] = {
		word(kinds, COUNT(kinds), (unsigned)slice->kind),
		PyLong_FromUnsignedLongLong(slice->from),
		PyLong_FromUnsignedLongLong(slice->to),
		number_if(slice->cpu >= 0, slice->cpu),
		number_if(slice->pid >= 0, slice->pid),
		text_of(slice->name, slice->name_len),
		PyLong_FromLongLong(slice->number),
		PyLong_FromLong(slice->depth),
		state_of(slice),
		word(ends, COUNT(ends), (unsigned)slice->end),
		PyLong_FromSize_t(slice->buffer),
	};

	return !append_new(arg, structure_new(slice_type, items, COUNT(items)));
}

/* The bits of the kinds that are named; 0: an exception. */
static uint32_t bits_of(PyObject *names)
{
	uint32_t bits = 0;

	for (Py_ssize_t i = 0; i < PyTuple_Size(names); i++) {
		PyObject *name = PyTuple_GetItem(names, i);
		size_t at = 0;

		while (at < COUNT(kinds) &&
		       (!PyUnicode_Check(name) || PyUnicode_CompareWithASCIIString(name, kinds[at])))
			at++;
		if (at == COUNT(kinds)) {
			PyErr_Format(PyExc_ValueError, "there are no slices %R", name);
			return 0;
		}
		bits |= UINT32_C(1) << at;
	}
	return bits ? bits : UINT32_MAX;
}

PyObject *trace_slices(PyObject *self, PyObject *args, PyObject *kwargs)
{
	const struct trace *trace = (const struct trace *)self;
	uint32_t bits = bits_of(args);
	weft_query *query = bits && trace_is_open(trace) ? query_of(NULL, kwargs) : NULL;
	weft_reader *reader = query ? weft_reader_new() : NULL;
	PyObject *list = reader ? PyList_New(0) : NULL;
	struct weft_error error;
	int r = -1;

	if (query && !reader)
		PyErr_NoMemory();
	if (list) {
		r = weft_reader_add(reader, trace->file, query, &error);
		if (!r)
			r = weft_reader_slices(reader, bits, see, list, &error);
		if (r && !PyErr_Occurred())
			raise_error(&error);
	}
	weft_reader_free(reader);
	weft_query_free(query);
	if (r)
		Py_CLEAR(list);
	return list;
}

static PyStructSequence_Field fields[] = {
	{ "kind", "'run', 'state', 'call', 'irq', 'softirq', 'function', 'mark'..." },
	{ "start", "when it began" },
	{ "end", "when it ended" },
	{ "cpu", "where; None: it has none" },
	{ "pid", "of the task; None: it has none" },
	{ "name", "of the task, the call, the interrupt, the function" },
	{ "number", "of an interrupt, the value of a counter" },
	{ "depth", "of a function, of a mark" },
	{ "state", "of a task: 'sleeping', 'blocked', 'queued'...; else None" },
	{ "how", "'known': an event ended it; 'lost': it may have ended later; 'open': it goes on" },
	{ "buffer", "the index of its buffer" },
	{ NULL, NULL },
};

bool module_add_slices(PyObject *module)
{
	PyStructSequence_Desc description = { "weft.Slice", "A span of time with an owner and a name.", fields, 11 };

	slice_type = module_add_structure(module, "Slice", &description);
	return slice_type;
}
