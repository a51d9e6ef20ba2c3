/* draw.js - drawing on two canvases: the picture below, what the pointer touches above, so that hovering never redraws a matrix. */
const stops = {
  light: [[255, 255, 255], [225, 236, 247], [180, 211, 236], [112, 174, 217], [52, 126, 186], [17, 77, 143], [8, 36, 78]],
  dark: [[22, 24, 31], [45, 33, 82], [94, 38, 126], [165, 48, 122], [226, 83, 92], [250, 158, 94], [253, 240, 190]],
  lightBelow: [[255, 255, 255], [252, 231, 224], [248, 198, 182], [236, 143, 120], [209, 86, 71], [158, 36, 44], [88, 10, 28]], /* weights below 0 */
  darkBelow: [[22, 24, 31], [24, 44, 76], [26, 75, 116], [37, 118, 150], [80, 166, 180], [148, 211, 213], [222, 246, 240]],
};
const base = $('base'), over = $('over'), tip = $('tip');
const theme = () => document.documentElement.dataset.theme === 'dark' ? 'dark' : 'light';
const colour = name => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
const font = px => px + 'px "Noto Sans",system-ui,"Liberation Sans",sans-serif';
const V = { zoom: 1, tall: 1, x: 0, y: 0, left: 0, top: 0, cell: 1, wide: 0, high: 0, dpr: 1, image: null, imageKey: '', fg: '', dim: '', accent: '', bg: '' };

function ramp(t) {
  const s = stops[t < 0 ? theme() + 'Below' : theme()], at = Math.min(Math.abs(t), 1) * 6, i = Math.min(at | 0, 5), a = s[i], b = s[i + 1];
  return a.map((v, k) => Math.round(v + (b[k] - v) * (at - i)));
}
const css = t => 'rgb(' + ramp(t) + ')';

/* Colours of -255 .. 255 as 32-bit pixels, those of 0 at 255. */
function table() {
  const t = new Uint32Array(511);
  for (let i = -255; i < 256; i++) { const [r, g, b] = ramp(i / 255); t[i + 255] = 0xff000000 | b << 16 | g << 8 | r; }
  return t;
}

/* rows x cols weights as a picture of at most `most` pixels a side; several weights in a pixel show their maximum. */
function heat(w, rows, cols, top, low, most) {
  const down = Math.max(1, Math.ceil(rows / most)), across = Math.max(1, Math.ceil(cols / most));
  const h = Math.ceil(rows / down), n = Math.ceil(cols / across), c = document.createElement('canvas');
  c.width = n; c.height = h;
  const x = c.getContext('2d'), image = x.createImageData(n, h), pixels = new Uint32Array(image.data.buffer), t = table(), k = 255 / top;
  if (down === 1 && across === 1) {
    for (let i = 0; i < pixels.length; i++) { const v = w[i]; pixels[i] = t[255 + (Math.abs(v) < low ? 0 : v * k > 255 ? 255 : v * k < -255 ? -255 : v * k | 0)]; }
  } else {
    const level = new Int16Array(n * h);
    for (let i = 0; i < rows; i++) {
      const to = (i / down | 0) * n, from = i * cols;
      for (let j = 0; j < cols; j++) { const v = w[from + j], l = Math.abs(v) < low ? 0 : v * k | 0, p = to + (j / across | 0), o = level[p]; if (l > o ? l > -o : -l > o) level[p] = l; }
    }
    for (let i = 0; i < pixels.length; i++) pixels[i] = t[255 + Math.max(-255, Math.min(255, level[i]))];
  }
  x.putImageData(image, 0, 0);
  return c;
}

function longest(x, labels, most) {
  let w = 0;
  for (let i = 0; i < labels.length && w < most; i += Math.max(1, labels.length / 400 | 0)) w = Math.max(w, x.measureText(shown(labels[i])).width);
  return Math.min(w, most);
}

