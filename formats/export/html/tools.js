/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the page works out from the model: the colours and their legend, who woke a task, what it waited for, and the
 * sums of a range of time. A wakeup is the event that stands at the start of the task's state "waking" or "runnable"
 * and names its PID.
 */

'use strict';
var tools = (function () {
var B = model.B;
var modes = { running: '#2e9e4f', preempted: '#e0a100', runnable: '#e0a100', waking: '#f0c850', sleeping: '#8886',
	blocked: '#c43c3c', stopped: '#7a5fc0', 'new': '#7a5fc0' };

function legend(into) {
	function line(color, text) {
		var row = document.createElement('div'), box = document.createElement('span');
		box.className = 'box'; box.style.background = color;
		row.append(box, text);
		into.append(row);
	}
	line(modes.running, 'running');
	line(modes.runnable, 'runnable or preempted: waits for a CPU');
	line(modes.waking, 'waking: woken, not yet in a queue');
	line(modes.sleeping, 'sleeping');
	line(modes.blocked, 'blocked: uninterruptible sleep');
	line(modes.stopped, 'stopped or new');
	line('#d00', 'lost events');
	line('hsl(210 50% 60%)', 'anything else: a colour for each name');
	line('hsl(210 50% 60% / .4)', 'paler: short slices drawn as one');
}

function starts(slices, i, h, l) { return i >= 0 && i < slices.n && slices.sh[i] === h && slices.sl[i] === l; }
function first_at(slices, h, l) {
	for (var i = model.after(slices, h, l); i < slices.n && !starts(slices, i, h, l) &&
		slices.sh[i] * B + slices.sl[i] <= h * B + l; i++);
	return starts(slices, i, h, l) ? i : -1;
}
function lane_of(lanes, kind, id) {
	for (var i = 0; i < lanes.list.length; i++)
		if (lanes.list[i].band.kind === kind && lanes.list[i].band.id === id) return i;
	return -1;
}
function name_of(m, slices, i) { return m.names[slices.name[i]]; }

function ran_at(m, lanes, slices, i) {
	for (var at = 0; at < lanes.list.length; at++) {
		var band = lanes.list[at].band, name = m.names[slices.name[i]];
		if (band.kind !== model.STATE || !(lanes.list[at].full.startsWith(name + '-'))) continue;
		var states = model.decode(band), j = first_at(states, slices.sh[i], slices.sl[i]);
		if (j >= 0 && name_of(m, states, j) === 'running') return { row: at, i: j };
	}
	return null;
}

function wakeup(m, lanes, row, i) {
	var kind = lanes.list[row].band.kind, one = { row: row, i: i };
	if (kind === model.CPU) one = ran_at(m, lanes, model.decode(lanes.list[row].band), i);
	if (!one || (kind !== model.CPU && kind !== model.STATE)) return null;
	var states = model.decode(lanes.list[one.row].band), j = one.i, woken = -1;
	while (j >= 0 && states.count[j] === 1 && /^(running|runnable|waking)$/.test(name_of(m, states, j))) {
		if (name_of(m, states, j) !== 'running') woken = j; else if (j !== one.i) break;
		if (j > 0 && (states.eh[j - 1] !== states.sh[j] || states.el[j - 1] !== states.sl[j])) break;
		j--;
	}
	return woken < 0 ? null : by_whom(m, lanes, one, states, woken);
}

function by_whom(m, lanes, one, states, woken) {
	var pid = lanes.list[one.row].band.id, last = woken, found = null;
	while (name_of(m, states, last) !== 'running') {
		if (last + 1 >= states.n || states.sh[last + 1] !== states.eh[last] ||
			states.sl[last + 1] !== states.el[last]) break;
		last++;
	}
	m.bands.forEach(function (band) {
		if (found || band.kind !== model.EVENTS) return;
		var events = model.decode(band), at = first_at(events, states.sh[woken], states.sl[woken]);
		for (; at >= 0 && starts(events, at, states.sh[woken], states.sl[woken]); at++) {
			var text = model.words(band, at), comm = text.search(/-[0-9]+ sched_wak[a-z_]*: /);
			if (!/^sched:sched_wak(ing|eup|eup_new)$/.test(m.names[events.name[at]]) || comm < 0) continue;
			if (!new RegExp(' pid=' + pid + ' ').test(text)) continue;
			var waker = Number(/^-([0-9]+)/.exec(text.slice(comm))[1]);
			found = { who: text.slice(0, comm) + '-' + waker, cpu: band.id,
				from: lane_of(lanes, model.CPU, band.id), to: one.row, h: states.sh[woken],
				l: states.sl[woken], eh: states.sh[last], el: states.sl[last] };
			if (waker > 0 && lane_of(lanes, model.STATE, waker) >= 0)
				found.from = lane_of(lanes, model.STATE, waker);
		}
	});
	return found;
}

function top_names(m, into, lasted, most) {
	var all = Array.from(into.names.entries()).sort(function (a, b) {
		return b[1].busy - a[1].busy || b[1].count - a[1].count || a[0] - b[0];
	});
	var parts = all.slice(0, most).map(function (one) {
		return (one[0] < 0 ? 'short ones, merged' : m.names[one[0]]) +
			(one[1].busy ? ' ' + lasted(one[1].busy) : '') + ' (' + one[1].count + ')';
	});
	return parts.join(', ') + (all.length > most ? ', and ' + (all.length - most) + ' more' : '');
}
function range_lines(m, lanes, from, to, lasted) {
	var length = (to.h - from.h) * B + to.l - from.l, lines = [], about = false;
	var kinds = [[model.MARK, 'marks'],
		[model.CALL, 'system calls'], [model.IRQ, 'interrupts'], [model.EVENTS, 'events']];
	lanes.list.forEach(function (lane) {
		if (lane.band.kind !== model.CPU) return;
		var into = model.sums(lane.band, from, to, { names: new Map(), count: 0, busy: 0, about: false });
		about = about || into.about;
		lines.push(lane.full + ' busy ' + lasted(into.busy) + ' (' + (100 * into.busy / length).toFixed(1) +
			' %): ' + top_names(m, into, lasted, 5));
	});
	kinds.forEach(function (kind) {
		var into = { names: new Map(), count: 0, busy: 0, about: false };
		m.bands.forEach(function (band) { if (band.kind === kind[0]) model.sums(band, from, to, into); });
		about = about || into.about;
		if (into.count) lines.push(kind[1] + ' ' + into.count + (into.busy ? ', ' + lasted(into.busy) : '') +
			': ' + top_names(m, into, lasted, 8));
	});
	if (about) lines.push('The range cuts slices in which several are merged: their part is estimated.');
	return lines;
}

/* The path of a link, which weft why found: an arrow to each depth that goes on shows who was waited for. */
function path(lanes, row, i) {
	var band = lanes.list[row].band, links = [], at = -1, from, to, arrows = [];
	if (band.kind !== model.WHY) return arrows;
	lanes.list.forEach(function (lane, where) {
		var of = lane.band;
		if (of.kind !== model.WHY || of.id !== band.id || of.buffer !== band.buffer) return;
		for (var s = model.decode(of), k = 0; k < s.n; k++)
			links.push({ row: where, i: k, h: s.sh[k], l: s.sl[k], eh: s.eh[k], el: s.el[k] });
	});
	function follows(a, b) { return a.eh === b.h && a.el === b.l; }
	links.sort(function (a, b) { return (a.h - b.h) * B + a.l - b.l; });
	links.forEach(function (link, k) { if (link.row === row && link.i === i) at = k; });
	for (from = at; from > 0 && follows(links[from - 1], links[from]); from--);
	for (to = at; to + 1 < links.length && follows(links[to], links[to + 1]); to++);
	for (var k = from; k < to; k++) {
		var a = links[k], b = links[k + 1];
		if (a.row !== b.row) arrows.push({ from: a.row, to: b.row, h: a.eh, l: a.el, eh: b.h, el: b.l });
	}
	return arrows;
}

return { modes: modes, legend: legend, wakeup: wakeup, path: path, range_lines: range_lines };
})();
