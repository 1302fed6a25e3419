// SPDX-License-Identifier: GPL-2.0-only
// node html-page.js FILE STEP...: runs the scripts of a timeline on a page without pictures, 1400 by 800, and prints after
// each step what the page tells. Steps: search=PATTERN, key=KEY, click=X,Y, drag=X,X, hover=X,Y (X from 0 to 1 of the
// time that is shown, Y a row), row=TITLE (prints its number), unpacked (prints how many slices were unpacked so far),
// arrow, path (the depths that its arrows join).
'use strict';
const fs = require('fs');
const html = fs.readFileSync(process.argv[2], 'utf8');
const part = (id) => new RegExp(`<script[^>]* id="${id}">\\n([\\s\\S]*?)<\\/script>`).exec(html)[1];
const elements = new Map(), WIDTH = 1400, HEIGHT = 800, SIDE = 210;
const pen = new Proxy({}, { get: (all, name) => all[name] || (() => undefined), set: (all, name, value) => (all[name] = value, true) });
let waiting = [];

function element(id) {
	if (!elements.has(id))
		elements.set(id, { id, heard: {}, textContent: id === 'data' ? part('data') : '', value: '', style: {}, hidden: false,
			clientWidth: WIDTH, clientHeight: HEIGHT, offsetWidth: 100, offsetHeight: 30, getContext: () => pen, focus: () => undefined,
			append: (...what) => undefined, setPointerCapture: () => undefined, setAttribute: () => undefined,
			addEventListener(kind, listener) { this.heard[kind] = listener; } });
	return elements.get(id);
}

global.document = { getElementById: element, createElement: () => element('made'), documentElement: {} };
global.window = { addEventListener: () => undefined, devicePixelRatio: 1 };
global.getComputedStyle = () => ({ getPropertyValue: () => ' #123456' });
global.matchMedia = () => ({ matches: false, addEventListener: () => undefined });
global.requestAnimationFrame = (call) => waiting.push(call);
const model = new Function(`${part('model')}\nglobal.model = model; global.rows = rows; return model;`)();
new Function(part('view'))();

function drawn() {
	while (waiting.length)
		waiting.shift()();
}
const canvas = element('canvas'), page = global.window.timeline;
const mouse = (kind, x, y, shift) => canvas.heard[kind]({ offsetX: x, offsetY: y, shiftKey: Boolean(shift), pointerId: 1, preventDefault: () => undefined });
const x_at = (x) => SIDE + Number(x) * (WIDTH - SIDE);
const y_at = (row) => page.HEAD + page.lanes.list[row].top - page.top() + 6;
const steps = {
	search(text) { element('search').value = text; element('search').heard.keydown({ key: 'Enter' }); return element('hits').textContent; },
	key(key) { canvas.heard.keydown({ key, preventDefault: () => undefined }); return element('details').textContent; },
	click(x, row) { mouse('pointerdown', x_at(x), y_at(row)); mouse('pointerup', x_at(x), y_at(row)); return element('details').textContent; },
	drag(x, to) { mouse('pointerdown', x_at(x), 300, true); mouse('pointermove', x_at(to), 300); mouse('pointerup', x_at(to), 300); return element('details').textContent; },
	hover(x, row) { mouse('pointermove', x_at(x), y_at(row)); return element('tip').hidden ? '' : element('tip').textContent; },
	row(title) { return String(page.lanes.list.findIndex((lane) => lane.full === title)); },
	unpacked() { return String(page.m.bands.reduce((sum, band) => sum + (band.base ? band.base.n : 0) + (band.coarse ? band.coarse.n : 0), 0)); },
	arrow() { const a = page.arrow(); return a ? [page.lanes.list[a.from].full, page.lanes.list[a.to].full, a.who].join(' > ') : 'none'; },
	path() { return page.path().map((a) => `${page.lanes.list[a.from].band.row} > ${page.lanes.list[a.to].band.row}`).join(', ') || 'none'; },
};
drawn();
for (const step of process.argv.slice(3)) {
	const [, name, , text] = /^([a-z]+)(=(.*))?$/.exec(step);

	console.log(steps[name](...(name === 'search' || name === 'key' || name === 'row' ? [text] : (text || '').split(','))));
	drawn();
}