/* Sizes of everything for the room there is. */
function layout() {
  const c = current(), x = base.getContext('2d'), room = $('main').clientWidth - (innerWidth > 820 ? 290 : 0), most = Math.max(280, innerHeight * 0.8);
  V.dpr = Math.min(devicePixelRatio || 1, 3);
  V.fg = colour('fg'); V.dim = colour('dim'); V.accent = colour('accent'); V.bg = colour('bg');
  x.font = font(13);
  V.left = longest(x, c.rows, Math.min(150, room * 0.3)) + 12;
  V.wide = room;
  if (S.view === 'matrix') {
    V.top = longest(x, c.cols, 120) * 0.82 + 18;
    const lean = Math.min(longest(x, [c.cols[c.cols.length - 1] || ''], 120) * 0.57, room * 0.2);
    V.cell = Math.min((room - V.left - 6 - lean) / c.cols.length, (most - V.top - 6) / c.rows.length, 40);
    V.tall = Math.max(1, Math.min(110 / (V.cell * c.rows.length), 22 / V.cell));
    V.high = Math.max(120, V.top + V.cell * V.tall * c.rows.length + 6);
    V.wide = Math.min(room, Math.max(300, V.left + V.cell * c.cols.length + lean + 8));
  } else {
    V.top = 26;
    V.tall = 1;
    V.cell = 22;
    V.wide = Math.min(room, 900);
    V.high = Math.max(160, Math.min(most, V.top + V.cell * Math.max(c.rows.length, c.cols.length) + 10));
  }
  if (S.view === 'picture') V.high = Math.min(most, room * 0.7);
  if (S.view === 'memory') layoutMemory(c, room, most);
  if (S.view === 'graph') { V.wide = Math.min(room, 1000); V.high = Math.min(most, Math.max(320, V.wide * 0.78)); if (isBoxed()) V.high = Math.max(320, 74 + boxRows(c) * (record.kind === 'beam' ? 34 : 64)); V.left = V.wide / 2; V.top = V.high / 2; V.cell = V.tall = 1; }
  for (const k of [base, over]) {
    k.width = Math.round(V.wide * V.dpr); k.height = Math.round(V.high * V.dpr);
    k.style.width = V.wide + 'px'; k.style.height = V.high + 'px';
  }
}

const size = () => V.cell * V.zoom;
const tall = () => size() * V.tall; /* cells of a few long rows are taller than wide */
const xOf = j => V.left + V.x + j * size(), yOf = i => V.top + V.y + i * tall();

function clampView() {
  if (S.view === 'graph') { for (const [k, room] of [['x', V.wide], ['y', V.high]]) V[k] = Math.max(-room * V.zoom / 2, Math.min(room * V.zoom / 2, V[k])); return; }
  if (S.view === 'memory') { V.zoom = 1; V.x = V.y = 0; return; }
  const c = current(), w = size() * c.cols.length, h = tall() * (S.view === 'links' ? Math.max(c.rows.length, c.cols.length) : c.rows.length);
  V.x = S.view === 'links' ? 0 : Math.min(0, Math.max(V.x, Math.min(0, V.wide - V.left - w - 6)));
  V.y = Math.min(0, Math.max(V.y, Math.min(0, V.high - V.top - h - 6)));
}

/* Every k-th label, so that they do not touch. */
function labels(x, c) {
  const s = size(), hits = new Set(S.hits), every = Math.max(1, Math.ceil(14 / tall())), across = Math.max(1, Math.ceil(18 / s)), lean = -0.96, text = Math.min(14, Math.max(11, s * 0.6));
  x.font = font(text); x.textBaseline = 'middle';
  x.save(); x.beginPath(); x.rect(0, V.top - 8, V.left, V.high); x.clip(); x.textAlign = 'right';
  for (let i = Math.max(0, Math.floor(-V.y / tall() / every) * every); i < c.rows.length && yOf(i) < V.high; i += every) {
    x.fillStyle = hits.has('r' + i) ? V.accent : V.fg;
    x.fillText(shown(c.rows[i]), V.left - 6, yOf(i + 0.5), V.left - 6);
  }
  x.restore(); x.save(); x.beginPath(); x.rect(V.left - 4, 0, V.wide, V.top); x.clip(); x.textAlign = 'left';
  for (let j = Math.max(0, Math.floor(-V.x / s / across) * across); j < c.cols.length && xOf(j) < V.wide; j += across) {
    x.fillStyle = hits.has('c' + j) ? V.accent : V.fg;
    x.save(); x.translate(xOf(j + 0.5) + 1, V.top - 6); x.rotate(lean); x.fillText(shown(c.cols[j]), 0, 0, 124); x.restore();
  }
  x.restore();
}

