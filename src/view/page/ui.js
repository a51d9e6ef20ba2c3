/* ui.js - choosing, pointing, keys, texts, words, all heads, the live box. */
function options(select, values, value, name) {
  select.replaceChildren(...values.map(v => make('option', { value: v, textContent: name ? name(v) : v })));
  select.value = value;
}

/* After a choice that changes what can be chosen next. */
function settle() {
  const names = [...new Set(record.maps.map(m => m.name))];
  if (!names.includes(S.name)) S.name = names[0];
  const steps = distinct(ofName(), 'step');
  if (!steps.includes(S.step)) S.step = steps[steps.length - 1];
  const layers = distinct(ofStep(), 'layer');
  if (!layers.includes(S.layer)) S.layer = layers[layers.length - 1];
  const heads = distinct(ofLayer(), 'head');
  if (!heads.includes(S.head)) S.head = heads[0];
  options($('name'), names, S.name); options($('layer'), layers, S.layer);
  options($('head'), heads, S.head); options($('step'), steps, S.step);
  for (const [id, list] of [['name', names], ['layer', layers], ['head', heads], ['step', steps]]) $('pick-' + id).hidden = list.length < 2;
  const roll = $('combine').querySelector('[value=rollout]');
  roll.disabled = !canRoll();
  roll.textContent = canRoll() ? 'rollout to this layer' : 'rollout (self-attention up to ' + rolloutMost + ' tokens)';
  if (S.combine === 'rollout' && !canRoll()) S.combine = 'one';
  $('combine').value = S.combine;
  const c = current(), l = record.labels[c.map.cols], canPicture = !!(l.picture && l.boxes && c.w);
  const can = { matrix: !!c.w, links: true, picture: canPicture, graph: isGraph(c.map), memory: isMemory(c.map) };
  for (const k in can) document.querySelector('[data-view=' + k + ']').hidden = !can[k];
  if (!can[S.view]) S.view = c.w ? 'matrix' : can.graph ? 'graph' : 'links';
  if (S.row >= c.rows.length) S.row = -1;
  if (S.col >= c.cols.length) S.col = -1;
}

function refresh(reset) {
  settle();
  if (reset) { V.zoom = 1; V.x = V.y = 0; }
  document.querySelectorAll('[data-view]').forEach(b => b.setAttribute('aria-pressed', b.dataset.view === S.view));
  layout(); clampView(); paint(); describe(); words(); details();
  document.querySelectorAll('#heads button').forEach(b => b.setAttribute('aria-pressed', S.combine === 'one' && +b.dataset.layer === S.layer && +b.dataset.head === S.head));
  const c = current(), x = $('ramp').getContext('2d');
  for (let i = 0; i < 160; i++) { x.fillStyle = css(c.low < 0 ? i / 79.5 - 1 : i / 159); x.fillRect(i, 0, 1, 10); }
  $('ramp-text').textContent = (c.low < 0 ? c.low.toFixed(3) : '0') + ' – ' + c.top.toFixed(3) + ' · ' + c.rows.length + ' × ' + c.cols.length;
  $('faith').textContent = S.combine === 'one' ? faithfulness(c.map.faithfulness) : '';
  beside();
}

/* The line under a map. */
function faithfulness(f) {
  if (!f) return '';
  const text = 'faithfulness: rank correlation with occlusion ' + f.rank.toFixed(2);
  if (!f.k) return text;
  return text + '; log p falls by ' + f.drop.toFixed(2) + ' without the ' + (f.k === 1 ? 'strongest input' : f.k + ' strongest inputs') + ', by ' + f.random.toFixed(2) + ' without ' + (f.k === 1 ? 'a random one' : 'random ones');
}

const overPicture = m => !!(record.labels[m.cols].picture && record.labels[m.cols].boxes);

