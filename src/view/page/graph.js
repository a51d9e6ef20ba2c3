/* graph.js - a record whose rows and columns are the nodes of one graph: nodes, arrows to what is looked at, rings for what a node gives
 * itself. Given places are kept, else springs find them (Fruchterman and Reingold 1991), from a circle, so that the same graph looks the same. A
 * large graph is cut to the neighbourhood of one node: the busiest, then whichever is clicked or found. */
const G = { key: '', nodes: [], at: new Map(), edges: [], self: new Map(), centre: -1, most: 90 };
const isGraph = m => m.rows === m.cols && record.labels[m.rows].kind === 'node';

/* A search or a network: nodes are boxes with their lines inside, and each row of places is a row of the page. */
const isBoxed = () => (record.kind === 'beam' || record.kind === 'network') && record.maps.some(m => isGraph(m) && record.labels[m.rows].places);
const boxRows = c => { const y = record.labels[c.map.rows].places.map(p => p[1]); return Math.max(...y) - Math.min(...y); };
const boxInk = i => { const has = name => record.maps.some(m => m.name === name && m.weights.edges && m.weights.edges.some(e => e[1] === i)); return has('answer') ? 'answer' : has('finished') ? 'finished' : has('dropped') ? 'dropped' : ''; };
function drawBox(x, c, i, bold) {
  const lines = c.rows[i].split(' · '), px = nodeX(i), py = nodeY(i), ink = boxInk(i), high = record.kind === 'beam' ? 28 : 14 * lines.length + 8;
  const text = record.kind === 'beam' ? [lines[0], lines.slice(1).join(' / ')] : lines;
  x.font = font(12);
  const wide = Math.max(34, ...text.map(t => x.measureText(shown(t)).width)) + 10;
  x.fillStyle = V.bg; x.strokeStyle = ink === 'dropped' ? V.dim : ink === 'finished' ? '#0a8f6a' : ink === 'answer' ? '#cc5c00' : V.accent;
  x.lineWidth = bold || ink === 'answer' ? 2 : 1; x.setLineDash(ink === 'dropped' ? [3, 3] : []);
  x.fillRect(px - wide / 2, py - high / 2, wide, high); x.strokeRect(px - wide / 2, py - high / 2, wide, high); x.setLineDash([]);
  x.textAlign = 'center'; x.textBaseline = 'middle';
  text.forEach((t, k) => { x.font = (bold && !k ? 'bold ' : '') + font(k ? 10 : 12); x.fillStyle = k || ink === 'dropped' ? V.dim : V.fg; if (t) x.fillText(shown(t), px, py + (k - (text.filter(s => s).length - 1) / 2) * 12); });
}

/* What the map links, as [row, col, weight]. */
function pairs(c) {
  if (c.map.weights.edges && S.combine === 'one') return c.map.weights.edges;
  const out = [], n = c.cols.length;
  for (let i = 0; i < c.w.length; i++) if (c.w[i] > 0) out.push([i / n | 0, i % n, c.w[i]]);
  return out;
}

/* Around `centre`, nearest and strongest first, until there are enough. */
function neighbours(list, n) {
  const near = Array.from({ length: n }, () => []), total = new Float64Array(n);
  for (const [i, j, v] of list) { near[i].push([j, v]); near[j].push([i, v]); total[i] += v; total[j] += v; }
  if (G.centre < 0 || G.centre >= n) G.centre = total.indexOf(Math.max(...total));
  const chosen = new Set([G.centre]);
  for (const k of chosen) {
    if (chosen.size >= G.most * 2 / 3) break;
    for (const [j] of near[k].sort((a, b) => b[1] - a[1])) if (chosen.size < G.most) chosen.add(j);
  }
  return [...chosen];
}

function springs(nodes, edges, top) {
  const n = nodes.length, k = Math.sqrt(1 / n), number = new Map(nodes.map((v, i) => [v, i])), rounds = n > 150 ? 120 : 300;
  const p = nodes.map((_, i) => [0.5 + 0.4 * Math.cos(2 * Math.PI * i / n) + 0.003 * (i % 7), 0.5 + 0.4 * Math.sin(2 * Math.PI * i / n) + 0.003 * (i % 5)]);
  const drawn = edges.filter(([i, j]) => i !== j).map(([i, j, v]) => [number.get(i), number.get(j), 0.1 + 0.25 * v / top]);
  for (let round = 0; round < rounds; round++) {
    const heat = 0.08 * (1 - round / rounds), f = p.map(([x, y]) => [(0.5 - x) * 0.35 * k, (0.5 - y) * 0.35 * k]);
    for (let a = 0; a < n; a++) for (let b = a + 1; b < n; b++) {
      const dx = p[a][0] - p[b][0], dy = p[a][1] - p[b][1], d2 = Math.max(1e-6, dx * dx + dy * dy), push = k * k / d2;
      f[a][0] += dx * push; f[a][1] += dy * push; f[b][0] -= dx * push; f[b][1] -= dy * push;
    }
    for (const [a, b, pull] of drawn) {
      const dx = p[a][0] - p[b][0], dy = p[a][1] - p[b][1], d = Math.max(1e-3, Math.hypot(dx, dy)), t = pull * d / k;
      f[a][0] -= dx * t; f[a][1] -= dy * t; f[b][0] += dx * t; f[b][1] += dy * t;
    }
    for (let a = 0; a < n; a++) { const d = Math.max(1e-9, Math.hypot(...f[a])), s = Math.min(d, heat) / d; p[a][0] += f[a][0] * s; p[a][1] += f[a][1] * s; }
  }
  return p;
}

