# SPDX-License-Identifier: GPL-2.0-only
"""browser.py PROGRAM PROFILE URL PATTERN [EXPRESSION]: opens a page in Chromium or Firefox without a display and waits
until the value of the JavaScript expression (the title of the page) matches. Prints the value, and on stderr what the
page's scripts did wrong. The status is 0 if the value came and nothing was wrong. The browsers are driven through their
own remote control: Marionette of Firefox (JSON behind its length, on a TCP port), the DevTools protocol of Chromium
(JSON between zeros, on two pipes)."""
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time

WAIT = 100


class Browser:
    def __init__(self, arguments, profile, **more):
        os.makedirs(profile, exist_ok=True)
        self.number = 0
        self.child = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL, env=dict(os.environ, HOME=profile),
                                      start_new_session=True, **more)

    def end(self):
        try:
            os.killpg(self.child.pid, signal.SIGKILL)
        except OSError:
            pass
        self.child.wait()


class Firefox(Browser):
    def __init__(self, program, profile):
        os.makedirs(profile, exist_ok=True)
        with open(os.path.join(profile, 'user.js'), 'w') as settings:
            settings.write('user_pref("marionette.port", 0);\nuser_pref("browser.shell.checkDefaultBrowser", false);\n')
        super().__init__([program, '--headless', '--no-remote', '--profile', profile, '--marionette'], profile)
        self.stream = self.connect(os.path.join(profile, 'MarionetteActivePort'))
        self.read()
        self.ask('WebDriver:NewSession', capabilities={})
        self.ask('WebDriver:SetWindowRect', width=1400, height=900)

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

    def open(self, url):
        # The page's first script notes the errors of all others.
        path = url[len('file://'):].split('#')[0]
        with open(path) as text:
            page = text.read()
        listen = "window.wrong = []; addEventListener('error', event => window.wrong.push(String(event.message)));"
        with open(path, 'w') as text:
            text.write(page.replace('<head>', '<head><script>%s</script>' % listen, 1))
        self.ask('WebDriver:Navigate', url=url)

    def value(self, expression):
        return self.ask('WebDriver:ExecuteScript', script='return ' + expression, args=[])

    def wrong(self):
        return self.value('window.wrong')


class Chromium(Browser):
    def __init__(self, program, profile):
        to_child, self.out = os.pipe()
        self.into, from_child = os.pipe()
        # The browser reads from descriptor 3 and writes to 4; sh puts them there, whatever their numbers are.
        super().__init__(['sh', '-c', 'exec "$0" "$@" 3<&%d 4>&%d' % (to_child, from_child), program, '--headless',
                          '--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader',
                          '--window-size=1400,800', '--user-data-dir=' + profile, '--remote-debugging-pipe'],
                         profile, pass_fds=(to_child, from_child))
        os.close(to_child)
        os.close(from_child)
        self.rest, self.session, self.errors = b'', None, []
        target = self.ask('Target.createTarget', url='about:blank')['targetId']
        self.session = self.ask('Target.attachToTarget', targetId=target, flatten=True)['sessionId']
        self.ask('Runtime.enable')
        self.ask('Log.enable')

    def read(self):
        while b'\0' not in self.rest:
            more = os.read(self.into, 1 << 16)
            if not more:
                raise SystemExit('chromium has ended')
            self.rest += more
        text, self.rest = self.rest.split(b'\0', 1)
        return json.loads(text)

    def note(self, message):
        what = message.get('params', {})
        if message.get('method') == 'Runtime.exceptionThrown':
            self.errors.append(json.dumps(what['exceptionDetails'].get('exception', what['exceptionDetails'].get('text'))))
        elif message.get('method') == 'Runtime.consoleAPICalled' and what['type'] in ('error', 'warning', 'assert'):
            self.errors.append(json.dumps(what['args']))
        elif message.get('method') == 'Log.entryAdded' and what['entry']['level'] in ('error', 'warning'):
            self.errors.append(what['entry']['text'])

    def ask(self, method, **arguments):
        self.number += 1
        request = {'id': self.number, 'method': method, 'params': arguments}
        if self.session:
            request['sessionId'] = self.session
        os.write(self.out, json.dumps(request).encode() + b'\0')
        while (message := self.read()).get('id') != self.number:
            self.note(message)
        if 'error' in message:
            raise SystemExit('chromium: %s: %s' % (method, message['error'].get('message')))
        return message['result']

    def open(self, url):
        self.ask('Page.navigate', url=url)

    def value(self, expression):
        return self.ask('Runtime.evaluate', expression=expression, returnByValue=True)['result'].get('value')

    def wrong(self):
        return self.errors


def main():
    program, profile, url, pattern = sys.argv[1:5]
    expression = sys.argv[5] if len(sys.argv) > 5 else 'document.title'
    browser = (Firefox if 'firefox' in os.path.basename(program) else Chromium)(program, profile)
    try:
        browser.open(url)
        until, value = time.monotonic() + WAIT, ''
        while time.monotonic() < until and not re.search(pattern, value):
            time.sleep(0.1)
            value = str(browser.value(expression))
        wrong = browser.wrong()
    finally:
        browser.end()
    print(value)
    for text in wrong:
        print(text, file=sys.stderr)
    return 0 if re.search(pattern, value) and not wrong else 1


sys.exit(main())