/* A map over a picture, once for each word, in lines that fit the window. */
function strip(m) {
  const l = record.labels[m.cols], p = picture(l), r = rowsOf(m), w = weightsOf(m), side = 92, step = side + 6, canvas = make('canvas', {}), dpr = V.dpr;
  const draw = () => {
    const across = Math.max(1, Math.min(r.length, Math.floor((document.documentElement.clientWidth - 60) / step))), high = side * Math.min(2, Math.max(0.4, p.naturalHeight / p.naturalWidth));
    const wide = across * step, tall = Math.ceil(r.length / across) * (high + 20), x = canvas.getContext('2d');
    canvas.width = wide * dpr; canvas.height = tall * dpr; canvas.style.width = wide + 'px'; canvas.style.height = tall + 'px';
    x.scale(dpr, dpr); x.fillStyle = V.fg; x.font = font(12); x.textAlign = 'center'; x.textBaseline = 'middle';
    r.forEach((t, i) => {
      const left = i % across * step, top = Math.floor(i / across) * (high + 20);
      paintLit(x, p, l, b => w[i * l.boxes.length + b], left, top, side, high);
      x.fillText(shown(t), left + side / 2, top + high + 11, side);
    });
  };
  if (p.complete && p.naturalWidth) draw(); else p.addEventListener('load', draw);
  return canvas;
}

/* Two models or two inputs: both maps and their difference at a glance, each with its words and its own scale. A click shows one large. */
function beside() {
  const name = S.name.replace(/^(A|B|difference): /, ''), three = name === S.name ? [] : ['A: ', 'B: ', 'difference: '].flatMap(p => record.maps.filter(m => m.name === p + name && field(m, 'layer') === S.layer && field(m, 'head') === S.head).slice(0, 1));
  $('beside').hidden = three.length < 3;
  const pictured = three.length === 3 && overPicture(three[0]) && overPicture(three[1]); /* one below the other, without their difference */
  $('beside').replaceChildren(...(three.length < 3 ? [] : pictured ? three.slice(0, 2) : three).map(m => {
    if (pictured) return besideButton(m, strip(m), '');
    const w = weightsOf(m), r = rowsOf(m), n = colsOf(m), cell = Math.max(2, Math.min(22, 300 / Math.max(r.length, n.length))), named = cell >= 9;
    const canvas = make('canvas', {}), x = canvas.getContext('2d'), dpr = V.dpr;
    let top = 1e-9;
    for (const v of w) if (Math.abs(v) > top) top = Math.abs(v);
    x.font = font(11);
    const left = named ? longest(x, r, 110) + 8 : 2, up = named ? longest(x, n, 90) * 0.8 + 14 : 2, wide = left + n.length * cell + (named ? 40 : 2), high = up + r.length * cell + 2;
    canvas.width = wide * dpr; canvas.height = high * dpr; canvas.style.width = wide + 'px'; canvas.style.height = high + 'px';
    x.scale(dpr, dpr); x.imageSmoothingEnabled = false;
    x.drawImage(heat(w, r.length, n.length, top, 0, 1 << 14), left, up, n.length * cell, r.length * cell);
    x.strokeStyle = V.dim; x.strokeRect(left, up, n.length * cell, r.length * cell);
    x.fillStyle = V.fg; x.font = font(11); x.textBaseline = 'middle'; x.textAlign = 'right';
    if (named) r.forEach((t, i) => x.fillText(shown(t), left - 4, up + (i + 0.5) * cell, left - 4));
    x.textAlign = 'left';
    if (named) n.forEach((t, j) => { x.save(); x.translate(left + (j + 0.5) * cell, up - 4); x.rotate(-0.96); x.fillText(shown(t), 0, 0, 100); x.restore(); });
    return besideButton(m, canvas, '± ' + top.toFixed(3));
  }));
}
function besideButton(m, canvas, scale) {
  const b = make('button', { type: 'button', title: m.name }, make('b', { textContent: m.name }), canvas, make('i', { textContent: scale }));
  b.setAttribute('aria-pressed', m.name === S.name);
  b.onclick = () => { S.name = m.name; refresh(true); };
  return b;
}

