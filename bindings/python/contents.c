// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bindings/python/python_weft.h"

#include <string.h>

/* What a trace has besides its events. The types are set once, when the module is imported. */
static PyTypeObject *format_type, *field_type, *life_type, *stats_type, *clock_type;

bool append_new(PyObject *list, PyObject *item)
{
	bool ok = item && !PyList_Append(list, item);

	Py_XDECREF(item);
	return ok;
}

PyObject *structure_new(PyTypeObject *type, PyObject *const *items, Py_ssize_t nr)
{
	PyObject *made = PyStructSequence_New(type);
	bool ok = made;

	for (Py_ssize_t i = 0; i < nr; i++)
		ok = ok && items[i];
	for (Py_ssize_t i = 0; i < nr; i++) {
		if (ok)
			PyStructSequence_SetItem(made, i, items[i]);
		else
			Py_XDECREF(items[i]);
	}
	if (!ok)
		Py_CLEAR(made);
	return made;
}

#define COUNT(array) ((Py_ssize_t)(sizeof(array) / sizeof(*(array))))

static PyObject *text(const char *text)
{
	return text_of(text, strlen(text));
}

static PyObject *fields_of(const weft_file *file, size_t format)
{
	struct weft_field_info info = { .size = sizeof(info) };
	PyObject *list = PyList_New(0);

	for (size_t i = 0; list && weft_file_field(file, 0, format, i, &info, NULL) > 0; i++) {
		PyObject *const items[] = { text(info.name), text(info.c_type), PyLong_FromUnsignedLong(info.offset),
					    PyLong_FromUnsignedLong(info.bytes), PyBool_FromLong(info.is_signed) };

		if (!append_new(list, structure_new(field_type, items, COUNT(items))))
			Py_CLEAR(list);
	}
	return list;
}

PyObject *trace_formats(PyObject *self, void *ignored)
{
	const struct trace *trace = (const struct trace *)self;
	struct weft_format_info info = { .size = sizeof(info) };
	struct weft_error error;
	PyObject *list;
	int r = 0;

	(void)ignored;
	if (!trace_is_open(trace))
		return NULL;
	list = PyList_New(0);
	for (size_t i = 0; list && (r = weft_file_format(trace->file, 0, i, &info, &error)) > 0; i++) {
		PyObject *const items[] = { text(info.system),        text(info.name),
					    PyLong_FromLong(info.id), fields_of(trace->file, i),
					    text(info.print_fmt),     text_of(info.text, info.text_len) };

		if (!append_new(list, structure_new(format_type, items, COUNT(items))))
			Py_CLEAR(list);
	}
	if (r < 0) {
		Py_XDECREF(list);
		return raise_error(&error);
	}
	return list;
}

PyObject *trace_settings(PyObject *self, void *ignored)
{
	const struct trace *trace = (const struct trace *)self;
	struct weft_setting_info info = { .size = sizeof(info) };
	PyObject *dict;

	(void)ignored;
	if (!trace_is_open(trace))
		return NULL;
	dict = PyDict_New();
	for (size_t i = 0; dict && weft_file_setting_at(trace->file, i, &info); i++) {
		PyObject *name = text(info.name), *value = text_of(info.text, info.text_len);

		if (!name || !value || (!info.buffer && PyDict_SetItem(dict, name, value)))
			Py_CLEAR(dict);
		Py_XDECREF(name);
		Py_XDECREF(value);
	}
	return dict;
}

static int see_task(void *arg, const struct weft_task *task)
{
	PyObject *pid = PyLong_FromLong(task->pid), *comm = text_of(task->comm, task->comm_len);
	int r = !pid || !comm || PyDict_SetItem(arg, pid, comm);

	Py_XDECREF(pid);
	Py_XDECREF(comm);
	return r;
}

/* Takes what a callback has filled: an exception of Python ended it, or an error of the library. */
static PyObject *filled(PyObject *object, int r, const struct weft_error *error)
{
	if (!r)
		return object;
	Py_XDECREF(object);
	return PyErr_Occurred() ? NULL : raise_error(error);
}

