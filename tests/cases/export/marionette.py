# SPDX-License-Identifier: GPL-2.0-only
"""marionette.py FIREFOX PROFILE PAGE PATTERN: opens a page in Firefox without a display, through its own remote control
(Marionette: JSON behind its length on a TCP port), and waits until the title of the page matches. Prints the title, and
on stderr the errors of the page's scripts. The status is 0 if the title came and no script failed."""
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time

WAIT = 100
LISTEN = """
window.weft_errors = [];
window.addEventListener('error', function (event) { window.weft_errors.push(String(event.message)); });
"""


class Browser:
    def __init__(self, program, profile):
        self.number = 0
        with open(os.path.join(profile, 'user.js'), 'w') as prefs:
            prefs.write('user_pref("marionette.port", 0);\nuser_pref("browser.shell.checkDefaultBrowser", false);\n')
        self.child = subprocess.Popen([program, '--headless', '--no-remote', '--profile', profile, '--marionette'],
                                      stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                      env=dict(os.environ, HOME=profile), start_new_session=True)
        self.stream = self.connect(os.path.join(profile, 'MarionetteActivePort'))
        self.read()

    def connect(self, path):
        until = time.monotonic() + WAIT
        while time.monotonic() < until and self.child.poll() is None:
            try:
                with open(path) as port:
                    return socket.create_connection(('127.0.0.1', int(port.read())), WAIT).makefile('rwb')
            except (OSError, ValueError):
                time.sleep(0.1)
        raise SystemExit('firefox does not listen')

    def read(self):
        digits = b''
        while (digit := self.stream.read(1)) != b':':
            if not digit:
                raise SystemExit('firefox has ended')
            digits += digit
        return json.loads(self.stream.read(int(digits)))

    def ask(self, command, **arguments):
        self.number += 1
        text = json.dumps([0, self.number, command, arguments]).encode()
        self.stream.write(b'%d:%s' % (len(text), text))
        self.stream.flush()
        _, _, error, result = self.read()
        if error:
            raise SystemExit('firefox: %s: %s' % (command, error.get('message')))
        return result.get('value') if result else None

    def end(self):
        try:
            os.killpg(self.child.pid, signal.SIGKILL)
        except OSError:
            pass
        self.child.wait()


def main():
    program, profile, page, pattern = sys.argv[1:]
    os.makedirs(profile, exist_ok=True)
    browser = Browser(program, profile)
    try:
        browser.ask('WebDriver:NewSession', capabilities={})
        browser.ask('WebDriver:SetWindowRect', width=1400, height=900)
        with open(page) as text:
            html = text.read()
        with open(page, 'w') as text:
            text.write(html.replace('<head>', '<head><script>%s</script>' % LISTEN, 1))
        browser.ask('WebDriver:Navigate', url='file://' + page)
        until, title = time.monotonic() + WAIT, ''
        while time.monotonic() < until and not re.search(pattern, title):
            time.sleep(0.1)
            title = browser.ask('WebDriver:GetTitle')
        errors = browser.ask('WebDriver:ExecuteScript', script='return window.weft_errors', args=[])
    finally:
        browser.end()
    print(title)
    for error in errors:
        print(error, file=sys.stderr)
    return 0 if re.search(pattern, title) and errors == [] else 1


sys.exit(main())