function caption() {
  const part = (key, v) => v < 0 ? '' : ' · ' + key + ' ' + v, one = S.combine === 'one';
  return S.name + (S.combine.endsWith('-all') ? '' : part('layer', S.layer)) + (one ? part('head', S.head) : ' · ' + $('combine').selectedOptions[0].textContent) + part('step', S.step);
}

function describe() {
  const c = current(), list = strongest(c, 12);
  $('subtitle').textContent = caption();
  $('strong').replaceChildren(...list.map(([i, j, v]) => item([bdi(c.rows[i]), ' → ', bdi(c.cols[j])], v, c.top)));
  over.setAttribute('aria-label', 'Attention, ' + caption() + ', ' + c.rows.length + ' by ' + c.cols.length +
    (list.length ? '. Strongest: ' + list.slice(0, 5).map(([i, j, v]) => c.rows[i] + ' to ' + c.cols[j] + ' ' + v.toFixed(2)).join(', ') : ''));
}

const bdi = text => make('bdi', { textContent: shown(text) });
function item(parts, v, top) {
  const li = make('li', {}, make('span', {}, ...parts), make('em', { textContent: v.toFixed(3) }));
  li.style.setProperty('--w', 100 * v / top + '%');
  return li;
}

/* Everything that follows the pointer: cheap, because it happens at every move. */
function details() {
  const c = current(), row = S.row, col = S.col;
  const title = (e, word, text) => e.replaceChildren(...(word === null ? [text] : [make('mark', { textContent: shown(word), dir: 'auto' }), text]));
  const a = row >= 0 ? bestOf(c, row, -1, 8) : [], b = col >= 0 ? bestOf(c, -1, col, 8) : [];
  title($('out-title'), row >= 0 ? c.rows[row] : null, row >= 0 ? ' looks at' : col >= 0 ? '' : 'Point at a ' + ({ node: 'node', slot: 'place' }[record.labels[c.map.cols].kind] || 'word'));
  title($('in-title'), col >= 0 ? c.cols[col] : null, col >= 0 ? ' is looked at by' : '');
  $('out').replaceChildren(...a.map(([j, v]) => item([bdi(c.cols[j])], v, c.top)));
  $('in').replaceChildren(...b.map(([i, v]) => item([bdi(c.rows[i])], v, c.top)));
  for (const chip of chips) {
    const v = chip.side === 'c' ? (row >= 0 && c.w ? weightAt(c, row, chip.i) : 0) : (col >= 0 && row < 0 && c.w ? weightAt(c, chip.i, col) : 0);
    const level = Math.round(40 * v / c.top), at = chip.side === 'r' ? chip.i === row : chip.i === col, look = level + ',' + at + theme();
    if (chip.look === look) continue; /* most words stay as they are: touching them all would cost a layout */
    chip.look = look;
    chip.e.style.background = level ? css(level / 40) : '';
    const [r, g, b] = ramp(level / 40);
    chip.e.style.color = level ? (0.299 * r + 0.587 * g + 0.114 * b > 135 ? '#16181f' : '#fff') : '';
    chip.e.classList.toggle('at', at);
  }
}

function point(row, col, px, py) {
  const c = current();
  if (row === S.row && col === S.col && px === undefined) return;
  S.row = row; S.col = col;
  if (S.view === 'picture') paint(); else paintOver();
  details();
  tip.hidden = !(row >= 0 && col >= 0) || px === undefined;
  if (!tip.hidden) {
    tip.textContent = shown(c.rows[row]) + ' → ' + shown(c.cols[col]) + '  ' + weightAt(c, row, col).toFixed(3);
    tip.style.left = Math.max(0, Math.min(px + 14, V.wide - 190)) + 'px';
    tip.style.top = Math.max(0, Math.min(py + 16, V.high - 30)) + 'px';
  }
}

