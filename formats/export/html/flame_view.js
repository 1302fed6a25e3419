/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The flame graph beside the timeline, by the rules of flame.js: a click or Enter zooms, search marks and adds up. One
 * frame at a time can be reached by Tab, the others by arrows. Names are untrusted: they are only compared and set as
 * text.
 */

'use strict';
(function () {
function el(id) { return document.getElementById(id); }
var data = window.timeline.m.data.flame, box = el('flame'), button = el('graph'), svg = box.querySelector('svg'),
	built = false, frames = [], at = 0, zoomed = null, ROW = 17, deep = 0, kept = '';
if (!data) return;
button.hidden = false;
function clean(text) {
	return text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '\ufffd');
}
function make(kind, into) { return into.appendChild(document.createElementNS(svg.namespaceURI, kind)); }
function weight(w) { return data.ns ? (w / 1e6).toFixed(3) + ' ms' : String(w); }
function share(w) { return (100 * w / frames[0].w).toFixed(2) + '%'; }
function color(name, d) {
	if (!d || name[0] === '[') return 'rgb(200,200,200)';
	for (var hash = 2166136261, i = 0; i < name.length; i++)
		hash = Math.imul(hash ^ name.charCodeAt(i), 16777619) >>> 0;
	return 'rgb(' + (205 + hash % 50) + ',' + ((hash >>> 6) % 180 + 40) + ',' + (hash >>> 14) % 60 + ')';
}
var nodes = data.frames.map(function (f) {
	return { name: clean(data.names[f[1]]), w: f[2], rest: f[2] - f[3], above: [] };
});
data.frames.forEach(function (f, i) { if (i) { nodes[f[0]].above.push(nodes[i]); nodes[f[0]].rest -= f[2]; } });
function lay(node, x, d, below) {
	var frame = { name: node.name, x: x, w: node.w, d: d, below: below, above: [] };
	if (below) below.above.push(frame);
	frames.push(frame);
	deep = Math.max(deep, d);
	node.above.sort(function (a, b) { return a.name < b.name ? -1 : a.name > b.name ? 1 : 0; });
	node.above.forEach(function (n) { lay(n, x, d + 1, frame); x += n.w; });
	if (node.rest > 0 && node.rest >= nodes[0].w / 1000)
		lay({ name: '[small ones]', w: node.rest, rest: 0, above: [] }, x, d + 1, frame);
}
lay(nodes[0], 0, 0, null);
function tell(text) { el('details').textContent = text; }
function describe(frame) { return frame.name + ' (' + weight(frame.w) + ', ' + share(frame.w) + ')'; }
function draw() {
	var from = zoomed ? zoomed.x : 0, span = zoomed ? zoomed.w : frames[0].w,
		width = Math.max(box.clientWidth - 4, 100);
	svg.setAttribute('width', width);
	frames.forEach(function (f) {
		var x = (f.x - from) / span * width, w = f.w / span * width, room;
		if (x < 0) { w += x; x = 0; }
		if (x + w > width) w = width - x;
		f.g.style.display = w > 0.05 ? '' : 'none';
		f.g.classList.toggle('under', !!zoomed && f.d < zoomed.d);
		if (!(w > 0.05)) return;
		f.rect.setAttribute('x', x.toFixed(2)); f.rect.setAttribute('width', w.toFixed(2));
		f.text.setAttribute('x', (x + 3).toFixed(2));
		room = Math.floor((w - 6) / 7.3);
		f.text.textContent = room < 3 ? '' : f.name.length <= room ? f.name : f.name.slice(0, room - 2) + '..';
	});
}
function zoom(to) { zoomed = to && to.d ? to : null; draw(); }
function go(frame) {
	if (!frame) return;
	frames[at].g.setAttribute('tabindex', '-1');
	at = frames.indexOf(frame);
	frame.g.setAttribute('tabindex', '0');
	frame.g.focus();
	tell(describe(frame));
}
function beside(frame, by) {
	var all = frame.below ? frame.below.above.filter(function (f) { return f.g.style.display !== 'none'; }) : [];
	return all[all.indexOf(frame) + by];
}
function search(text) {
	var pattern = null, ends = 0, sum = 0, first = null;
	if (text) {
		try { pattern = new RegExp(text, 'i'); } catch (e) {
			el('hits').textContent = 'not a regular expression';
			return;
		}
	}
	frames.forEach(function (f) {
		f.found = !!pattern && pattern.test(f.name);
		f.g.classList.toggle('found', f.found);
	});
	frames.filter(function (f) { return f.found; }).sort(function (a, b) {
		return a.x - b.x || a.d - b.d;
	}).forEach(function (f) {
		first = first || f;
		if (f.x >= ends) { sum += f.w; ends = f.x + f.w; }
	});
	el('hits').textContent = pattern ? 'matched: ' + share(sum) : '';
	if (first) tell(describe(first));
}
function build() {
	built = true;
		svg.setAttribute('height', (deep + 1) * ROW + 4);
	frames.forEach(function (f, i) {
		f.g = make('g', svg);
		f.g.setAttribute('class', 'f'); f.g.setAttribute('tabindex', i ? '-1' : '0');
		f.g.setAttribute('role', 'button'); f.g.setAttribute('aria-label', describe(f));
		f.rect = make('rect', f.g); f.text = make('text', f.g);
		f.rect.setAttribute('y', (deep - f.d) * ROW); f.rect.setAttribute('height', ROW - 1);
		f.rect.setAttribute('fill', color(f.name, f.d));
		f.text.setAttribute('y', (deep - f.d) * ROW + 12);
		f.g.addEventListener('click', function () { go(f); zoom(f); });
		f.g.addEventListener('mouseover', function () { tell(describe(f)); });
	});
}
function show(on) {
	if (!built) build();
	box.hidden = !on; el('canvas').hidden = on;
	button.setAttribute('aria-pressed', String(on));
	button.textContent = on ? 'timeline' : 'flame graph';
	el('hits').textContent = '';
	if (!on) { tell(kept); el('canvas').focus(); return; }
	kept = el('details').textContent;
	draw();
	box.scrollTop = box.scrollHeight;
	go(frames[at]);
	tell('flame graph by ' + data.by + ', ' + weight(frames[0].w) +
		': a click or Enter zooms, arrows go along, Escape shows all, g goes back');
}
button.addEventListener('click', function () { show(box.hidden); });
window.addEventListener('resize', function () { if (!box.hidden) draw(); });
/* Runs before the timeline's own handlers: keys, buttons and search belong to the flame graph while it is shown. */
window.addEventListener('click', function (e) {
	var on = { 'in': function () { zoom(frames[at]); }, out: function () { zoom(zoomed && zoomed.below); },
		all: function () { zoom(null); } }[e.target.id];
	if (box.hidden || !on) return;
	e.stopPropagation();
	on();
}, true);
window.addEventListener('keydown', function (e) {
	var typing = e.target === el('search'), f = frames[at], on;
	if (e.ctrlKey || e.metaKey || e.altKey) return;
	if (e.key === 'g' && !typing) { e.preventDefault(); e.stopPropagation(); show(box.hidden); return; }
	if (box.hidden) return;
	if (typing) {
		on = { Enter: function () { search(el('search').value); },
			Escape: function () { el('search').value = ''; search(''); go(f); } }[e.key];
	} else if (box.contains(e.target)) {
		on = { Enter: function () { zoom(f); }, f: function () { zoom(f); }, '0': function () { zoom(null); },
			Escape: function () { zoom(null); search(''); },
			'/': function () { el('search').focus(); }, ArrowUp: function () { go(f.above[0]); },
			ArrowDown: function () { go(f.below); },
			ArrowLeft: function () { go(beside(f, -1)); },
			ArrowRight: function () { go(beside(f, 1)); } }[e.key];
	}
	if (!on) return;
	e.preventDefault(); e.stopPropagation();
	on();
}, true);
window.weftFlame = { frames: frames, show: show, search: search, zoomed: function () { return zoomed; } };
})();
