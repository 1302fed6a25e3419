/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The model of the data, without the page: bands are unpacked when they are first drawn
 * (formats/export/html/bands_internal.h has their format), and folded to 16, 256... ns for pictures in which a pixel is
 * longer than that. A time is two numbers, h * 2^28 + l, counted from the start: one number would be rounded.
 */

'use strict';
var model = (function () {
var B = 268435456;
var CPU = 1, IRQ = 2, EVENTS = 3, LOST = 4, COUNTER = 5, STATE = 6, CALL = 7, GRAPH = 8, GRAPH_IDLE = 9, GRAPH_IRQ = 10;
var MARK = 11, ASYNC = 12, PAIR = 13, PAIR_CPU = 14, VALUE = 15, WHY = 16, VCPU = 17;
var data, names, bands, totals;

function is_value(kind) { return kind === COUNTER || kind === VALUE; }
function Slices(n, several) {
	this.n = n;
	this.sh = new Float64Array(n); this.sl = new Uint32Array(n);
	this.eh = new Float64Array(n); this.el = new Uint32Array(n);
	this.name = new Uint32Array(n);
	this.count = several ? new Float64Array(n) : null;
	this.busy = several ? new Float64Array(n) : null;
	this.value = null;
	this.text = null;
}

function unpack(text) {
	var raw = atob(text), bytes = new Uint8Array(raw.length);
	for (var i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
	return bytes;
}

function Reader(bytes) { this.bytes = bytes; this.at = 0; this.h = 0; this.l = 0; }
Reader.prototype.next = function () {
	var h = 0, l = 0, by = 1, byte;
	do {
		byte = this.bytes[this.at++];
		if (by < B) l += (byte & 127) * by; else h += (byte & 127) * (by / B);
		by *= 128;
	} while (byte & 128);
	this.h = h; this.l = l;
	return h * B + l;
};

function slices_of(bytes, n, kind, texts) {
	var reader = new Reader(bytes), all = new Slices(n, true), h = 0, l = 0;
	if (is_value(kind)) all.value = new Float64Array(n);
	if (texts) all.text = new Uint32Array(n);
	for (var i = 0; i < n; i++) {
		reader.next(); h += reader.h; l += reader.l;
		if (l >= B) { l -= B; h++; }
		all.sh[i] = h; all.sl[i] = l;
		all.busy[i] = reader.next(); h += reader.h; l += reader.l;
		if (l >= B) { l -= B; h++; }
		all.eh[i] = h; all.el[i] = l;
		var head = reader.next(), several = head % 2;
		all.name[i] = (head - several) / 2;
		all.count[i] = several ? reader.next() : 1;
		if (several) all.busy[i] = reader.next();
		if (all.value) all.value[i] = reader.next();
		if (all.text) {
			all.text[i] = several ? 0 : reader.at + 1;
			if (!several) { var len = reader.next(); reader.at += len; }
		}
	}
	return all;
}

function decode(band) {
	if (band.base) return band.base;
	var texts = band.kind === EVENTS || band.kind === LOST, bytes = unpack(band.packed);
	band.base = slices_of(bytes, band.slices, band.kind, texts);
	if (texts) band.bytes = bytes;
	band.packed = null;
	return band.base;
}

function ready(band) {
	if (band.base || !band.overview) return decode(band);
	if (!band.coarse) band.coarse = slices_of(unpack(band.overview), band.parts, band.kind, false);
	return band.coarse;
}

function words(band, i) {
	var at = decode(band).text ? band.base.text[i] : 0, parts = [];
	if (!at) return '';
	var reader = new Reader(band.bytes);
	reader.at = at - 1;
	var len = reader.next(), end = reader.at + len;
	while (reader.at < end) {
		var word = reader.next();
		if (word) { parts.push(names[word - 1]); continue; }
		len = reader.next();
		parts.push(new TextDecoder().decode(band.bytes.subarray(reader.at, reader.at + len)));
		reader.at += len;
	}
	return parts.join(' ');
}

function part(h, l, size) { return Math.floor((h * B + l) / size); }

function fold(from, size) {
	var into = new Slices(from.n, true), n = -1, bucket = NaN, longest = 0;
	if (from.value) into.value = new Float64Array(from.n);
	for (var i = 0; i < from.n; i++) {
		var first = part(from.sh[i], from.sl[i], size);
		var empty = from.eh[i] === from.sh[i] && from.el[i] === from.sl[i];
		var inside = part(from.eh[i], from.el[i] - (empty ? 0 : 1), size) === first;
		if (inside && first === bucket) {
			into.eh[n] = from.eh[i]; into.el[n] = from.el[i];
			into.count[n] += from.count[i]; into.busy[n] += from.busy[i];
			if (from.value && from.value[i] > into.value[n]) into.value[n] = from.value[i];
			if (from.busy[i] > longest) { longest = from.busy[i]; into.name[n] = from.name[i]; }
			continue;
		}
		n++;
		into.sh[n] = from.sh[i]; into.sl[n] = from.sl[i]; into.eh[n] = from.eh[i]; into.el[n] = from.el[i];
		into.name[n] = from.name[i]; into.count[n] = from.count[i]; into.busy[n] = from.busy[i];
		if (from.value) into.value[n] = from.value[i];
		longest = from.busy[i];
		bucket = inside ? first : NaN;
	}
	into.n = n + 1;
	['sh', 'sl', 'eh', 'el', 'name', 'count', 'busy', 'value'].forEach(function (key) {
		if (into[key]) into[key] = into[key].slice(0, into.n);
	});
	return into;
}

function level(band, pixel) {
	if (!band.base && band.overview && pixel * 4 >= Math.pow(2, band.size)) return ready(band);
	var slices = decode(band), wanted = Math.floor(Math.log2(pixel) / 4);
	if (slices.n <= 4000 || wanted < 1 || 4 * wanted <= band.fold) return slices;
	if (!band.levels) band.levels = [];
	for (var i = wanted; i > 0 && !band.levels[i]; i--);
	if (i < wanted) band.levels[wanted] = fold(band.levels[i] || slices, Math.pow(16, wanted));
	return band.levels[wanted];
}

function after(slices, h, l) {
	var low = 0, high = slices.n;
	while (low < high) {
		var mid = (low + high) >> 1;
		if (slices.eh[mid] < h || (slices.eh[mid] === h && slices.el[mid] < l)) low = mid + 1; else high = mid;
	}
	return low;
}

function is_folded(kind) { return bands.some(function (band) { return band.kind === kind && band.fold; }); }

function total(matches) {
	return totals.reduce(function (sum, one) { return sum + (matches[one[1]] ? one[2] : 0); }, 0);
}

function sums(band, from, to, into) {
	var all = decode(band), most = (to.h - from.h) * B + to.l - from.l;
	for (var i = after(all, from.h, from.l); i < all.n; i++) {
		var begin = (all.sh[i] - from.h) * B + all.sl[i] - from.l,
			end = (all.eh[i] - from.h) * B + all.el[i] - from.l;
		if (begin >= most) break;
		var part = end > begin ? (Math.min(end, most) - Math.max(begin, 0)) / (end - begin) : 1;
		if (part <= 0) continue;
		var several = all.count[i] > 1, count = several ? Math.round(all.count[i] * part) : 1;
		var name = several ? -1 : all.name[i];
		var one = into.names.get(name) || { count: 0, busy: 0 }, busy = all.busy[i] * part;
		one.count += count; one.busy += busy; into.count += count; into.busy += busy;
		into.names.set(name, one);
		into.about = into.about || (several && part < 1);
	}
	return into;
}

function exact(h, l) { return BigInt(h) * BigInt(B) + BigInt(Math.floor(l)); }

function open(text) {
	data = JSON.parse(text);
	names = data.names;
	bands = data.bands.map(function (item) {
		return { kind: item[0], row: item[1], buffer: item[2], id: item[3], fold: item[4], slices: item[5],
			added: item[6], packed: item[7],
			size: item[8], parts: item[9], overview: item[10] };
	});
	totals = data.totals;
	return { data: data, names: names, bands: bands };
}

return { B: B, CPU: CPU, IRQ: IRQ, EVENTS: EVENTS, LOST: LOST, COUNTER: COUNTER, STATE: STATE, CALL: CALL, GRAPH: GRAPH,
	GRAPH_IDLE: GRAPH_IDLE, GRAPH_IRQ: GRAPH_IRQ, MARK: MARK,
	ASYNC: ASYNC, PAIR: PAIR, PAIR_CPU: PAIR_CPU, VALUE: VALUE, WHY: WHY, VCPU: VCPU,
	is_value: is_value, open: open, decode: decode, ready: ready, is_folded: is_folded,
	total: total, sums: sums, words: words, fold: fold, level: level, after: after, exact: exact };
})();