/* Which row and column are at a place of the canvas. */
function under(px, py) {
  const c = current(), inside = (i, n) => i >= 0 && i < n ? i : -1;
  if (S.view === 'picture') return [Math.max(0, S.row), regionUnder(px, py)];
  if (S.view === 'memory') return memoryUnder(px, py);
  if (S.view === 'graph') { const i = nodeUnder(px, py); return [i, i]; }
  if (S.view === 'links') {
    const side = px < V.wide / 2 ? 'r' : 'c', i = Math.floor((py - V.top - V.y) / size() - shift(c, side));
    return side === 'r' ? [inside(i, c.rows.length), -1] : [-1, inside(i, c.cols.length)];
  }
  const i = inside(Math.floor((py - V.top - V.y) / tall()), c.rows.length), j = inside(Math.floor((px - V.left - V.x) / size()), c.cols.length);
  return [py < V.top ? -1 : i, px < V.left ? -1 : j];
}

function zoomAt(k, px, py) {
  const old = size(), up = tall(), next = Math.min(Math.max(V.zoom * k, 1), Math.max(1, 48 / V.cell));
  const i = (py - V.top - V.y) / up, j = (px - V.left - V.x) / old;
  V.zoom = next;
  V.x = px - V.left - j * size(); V.y = py - V.top - i * tall();
  clampView(); soon();
}
let waiting = false;
function soon() { if (!waiting) { waiting = true; requestAnimationFrame(() => { waiting = false; paint(); }); } }

const touches = new Map();
let dragged = false;
function pointers() {
  const place = e => { const r = over.getBoundingClientRect(); return [e.clientX - r.left, e.clientY - r.top]; };
  over.addEventListener('pointermove', e => {
    const [px, py] = place(e), last = touches.get(e.pointerId);
    if (last) {
      if (touches.size === 2) {
        const other = [...touches].find(([id]) => id !== e.pointerId)[1], d = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);
        zoomAt(d([px, py], other) / Math.max(1, d(last, other)), (px + other[0]) / 2, (py + other[1]) / 2);
      } else { V.x += px - last[0]; V.y += py - last[1]; clampView(); soon(); }
      dragged = dragged || Math.hypot(px - last[0], py - last[1]) > 2;
      touches.set(e.pointerId, [px, py]);
    }
    if (!S.held && touches.size < 2) point(...under(px, py), px, py);
  });
  over.addEventListener('pointerdown', e => { touches.set(e.pointerId, place(e)); dragged = false; try { over.setPointerCapture(e.pointerId); } catch { /* a made-up event */ } });
  for (const end of ['pointerup', 'pointercancel']) over.addEventListener(end, e => {
    touches.delete(e.pointerId);
    if (end === 'pointerup' && !dragged) { const [px, py] = place(e), at = under(px, py); S.held = !(S.held && at[0] === S.row && at[1] === S.col) && (at[0] >= 0 || at[1] >= 0); point(...at, px, py); if (S.held) centreOn(at[0]); }
  });
  over.addEventListener('pointerleave', () => { if (!S.held) point(S.view === 'picture' ? S.row : -1, -1); tip.hidden = true; });
  over.addEventListener('wheel', e => {
    const [px, py] = place(e);
    if (S.view === 'links' && !e.ctrlKey) { const y = V.y; V.y -= e.deltaY; clampView(); if (V.y !== y) { e.preventDefault(); soon(); } return; }
    e.preventDefault(); zoomAt(Math.exp(-e.deltaY * 0.0016), px, py);
  }, { passive: false });
  over.addEventListener('dblclick', () => { V.zoom = 1; V.x = V.y = 0; paint(); });
}