PyObject *trace_tasks(PyObject *self, void *ignored)
{
	const struct trace *trace = (const struct trace *)self;
	struct weft_error error;
	PyObject *dict;

	(void)ignored;
	if (!trace_is_open(trace) || !(dict = PyDict_New()))
		return NULL;
	return filled(dict, weft_file_tasks(trace->file, 0, see_task, dict, &error), &error);
}

static int see_symbol(void *arg, const struct weft_symbol *symbol)
{
	PyObject *name = text_of(symbol->name, symbol->name_len);
	PyObject *module = symbol->module ? text_of(symbol->module, symbol->module_len) : Py_None, *item;

	if (module == Py_None)
		Py_INCREF(module);
	item = name && module ? Py_BuildValue("(KOO)", (unsigned long long)symbol->address, name, module) : NULL;
	Py_XDECREF(name);
	Py_XDECREF(module);
	return !append_new(arg, item);
}

PyObject *trace_symbols(PyObject *self, PyObject *ignored)
{
	const struct trace *trace = (const struct trace *)self;
	struct weft_error error;
	PyObject *list;

	(void)ignored;
	if (!trace_is_open(trace) || !(list = PyList_New(0)))
		return NULL;
	return filled(list, weft_file_symbols(trace->file, see_symbol, list, &error), &error);
}

static PyObject *number_or_none(bool has, uint64_t number)
{
	if (has)
		return PyLong_FromUnsignedLongLong(number);
	Py_RETURN_NONE;
}

static PyObject *signed_or_none(bool has, long number)
{
	if (has)
		return PyLong_FromLong(number);
	Py_RETURN_NONE;
}

static PyObject *text_or_none(const char *text, size_t len)
{
	if (text)
		return text_of(text, len);
	Py_RETURN_NONE;
}

static int see_life(void *arg, const struct weft_life *life)
{
	PyObject *const items[] = {
		PyLong_FromLong(life->pid),
		text(life->comm),
		signed_or_none(life->parent >= 0, life->parent),
		signed_or_none(life->process > 0, life->process),
		number_or_none(life->has_begun, life->began),
		number_or_none(life->has_ended, life->ended),
		signed_or_none(life->status >= 0, life->status),
		text_or_none(life->program, life->program_len),
	};

	return !append_new(arg, structure_new(life_type, items, COUNT(items)));
}

PyObject *trace_lives(PyObject *self, PyObject *ignored)
{
	const struct trace *trace = (const struct trace *)self;
	weft_reader *reader = NULL;
	struct weft_error error;
	PyObject *list;
	int r;

	(void)ignored;
	if (!trace_is_open(trace) || !(list = PyList_New(0)))
		return NULL;
	reader = weft_reader_new();
	if (!reader) {
		Py_DECREF(list);
		return PyErr_NoMemory();
	}
	r = weft_reader_add(reader, trace->file, NULL, &error);
	if (!r)
		r = weft_reader_lives(reader, see_life, list, &error);
	weft_reader_free(reader);
	return filled(list, r, &error);
}

static const char *const parts[] = { "process", "program", "unit", "container", "pod", "cgroup", "user" };

/* The part of this name; one that the library refuses if there is none. */
static enum weft_who part_of(const char *name)
{
	size_t at = 0;

	while (at < sizeof(parts) / sizeof(*parts) && strcmp(name, parts[at]))
		at++;
	return (enum weft_who)at;
}

PyObject *trace_who(PyObject *self, PyObject *args)
{
	const struct trace *trace = (const struct trace *)self;
	const char *part, *who;
	enum weft_how_known how;
	struct weft_error error;
	unsigned long buffer = 0;
	unsigned long long ts;
	int pid;

	if (!PyArg_ParseTuple(args, "siK|k:who", &part, &pid, &ts, &buffer) || !trace_is_open(trace))
		return NULL;
	if (weft_file_who(trace->file, buffer, part_of(part), pid, ts, &who, &how, &error))
		return raise_error(&error);
	return text_or_none(how == WEFT_HOW_UNKNOWN ? NULL : who, strlen(who));
}

