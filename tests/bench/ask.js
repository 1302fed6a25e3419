// SPDX-License-Identifier: GPL-2.0-only
// ask.js duckdb|clickhouse QUERY...: asks each question three times. Prints a line of JSON for each: the best time in ms, and the least
// CPU time of all threads, which other programs hardly change; the most memory that the process has had when it has answered once, in MB,
// and what it has then besides the pages of programs and files (RssAnon); and the rows. A question is DuckDB's; for ClickHouse, names are replaced.
'use strict';
const fs = require('fs');

const memory = (of) => Number(new RegExp(`${of}:\\s*(\\d+)`).exec(fs.readFileSync('/proc/self/status', 'utf8'))[1]) / 1024;
const text = (value) => (value === null ? 'NULL' : String(value));

async function duckdb()
{
	const { DuckDBInstance } = require('@duckdb/node-api');
	const connection = await (await DuckDBInstance.create(':memory:', { threads: '2' })).connect();

	return async (query) => (await connection.runAndReadAll(query)).getRows().map((row) => row.map(text));
}

/* What ClickHouse calls what DuckDB calls otherwise. A quantile of DuckDB is the least value with enough values up to it. */
function translated(query)
{
	return query.replace(/'([^']*\.parquet)'( AS \w+)?/g, (all, files, as) => `file('${fs.realpathSync(files.split('/current/')[0])}/current/${files.split('/current/')[1]}', Parquet)${as || ''}`)
		.replace(/quantile_disc\((\w+), ([0-9.]+)\)/g, (all, of, at) => `quantileExact(${at - 1e-9})(${of})`)
		.replace(/arg_max\(/g, 'argMax(')
		.replace(/any_value\(/g, 'any(')
		.replace(/\((\w+) >> (\d+)\)/g, 'bitShiftRight($1, $2)')
		.replace(/\((\w+) & (\d+)\)/g, 'bitAnd($1, $2)')
		.replace(/(\([^()]*\)|[\w.]+)\s*\/\/\s*([\w.]+)/g, 'intDiv($1, $2)');
}

function clickhouse()
{
	const { query } = require('chdb');

	return (question) => query(`${translated(question).replace(/;\s*$/, '')} SETTINGS max_threads = 2`, 'JSONCompact');
}

async function main(engine, queries)
{
	const ask = engine === 'duckdb' ? await duckdb() : clickhouse();

	let out = '';

	for (const query of queries) {
		const times = [], cpu = [];
		let rows, mb = 0, own = 0;

		for (let i = 0; i < 3; i++) {
			const begin = process.hrtime.bigint(), used = process.cpuUsage();

			rows = await ask(query);
			times.push(Number(process.hrtime.bigint() - begin) / 1e6);
			const { user, system } = process.cpuUsage(used);
			cpu.push((user + system) / 1e3);
			mb = mb || memory('VmHWM');
			own = own || memory('RssAnon');
		}
		if (engine !== 'duckdb')
			rows = JSON.parse(rows).data.map((row) => row.map(text));
		out += `${JSON.stringify({ ms: Math.min(...times), cpu: Math.min(...cpu), mb, own, rows })}\n`;
	}
	return out;
}

main(process.argv[2], process.argv.slice(3)).then((out) => process.stdout.write(out, () => process.exit(0)), (error) => {
	console.error(error.message);
	process.exit(1);
});