/* Words under the picture: buttons, so that they can be reached by key and read aloud. */
let chips = [], chipsOf = null, remover = null;
const chipsMost = 300;
function words() {
  const c = current();
  if (chipsOf === c.map.rows + ',' + c.map.cols) return;
  chipsOf = c.map.rows + ',' + c.map.cols; chips = [];
  const line = (name, side, text) => make('div', {}, make('b', { textContent: name }), ...text.map((t, i) => {
    const e = make('button', { className: 'chip', type: 'button', textContent: shown(t), dir: 'auto' }), at = () => isGraph(c.map) ? [i, i] : side === 'r' ? [i, -1] : [S.view === 'picture' ? Math.max(0, S.row) : -1, i];
    e.onmouseenter = e.onfocus = () => { if (!S.held) point(...at()); };
    e.onmouseleave = e.onblur = () => { if (!S.held && S.view !== 'picture') point(-1, -1); };
    e.onclick = () => { S.held = !S.held; point(...at()); if (S.held) centreOn(i); };
    if (side === 'c' && remover && c.colName === 'source' && t !== '</s>') { /* served: without this word */
      const x = make('button', { className: 'cut', type: 'button', textContent: '×', title: 'Without ' + t });
      x.setAttribute('aria-label', 'Without ' + t);
      x.onclick = () => remover(i, c.cols);
      chips.push({ e, side, i });
      return make('span', { className: 'word' }, e, x);
    }
    chips.push({ e, side, i });
    return e;
  }));
  $('chips').replaceChildren();
  if (c.rows.length > chipsMost || c.cols.length > chipsMost) return;
  const fill = () => { $('chips').replaceChildren(line(c.rowName || 'rows', 'r', c.rows), ...(isGraph(c.map) ? [] : [line(c.colName || 'columns', 'c', c.cols)])); details(); };
  if (c.rows.length + c.cols.length < 100) fill();
  else setTimeout(() => { if (chipsOf === c.map.rows + ',' + c.map.cols) fill(); }, 60);
}

function find(text) {
  const c = current(), q = text.trim().toLowerCase();
  S.hits = !q ? [] : ['r', 'c'].flatMap(side => (side === 'r' ? c.rows : c.cols).flatMap((t, i) => t.toLowerCase().includes(q) ? [side + i] : []));
  for (const chip of chips) chip.e.classList.toggle('hit', S.hits.includes(chip.side + chip.i));
  paint();
  return S.hits.length;
}
let hit = -1;
function nextHit() {
  if (!S.hits.length) return;
  hit = (hit + 1) % S.hits.length;
  const i = +S.hits[hit].slice(1), row = S.hits[hit][0] === 'r';
  S.held = true;
  if (S.view === 'links' || row) V.y = V.high / 3 - V.top - i * tall();
  if (S.view === 'matrix' && !row) V.x = V.wide / 3 - V.left - i * size();
  if (S.view === 'graph') { V.x = V.y = 0; centreOn(i); point(i, i); return; }
  clampView(); paint(); point(row ? i : -1, row ? -1 : i);
}

/* Every head of every layer, small; a few at a time, so that the page is there first. */
let glanceOf = '';
function glance() {
  const maps = ofStep().filter(m => weightsKnown(m)), key = [S.name, S.step, S.hyp, theme()].join();
  if (key === glanceOf) return;
  glanceOf = key;
  $('glance').hidden = maps.length < 2;
  const jobs = [], most = maps.length > 48 ? 48 : 84;
  $('heads').replaceChildren(...distinct(maps, 'layer').map(layer => make('div', { className: 'row' },
    make('span', { textContent: layer < 0 ? '' : 'layer ' + layer }), ...maps.filter(m => field(m, 'layer') === layer).map(m => {
      const canvas = make('canvas', { width: 1, height: 1 }), b = make('button', { type: 'button', title: 'layer ' + layer + ', head ' + field(m, 'head') }, canvas);
      const r = rowsOf(m).length, n = colsOf(m).length, k = most / Math.max(r, n);
      canvas.style.width = Math.max(8, n * k) + 'px'; canvas.style.height = Math.max(8, r * k) + 'px';
      b.setAttribute('aria-label', 'layer ' + layer + ', head ' + field(m, 'head'));
      b.dataset.layer = layer; b.dataset.head = field(m, 'head');
      b.setAttribute('aria-pressed', S.combine === 'one' && layer === S.layer && field(m, 'head') === S.head);
      b.onclick = () => { S.layer = layer; S.head = field(m, 'head'); S.combine = 'one'; refresh(); };
      jobs.push(() => {
        const w = weightsOf(m); let top = 1e-9;
        for (let i = 0; i < w.length; i++) if (Math.abs(w[i]) > top) top = Math.abs(w[i]);
        const image = heat(w, r, n, top, 0, 2 * most);
        canvas.width = image.width; canvas.height = image.height; canvas.getContext('2d').drawImage(image, 0, 0);
      });
      return b;
    }))));
  const work = () => { const end = performance.now() + 8; while (jobs.length && performance.now() < end) jobs.shift()(); if (jobs.length) setTimeout(work, 4); };
  setTimeout(work, 30);
}
const weightsKnown = m => !m.weights.edges || rowsOf(m).length * colsOf(m).length <= 4e6;

