// SPDX-License-Identifier: GPL-2.0-only
#include "formats/export/html_script.h"

/*
 * The page loads nothing from anywhere and sends nothing. The tables and all names come as JSON and are only ever set
 * as text.
 */
const char html_head[] =
	"<!DOCTYPE html>\n"
	"<html lang=\"en\">\n"
	"<head>\n"
	"<meta charset=\"utf-8\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
	"<meta name=\"viewport\" content=\"width=device-width\">\n"
	"<title>timeline by weft</title>\n"
	"<style>\n"
	":root { color-scheme: light dark; --back: #fff; --text: #222; --line: #ddd; --mark: #cfe3ff; --slice: #000; --counter: #5b8fd6; }\n"
	"@media (prefers-color-scheme: dark) { :root { --back: #1b1b1b; --text: #ddd; --line: #383838; --mark: #27405f; --slice: #fff; --counter: #3f6fae; } }\n"
	"* { box-sizing: border-box }\n"
	"html, body { height: 100%; margin: 0 }\n"
	"body { display: grid; grid-template: auto 1fr auto / 1fr auto; font: 13px system-ui, sans-serif; background: var(--back); color: var(--text) }\n"
	"header { grid-column: 1 / 3; padding: 4px 8px; display: flex; gap: 8px; flex-wrap: wrap; align-items: center; border-bottom: 1px solid var(--line) }\n"
	"header h1 { font-size: 13px; margin: 0 } #facts { flex: 1 } #search { width: 16em }\n"
	"main { min-width: 0; min-height: 0; position: relative }\n"
	"#canvas { position: absolute; width: 100%; height: 100%; display: block; touch-action: none; cursor: crosshair }\n"
	"#canvas:focus-visible { outline: 2px solid #48f; outline-offset: -2px }\n"
	"[hidden] { display: none !important } #flame { position: absolute; width: 100%; height: 100%; overflow: auto }\n"
	"#flame text { font: 12px monospace; fill: #000; pointer-events: none } #flame rect { stroke: var(--back); stroke-width: .5 }\n"
	".f { cursor: pointer } .f:focus { outline: none } .f:focus rect, .f:hover rect { stroke: var(--text); stroke-width: 2 }\n"
	".under rect { opacity: .5 } .found rect { fill: #e600e6 }\n"
	"aside { grid-row: 2 / 4; grid-column: 2; max-width: 36vw; overflow: auto; border-left: 1px solid var(--line); padding: 0 8px }\n"
	"summary { cursor: pointer; padding: 4px 0 }\n"
	"pre { font: 12px ui-monospace, monospace; margin: 0 } #tables { white-space: pre }\n"
	"#details { grid-column: 1; min-height: 7em; max-height: 14em; overflow: auto; border-top: 1px solid var(--line); padding: 4px 8px; white-space: pre-wrap; overflow-wrap: anywhere }\n"
	"</style>\n"
	"</head>\n"
	"<body>\n"
	"<header><h1>weft</h1><span id=\"facts\"></span><span id=\"hits\" role=\"status\"></span>\n"
	"<input id=\"search\" type=\"search\" placeholder=\"search names and texts\" aria-label=\"search names and texts; Enter goes to the next, Shift and Enter to the one before\">\n"
	"<button id=\"in\">zoom in</button><button id=\"out\">zoom out</button><button id=\"all\">all</button>\n"
	"<button id=\"graph\" aria-pressed=\"false\" hidden>flame graph</button></header>\n"
	"<main><canvas id=\"canvas\" tabindex=\"0\" role=\"application\" aria-describedby=\"keys\" aria-label=\"timeline of CPUs and tasks\"></canvas>\n"
	"<div id=\"flame\" role=\"group\" aria-label=\"flame graph\" hidden><svg></svg></div></main>\n"
	"<pre id=\"details\" aria-live=\"polite\" tabindex=\"0\" aria-label=\"what is chosen\">A click tells of a slice, a double click zooms to it; drag to move, Ctrl and the wheel zoom, Shift and the wheel go along.</pre>\n"
	"<aside><details open><summary>summary</summary><pre id=\"tables\"></pre></details>\n"
	"<details><summary>keys</summary><pre id=\"keys\">up, down      row\n"
	"left, right   slice before and behind\n"
	"Home, End     first and last slice of the row\n"
	"f, Enter      zoom to the slice\n"
	"w s, + -      zoom in and out\n"
	"a d           along the time\n"
	"Page up/down  other rows\n"
	"0             all\n"
	"/             search; n and p: next and before\n"
	"g             flame graph and back, where there are stacks or calls\n"
	"Escape        choose nothing</pre></details></aside>\n"
	"<noscript>The timeline is drawn by a script of this file, and scripts are switched off here.</noscript>\n"
	"<script type=\"application/json\" id=\"data\">\n";

const char html_middle[] = "</script>\n<script id=\"model\">\n";
const char html_between[] = "</script>\n<script id=\"view\">\n";
const char html_behind[] = "</script>\n<script id=\"graphs\">\n";
const char html_foot[] = "</script>\n</body>\n</html>\n";
