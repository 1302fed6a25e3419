// SPDX-License-Identifier: GPL-2.0-only
// node hyparquet.mjs MODULES DIRECTORY: a second reader of parquet, hyparquet of npm in MODULES. Prints a line of JSON for
// each row of each file as duckdb.js --files does, and fails where the bounds in the footer are not those of a text
// column's values. Frames of zstd are unpacked by zstd(1).
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [modules, directory] = process.argv.slice(2);
const { parquetMetadata, parquetReadObjects } = await import(pathToFileURL(path.resolve(modules, 'hyparquet/src/index.js')));
const compressors = { ZSTD: (input) => new Uint8Array(execFileSync('zstd', ['-dcq'], { input, maxBuffer: 1 << 28 })) };
const text = (value) => (value === null || value === undefined ? null : Array.isArray(value) || ArrayBuffer.isView(value) ?
	`[${Array.from(value, String).join(',')}]` : typeof value === 'object' ? JSON.stringify(value) : String(value));

function check_bounds(name, metadata, rows)
{
	for (const { meta_data: column } of metadata.row_groups.length === 1 ? metadata.row_groups[0].columns : []) {
		const values = rows.map((row) => row[column.path_in_schema[0]]).filter((value) => typeof value === 'string');
		const bytes = values.map((value) => Buffer.from(value)).sort(Buffer.compare);

		if (column.type !== 'BYTE_ARRAY' || !bytes.length || bytes.some((value) => value.length > 1024))
			continue;
		if (column.statistics.min_value !== String(bytes[0]) || column.statistics.max_value !== String(bytes.at(-1)))
			throw new Error(`${name}: ${column.path_in_schema[0]}: ${column.statistics.min_value} to ${column.statistics.max_value}`);
	}
}

for (const name of fs.readdirSync(directory).sort()) {
	const bytes = fs.readFileSync(path.join(directory, name));
	const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
	const rows = await parquetReadObjects({ file, compressors });

	check_bounds(name, parquetMetadata(file), rows);
	for (const row of rows)
		console.log(JSON.stringify([path.basename(name, '.parquet'), Object.fromEntries(Object.entries(row).map(([key, value]) => [key, text(value)]))]));
}