function texts() {
  let k = -1;
  $('texts').replaceChildren(...(record.texts || []).map(t => {
    const hyp = t.role === 'hypothesis' ? ++k : -1, of = hyp;
    const e = make(hyp >= 0 ? 'button' : 'div', { className: 't' }, make('b', { textContent: t.role }), make('span', { textContent: t.text, dir: 'auto' }));
    if (t.score) e.append(make('i', { textContent: t.score.toFixed(3) }));
    if (hyp >= 0) {
      e.type = 'button'; e.setAttribute('aria-pressed', of === S.hyp); e.dataset.hyp = of;
      e.onclick = () => { S.hyp = of; refresh(true); glance(); document.querySelectorAll('[data-hyp]').forEach(b => b.setAttribute('aria-pressed', +b.dataset.hyp === of)); };
    }
    return e;
  }));
}

function turn(id, by) {
  const e = $(id), n = e.options.length;
  if (n < 2) return;
  e.selectedIndex = (e.selectedIndex + by + n) % n;
  e.dispatchEvent(new Event('change'));
}
function setTheme(name) {
  document.documentElement.dataset.theme = name;
  try { localStorage.setItem('regard-theme', name); } catch { /* a file may not keep anything */ }
  if (record && record.maps && record.maps.length) { refresh(); glance(); }
}
const toggleTheme = () => setTheme(theme() === 'dark' ? 'light' : 'dark');
const setCombine = v => { S.combine = v === 'rollout' && !canRoll() ? S.combine : v; refresh(); };
const setView = v => { S.view = v; refresh(true); };

function key(e) {
  if (e.ctrlKey || e.metaKey || e.altKey || /INPUT|TEXTAREA|SELECT/.test(e.target.tagName)) { if (e.key === 'Escape') e.target.blur(); return; }
  const c = current(), move = (dr, dc) => {
    S.held = true;
    point(Math.min(c.rows.length - 1, Math.max(0, (S.row < 0 ? -dr : S.row) + dr)), Math.min(c.cols.length - 1, Math.max(0, (S.col < 0 ? -dc : S.col) + dc)));
    $('say').textContent = c.rows[S.row] + ' to ' + c.cols[S.col] + ' ' + weightAt(c, S.row, S.col).toFixed(2);
  };
  const keys = {
    ArrowLeft: () => move(0, -1), ArrowRight: () => move(0, 1), ArrowUp: () => move(-1, 0), ArrowDown: () => move(1, 0),
    h: () => turn('head', 1), H: () => turn('head', -1), l: () => turn('layer', 1), L: () => turn('layer', -1), s: () => turn('step', 1), S: () => turn('step', -1),
    m: () => setView('matrix'), b: () => setView('links'), p: () => setView('picture'), g: () => setView('graph'), e: () => setView('memory'),
    o: () => setCombine('one'), a: () => setCombine('mean'), x: () => setCombine('max'), r: () => setCombine('rollout'),
    '+': () => zoomAt(1.4, V.wide / 2, V.high / 2), '-': () => zoomAt(1 / 1.4, V.wide / 2, V.high / 2), 0: () => { V.zoom = 1; V.x = V.y = 0; paint(); },
    '/': () => $('search').focus(), t: toggleTheme, '?': () => $('help').showModal(), Escape: () => { S.held = false; point(-1, -1); },
  };
  if (e.key.startsWith('Arrow') && e.target.closest && e.target.closest('dialog')) return;
  if (keys[e.key]) { e.preventDefault(); keys[e.key](); }
}

