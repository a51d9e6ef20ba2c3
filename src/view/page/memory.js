/* memory.js - heads over a memory (Graves, Wayne, Danihelka 2014, figures 6 and 11): time goes across, places of the memory go down, one panel
 * a head, all with the same axes: a copy is written along one diagonal and read along the next. */
const M = { panels: [] };
const isMemory = m => record.kind === 'memory' && record.labels[m.cols].kind === 'slot';
const panelsOf = m => record.maps.filter(x => isMemory(x) && x.rows === m.rows && field(x, 'step') === field(m, 'step') && weightsOf(x));

/* Panels stand side by side as far as there is room. */
function layoutMemory(c, room, most) {
  const maps = panelsOf(c.map), T = c.rows.length, gap = 44, left = 46;
  const wide = Math.min(room - left - 8, Math.max(300, T * 18)), cell = wide / T, abreast = Math.max(1, Math.min(maps.length, Math.floor(room / (left + wide + 8))));
  const share = Math.max(most, 110 * maps.length / abreast) / Math.ceil(maps.length / abreast) - gap;
  let y = 8, tallest = 0;
  M.panels = maps.map((m, k) => {
    const n = colsOf(m).length, high = Math.min(cell * n, Math.max(60, share));
    if (k && k % abreast === 0) { y += tallest + gap; tallest = 0; }
    tallest = Math.max(tallest, high);
    return { m, x: left + k % abreast * (left + wide + 8), y: y + 18, wide, high, cell, slot: high / n };
  });
  V.wide = Math.min(room, abreast * (left + wide + 8)); V.high = y + tallest + gap;
}

function paintMemory(x, c) {
  for (const p of M.panels) {
    const w = weightsOf(p.m), T = rowsOf(p.m).length, n = colsOf(p.m).length, turned = new Float32Array(T * n);
    let top = 1e-9;
    for (let t = 0; t < T; t++) for (let k = 0; k < n; k++) { const v = w[t * n + k]; turned[k * T + t] = v; if (v > top) top = v; }
    x.imageSmoothingEnabled = false;
    x.drawImage(heat(turned, n, T, top, S.threshold * top, 1 << 14), p.x, p.y, p.wide, p.high);
    x.strokeStyle = p.m === c.map ? V.accent : V.dim; x.lineWidth = p.m === c.map ? 1.5 : 1; x.strokeRect(p.x, p.y, p.wide, p.high);
    x.font = 'bold ' + font(13); x.textBaseline = 'middle'; x.textAlign = 'left'; x.fillStyle = V.fg;
    x.fillText(p.m.name + (field(p.m, 'head') > 0 || M.panels.filter(q => q.m.name === p.m.name).length > 1 ? ' ' + field(p.m, 'head') : ''), p.x, p.y - 9);
    x.font = font(11); x.fillStyle = V.dim; x.textAlign = 'right';
    for (let k = 0; k < n; k += Math.max(1, Math.ceil(14 / p.slot / 4) * 4)) x.fillText(shown(colsOf(p.m)[k]), p.x - 6, p.y + (k + 0.5) * p.slot);
    x.textAlign = 'center';
    for (let t = 0, every = Math.max(1, Math.ceil(26 / p.cell)); t < T; t += every) x.fillText(shown(rowsOf(p.m)[t]), p.x + (t + 0.5) * p.cell, p.y + p.high + 11);
  }
}
function paintMemoryOver(x, c) {
  x.strokeStyle = V.accent; x.lineWidth = 1.5;
  for (const p of M.panels) {
    if (S.row >= 0) x.strokeRect(p.x + S.row * p.cell, p.y, p.cell, p.high);
    if (S.col >= 0 && p.m === c.map) x.strokeRect(p.x, p.y + S.col * p.slot, p.wide, p.slot);
  }
}
/* The panel under the pointer becomes the map at hand. */
function memoryUnder(px, py) {
  const p = M.panels.find(q => px >= q.x && px < q.x + q.wide && py >= q.y && py < q.y + q.high);
  if (!p) return [-1, -1];
  if (p.m !== current().map) {
    S.name = p.m.name; S.layer = field(p.m, 'layer'); S.head = field(p.m, 'head'); S.combine = 'one';
    settle(); describe(); words(); paint();
  }
  return [Math.floor((px - p.x) / p.cell), Math.floor((py - p.y) / p.slot)];
}