static int see_name(void *arg, const char *name)
{
	return !append_new(arg, text(name));
}

PyObject *trace_names(PyObject *self, PyObject *args)
{
	const struct trace *trace = (const struct trace *)self;
	unsigned long buffer = 0;
	struct weft_error error;
	const char *part;
	PyObject *list;

	if (!PyArg_ParseTuple(args, "s|k:names", &part, &buffer) || !trace_is_open(trace) || !(list = PyList_New(0)))
		return NULL;
	return filled(list, weft_file_names(trace->file, buffer, part_of(part), see_name, list, &error), &error);
}

PyObject *trace_address(PyObject *self, PyObject *args)
{
	const struct trace *trace = (const struct trace *)self;
	struct weft_error error;
	const char *name;
	uint64_t address;
	int r;

	if (!PyArg_ParseTuple(args, "s:address", &name) || !trace_is_open(trace))
		return NULL;
	r = weft_file_address(trace->file, name, &address, &error);
	return r < 0 ? raise_error(&error) : number_or_none(r > 0, address);
}

PyObject *trace_stats(PyObject *self, PyObject *args)
{
	const struct trace *trace = (const struct trace *)self;
	struct weft_cpu_stats stats = { .size = sizeof(stats) };
	unsigned long buffer = 0;
	struct weft_error error;
	PyObject *list;
	int r = 0;

	if (!PyArg_ParseTuple(args, "|k:stats", &buffer) || !trace_is_open(trace) || !(list = PyList_New(0)))
		return NULL;
	for (size_t i = 0; list && (r = weft_file_stats(trace->file, buffer, i, &stats, &error)) > 0; i++) {
		PyObject *const items[] = {
			PyLong_FromUnsignedLong(stats.cpu),         PyLong_FromUnsignedLongLong(stats.entries),
			PyLong_FromUnsignedLongLong(stats.read),    PyLong_FromUnsignedLongLong(stats.overrun),
			PyLong_FromUnsignedLongLong(stats.dropped), PyLong_FromUnsignedLongLong(stats.commit_overrun),
		};

		if (!append_new(list, structure_new(stats_type, items, COUNT(items))))
			Py_CLEAR(list);
	}
	return list ? filled(list, r, &error) : NULL;
}

PyObject *trace_clock(PyObject *self, PyObject *args)
{
	const struct trace *trace = (const struct trace *)self;
	struct weft_clock_piece piece = { .size = sizeof(piece) };
	unsigned long buffer = 0;
	struct weft_error error;
	PyObject *list;
	int r = 0;

	if (!PyArg_ParseTuple(args, "|k:clock", &buffer) || !trace_is_open(trace) || !(list = PyList_New(0)))
		return NULL;
	for (size_t i = 0; list && (r = weft_file_clock(trace->file, buffer, i, &piece, &error)) > 0; i++) {
		PyObject *const items[] = {
			PyLong_FromUnsignedLongLong(piece.since),
			PyLong_FromLongLong(piece.step_ns),
			PyLong_FromLongLong(piece.wall_ns),
			PyLong_FromUnsignedLongLong(piece.sampled),
			number_or_none(piece.bound_ns != UINT64_MAX, piece.bound_ns),
			PyBool_FromLong(piece.is_sleep),
			PyBool_FromLong(piece.is_exact),
		};

		if (!append_new(list, structure_new(clock_type, items, COUNT(items))))
			Py_CLEAR(list);
	}
	return list ? filled(list, r, &error) : NULL;
}