/* Places in pixels from the middle of the stage, kept until the map or the middle changes. */
function arrange(c) {
  const big = c.rows.length > 250, key = [record.maps.indexOf(c.map), S.combine, S.layer, S.step, big ? G.centre : '', V.wide, V.high].join();
  if (G.key === key && G.of === c) return;
  const list = pairs(c), l = record.labels[c.map.rows];
  G.nodes = big ? neighbours(list, c.rows.length) : c.rows.map((_, i) => i);
  const among = new Set(G.nodes);
  G.self = new Map(list.filter(([i, j]) => i === j && among.has(i)).map(([i, , v]) => [i, v]));
  G.edges = list.filter(([i, j]) => i !== j && among.has(i) && among.has(j)).sort((a, b) => a[2] - b[2]).slice(-3000);
  const total = new Map(G.nodes.map(i => [i, i === G.centre ? Infinity : 0]));
  for (const [i, j, v] of G.edges) { total.set(i, total.get(i) + v); total.set(j, total.get(j) + v); }
  G.byWeight = [...G.nodes].sort((a, b) => total.get(b) - total.get(a)); /* whose names come first */
  const p = l.places ? G.nodes.map(i => [...l.places[i]]) : springs(G.nodes, G.edges, c.top);
  const x = p.map(q => q[0]), y = p.map(q => q[1]), span = a => [Math.min(...a), Math.max(...a)], [lx, hx] = span(x), [ly, hy] = span(y);
  const fit = (v, low, high, room) => high - low > 1e-9 ? ((v - low) / (high - low) - 0.5) * room : 0;
  G.at = new Map(G.nodes.map((i, k) => [i, [fit(x[k], lx, hx, Math.min(V.wide - (isBoxed() ? 170 : 120), record.kind === 'network' ? 420 : Infinity)), fit(y[k], ly, hy, V.high - 74)]]));
  G.key = [record.maps.indexOf(c.map), S.combine, S.layer, S.step, big ? G.centre : '', V.wide, V.high].join(); G.of = c;
}

const nodeX = i => xOf(G.at.get(i)[0]), nodeY = i => yOf(G.at.get(i)[1]) - 8;
const radius = () => G.nodes.length > 60 ? 4.5 : G.nodes.length > 24 ? 6.5 : 9;

/* A bent arrow: an edge and its opposite bend apart. Its corners, for the canvas and for SVG. */
function arrow(i, j, t) {
  const ax = nodeX(i), ay = nodeY(i), bx = nodeX(j), by = nodeY(j), r = radius(), head = 5 + 5 * t;
  const mx = (ax + bx) / 2 - (by - ay) * 0.12, my = (ay + by) / 2 + (bx - ax) * 0.12, d = Math.max(1e-6, Math.hypot(bx - mx, by - my)), ux = (bx - mx) / d, uy = (by - my) / d;
  const ex = bx - ux * (r + 2), ey = by - uy * (r + 2);
  return { ax, ay, mx, my, ex: ex - ux * head * 0.7, ey: ey - uy * head * 0.7, wide: 0.6 + 3.6 * t, ink: 0.15 + 0.85 * t,
    tip: [[ex, ey], [ex - ux * head - uy * head * 0.5, ey - uy * head + ux * head * 0.5], [ex - ux * head + uy * head * 0.5, ey - uy * head - ux * head * 0.5]] };
}
function drawArrow(x, c, i, j, v) {
  const a = arrow(i, j, v / c.top);
  x.globalAlpha = a.ink; x.lineWidth = a.wide;
  x.beginPath(); x.moveTo(a.ax, a.ay); x.quadraticCurveTo(a.mx, a.my, a.ex, a.ey); x.stroke();
  x.beginPath(); a.tip.forEach(([px, py], k) => k ? x.lineTo(px, py) : x.moveTo(px, py)); x.closePath(); x.fill();
  x.globalAlpha = 1;
}
/* Names that would lie on others are left out until one comes closer; `taken` holds the places of those that are there. */
function drawNode(x, c, i, bold, taken) {
  if (isBoxed()) return drawBox(x, c, i, bold);
  const px = nodeX(i), py = nodeY(i), r = radius(), self = (G.self.get(i) || 0) / c.top;
  if (self > 0 && self * c.top >= floor(c)) { x.globalAlpha = 0.25 + 0.75 * self; x.lineWidth = 1 + 4 * self; x.strokeStyle = V.accent; x.beginPath(); x.arc(px, py, r + 4, 0, 7); x.stroke(); x.globalAlpha = 1; }
  x.beginPath(); x.arc(px, py, r, 0, 7); x.fillStyle = bold ? V.accent : V.bg; x.fill(); x.strokeStyle = V.fg; x.lineWidth = 1.2; x.stroke();
  x.font = (bold ? 'bold ' : '') + font(G.nodes.length > 60 ? 11 : 13); x.textAlign = 'center'; x.textBaseline = 'middle'; x.lineJoin = 'round';
  if (taken) {
    const half = Math.min(110, x.measureText(shown(c.rows[i])).width) / 2, y = py + r + 12;
    if (taken.some(([l, t, h]) => Math.abs(t - y) < 12 && Math.abs(l - px) < h + half)) return;
    taken.push([px, y, half]);
  }
  x.strokeStyle = V.bg; x.lineWidth = 3; x.strokeText(shown(c.rows[i]), px, py + r + 12, 110); /* a rim: edges do not cross out letters */
  x.fillStyle = S.hits.includes('r' + i) ? V.accent : V.fg; x.fillText(shown(c.rows[i]), px, py + r + 12, 110);
}

