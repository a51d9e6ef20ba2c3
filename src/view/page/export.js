/* export.js - what is seen, as SVG text or PNG, on the page's own ground. */
const xml = t => t.replace(/[&<>"]/g, c => '&#' + c.charCodeAt(0) + ';').replace(/[\x00-\x08\x0b\x0c\x0e-\x1f]/g, '');

function svgMatrix(c) {
  const s = size() < 6 && c.rows.length * c.cols.length > 10000 ? V.cell : size(), n = c.cols.length, out = [], h = s * V.tall;
  const left = V.left, top = V.top;
  if (c.rows.length * n > 10000) {
    out.push(`<image x="${left}" y="${top}" width="${s * n}" height="${h * c.rows.length}" preserveAspectRatio="none" style="image-rendering:pixelated" href="${heat(c.w, c.rows.length, n, c.top, floor(c), 4096).toDataURL()}"/>`);
  } else {
    c.w.forEach((v, i) => { if (v >= floor(c) && v / c.top > 0.004) out.push(`<rect x="${(left + (i % n) * s).toFixed(2)}" y="${(top + (i / n | 0) * h).toFixed(2)}" width="${s.toFixed(2)}" height="${h.toFixed(2)}" fill="${css(v / c.top)}"><title>${xml(c.rows[i / n | 0] + ' → ' + c.cols[i % n] + ' ' + v.toFixed(3))}</title></rect>`); });
  }
  out.push(`<rect x="${left}" y="${top}" width="${s * n}" height="${h * c.rows.length}" fill="none" stroke="${V.dim}"/>`);
  const every = Math.max(1, Math.ceil(14 / h)), across = Math.max(1, Math.ceil(18 / s));
  c.rows.forEach((t, i) => { if (i % every === 0) out.push(`<text x="${left - 6}" y="${(top + (i + 0.5) * h + 4).toFixed(2)}" text-anchor="end">${xml(shown(t))}</text>`); });
  c.cols.forEach((t, j) => { if (j % across === 0) out.push(`<text transform="translate(${(left + (j + 0.5) * s + 3).toFixed(2)} ${top - 5}) rotate(-55)">${xml(shown(t))}</text>`); });
  return [out, left + s * n + 70, top + h * c.rows.length + 10];
}

function svgLinks(c) {
  const [a, b] = linkX(), s = V.cell, out = [], y = (side, i) => V.top + (i + shift(c, side) + 0.5) * s;
  for (const [i, j, v] of strongest(c, 2500).reverse()) {
    const t = v / c.top, ya = y('r', i), yb = y('c', j), k = (b - a) * 0.45;
    out.push(`<path d="M${a} ${ya}C${(a + k).toFixed(1)} ${ya} ${(b - k).toFixed(1)} ${yb} ${b} ${yb}" stroke="${V.accent}" stroke-width="${(0.4 + 4 * t).toFixed(2)}" stroke-opacity="${(0.1 + 0.9 * t).toFixed(2)}" fill="none"/>`);
  }
  c.rows.forEach((t, i) => out.push(`<text x="${a - 8}" y="${y('r', i) + 4}" text-anchor="end">${xml(shown(t))}</text>`));
  c.cols.forEach((t, j) => out.push(`<text x="${b + 8}" y="${y('c', j) + 4}">${xml(shown(t))}</text>`));
  return [out, V.wide, V.top + Math.max(c.rows.length, c.cols.length) * s + 10];
}

function svg() {
  const c = current();
  if (S.view === 'picture' || S.view === 'memory') return `<svg xmlns="http://www.w3.org/2000/svg" width="${V.wide}" height="${V.high}"><image width="${V.wide}" height="${V.high}" href="${base.toDataURL()}"/></svg>`;
  const [out, w, h] = S.view === 'graph' ? svgGraph(c) : S.view === 'links' || !c.w ? svgLinks(c) : svgMatrix(c);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${Math.ceil(w)}" height="${Math.ceil(h)}" viewBox="0 0 ${Math.ceil(w)} ${Math.ceil(h)}" font-family="Noto Sans,Liberation Sans,sans-serif" font-size="13" fill="${V.fg}"><title>${xml(record.title + ' · ' + caption())}</title><rect width="100%" height="100%" fill="${V.bg}"/>${out.join('')}</svg>`;
}

function flat() {
  const c = make('canvas', { width: base.width, height: base.height }), x = c.getContext('2d');
  x.fillStyle = V.bg; x.fillRect(0, 0, c.width, c.height);
  x.drawImage(base, 0, 0); x.drawImage(over, 0, 0);
  return c;
}
const picturePng = () => new Promise(done => flat().toBlob(done, 'image/png'));

function save(blob, name) {
  const a = make('a', { href: URL.createObjectURL(blob), download: name });
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 1000);
}
async function copyText(text) {
  try { await navigator.clipboard.writeText(text); } catch {
    const t = make('textarea', { value: text });
    document.body.append(t); t.select(); document.execCommand('copy'); t.remove();
  }
  $('copy-svg').textContent = 'Copied';
  setTimeout(() => { $('copy-svg').textContent = 'Copy SVG'; }, 1200);
}
