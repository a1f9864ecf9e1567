'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const byId = (id) => document.getElementById(id);
const make = (tag, name, text) => {
  const made = document.createElement(tag);
  if (name) made.className = name;
  if (text !== undefined) made.textContent = text;
  return made;
};
// All rows are of one height, so that the place of one is known before its part is laid out.
const HEIGHT = 19;
// How many places of a finding have a button.
const SHOWN = 40;
const panes = ['source', 'ptx', 'machine'];
const box = (pane) => document.querySelector(`[data-pane=${pane}] .code`);
// The rows of each pane, and those of one origin by its key.
let rows = { source: [], ptx: [], machine: [] };
let tied = new Map();
let active = null;

function matrix() {
  const made = [...new Set(data.sheets.map((sheet) => sheet.made))];
  const kernels = [...new Set(data.sheets.map((sheet) => sheet.file + '\n' + sheet.kernel))];
  const head = make('tr');
  for (const text of ['kernel', ...made]) {
    const cell = make('th', '', text);
    cell.scope = 'col';
    head.append(cell);
  }
  const top = make('thead');
  top.append(head);
  const body = make('tbody');
  for (const kernel of kernels) {
    const row = make('tr');
    const name = make('th', '', kernel.split('\n')[1]);
    name.scope = 'row';
    row.append(name);
    for (const by of made) {
      const at = data.sheets.findIndex((sheet) => sheet.file + '\n' + sheet.kernel === kernel && sheet.made === by);
      row.append(at < 0 ? make('td', '', '–') : cell(at));
    }
    body.append(row);
  }
  byId('matrix').replaceChildren(top, body);
}

function cell(at) {
  const sheet = data.sheets[at];
  const td = make('td');
  const button = make('button');
  button.dataset.sheet = at;
  button.setAttribute('aria-pressed', 'false');
  const total = (all) => all.reduce((sum, one) => sum + one.places.length, 0);
  const errors = total(sheet.findings.filter((one) => one.level !== 'note'));
  const count = total(sheet.findings);
  const mark = make('span', errors ? 'bad' : count ? 'warn' : 'good', count ? `${count} found` : 'clean');
  const numbers = [`${sheet.registers ?? '?'} registers`, `${sheet.in_flight}/${sheet.loads} loads in flight`];
  if (sheet.weakened) numbers.push(`${sheet.weakened} weakened`);
  if (sheet.lost) numbers.push(`${sheet.lost} lost`);
  if (sheet.stack) numbers.push(`stack ${sheet.stack}`);
  if (sheet.spilled) numbers.push(`spilled ${sheet.spilled}`);
  button.append(mark, ' · ', numbers.join(' · '));
  button.onclick = () => choose(at);
  td.append(button);
  return td;
}

// What stands in a row after its number: words of an opcode have the colour of their fate.
function told(text, words) {
  const line = make('span');
  if (!words) {
    line.textContent = text;
    return line;
  }
  let rest = text;
  for (const [word, fate, to] of words) {
    const at = rest.indexOf(word);
    if (at < 0) continue;
    const mark = make('span', fate, word);
    mark.title = to ? `${word} became ${to}` : `${word}: ${fate}`;
    line.append(rest.slice(0, at), mark);
    rest = rest.slice(at + word.length);
  }
  line.append(rest);
  return line;
}

function fill(pane, lines) {
  const chunks = [];
  rows[pane] = lines.map(({ number, text, words, key, hot, live, most }, at) => {
    if (at % 100 === 0) {
      const chunk = make('div', 'chunk');
      chunk.setAttribute('role', 'group');
      chunk.setAttribute('aria-label', `lines from ${number}`);
      chunk.style.containIntrinsicSize = `auto ${HEIGHT * Math.min(100, lines.length - at)}px`;
      chunks.push(chunk);
    }
    const row = make('div', hot ? 'row hot' : 'row');
    row.id = `${pane}-${at}`;
    row.setAttribute('role', 'option');
    row.setAttribute('aria-selected', 'false');
    row.append(make('span', 'at', number));
    if (live !== undefined) {
      const bar = make('span', 'live', live ?? '');
      bar.style.setProperty('--part', `${live && most ? Math.round((100 * live) / most) : 0}%`);
      row.append(bar);
    }
    row.append(told(text, words));
    for (const one of key) {
      if (!tied.has(one)) tied.set(one, []);
      tied.get(one).push(row);
    }
    row.keys = key;
    row.pane = pane;
    chunks.at(-1).append(row);
    return row;
  });
  box(pane).replaceChildren(...chunks);
  box(pane).removeAttribute('aria-activedescendant');
}

