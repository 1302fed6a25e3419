// SPDX-License-Identifier: GPL-2.0-only
// Runs behind the scripts of a timeline: clicks into the middle of each slice that is wide enough, and prints the chosen
// slice on the console.
'use strict';
(function () {
const canvas = document.getElementById('canvas'), page = window.timeline, told = document.getElementById('details');

function click(x, y) {
	const box = canvas.getBoundingClientRect();

	canvas.setPointerCapture = function () {};
	for (const type of ['pointerdown', 'pointerup'])
		canvas.dispatchEvent(new PointerEvent(type, { clientX: box.left + x, clientY: box.top + y, bubbles: true, pointerId: 1 }));
}

setTimeout(function () {
	let right = 0, wrong = 0;

	for (const lane of page.lanes.list) {
		const slices = model.decode(lane.band);

		for (let i = 0; i < slices.n; i++) {
			const from = page.x_of(slices.sh[i], slices.sl[i]), to = page.x_of(slices.eh[i], slices.el[i]);

			if (to - from < 8 || slices.value)
				continue;
			click((from + to) / 2, page.HEAD + lane.top - page.top() + 6);
			if (told.textContent.startsWith(page.m.names[slices.name[i]] + '   (' + lane.full + ')')) right++; else wrong++;
		}
	}
	canvas.dispatchEvent(new KeyboardEvent('keydown', { key: 'Home' }));
	canvas.dispatchEvent(new KeyboardEvent('keydown', { key: 'f' }));
	document.getElementById('search').value = 'execve';
	document.getElementById('search').dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' }));
	document.title = 'right ' + right + ' wrong ' + wrong + ' search ' + told.textContent.includes('execve');
}, 300);
})();