function paintMatrix(x, c) {
  const most = Math.round(Math.max(V.wide, V.high) * V.dpr * V.zoom), pooled = size() * V.dpr < 1 ? most : 1 << 14;
  const key = [record.maps.indexOf(c.map), S.combine, S.layer, S.step, S.hyp, S.threshold, theme(), pooled].join();
  if (V.imageKey !== key || V.imageOf !== c) { V.image = heat(c.w, c.rows.length, c.cols.length, c.top, floor(c), pooled); V.imageKey = key; V.imageOf = c; }
  x.save(); x.beginPath(); x.rect(V.left, V.top, V.wide, V.high); x.clip();
  x.imageSmoothingEnabled = false;
  x.drawImage(V.image, xOf(0), yOf(0), size() * c.cols.length, tall() * c.rows.length);
  if (size() >= 9) {
    x.strokeStyle = V.bg; x.lineWidth = 1; x.beginPath();
    for (let j = 1; j < c.cols.length; j++) { x.moveTo(xOf(j), yOf(0)); x.lineTo(xOf(j), yOf(c.rows.length)); }
    for (let i = 1; i < c.rows.length; i++) { x.moveTo(xOf(0), yOf(i)); x.lineTo(xOf(c.cols.length), yOf(i)); }
    x.stroke();
  }
  x.strokeStyle = V.dim; x.lineWidth = 1; x.strokeRect(xOf(0), yOf(0), size() * c.cols.length, tall() * c.rows.length);
  x.restore();
  labels(x, c);
}

/* Links: rows stand left, columns right. */
const linkX = () => { const gap = Math.min(420, Math.max(90, V.wide - 2 * V.left - 60)), mid = V.wide / 2; return [mid - gap / 2, mid + gap / 2]; };
const shift = (c, side) => Math.max(0, (side === 'r' ? c.cols.length - c.rows.length : c.rows.length - c.cols.length) / 2);
const linkY = (c, side, i) => yOf(i + shift(c, side) + 0.5);

function link(x, c, i, j, v) {
  const [a, b] = linkX(), ya = linkY(c, 'r', i), yb = linkY(c, 'c', j), t = v / c.top;
  if ((ya < 0 && yb < 0) || (ya > V.high && yb > V.high)) return;
  x.globalAlpha = 0.1 + 0.9 * t; x.lineWidth = 0.4 + 4 * t;
  x.beginPath(); x.moveTo(a, ya); x.bezierCurveTo(a + (b - a) * 0.45, ya, b - (b - a) * 0.45, yb, b, yb); x.stroke();
}

function paintLinks(x, c) {
  const [a, b] = linkX(), hits = new Set(S.hits);
  x.save(); x.beginPath(); x.rect(0, V.top, V.wide, V.high); x.clip();
  x.strokeStyle = V.accent;
  const list = strongest(c, 2500);
  for (let k = list.length; k-- > 0;) link(x, c, ...list[k]);
  x.globalAlpha = 1; x.font = font(14); x.textBaseline = 'middle';
  for (const side of 'rc') {
    const t = side === 'r' ? c.rows : c.cols;
    x.textAlign = side === 'r' ? 'right' : 'left';
    for (let i = Math.max(0, Math.floor(-V.y / size() - shift(c, side)) - 1); i < t.length; i++) {
      const y = linkY(c, side, i);
      if (y > V.high + 10) break;
      x.fillStyle = hits.has(side + i) ? V.accent : V.fg;
      x.fillText(shown(t[i]), side === 'r' ? a - 8 : b + 8, y, a - 12);
    }
  }
  x.restore();
  x.fillStyle = V.dim; x.font = font(12); x.textBaseline = 'middle';
  x.textAlign = 'right'; x.fillText(c.rowName, a - 8, 11); x.textAlign = 'left'; x.fillText(c.colName, b + 8, 11);
}

/* What darkens a picture where little is looked at; weight(b) is that of box b. The rim of a smoothed picture fades: it is
   drawn a pixel larger than the picture. */
