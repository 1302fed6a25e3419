/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rows of the page: each CPU, then each task, with its bands one below the other. */

'use strict';
var rows = (function () {
function label(m, band, tasks) {
	var where = m.data.buffers[band.buffer] ? m.data.buffers[band.buffer] + ': ' : '';
	switch (band.kind) {
	case model.CPU: return 'CPU ' + band.id;
	case model.IRQ: return where + ['softirqs', 'tasklets', 'interrupts'][band.row];
	case model.EVENTS: return where + 'events';
	case model.LOST: return where + 'lost events';
	case model.MARK: return where + 'marks';
	case model.ASYNC: return where + 'marks, asynchronous';
	case model.PAIR:
	case model.PAIR_CPU: return where + 'pairs of events';
	case model.VALUE: return where + m.names[model.ready(band).name[0]];
	case model.COUNTER: return where + m.names[model.ready(band).name[0]].replace(/^power:/, '');
	case model.STATE: return tasks.get(band.id) || 'PID ' + band.id;
	case model.CALL: return where + 'system calls';
	case model.WHY: return where + 'why';
	case model.VCPU: return 'on the host';
	case model.GRAPH_IDLE: return where + 'functions, idle';
	case model.GRAPH_IRQ: return where + 'functions, interrupts';
	default: return where + 'functions';
	}
}
var of_task = [model.STATE, model.CALL, model.GRAPH, model.MARK, model.ASYNC, model.PAIR, model.VALUE,
	model.WHY];
function is_task(band) { return of_task.indexOf(band.kind) >= 0; }
function height(band) {
	return model.is_value(band.kind) ? 26 : band.kind === model.EVENTS || band.kind === model.LOST ? 14 : 17;
}
/* The thread that is a CPU of a guest stands below that. */
function place(band) { return band.kind === model.VCPU ? model.CPU + 0.5 : band.kind; }
function order(a, b) { return a.buffer - b.buffer || place(a) - place(b) || a.row - b.row; }
function group(m, wanted) {
	var groups = new Map();
	m.bands.filter(wanted).forEach(function (band) {
		if (!groups.has(band.id)) groups.set(band.id, { id: band.id, bands: [], weight: 0 });
		groups.get(band.id).bands.push(band);
		groups.get(band.id).weight += band.added;
	});
	return Array.from(groups.values());
}
function make(m) {
	var tasks = new Map(), list = [], top = 0;
	m.data.tasks.forEach(function (task) { tasks.set(task[0], task[2] + '-' + task[0]); });
	var cpus = group(m, function (band) { return !is_task(band); }).sort(function (a, b) { return a.id - b.id; });
	var others = group(m, is_task).sort(function (a, b) { return b.weight - a.weight || a.id - b.id; });
	cpus.concat(others).forEach(function (one, place) {
		var name = one.id ? tasks.get(one.id) || 'PID ' + one.id : 'fields',
			owner = place < cpus.length ? 'CPU ' + one.id : name, last = '';
		one.bands.sort(order).forEach(function (band, i) {
			var text = label(m, band, tasks), title = i ? '  ' + text : owner;
			if (!i && text !== owner) title = owner + ' ' + text;
			if (i === 0) top += 4;
			list.push({ band: band, title: text === last ? '' : title,
				full: text === owner ? owner : owner + ' ' + text, owner: i === 0, top: top,
				height: height(band) });
			last = text;
			top += height(band) + 1;
		});
	});
	return { list: list, height: top };
}
return { make: make };
})();