PyObject *trace_when(PyObject *self, PyObject *args)
{
	const struct trace *trace = (const struct trace *)self;
	unsigned long buffer = 0;
	struct weft_error error;
	uint64_t times[64];
	long long ns;
	PyObject *list;
	int r;

	if (!PyArg_ParseTuple(args, "L|k:when", &ns, &buffer) || !trace_is_open(trace))
		return NULL;
	r = weft_file_when(trace->file, buffer, ns, times, COUNT(times), &error);
	if (r < 0)
		return raise_error(&error);
	list = PyList_New(0);
	for (int i = 0; list && i < r && i < COUNT(times); i++)
		if (!append_new(list, PyLong_FromUnsignedLongLong(times[i])))
			Py_CLEAR(list);
	return list;
}

static PyStructSequence_Field stats_fields[] = {
	{ "cpu", "the CPU" },
	{ "entries", "events in the buffer when the recording ended" },
	{ "read", "events that had been read from it" },
	{ "overrun", "events that newer ones overwrote" },
	{ "dropped", "events that found the buffer full" },
	{ "commit_overrun", "events that interrupts lost" },
	{ NULL, NULL },
};

static PyStructSequence_Field clock_fields[] = {
	{ "since", "the time of the trace at which it begins; 0: the first piece" },
	{ "step_ns", "how far the time of day jumped there" },
	{ "wall_ns", "the time of day at its first sample, in ns since 1970" },
	{ "sampled", "the time of the trace of this sample" },
	{ "bound_ns", "half the width of what it may be; None: unknown" },
	{ "is_sleep", "it jumped because the machine slept" },
	{ "is_exact", "a sample was taken when it jumped" },
	{ NULL, NULL },
};

static PyStructSequence_Field field_fields[] = {
	{ "name", "of the field" },
	{ "type", "as the kernel declares it: 'pid_t', 'char[16]'" },
	{ "offset", "in the record" },
	{ "bytes", "there" },
	{ "signed", "whether it is an integer with a sign" },
	{ NULL, NULL },
};

static PyStructSequence_Field format_fields[] = {
	{ "system", "of the event: 'sched'" },
	{ "name", "of the event: 'sched_switch'" },
	{ "id", "common_type of its records" },
	{ "fields", "a Field for each" },
	{ "print_fmt", "how the kernel prints it" },
	{ "text", "the file events/SYSTEM/NAME/format" },
	{ NULL, NULL },
};

static PyStructSequence_Field life_fields[] = {
	{ "pid", "of the task" },
	{ "comm", "its last name" },
	{ "parent", "the PID of the task that started it; None: unknown" },
	{ "process", "the PID of its process; None: unknown" },
	{ "began", "when it was forked; None: not in the trace" },
	{ "ended", "when it ended; None: not in the trace" },
	{ "status", "of exit(2); 256 and the signal that killed it; None: unknown" },
	{ "program", "the file that it executed last; None: none was seen" },
	{ NULL, NULL },
};

PyTypeObject *module_add_structure(PyObject *module, const char *name, PyStructSequence_Desc *description)
{
	PyTypeObject *type = PyStructSequence_NewType(description);

	if (!type)
		return NULL;
	Py_INCREF((PyObject *)type);
	return PyModule_AddObject(module, name, (PyObject *)type) ? NULL : type;
}

bool module_add_contents(PyObject *module)
{
	PyStructSequence_Desc field = { "weft.Field", "A field of a format.", field_fields, 5 };
	PyStructSequence_Desc format = { "weft.Format", "The format of an event.", format_fields, 6 };
	PyStructSequence_Desc stats = { "weft.CpuStats", "The kernel's counts for a CPU.", stats_fields, 6 };
	PyStructSequence_Desc clock = { "weft.ClockPiece", "A time in which nobody set the clock.", clock_fields, 7 };
	PyStructSequence_Desc life = { "weft.Life", "A task over time.", life_fields, 8 };

	field_type = module_add_structure(module, "Field", &field);
	format_type = module_add_structure(module, "Format", &format);
	life_type = module_add_structure(module, "Life", &life);
	stats_type = module_add_structure(module, "CpuStats", &stats);
	clock_type = module_add_structure(module, "ClockPiece", &clock);
	return field_type && format_type && life_type && stats_type && clock_type;
}
