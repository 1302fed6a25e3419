// SPDX-License-Identifier: GPL-2.0-only
// duckdb.js QUERY...: prints the rows with which DuckDB answers each query, with '|' between values.
// duckdb.js --files DIRECTORY: prints a line of JSON for each row of each file, [FILE, {COLUMN: VALUE}], with integers as
// strings.
'use strict';
const fs = require('fs');
const path = require('path');
const { DuckDBInstance } = require('@duckdb/node-api');

/* A list has its values in .items. */
const text = (value) => (value === null ? null : value.items ? `[${value.items.map(String).join(',')}]` : String(value));

async function rows(connection, query)
{
	const result = await connection.runAndReadAll(query);
	const names = result.columnNames();

	return result.getRows().map((row) => names.map((name, i) => [name, text(row[i])]));
}

async function main(args)
{
	const connection = await (await DuckDBInstance.create()).connect();

	if (args[0] !== '--files') {
		for (const query of args)
			for (const row of await rows(connection, query))
				console.log(row.map(([, value]) => (value === null ? 'NULL' : value)).join('|'));
		return;
	}
	for (const file of fs.readdirSync(args[1]).sort())
		for (const row of await rows(connection, `FROM read_parquet('${path.join(args[1], file)}')`))
			console.log(JSON.stringify([path.basename(file, '.parquet'), Object.fromEntries(row)]));
}

main(process.argv.slice(2)).then(() => process.exit(0), (error) => {
	console.error(error.message);
	process.exit(1);
});