function shadeOf(l, weight) {
  const n = l.boxes.length, fine = 48, light = new Float32Array(fine * fine), shade = document.createElement('canvas');
  let top = 1e-9;
  l.boxes.forEach(([x0, y0, x1, y1], b) => {
    const v = weight(b) / Math.max(1e-6, (x1 - x0) * (y1 - y0));
    for (let i = Math.round(y0 * fine); i < Math.round(y1 * fine); i++) for (let j = Math.round(x0 * fine); j < Math.round(x1 * fine); j++) light[i * fine + j] += v;
  });
  const soft = blur(blur(light, fine, fine / Math.sqrt(n) * 0.45, 1), fine, fine / Math.sqrt(n) * 0.45, 0);
  for (const v of soft) top = Math.max(top, v);
  shade.width = shade.height = fine;
  const s = shade.getContext('2d'), image = s.createImageData(fine, fine);
  soft.forEach((v, i) => { image.data[4 * i + 3] = 205 * (1 - Math.max(0, v / top) ** 0.8); });
  s.putImageData(image, 0, 0);
  return shade;
}
function paintLit(x, p, l, weight, left, top, w, h) {
  const fine = 48;
  x.drawImage(p, left, top, w, h);
  x.save(); x.beginPath(); x.rect(left, top, w, h); x.clip(); x.imageSmoothingEnabled = true; x.imageSmoothingQuality = 'high';
  x.drawImage(shadeOf(l, weight), left - w / fine, top - h / fine, w + 2 * w / fine, h + 2 * h / fine); x.restore();
}

/* The picture, lit where the word at hand looked. */
function paintPicture(x, c) {
  const l = record.labels[c.map.cols], p = picture(l), row = Math.max(0, S.row), n = c.cols.length;
  if (!p.complete || !p.naturalWidth) { p.onload = () => paint(); return; }
  const k = Math.min(V.wide / p.naturalWidth, (V.high - 30) / p.naturalHeight), w = p.naturalWidth * k, h = p.naturalHeight * k, left = (V.wide - w) / 2;
  paintLit(x, p, l, b => c.w[row * n + b], left, 0, w, h);
  P = { left, w, h };
  const tiles = l.boxes.reduce((s, [x0, y0, x1, y1]) => s + (x1 - x0) * (y1 - y0), 0), regular = Math.abs(tiles - 1) < 0.01; /* a grid needs no lines */
  const lined = regular ? [] : bestOf(c, row, -1, 3).filter(([, v]) => v >= floor(c) && v > 0.5 * bestOf(c, row, -1, 1)[0][1]);
  if (S.col >= 0 && !lined.some(([b]) => b === S.col)) lined.push([S.col, weightAt(c, row, S.col)]);
  for (const [b, v] of lined) {
    const [x0, y0, x1, y1] = l.boxes[b], text = (/^\d+,\d+$/.test(c.cols[b]) ? '' : shown(c.cols[b]) + ' ') + v.toFixed(2);
    x.strokeStyle = '#fff'; x.lineWidth = 4; x.strokeRect(left + x0 * w, y0 * h, (x1 - x0) * w, (y1 - y0) * h);
    x.strokeStyle = '#0f5ea8'; x.lineWidth = 2; x.strokeRect(left + x0 * w, y0 * h, (x1 - x0) * w, (y1 - y0) * h);
    x.font = font(13); x.textAlign = 'left'; x.textBaseline = 'middle';
    x.fillStyle = '#0f5ea8'; x.fillRect(left + x0 * w, y0 * h, x.measureText(text).width + 10, 20); x.fillStyle = '#fff'; x.fillText(text, left + x0 * w + 5, y0 * h + 10);
  }
  x.font = font(18); x.textAlign = 'center'; x.textBaseline = 'middle'; x.fillStyle = V.fg;
  x.fillText(shown(c.rows[row]), V.wide / 2, h + 16);
}
/* The smallest region under the pointer. */
let P = { left: 0, w: 1, h: 1 };
function regionUnder(px, py) {
  const u = (px - P.left) / P.w, v = py / P.h;
  let best = -1, least = 2;
  record.labels[theMap().cols].boxes.forEach(([x0, y0, x1, y1], b) => { const area = (x1 - x0) * (y1 - y0); if (u >= x0 && u < x1 && v >= y0 && v < y1 && area < least) { least = area; best = b; } });
  return best;
}
/* Gaussian along one axis of a square; at the rim the weights that are left count fully. */
function blur(a, n, sigma, alongX) {
  const out = new Float32Array(n * n), r = Math.ceil(3 * Math.max(1, sigma)), g = Array.from({ length: 2 * r + 1 }, (_, d) => Math.exp(-((d - r) ** 2) / (2 * Math.max(1, sigma) ** 2)));
  for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) {
    let total = 0, norm = 0;
    for (let d = -r; d <= r; d++) { const y = alongX ? i : i + d, x = alongX ? j + d : j; if (y >= 0 && x >= 0 && y < n && x < n) { total += g[d + r] * a[y * n + x]; norm += g[d + r]; } }
    out[i * n + j] = total / norm;
  }
  return out;
}
const pictures = new Map();
function picture(l) {
  if (!pictures.has(l)) {
    const p = new Image();
    p.src = 'data:image/' + (l.picture.startsWith('/9j/') ? 'jpeg' : 'png') + ';base64,' + l.picture;
    pictures.set(l, p);
  }
  return pictures.get(l);
}

