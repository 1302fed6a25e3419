// SPDX-License-Identifier: GPL-2.0-only
// Runs behind the scripts of a timeline: shows its flame graph by key, moves along it, zooms and searches, and leaves the
// results in the title.
'use strict';
(function () {
const flame = window.weftFlame, box = document.getElementById('flame'), told = document.getElementById('details');

function key(name, target) {
	(target || document.activeElement).dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true, cancelable: true }));
}

setTimeout(function () {
	const title = [];

	key('g');
	title.push('shown ' + !box.hidden);
	key('ArrowUp');
	const first = document.activeElement.getAttribute('aria-label');

	title.push('up ' + (told.textContent === first && flame.frames[0].above.some(f => first.startsWith(f.name + ' ('))));
	key('Enter');
	title.push('zoomed ' + (flame.zoomed() && document.activeElement.querySelector('rect').getAttribute('width') === (box.clientWidth - 4).toFixed(2)));
	key('Escape');
	title.push('all ' + !flame.zoomed());
	let right = 0, wrong = 0;

	for (const frame of flame.frames) {
		frame.g.dispatchEvent(new MouseEvent('click', { bubbles: true }));
		if (told.textContent.startsWith(frame.name + ' (')) right++; else wrong++;
	}
	title.push('right ' + right + ' wrong ' + wrong);
	key('Escape');
	const leaf = flame.frames[flame.frames.length - 1];

	document.getElementById('search').value = '^' + leaf.name.replace(/[^A-Za-z0-9_]/g, '.') + '$';
	key('Enter', document.getElementById('search'));
	title.push(document.getElementById('hits').textContent + ' marked ' + box.querySelectorAll('.found').length);
	key('g');
	title.push('back ' + (box.hidden && !document.getElementById('canvas').hidden));
	document.title = title.join(', ');
}, 300);
})();