function wire() {
  document.querySelectorAll('[data-view]').forEach(b => { b.onclick = () => setView(b.dataset.view); });
  for (const id of ['layer', 'head', 'step']) $(id).onchange = e => { S[id] = +e.target.value; refresh(); if (id === 'step') glance(); };
  $('name').onchange = e => { S.name = e.target.value; refresh(true); glance(); };
  $('combine').onchange = e => setCombine(e.target.value);
  $('threshold').oninput = e => { S.threshold = e.target.value / 100; $('threshold-value').textContent = e.target.value + '%'; paint(); };
  $('threshold').onchange = describe;
  $('search').oninput = e => { hit = -1; find(e.target.value); };
  $('search').onkeydown = e => { if (e.key === 'Enter') { e.preventDefault(); nextHit(); } };
  $('theme').onclick = toggleTheme;
  $('help-open').onclick = () => $('help').showModal();
  $('copy-svg').onclick = () => copyText(svg());
  $('save-svg').onclick = () => save(new Blob([svg()], { type: 'image/svg+xml' }), 'attention.svg');
  $('save-png').onclick = () => picturePng().then(b => save(b, 'attention.png'));
  document.addEventListener('keydown', e => { if (record && record.maps && record.maps.length) key(e); });
  addEventListener('resize', () => { if (record && record.maps && record.maps.length) refresh(); });
  pointers();
}

/* The map that an answer was explained by (docs/explaining.md); of a comparison the difference, over pictures the first. */
function askedFor() {
  if (record.kind === 'comparison' && overPicture(record.maps[0])) return record.maps[0].name;
  const two = record.kind === 'comparison', methods = /^(difference: )?(attention|rollout|gradient|input-gradient|integrated|zeroing|occlusion)( against .*)?$/;
  const found = record.maps.find(m => field(m, 'head') < 0 && field(m, 'layer') < 0 && methods.test(m.name) && m.name.startsWith('difference: ') === two) || (two && record.maps.find(m => m.name.startsWith('difference: ')));
  return found && found.name;
}

/* A record arrives: from the page itself, or from the server. */
function load(r) {
  record = r; decoded = []; memo = new Map(); pictures.clear(); chipsOf = null; glanceOf = ''; V.imageKey = '';
  record.labels = record.labels || []; record.maps = record.maps || [];
  $('title').textContent = document.title = record.title || 'Attention';
  const hyps = (record.texts || []).filter(t => t.role === 'hypothesis');
  S.hyp = hyps.findIndex(t => t.chosen); S.row = S.col = -1; S.held = false;
  texts();
  $('viewer').hidden = !record.maps.length;
  if (!record.maps.length) return;
  const l = record.labels[record.maps[0].cols];
  const kept = record.maps.some(m => m.name === S.name) && remover ? S.name : null; /* another text in the box: the same kind of map */
  S.name = kept || askedFor() || (record.maps.find(m => m.hypothesis === undefined || m.hypothesis === S.hyp) || record.maps[0]).name; S.step = S.layer = S.head = -2;
  S.view = l.picture && l.boxes ? 'picture' : isGraph(record.maps[0]) ? 'graph' : isMemory(record.maps[0]) ? 'memory' : S.view === 'links' ? 'links' : 'matrix';
  G.centre = -1; G.key = '';
  refresh(true);
  glance();
}
