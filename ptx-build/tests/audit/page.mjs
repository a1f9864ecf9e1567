// Opens a page in a Chromium, and prints when it was first painted and what axe says of it, in light and dark.
// node page.mjs CHROMIUM PROFILE PAGE AXE.JS
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const [program, profile, page, axe] = process.argv.slice(2);
const options = ['--headless=new', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--window-size=1400,1000', '--remote-debugging-pipe', `--user-data-dir=${profile}`];
const browser = spawn(program, options, { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
const [, , , to, from] = browser.stdio;

let next = 0, rest = '';
const answers = new Map(), events = new Map();
from.on('data', (bytes) => {
  const parts = (rest + bytes).split('\0');
  rest = parts.pop();
  for (const message of parts.map((part) => JSON.parse(part))) {
    if (message.id) answers.get(message.id)?.(message);
    else events.get(message.method)?.(message.params);
  }
});
const ask = (method, params = {}, sessionId) => new Promise((resolve, reject) => {
  const id = ++next;
  answers.set(id, ({ error, result }) => error ? reject(new Error(`${method}: ${error.message}`)) : resolve(result));
  to.write(JSON.stringify({ id, method, params, sessionId }) + '\0');
});

const { targetId } = await ask('Target.createTarget', { url: 'about:blank' });
const { sessionId } = await ask('Target.attachToTarget', { targetId, flatten: true });
const tell = (method, params) => ask(method, params, sessionId);
const value = async (expression) => {
  const { result, exceptionDetails } = await tell('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  return result.value;
};
await tell('Page.enable');
const open = async () => {
  const loaded = new Promise((resolve) => events.set('Page.loadEventFired', resolve));
  await tell('Page.navigate', { url: pathToFileURL(page).href });
  await loaded;
};
const painted = `new Promise((resolve) => new PerformanceObserver((list) => {
  const first = list.getEntries().find((one) => one.name === 'first-contentful-paint');
  if (first) resolve(first.startTime);
}).observe({ type: 'paint', buffered: true }))`;

const paints = [];
for (let run = 0; run < 5; run++) {
  await open();
  paints.push(await value(painted));
}
const violations = [];
for (const scheme of ['light', 'dark']) {
  await tell('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] });
  await open();
  await value(readFileSync(axe, 'utf8') + ';0');
  const found = await value(`axe.run().then(({ violations, passes }) => ({
    passes: passes.length,
    violations: violations.map(({ id, impact, nodes }) => ({ id, impact, where: nodes[0].html.slice(0, 120), nodes: nodes.length })),
  }))`);
  violations.push({ scheme, ...found });
}
console.log(JSON.stringify({ paints, violations }));
await ask('Browser.close').catch(() => {});
browser.kill();
process.exit(0);