function paintGraph(x, c) {
  arrange(c);
  x.strokeStyle = x.fillStyle = V.accent;
  for (const [i, j, v] of G.edges) if (v >= floor(c)) drawArrow(x, c, i, j, v);
  const taken = [];
  for (const i of G.byWeight) drawNode(x, c, i, false, taken);
  if (G.nodes.length < c.rows.length) {
    x.font = font(12); x.fillStyle = V.dim; x.textAlign = 'left';
    x.fillText(`${G.nodes.length} of ${c.rows.length} nodes, around ${shown(c.rows[G.centre])}; click or find another`, 4, 10);
  }
}
/* A node at hand: what it looks at, what looks at it. */
function paintGraphOver(x, c) {
  const at = S.row >= 0 ? S.row : S.col, named = new Set([at]);
  if (!G.at.has(at)) return;
  x.strokeStyle = x.fillStyle = V.accent;
  for (const [i, j, v] of G.edges) if (i === at || j === at) { x.setLineDash(j === at ? [5, 4] : []); drawArrow(x, c, i, j, v); named.add(i).add(j); }
  x.setLineDash([]);
  for (const i of named) drawNode(x, c, i, i === at);
}
function nodeUnder(px, py) {
  let best = -1, most = 22;
  for (const i of G.nodes) { const d = Math.hypot(nodeX(i) - px, nodeY(i) - py); if (d < most) { most = d; best = i; } }
  return best;
}
/* In a cut graph a held node becomes the middle. */
function centreOn(i) {
  if (S.view !== 'graph' || current().rows.length <= 250 || i < 0 || i === G.centre) return;
  G.centre = i; V.zoom = 1; V.x = V.y = 0;
  paint();
}

function svgGraph(c) {
  const out = [], r = radius();
  for (const [i, j, v] of G.edges) if (v >= floor(c)) {
    const a = arrow(i, j, v / c.top), n = k => k.toFixed(1);
    out.push(`<path d="M${n(a.ax)} ${n(a.ay)}Q${n(a.mx)} ${n(a.my)} ${n(a.ex)} ${n(a.ey)}" fill="none" stroke="${V.accent}" stroke-width="${a.wide.toFixed(2)}" stroke-opacity="${a.ink.toFixed(2)}"/><path d="M${a.tip.map(p => p.map(n).join(' ')).join('L')}Z" fill="${V.accent}" fill-opacity="${a.ink.toFixed(2)}"/>`);
  }
  for (const i of G.nodes) {
    const self = (G.self.get(i) || 0) / c.top, at = `cx="${nodeX(i).toFixed(1)}" cy="${nodeY(i).toFixed(1)}"`;
    if (self > 0) out.push(`<circle ${at} r="${r + 4}" fill="none" stroke="${V.accent}" stroke-width="${(1 + 4 * self).toFixed(2)}" stroke-opacity="${(0.25 + 0.75 * self).toFixed(2)}"/>`);
    out.push(`<circle ${at} r="${r}" fill="${V.bg}" stroke="${V.fg}"/><text x="${nodeX(i).toFixed(1)}" y="${(nodeY(i) + r + 16).toFixed(1)}" text-anchor="middle" stroke="${V.bg}" stroke-width="3" paint-order="stroke">${xml(shown(c.rows[i]))}</text>`);
  }
  return [out, V.wide, V.high];
}