function paint() {
  const c = current(), x = base.getContext('2d');
  x.setTransform(V.dpr, 0, 0, V.dpr, 0, 0);
  x.clearRect(0, 0, V.wide, V.high);
  if (S.view === 'picture') paintPicture(x, c);
  else if (S.view === 'graph') paintGraph(x, c);
  else if (S.view === 'memory') paintMemory(x, c);
  else if (S.view === 'links' || !c.w) paintLinks(x, c);
  else paintMatrix(x, c);
  paintOver();
}

function paintOver() {
  const c = current(), x = over.getContext('2d'), s = size();
  x.setTransform(V.dpr, 0, 0, V.dpr, 0, 0);
  x.clearRect(0, 0, V.wide, V.high);
  const at = S.row >= 0 || S.col >= 0;
  base.style.opacity = at && (S.view === 'links' || S.view === 'graph') ? 0.25 : 1;
  if (!at || S.view === 'picture') return;
  if (S.view === 'graph') { paintGraphOver(x, c); return; }
  if (S.view === 'memory') { paintMemoryOver(x, c); return; }
  x.strokeStyle = V.accent; x.fillStyle = V.accent;
  if (S.view === 'links') {
    if (S.row >= 0) for (const [j, v] of bestOf(c, S.row, -1, 60)) if (v >= floor(c)) link(x, c, S.row, j, v);
    if (S.row < 0) for (const [i, v] of bestOf(c, -1, S.col, 60)) if (v >= floor(c)) link(x, c, i, S.col, v);
    const [a, b] = linkX();
    x.globalAlpha = 1; x.font = 'bold ' + font(14); x.textBaseline = 'middle'; x.fillStyle = V.fg;
    const word = (side, i) => { x.textAlign = side === 'r' ? 'right' : 'left'; x.fillText(shown((side === 'r' ? c.rows : c.cols)[i]), side === 'r' ? a - 8 : b + 8, linkY(c, side, i), a - 12); };
    if (S.row >= 0) { word('r', S.row); for (const [j] of bestOf(c, S.row, -1, 3)) word('c', j); }
    else { word('c', S.col); for (const [i] of bestOf(c, -1, S.col, 3)) word('r', i); }
    return;
  }
  x.save(); x.beginPath(); x.rect(0, 0, V.wide, V.high); x.clip(); x.lineWidth = 1.5;
  if (S.row >= 0 && yOf(S.row + 1) > V.top) {
    x.globalAlpha = 0.14; x.fillRect(0, Math.max(V.top, yOf(S.row)), V.left, tall()); x.globalAlpha = 1;
    x.strokeRect(Math.max(V.left, xOf(0)), yOf(S.row), s * c.cols.length, tall());
  }
  if (S.col >= 0 && xOf(S.col + 1) > V.left) x.strokeRect(xOf(S.col), Math.max(V.top, yOf(0)), s, tall() * c.rows.length);
  x.restore();
}
