/* data.js - the record: weights decoded on first use, heads put together, the strongest links. */
let record = null, decoded = [], memo = new Map();
const S = { view: 'matrix', name: '', layer: -1, head: -1, step: -1, hyp: -1, combine: 'one', threshold: 0, row: -1, col: -1, held: false, hits: [] };

function bytes(text) {
  const s = atob(text), u = new Uint8Array(s.length);
  for (let i = 0; i < s.length; i++) u[i] = s.charCodeAt(i);
  return u;
}

const field = (m, key) => m[key] === undefined ? -1 : m[key];
const rowsOf = m => record.labels[m.rows].text, colsOf = m => record.labels[m.cols].text;

/* The weights of a map as rows x cols numbers; null when an edge list is too large for that. */
function weightsOf(m) {
  const at = record.maps.indexOf(m);
  if (decoded[at] !== undefined) return decoded[at];
  const n = colsOf(m).length, count = rowsOf(m).length * n, w = m.weights;
  let out = null;
  if (Array.isArray(w)) {
    out = new Float32Array(count);
    w.forEach((row, i) => out.set(row, i * n));
  } else if (w.f32) {
    out = new Float32Array(bytes(w.f32).buffer);
  } else if (w.u16) {
    const u = new Uint16Array(bytes(w.u16).buffer), k = (w.high - w.low) / 65535;
    out = new Float32Array(count);
    for (let i = 0; i < count; i++) out[i] = w.low + k * u[i];
  } else if (w.edges && count <= 4e6) {
    out = new Float32Array(count);
    for (const [i, j, v] of w.edges) out[i * n + j] += v;
  }
  return decoded[at] = out;
}

const distinct = (maps, key) => [...new Set(maps.map(m => field(m, key)))].sort((a, b) => a - b);
const ofName = () => record.maps.filter(m => m.name === S.name && (field(m, 'hypothesis') < 0 || S.hyp < 0 || m.hypothesis === S.hyp));
const ofStep = () => ofName().filter(m => field(m, 'step') === S.step);
const ofLayer = () => ofStep().filter(m => field(m, 'layer') === S.layer);
const theMap = () => ofLayer().find(m => field(m, 'head') === S.head) || ofLayer()[0] || ofStep()[0] || ofName()[0] || record.maps[0];
const sameShape = (maps, m) => maps.filter(x => x.rows === m.rows && x.cols === m.cols);

function fold(maps, how) {
  const first = weightsOf(maps[0]), out = new Float32Array(first.length);
  for (const m of maps) {
    const w = weightsOf(m);
    if (how === 'max') for (let i = 0; i < out.length; i++) { if (w[i] > out[i]) out[i] = w[i]; }
    else for (let i = 0; i < out.length; i++) out[i] += w[i] / maps.length;
  }
  return out;
}

const rolloutMost = 400;
const canRoll = () => { const m = theMap(); return !!m && m.rows === m.cols && rowsOf(m).length <= rolloutMost && field(m, 'layer') >= 0; };

/* Attention rollout (Abnar and Zuidema 2020): product over the layers of (A + I) / 2, rows summing to one. */
function rollout() {
  const m = theMap(), n = rowsOf(m).length;
  let sum = null;
  for (const layer of distinct(ofStep(), 'layer').filter(l => l >= 0 && l <= S.layer)) {
    const a = fold(sameShape(ofStep().filter(x => field(x, 'layer') === layer), m), 'mean'), next = new Float32Array(n * n);
    for (let i = 0; i < n; i++) {
      let total = 0;
      for (let j = 0; j < n; j++) total += a[i * n + j];
      for (let j = 0; j < n; j++) a[i * n + j] = 0.5 * (total > 0 ? a[i * n + j] / total : 0) + (i === j ? 0.5 : 0);
    }
    if (!sum) { sum = a; continue; }
    for (let i = 0; i < n; i++) for (let k = 0; k < n; k++) {
      const v = a[i * n + k];
      if (v > 1e-7) for (let j = 0; j < n; j++) next[i * n + j] += v * sum[k * n + j];
    }
    sum = next;
  }
  return sum;
}

/* What is looked at now: { w, rows, cols, top, map }, kept until another choice needs the room. */
function current() {
  const m = theMap(), key = [record.maps.indexOf(m), S.combine, S.combine === 'one' ? 0 : S.layer, S.step, S.hyp].join();
  if (memo.has(key)) return memo.get(key);
  let w = null;
  if (weightsOf(m)) {
    if (S.combine === 'mean' || S.combine === 'max') w = fold(sameShape(ofLayer(), m), S.combine);
    else if (S.combine === 'mean-all' || S.combine === 'max-all') w = fold(sameShape(ofStep(), m), S.combine.slice(0, -4));
    else if (S.combine === 'rollout' && canRoll()) w = rollout();
    else w = weightsOf(m);
  }
  let top = 1e-9;
  let low = 0;
  if (w) for (let i = 0; i < w.length; i++) { const v = w[i]; if (v > top) top = v; else if (v < low) low = v; }
  else for (const e of m.weights.edges) if (e[2] > top) top = e[2];
  if (-low > top) top = -low;
  const c = { w, low: low < -0.002 * top ? -top : 0, rows: rowsOf(m), cols: colsOf(m), top, map: m, rowName: record.labels[m.rows].name, colName: record.labels[m.cols].name };
  if (memo.size > 24) memo.clear();
  memo.set(key, c);
  return c;
}

const floor = c => S.threshold * c.top;

/* The strongest links above the threshold, at most `most`: a histogram finds the cut, so that a million weights take one pass. */
function strongest(c, most) {
  const low = Math.max(floor(c), 1e-6 * c.top), out = [], n = c.cols.length;
  if (!c.w) {
    for (const [i, j, v] of c.map.weights.edges) if (v >= low) out.push([i, j, v]);
  } else {
    const bins = new Uint32Array(1025), k = 1024 / c.top;
    for (let i = 0; i < c.w.length; i++) if (c.w[i] >= low) bins[c.w[i] * k | 0]++;
    let cut = 1024, sum = bins[1024];
    while (cut > 0 && sum + bins[cut - 1] <= most) sum += bins[--cut];
    if (sum < 20 && cut > 0) cut--;
    const from = Math.max(low, cut / k);
    for (let i = 0; i < c.w.length && out.length < 4 * most; i++) if (c.w[i] >= from) out.push([i / n | 0, i % n, c.w[i]]);
  }
  return out.sort((a, b) => b[2] - a[2]).slice(0, most);
}

/* The strongest of a row (what it looks at) or of a column (what looks at it), as [index, weight]. */
function bestOf(c, row, col, most) {
  const best = [], n = c.cols.length, keep = (i, v) => {
    if (!(v > 0) || (best.length === most && best[most - 1][1] >= v)) return;
    let k = best.length < most ? best.length : most - 1;
    for (; k > 0 && best[k - 1][1] < v; k--) best[k] = best[k - 1];
    best[k] = [i, v];
  };
  if (!c.w) for (const [i, j, v] of c.map.weights.edges) { if (i === row) keep(j, v); else if (j === col) keep(i, v); }
  else if (row >= 0) for (let j = 0; j < n; j++) keep(j, c.w[row * n + j]);
  else for (let i = 0; i < c.rows.length; i++) keep(i, c.w[i * n + col]);
  return best;
}

const weightAt = (c, i, j) => c.w ? c.w[i * c.cols.length + j] : c.map.weights.edges.reduce((s, e) => e[0] === i && e[1] === j ? s + e[2] : s, 0);
const shown = t => t === '' ? '␣' : t;
