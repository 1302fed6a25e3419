/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A frame is <g class="f" data-x data-w data-d>: its begin, its width and its depth, in units of the whole graph.
 * Zooming maps the frame's range onto the picture. Names are only compared and set as text, never interpreted.
 */

'use strict';
(function () {
var svg = document.documentElement, width = +svg.getAttribute('data-width'), total = +svg.getAttribute('data-total');
var frames = Array.prototype.slice.call(document.querySelectorAll('.f')).map(function (g) {
	return { g: g, x: +g.getAttribute('data-x'), w: +g.getAttribute('data-w'), d: +g.getAttribute('data-d'),
		rect: g.querySelector('rect'), text: g.querySelector('text'),
			title: g.querySelector('title').textContent,
		name: g.getAttribute('data-n') };
});
var details = document.getElementById('details'), matched = document.getElementById('matched');
var zoomed = null, pattern = null;
function place(frame, from, span) {
	var x = (frame.x - from) / span * width, w = frame.w / span * width, room;
	if (x < 0) { w += x; x = 0; }
	if (x + w > width) w = width - x;
	frame.g.style.display = w > 0.05 ? '' : 'none';
	if (!(w > 0.05)) return;
	frame.rect.setAttribute('x', x.toFixed(2));
	frame.rect.setAttribute('width', w.toFixed(2));
	room = Math.floor((w - 6) / 7.3);
	frame.text.setAttribute('x', (x + 3).toFixed(2));
	frame.text.textContent = room < 3 ? '' : frame.name.length <= room ? frame.name :
		frame.name.slice(0, room - 2) + '..';
}
function zoom(to) {
	var from = to ? to.x : 0, span = to ? to.w : total;
	zoomed = to;
	frames.forEach(function (frame) {
		frame.g.classList.toggle('under', !!to && frame.d < to.d && frame.x <= to.x &&
			frame.x + frame.w >= to.x + to.w);
		place(frame, from, span);
	});
	document.getElementById('reset').style.display = to ? '' : 'none';
}
function search(text) {
	var ends = 0, sum = 0;
	pattern = null;
	if (text) {
		try { pattern = new RegExp(text); } catch (e) {
			matched.textContent = 'not a regular expression';
			return;
		}
	}
	frames.forEach(function (frame) { frame.g.classList.toggle('found', !!pattern && pattern.test(frame.name)); });
	frames.filter(function (frame) { return pattern && pattern.test(frame.name); }).sort(function (a, b) {
		return a.x - b.x || a.d - b.d;
	}).forEach(function (frame) {
		if (frame.x >= ends) { sum += frame.w; ends = frame.x + frame.w; }
	});
	matched.textContent = pattern ? 'matched: ' + (100 * sum / total).toFixed(2) + '%' : '';
}
function ask() {
	var text = window.prompt('Search for a regular expression; nothing ends the search', '');
	if (text !== null) search(text);
}
frames.forEach(function (frame) {
	frame.g.addEventListener('click', function () { zoom(frame.d ? frame : null); });
	frame.g.addEventListener('mouseover', function () { details.textContent = frame.title; });
	frame.g.addEventListener('focus', function () { details.textContent = frame.title; });
	frame.g.addEventListener('mouseout', function () { details.textContent = ''; });
	frame.g.addEventListener('keydown', function (e) { if (e.key === 'Enter') zoom(frame.d ? frame : null); });
});
document.getElementById('reset').addEventListener('click', function () { zoom(null); });
document.getElementById('search').addEventListener('click', ask);
window.addEventListener('keydown', function (e) {
	if (e.key === 'Escape') { zoom(null); search(''); }
	if ((e.ctrlKey && e.key === 'f') || e.key === '/') { e.preventDefault(); ask(); }
});
window.weftFlame = {
	zoom: function (name) { zoom(frames.filter(function (f) { return f.name === name; })[0] || null); },
	search: search };
zoom(null);
})();
