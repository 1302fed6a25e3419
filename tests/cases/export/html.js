// SPDX-License-Identifier: GPL-2.0-only
// node html.js FILE: prints the slices of a timeline as its own script draws them: kind, row, CPU or PID, start and length
// in ns, number, name, text.
'use strict';
const fs = require('fs');
const html = fs.readFileSync(process.argv[2], 'utf8');
const data = /<script type="application\/json" id="data">\n([\s\S]*?)<\/script>/.exec(html)[1];
const script = /<script id="model">\n([\s\S]*?)<\/script>/.exec(html)[1];
const model = new Function(script + '; return model;')();
const timeline = model.open(data), lines = [];
const kinds = ['', 'cpu', 'irq', 'event', 'lost', 'counter', 'state', 'call', 'graph', 'graph', 'graph',
	'mark', 'async', 'pair', 'pair', 'value', 'why', 'vcpu'];

for (const band of timeline.bands) {
	const slices = model.decode(band);

	for (let i = 0; i < slices.n; i++) {
		const start = model.exact(slices.sh[i], slices.sl[i]), end = model.exact(slices.eh[i], slices.el[i]);

		lines.push([kinds[band.kind], band.row, band.id, BigInt(timeline.data.start) + start, end - start, slices.count[i], timeline.names[slices.name[i]],
			model.words(band, i)].join('\t'));
	}
}
process.stdout.write(lines.join('\n') + '\n');