function choose(at) {
  const sheet = data.sheets[at];
  tied = new Map();
  active = null;
  for (const button of document.querySelectorAll('[data-sheet]')) {
    button.setAttribute('aria-pressed', String(Number(button.dataset.sheet) === at));
  }
  byId('chosen').textContent = `${sheet.kernel} on ${sheet.made}`;
  const place = new Map(sheet.places.map(([line, source, number]) => [line, `s${source}:${number}`]));
  const keys = (line) => (line ? [`p${line}`, ...(place.has(line) ? [place.get(line)] : [])] : []);
  const words = new Map(sheet.words);
  const hot = new Set(sheet.code.filter((one) => one[3]).map((one) => one[2]));
  const used = new Set(sheet.places.map((one) => one[1]));
  const source = data.sources.flatMap(({ name, first, lines }, at) =>
    used.has(at)
      ? [{ number: '', text: name, key: [] }, ...lines.map((text, line) => ({ number: first + line, text, key: [`s${at}:${first + line}`] }))]
      : []);
  const text = data.files[sheet.text] ?? [];
  const ptx = text.slice(sheet.from - 1, sheet.to).map((text, at) => {
    const line = sheet.from + at;
    return { number: line, text, words: words.get(line), key: keys(line), hot: hot.has(line) };
  });
  const most = Math.max(1, ...sheet.code.map((one) => one[4] ?? 0));
  const machine = sheet.code.map(([address, text, line, hot, live, own]) => ({
    number: address.toString(16).padStart(4, '0'), text, key: own === undefined ? keys(line) : [`s${own[0]}:${own[1]}`],
    hot: !!hot, live, most }));
  fill('source', source);
  fill('ptx', ptx);
  fill('machine', machine);
  const there = panes.filter((pane) => rows[pane].length);
  for (const pane of panes) document.querySelector(`[data-pane=${pane}]`).hidden = !there.includes(pane);
  byId('panes').className = there.length < 3 ? 'two' : '';
  tabs(there);
  findings(sheet);
}

function tabs(there) {
  const names = { source: 'Source', ptx: 'PTX', machine: 'Machine code' };
  byId('tabs').replaceChildren(...there.map((pane) => {
    const button = make('button', '', names[pane]);
    button.dataset.tab = pane;
    button.onclick = () => show(pane);
    return button;
  }));
  show(there.includes('ptx') ? 'ptx' : 'machine');
}

function show(pane) {
  for (const one of document.querySelectorAll('.pane')) one.classList.toggle('shown', one.dataset.pane === pane);
  for (const one of document.querySelectorAll('[data-tab]')) one.setAttribute('aria-pressed', String(one.dataset.tab === pane));
}

function findings(sheet) {
  const items = sheet.findings.map((finding) => {
    const item = make('li', finding.level);
    item.append(make('strong', '', `${finding.level}[${finding.kind}]: ${finding.text}`), ' ');
    const places = finding.places.filter(([line, address]) => line || address !== null);
    for (const [line, address] of places.slice(0, SHOWN)) {
      const row = line ? rows.ptx[line - sheet.from] : rows.machine[sheet.code.findIndex((one) => one[0] === address)];
      if (!row) continue;
      const place = make('button', '', line ? `line ${line}` : `at ${address.toString(16)}`);
      place.onclick = () => { show(row.pane); activate(row, true); box(row.pane).focus({ preventScroll: true }); };
      item.append(place, ' ');
    }
    if (places.length > SHOWN) item.append(`and ${places.length - SHOWN} more`);
    item.append(make('p', '', finding.help));
    return item;
  });
  byId('findings').replaceChildren(...(items.length ? items : [make('li', '', 'nothing was found')]));
}

function mark(row) {
  for (const one of document.querySelectorAll('.row.tied')) one.classList.remove('tied');
  // A line of the source ties all of its lines; any other ties those of its line of PTX, and its source.
  for (const key of row ? row.keys : []) {
    for (const other of tied.get(key) ?? []) {
      if (key[0] === 'p' || row.pane === 'source' || other.pane === 'source' || row.keys.length === 1) other.classList.add('tied');
    }
  }
}

function activate(row, scroll) {
  if (active) {
    active.classList.remove('active');
    active.setAttribute('aria-selected', 'false');
  }
  active = row;
  row.classList.add('active');
  row.setAttribute('aria-selected', 'true');
  box(row.pane).setAttribute('aria-activedescendant', row.id);
  mark(row);
  if (!scroll) return;
  for (const pane of panes) {
    const shown = pane === row.pane ? row : rows[pane].find((one) => one.classList.contains('tied'));
    if (shown) reveal(pane, shown);
  }
}

function reveal(pane, row) {
  const frame = box(pane);
  const top = HEIGHT * rows[pane].indexOf(row);
  if (top < frame.scrollTop + HEIGHT || top > frame.scrollTop + frame.clientHeight - 2 * HEIGHT) {
    frame.scrollTop = top - frame.clientHeight / 3;
  }
}

for (const pane of panes) {
  box(pane).addEventListener('mouseover', (event) => {
    const row = event.target.closest('.row');
    if (row) mark(row);
  });
  box(pane).addEventListener('mouseleave', () => mark(active));
  box(pane).addEventListener('click', (event) => {
    const row = event.target.closest('.row');
    if (row) activate(row, true);
  });
  box(pane).addEventListener('keydown', (event) => {
    const own = rows[pane];
    const at = active && active.pane === pane ? own.indexOf(active) : -1;
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20, Home: -own.length, End: own.length };
    if (event.key in steps && own.length) {
      event.preventDefault();
      activate(own[Math.min(own.length - 1, Math.max(0, at + steps[event.key]))], true);
    } else if (event.key === 'ArrowLeft' || event.key === 'ArrowRight') {
      const there = panes.filter((one) => rows[one].length);
      const next = there[there.indexOf(pane) + (event.key === 'ArrowLeft' ? -1 : 1)];
      if (!next) return;
      event.preventDefault();
      const row = rows[next].find((one) => one.classList.contains('tied')) ?? rows[next][0];
      show(next);
      activate(row, true);
      box(next).focus({ preventScroll: true });
    }
  });
}
matrix();
if (data.sheets.length) choose(Math.max(0, data.sheets.findIndex((sheet) => sheet.findings.length)));
