// SPDX-License-Identifier: GPL-2.0-only
// An expression, evaluated in speedscope again and again: opens its table of functions as soon as a profile is there, and
// has the page as its value.
(function () {
	const tab = [...document.querySelectorAll('div')].filter(div => div.innerText.includes('Sandwich') && div.children.length < 2).pop();

	if (tab && document.title.includes(' - speedscope') && !document.querySelector('td'))
		tab.click();
	return document.documentElement.outerHTML;
})()
