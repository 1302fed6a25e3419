/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Draws the timeline and handles the mouse and the keys. Only visible rows are drawn, and of them only slices at least
 * one pixel wide. Names are untrusted: they are drawn, or set as text, never as markup.
 */

'use strict';
(function () {
function el(id) { return document.getElementById(id); }
var m = model.open(el('data').textContent), data = m.data, B = model.B;
var lanes = rows.make(m), canvas = el('canvas'), pen = canvas.getContext('2d'), SIDE = 210, HEAD = 26;
var start = BigInt(data.start), whole = Math.max(Number(BigInt(data.end) - start), 1);
var view = { h: 0, l: 0, span: whole }, top = 0, width = 0, height = 0, colors = {}, dark = false, ask = 0;
var picked = null, row = 0, found = null, hues = [];
var range = null, arrow = null, path = [];

function clean(text) {
	return text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '\ufffd');
}
function grouped(text) { return text.replace(/\B(?=(\d{3})+$)/g, ','); }
function lasted(ns) {
	if (!data.ns) return grouped(String(Math.round(ns)));
	if (ns < 1000) return Math.round(ns) + ' ns';
	if (ns < 1e6) return (ns / 1e3).toFixed(3) + ' us';
	if (ns < 1e9) return (ns / 1e6).toFixed(3) + ' ms';
	if (ns < 6e11) return (ns / 1e9).toFixed(6) + ' s';
	if (ns < 1.728e14) return (ns / 3.6e12).toFixed(4) + ' h';
	return (ns / 8.64e13).toFixed(3) + ' days';
}
function seconds(ns, digits) {
	if (!data.ns) return String(ns);
	var minus = ns < 0n, all = String(minus ? -ns : ns).padStart(10, '0');
	var text = all.slice(0, -9) + (digits ? '.' + all.slice(-9, all.length - 9 + digits) : '');
	return (minus ? '-' : '') + text;
}
function dateOffset(ns) {
	var offset = data.date;

	data.dates.forEach(function (set) { if (ns >= BigInt(set[0])) offset = set[1]; });
	return BigInt(offset);
}
function day(ns) {
	if (data.date === null) return '';
	var at = ns + dateOffset(ns), date = new Date(Number(at / 1000000n));
	return isNaN(date) ? '' : date.toISOString().slice(0, 19).replace('T', ' ') + '.' +
		String(at % 1000000000n).padStart(9, '0') + ' UTC';
}

function normalize() {
	var carry = Math.floor(view.l / B);
	view.l -= carry * B; view.h += carry;
	view.span = Math.min(Math.max(view.span, 4), Math.max(whole * 1.2, 4));
	var from = view.h * B + view.l;
	if (from < -whole * 0.1) { view.h = Math.floor(-whole * 0.1 / B); view.l = -whole * 0.1 - view.h * B; }
	if (from > whole * 1.05) { view.h = Math.floor(whole * 1.05 / B); view.l = whole * 1.05 - view.h * B; }
	top = Math.max(0, Math.min(top, lanes.height - (height - HEAD) + 20));
}
function x_of(h, l) { return SIDE + ((h - view.h) * B + (l - view.l)) / view.span * (width - SIDE); }
function draw_soon() { if (!ask) ask = requestAnimationFrame(function () { ask = 0; normalize(); draw(); }); }
function zoom(by, x) {
	var at = (Math.max(x, SIDE) - SIDE) / (width - SIDE), span = view.span;
	view.span = Math.min(Math.max(view.span * by, 4), whole * 1.2);
	view.l += at * (span - view.span);
	draw_soon();
}
function pan(by) { view.l += by * view.span; draw_soon(); }
function show_all() { view = { h: 0, l: 0, span: whole }; draw_soon(); }

function color(band, name) {
	if (band.kind === model.STATE) return tools.modes[m.names[name]] || '#888';
	if (band.kind === model.LOST) return '#d00';
	if (!hues[name]) {
		var hash = 2166136261, text = m.names[name];
		for (var i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619) >>> 0;
		hues[name] = 'hsl(' + hash % 360 + ' ' + (45 + hash % 20) + '% ' + (dark ? 42 : 68) + '%)';
	}
	return hues[name];
}
function draw_text(text, x, y, room) {
	var most = Math.floor((room - 6) / 6.7);
	if (most < 2) return;
	text = clean(text);
	pen.fillText(text.length <= most ? text : text.slice(0, most - 1) + '\u2026', x + 3, y);
}
function draw_counter(slices, first, y, high) {
	var max = 0, i;
	for (i = 0; i < slices.n; i++)
		if (slices.value[i] > max && slices.value[i] !== 4294967295) max = slices.value[i];
	pen.fillStyle = colors.counter;
	for (i = Math.max(first - 1, 0); i < slices.n; i++) {
		var x = Math.max(x_of(slices.sh[i], slices.sl[i]), SIDE),
			value = slices.value[i] === 4294967295 ? 0 : slices.value[i];
		var end = i + 1 < slices.n ? x_of(slices.sh[i + 1], slices.sl[i + 1]) : width;
		if (x > width) return;
		if (end > SIDE) pen.fillRect(x, y + high - value / (max || 1) * (high - 2),
			Math.max(Math.min(end, width) - x, 1), value / (max || 1) * (high - 2) + 1);
	}
}
function draw_lane(lane, y) {
	var band = lane.band, slices = model.level(band, view.span / (width - SIDE)),
		i = model.after(slices, view.h, Math.max(view.l, 0)), high = lane.height;
	if (view.h < 0) i = 0;
	if (model.is_value(band.kind)) { draw_counter(slices, i, y, high); return; }
	for (var drawn = -1; i < slices.n; i++) {
		var x = x_of(slices.sh[i], slices.sl[i]), end = x_of(slices.eh[i], slices.el[i]);
		if (x > width) return;
		x = Math.max(x, SIDE); end = Math.min(end, width);
		var wide = Math.max(end - x, 1);
		if (x + wide < drawn + 0.5) continue;
		var length = (slices.eh[i] - slices.sh[i]) * B + slices.el[i] - slices.sl[i];
		pen.globalAlpha = (slices.count[i] > 1 && length ? 0.25 + 0.75 * slices.busy[i] / length : 1) *
			(found && !found.names[slices.name[i]] ? 0.25 : 1);
		pen.fillStyle = color(band, slices.name[i]);
		pen.fillRect(x, y, wide > 3 ? wide - 0.5 : wide, high);
		pen.globalAlpha = 1;
		drawn = x + wide;
		if (wide > 22 && high > 14) {
			pen.fillStyle = colors.slice;
			draw_text((slices.count[i] > 1 ? slices.count[i] + '\u00d7 ' : '') + m.names[slices.name[i]],
				x, y + 13, wide);
		}
	}
}
function draw_picked(y) {
	var slices = model.decode(lanes.list[picked.row].band), i = picked.i;
	var x = Math.max(x_of(slices.sh[i], slices.sl[i]), SIDE - 2),
		end = Math.min(x_of(slices.eh[i], slices.el[i]), width + 2);
	if (end < SIDE - 1 || x > width) return;
	pen.strokeStyle = colors.text; pen.lineWidth = 2;
	pen.strokeRect(x - 1, y - 1, Math.max(end - x, 2) + 2, lanes.list[picked.row].height + 2);
}
function draw_axis() {
	var from = BigInt(view.h) * BigInt(B) + BigInt(Math.floor(view.l)), step = 1n, digits = 9, i = 0;
	var least = view.span * 120 / (width - SIDE);
	for (var size = 1; size < least; i++) {
		step = i % 3 === 0 ? step * 2n : i % 3 === 1 ? step / 2n * 5n : step * 2n;
		size = Number(step);
	}
	for (var s = step; s % 10n === 0n && digits > 0; s /= 10n) digits--;
	pen.fillStyle = colors.back; pen.fillRect(0, 0, width, HEAD);
	pen.fillStyle = colors.text; pen.strokeStyle = colors.line; pen.lineWidth = 1;
	for (var t = from / step * step; t <= from + BigInt(Math.ceil(view.span)); t += step) {
		var x = SIDE + Number(t - from) / view.span * (width - SIDE) -
			(view.l - Math.floor(view.l)) / view.span * (width - SIDE);
		if (x < SIDE - 1) continue;
		pen.beginPath(); pen.moveTo(x, 16); pen.lineTo(x, height); pen.stroke();
		pen.fillText((t > 0n ? '+' : '') + seconds(t, digits) + (data.ns ? ' s' : ''), x + 3, 12);
	}
	pen.fillText(lasted(view.span) + ' shown', 6, 12);
}
function draw_range() {
	if (!range) return;
	var x = Math.max(x_of(range.from.h, range.from.l), SIDE), end = Math.min(x_of(range.to.h, range.to.l), width);
	if (end <= x) return;
	pen.globalAlpha = 0.25; pen.fillStyle = colors.counter; pen.fillRect(x, 0, end - x, height);
	pen.globalAlpha = 1;
}
function draw_arrow(arrow) {
	var a = lanes.list[arrow.from], b = lanes.list[arrow.to], x = x_of(arrow.h, arrow.l),
		y = HEAD + a.top - top + a.height / 2;
	var to_x = x_of(arrow.eh, arrow.el), to_y = HEAD + b.top - top + b.height / 2,
		turn = Math.atan2(to_y - y, to_x - x);
	pen.save(); pen.beginPath(); pen.rect(SIDE, HEAD, width - SIDE, height - HEAD); pen.clip();
	pen.strokeStyle = colors.text; pen.lineWidth = 1.5;
	pen.beginPath(); pen.moveTo(x, y); pen.lineTo(to_x, to_y);
	pen.lineTo(to_x - 8 * Math.cos(turn - 0.4), to_y - 8 * Math.sin(turn - 0.4)); pen.moveTo(to_x, to_y);
	pen.lineTo(to_x - 8 * Math.cos(turn + 0.4), to_y - 8 * Math.sin(turn + 0.4)); pen.stroke();
	pen.restore();
}
function draw() {
	pen.font = '11px ui-monospace, monospace';
	pen.globalAlpha = 1;
	pen.fillStyle = colors.back; pen.fillRect(0, 0, width, height);
	draw_axis();
	pen.save(); pen.beginPath(); pen.rect(0, HEAD, width, height - HEAD); pen.clip();
	lanes.list.forEach(function (lane, i) {
		var y = HEAD + lane.top - top;
		if (y + lane.height < HEAD || y > height) return;
		if (lane.owner) { pen.fillStyle = colors.line; pen.fillRect(0, y - 3, width, 1); }
		draw_lane(lane, y);
		if (picked && picked.row === i) draw_picked(y);
		pen.fillStyle = i === row ? colors.mark : colors.back; pen.fillRect(0, y, SIDE - 2, lane.height);
		pen.fillStyle = colors.text; draw_text(lane.title, 2, y + Math.min(13, lane.height - 2), SIDE - 4);
	});
	pen.restore();
	draw_range();
	if (arrow && arrow.from >= 0) draw_arrow(arrow);
	path.forEach(draw_arrow);
}

function events_at(slices, i) {
	var lines = [];
	m.bands.forEach(function (band) {
		if (band.kind !== model.EVENTS) return;
		var events = model.decode(band);
		for (var at = model.after(events, slices.sh[i], slices.sl[i]); at < events.n &&
			events.sh[at] === slices.sh[i] && events.sl[at] === slices.sl[i]; at++)
			if (events.text[at]) lines.push('CPU ' + band.id + '  ' + m.names[events.name[at]] + '  ' +
				model.words(band, at));
	});
	return lines;
}
function describe(where, i) {
	var lane = lanes.list[where], band = lane.band, slices = model.decode(band),
		at = model.exact(slices.sh[i], slices.sl[i]), lines = [];
	var length = Number(model.exact(slices.eh[i], slices.el[i]) - at);
	lines.push(m.names[slices.name[i]] + '   (' + lane.full + ')');
	lines.push('at ' + seconds(start + at, 9) + (data.ns ? ' s, ' : ', ') + '+' + seconds(at, 9) +
		' from the start' + (data.date === null ? '' : ', ' + day(start + at)));
	if (data.ns) lines.push('moment ' + data.file + '@' + seconds(start + at, 9));
	if (slices.value) lines.push((slices.count[i] > 1 ? 'at most ' : 'value ') +
		(slices.value[i] === 4294967295 ? '-1 (none)' : grouped(String(slices.value[i]))));
	else if (length) lines.push('lasted ' + lasted(length) +
		(data.ns ? ' (' + grouped(String(length)) + ' ns)' : ''));
	if (slices.count[i] > 1) lines.push(slices.count[i] + ' of them, together ' + lasted(slices.busy[i]) +
		': what is shorter than ' + lasted(Math.pow(2, band.fold)) + ' is one here; --max-size tells more');
	if (slices.text && slices.text[i]) lines.push(model.words(band, i));
	else if (band.kind !== model.EVENTS && slices.count[i] === 1) lines = lines.concat(events_at(slices, i));
	if (arrow) lines.push('woken by ' + arrow.who + ' on CPU ' + arrow.cpu + ', ' +
		lasted((arrow.eh - arrow.h) * B + arrow.el - arrow.l) + ' before it ran');
	return lines.map(clean).join('\n');
}
function tell(lines) { el('details').textContent = lines; }
function pick(where, i, move) {
	var lane = lanes.list[where], slices = model.decode(lane.band);
	if (i < 0 || i >= slices.n) return;
	picked = { row: where, i: i }; row = where;
	arrow = tools.wakeup(m, lanes, where, i);
	path = tools.path(lanes, where, i);
	tell(describe(where, i));
	if (move) reveal(where, slices.sh[i], slices.sl[i]);
	draw_soon();
}
function reveal(where, h, l) {
	var lane = lanes.list[where], x = x_of(h, l);
	if (x < SIDE || x > width - 20) { view.h = h; view.l = l - view.span * 0.3; }
	if (lane.top - top < 0) top = Math.max(0, lane.top - 4);
	if (lane.top + lane.height - top > height - HEAD) top = lane.top + lane.height - (height - HEAD) + 4;
}
function lane_at(y) {
	for (var i = 0; i < lanes.list.length; i++)
		if (y - HEAD + top >= lanes.list[i].top &&
			y - HEAD + top <= lanes.list[i].top + lanes.list[i].height) return i;
	return -1;
}
function time_at(x) {
	var l = view.l + (x - SIDE) / (width - SIDE) * view.span, carry = Math.floor(l / B);
	return { h: view.h + carry, l: l - carry * B };
}
function nearest(slices, x) {
	var at = time_at(x), pixel = view.span / (width - SIDE), back = time_at(x - 3), best = -1, near = Infinity;
	if (slices.value) return Math.max(model.after(slices, at.h, at.l) - 1, 0);
	for (var i = model.after(slices, back.h, back.l); i < slices.n; i++) {
		var from = (slices.sh[i] - at.h) * B + slices.sl[i] - at.l,
			to = (slices.eh[i] - at.h) * B + slices.el[i] - at.l;
		var far = from > 0 ? from : to < 0 ? -to : 0;
		if (from > 4 * pixel) break;
		if (far < near) { near = far; best = i; }
	}
	return near <= 4 * pixel ? best : -1;
}
function pick_at(x, y) {
	var where = lane_at(y);
	if (where < 0) return;
	row = where;
	var best = nearest(model.decode(lanes.list[where].band), x);
	if (best >= 0) pick(where, best, false); else draw_soon();
}
function hover(x, y) {
	var where = x > SIDE && y > HEAD ? lane_at(y) : -1, tip = el('tip'), lane = lanes.list[where];
	var slices = lane && model.ready(lane.band), i = lane ? nearest(slices, x) : -1;
	tip.hidden = i < 0;
	if (i < 0) return;
	var length = (slices.eh[i] - slices.sh[i]) * B + slices.el[i] - slices.sl[i], text = m.names[slices.name[i]];
	if (slices.value) text += ' ' + grouped(String(slices.value[i]));
	else if (length) text += ', ' + lasted(length);
	if (slices.count[i] > 1) text = grouped(String(slices.count[i])) + ' slices, the longest: ' +
		m.names[slices.name[i]];
	if (slices.text && slices.text[i]) text += '\n' + model.words(lane.band, i);
	tip.textContent = (lane.full + '\n' + text).split('\n').map(clean).join('\n');
	tip.style.left = Math.min(x + 14, Math.max(width - tip.offsetWidth - 4, 0)) + 'px';
	tip.style.top = Math.min(y + 16, Math.max(height - tip.offsetHeight - 4, 0)) + 'px';
}
function choose_range(from, to) {
	if (model.exact(from.h, from.l) > model.exact(to.h, to.l)) { var other = from; from = to; to = other; }
	if (model.exact(from.h, from.l) < 0n) from = { h: 0, l: 0 };
	range = { from: from, to: to };
	draw_soon();
}
function tell_range() {
	var from = model.exact(range.from.h, range.from.l), to = model.exact(range.to.h, range.to.l);
	if (to <= from) { range = null; return; }
	var head = lasted(Number(to - from)) + ' chosen, from +' + seconds(from, 9) + ' to +' + seconds(to, 9);
	var last = to >= BigInt(whole) ? { h: range.to.h, l: range.to.l + 1 } : range.to;
	tell([head].concat(tools.range_lines(m, lanes, range.from, last, lasted)).map(clean).join('\n'));
}
function range_of_picked() {
	if (!picked) return;
	var slices = model.decode(lanes.list[picked.row].band), i = picked.i;
	choose_range({ h: slices.sh[i], l: slices.sl[i] }, { h: slices.eh[i], l: slices.el[i] });
	tell_range();
}
function range_of_view() {
	choose_range(time_at(SIDE), time_at(width));
	tell_range();
}
function zoom_to_picked() {
	if (!picked) return;
	var slices = model.decode(lanes.list[picked.row].band), i = picked.i;
	var length = (slices.eh[i] - slices.sh[i]) * B + slices.el[i] - slices.sl[i];
	view.span = Math.max(length * 1.6, 40); view.h = slices.sh[i]; view.l = slices.sl[i] - (view.span - length) / 2;
	draw_soon();
}
function step(by) {
	var slices = model.decode(lanes.list[row].band),
		i = by > 0 ? model.after(slices, view.h, Math.max(view.l, 0)) : slices.n - 1;
	if (picked && picked.row === row) i = picked.i + by;
	pick(row, i, true);
}
function go_row(by) {
	row = Math.max(0, Math.min(lanes.list.length - 1, row + by));
	var lane = lanes.list[row];
	reveal(row, view.h, view.l);
	tell(clean(lane.full) + ': ' + lane.band.added + ' slices; left and right go through them');
	draw_soon();
}

function later(a, b) { return a.h - b.h || a.l - b.l || a.row - b.row || a.i - b.i; }
function search(back) {
	var text = el('search').value, test, best = null, edge = null, hits = 0, merged = false;
	found = null;
	if (!text) { draw_soon(); return; }
	try {
		var pattern = new RegExp(text, 'i');
		test = function (s) { return pattern.test(s); };
	} catch (e) { test = function (s) { return s.includes(text); }; }
	var matches = m.names.map(test), from = { h: view.h, l: Math.max(view.l, -1), row: -1, i: -1 };
	if (picked) {
		var s = model.decode(lanes.list[picked.row].band);
		from = { h: s.sh[picked.i], l: s.sl[picked.i], row: picked.row, i: picked.i };
	}
	hits = model.total(matches);
	lanes.list.forEach(function (lane, where) {
		var slices = model.decode(lane.band), folded = model.is_folded(lane.band.kind);
		merged = merged || (folded && lane.band.kind === model.EVENTS);
		for (var i = 0; i < slices.n; i++) {
			if (!matches[slices.name[i]] &&
				!(slices.text && slices.text[i] && test(model.words(lane.band, i)))) continue;
			if (!folded || !matches[slices.name[i]]) hits += slices.count[i];
			var here = { h: slices.sh[i], l: slices.sl[i], row: where, i: i }, order = later(here, from);
			if (!edge || (back ? later(here, edge) > 0 : later(here, edge) < 0)) edge = here;
			if (back ? order < 0 && (!best || later(here, best) > 0) :
				order > 0 && (!best || later(here, best) < 0)) best = here;
		}
	});
	found = { names: matches };
	el('hits').textContent = (data.left ? 'at least ' : '') + grouped(String(hits)) + ' found' +
		(merged ? ', without the texts of merged events' : '');
	best = best || edge;
	if (best) pick(best.row, best.i, true);
	else tell(hits ? 'they are in merged slices that have the names of longer ones; ' +
		'--max-size or a shorter export shows them' : 'nothing found');
	draw_soon();
}

function size() {
	var scale = window.devicePixelRatio || 1;
	width = canvas.clientWidth; height = canvas.clientHeight;
	canvas.width = width * scale; canvas.height = height * scale;
	pen.setTransform(scale, 0, 0, scale, 0, 0);
	draw_soon();
}
function theme() {
	var style = getComputedStyle(document.documentElement);
	['back', 'text', 'line', 'mark', 'slice', 'counter'].forEach(function (name) {
		colors[name] = style.getPropertyValue('--' + name).trim();
	});
	dark = matchMedia('(prefers-color-scheme: dark)').matches;
	hues = [];
	draw_soon();
}
function listen() {
	var drag = null;
	canvas.addEventListener('wheel', function (e) {
		e.preventDefault();
		if (e.ctrlKey || e.metaKey) zoom(Math.pow(1.002, e.deltaY), e.offsetX);
		else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) pan((e.deltaX || e.deltaY) / 1000);
		else { top += e.deltaY; draw_soon(); }
	}, { passive: false });
	canvas.addEventListener('pointerdown', function (e) {
		drag = { x: e.offsetX, y: e.offsetY, moved: false,
			from: e.offsetX > SIDE && (e.shiftKey || e.offsetY < HEAD) ? time_at(e.offsetX) : null };
		canvas.setPointerCapture(e.pointerId);
	});
	canvas.addEventListener('pointermove', function (e) {
		if (!drag) { hover(e.offsetX, e.offsetY); return; }
		el('tip').hidden = true;
		if (Math.abs(e.offsetX - drag.x) + Math.abs(e.offsetY - drag.y) < 4 && !drag.moved) return;
		if (drag.from) {
			drag.moved = true;
			choose_range(drag.from, time_at(Math.max(e.offsetX, SIDE)));
			return;
		}
		view.l -= (e.offsetX - drag.x) / (width - SIDE) * view.span; top -= e.offsetY - drag.y;
		drag = { x: e.offsetX, y: e.offsetY, moved: true };
		draw_soon();
	});
	canvas.addEventListener('pointerup', function (e) {
		if (drag && !drag.moved) pick_at(e.offsetX, e.offsetY);
		if (drag && drag.moved && drag.from) tell_range();
		drag = null;
	});
	canvas.addEventListener('pointerleave', function () { el('tip').hidden = true; });
	canvas.addEventListener('dblclick', zoom_to_picked);
	canvas.addEventListener('keydown', function (e) {
		var middle = SIDE + (width - SIDE) / 2;
		var keys = { ArrowLeft: function () { step(-1); }, ArrowRight: function () { step(1); },
			ArrowUp: function () { go_row(-1); }, ArrowDown: function () { go_row(1); },
			w: function () { zoom(0.6, middle); }, '+': function () { zoom(0.6, middle); },
			s: function () { zoom(1.7, middle); }, '-': function () { zoom(1.7, middle); },
			a: function () { pan(-0.25); }, d: function () { pan(0.25); },
			f: zoom_to_picked, Enter: zoom_to_picked, '0': show_all,
			Home: function () { pick(row, 0, true); },
			End: function () { pick(row, lanes.list[row].band.slices - 1, true); },
			PageUp: function () { top -= height / 2; draw_soon(); },
			PageDown: function () { top += height / 2; draw_soon(); },
			n: function () { search(false); }, p: function () { search(true); },
			'/': function () { el('search').focus(); },
			r: range_of_picked, v: range_of_view,
			Escape: function () {
				picked = null; found = null; range = null; arrow = null; path = [];
				tell('');
				draw_soon();
			} };
		if (e.ctrlKey || e.metaKey || e.altKey || !keys[e.key] || !lanes.list.length) return;
		e.preventDefault();
		keys[e.key]();
	});
	el('search').addEventListener('keydown', function (e) {
		if (e.key === 'Enter') search(e.shiftKey);
		if (e.key === 'Escape') { el('search').value = ''; search(false); canvas.focus(); }
	});
	el('in').onclick = function () { zoom(0.5, SIDE + (width - SIDE) / 2); };
	el('out').onclick = function () { zoom(2, SIDE + (width - SIDE) / 2); };
	el('all').onclick = show_all;
	window.addEventListener('resize', size);
	matchMedia('(prefers-color-scheme: dark)').addEventListener('change', theme);
}
function facts() {
	var text = grouped(String(data.events)) + ' events, ' + lasted(whole) +
		(data.gaps ? ', events lost at ' + data.gaps + ' places' : '') + ', Linux ' + data.release + ' ' +
		data.machine + ', clock ' + data.clock +
		(data.clock_error ? ', times are exact to within +-' + data.clock_error +
			' of those of the other machines' : '');
	el('facts').textContent = clean(text);
	el('tables').textContent = data.tables === null ?
		'no tables: the clock does not count time, or there are several' : data.tables;
}
tools.legend(el('legend')); facts(); listen(); theme(); size();
canvas.focus();
window.timeline = { x_of: x_of, lanes: lanes, view: view, HEAD: HEAD, m: m, at: function () { return view; },
	top: function () { return top; }, arrow: function () { return arrow; },
	path: function () { return path; } };
})();
