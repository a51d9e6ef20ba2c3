/* test.js - page.html#test: the page looks at itself in a real browser and writes what it found into #test-result. */
async function selfTest() {
  const hold = make('iframe', { hidden: true }), lines = [], frame = () => new Promise(requestAnimationFrame);
  let failed = 0;
  document.body.append(hold);
  hold.contentDocument.open(); /* the load event waits for this frame, and the browser's dump for the load event */
  const check = (name, ok, note = '') => { failed += !ok; lines.push((ok ? 'ok   ' : 'FAIL ') + name + (note === '' ? '' : ' ' + note)); };
  const timed = f => { const t = performance.now(); f(); base.getContext('2d').getImageData(0, 0, 1, 1); over.getContext('2d').getImageData(0, 0, 1, 1); return performance.now() - t; };
  const fire = (type, px, py) => { const r = over.getBoundingClientRect(); over.dispatchEvent(new PointerEvent(type, { clientX: r.left + px, clientY: r.top + py, pointerId: 7, bubbles: true })); };
  const press = k => document.dispatchEvent(new KeyboardEvent('keydown', { key: k, bubbles: true }));
  const pixel = (canvas, px, py) => [...canvas.getContext('2d').getImageData(Math.round(px * V.dpr), Math.round(py * V.dpr), 1, 1).data];
  const near = (a, b) => Math.abs(a[0] - b[0]) + Math.abs(a[1] - b[1]) + Math.abs(a[2] - b[2]) < 12;
  const sum = w => w.reduce((s, v) => s + v, 0);
  try {
    await frame(); await frame();
    const n = record.maps.length ? current().rows.length : 0, large = n > 500;
    const painted = performance.getEntriesByType('paint').map(p => p.startTime), first = Math.max(drawnAt, ...painted);
    check('first paint', first < (large ? 1500 : n >= 200 ? 300 : 1000), first.toFixed(0) + ' ms, drawn at ' + drawnAt.toFixed(0) + ' ms');
    if (record.maps.length) { await viewerTests(); }
    check('nothing is loaded from elsewhere', performance.getEntriesByType('resource').every(r => /^(data|blob|about):/.test(r.name)));
    check('every control has a name', [...document.querySelectorAll('button,select,input,textarea')].every(e => e.textContent.trim() || e.getAttribute('aria-label') || e.closest('label')));
    check('curves are drawn', (record.curves || []).length === document.querySelectorAll('#curves svg').length);
  } catch (error) { check('no exception', false, error.stack); }

  async function viewerTests() {
    const c = current(), n = c.rows.length, limit = n > 500 ? 50 : 16;
    if (c.w && S.view !== 'picture') {
      setView('matrix');
      const [i, j, v] = strongest(c, 1)[0], cx = xOf(j + 0.5), cy = yOf(i + 0.5);
      if (size() >= 4) {
        check('the strongest cell has the strongest colour', near(pixel(base, cx, cy), ramp(v / c.top)), pixel(base, cx, cy) + ' for ' + ramp(v / c.top));
        fire('pointermove', cx, cy);
        check('hover finds the cell', S.row === i && S.col === j && !tip.hidden && tip.textContent.includes(v.toFixed(3)), tip.textContent);
        check('details name what it looks at', $('out').firstChild && $('out').firstChild.textContent.includes(v.toFixed(3)));
      }
      const hovers = Array.from({ length: 40 }, (_, k) => timed(() => { fire('pointermove', V.left + 5 + (V.wide - V.left - 60) * k / 40, V.top + 5 + (V.high - V.top - 20) * k / 40); document.body.offsetHeight; }));
      hovers.splice(0, 4); /* the browser settles in */
      const median = a => a.sort((p, q) => p - q)[a.length >> 1], four = Math.min(...[0, 9, 18, 27].map(k => median(hovers.slice(k, k + 9))));
      check('hover', four < limit, four.toFixed(1) + ' ms, the median of the best nine in a row of 36; of all ' + median([...hovers]).toFixed(1) + ' ms');
      const redraw = Math.min(...[0, 1, 2].map(() => { V.imageKey = ''; return timed(paint); }));
      check('redraw', redraw < (n > 500 ? 400 : 100), redraw.toFixed(1) + ' ms');
      fire('pointerleave', 0, 0);
      check('leaving lets go', S.row < 0 && S.col < 0);
      fire('pointerdown', cx, cy); fire('pointerup', cx, cy); fire('pointerleave', 0, 0);
      check('a click holds', S.held && S.row >= 0);
      press('Escape');
      check('Escape lets go', !S.held && S.row < 0);
      press('ArrowDown'); press('ArrowRight'); press('ArrowDown');
      check('arrows move', S.row === Math.min(1, n - 1) && S.col === Math.min(1, c.cols.length - 1), S.row + ',' + S.col);
      press('Escape');
      zoomAt(3, V.left + 50, V.top + 50); await frame(); await frame();
      check('zoom stays inside', V.x <= 0 && V.y <= 0 && V.zoom >= 1);
      press('0');
    }
    if (c.w && S.view !== 'picture') {
      S.threshold = 1.01; paint();
      check('the threshold hides weights', near(pixel(base, xOf((c.cols.length >> 1) + 0.5), yOf((n >> 1) + 0.5)), ramp(0)));
      S.threshold = 0; paint();
    }
    const word = c.rows[Math.min(1, n - 1)];
    if (word) { check('search finds a word', find(word) > 0); nextHit(); check('Enter goes to it', S.held && (S.row >= 0 || S.col >= 0)); press('Escape'); find(''); }
    if (ofLayer().length > 1) {
      const before = S.head; press('h');
      check('h picks the next head', S.head !== before && $('head').value === String(S.head), before + ' to ' + S.head); press('H');
      setCombine('mean'); const mean = current().w, one = weightsOf(theMap());
      check('average keeps the sum', Math.abs(sum(mean) - sum(one)) < 0.02 * sum(one), sum(mean).toFixed(2) + ' and ' + sum(one).toFixed(2));
      setCombine('max'); check('maximum is no smaller', current().w.every((v, i) => v >= mean[i] - 1e-6)); setCombine('one');
    }
    if (canRoll()) {
      setCombine('rollout'); const w = current().w, k = c.cols.length;
      check('rollout rows sum to one', Math.abs(sum(w.slice(0, k)) - 1) < 1e-3, sum(w.slice(0, k)).toFixed(4)); setCombine('one');
    }
    const hyps = document.querySelectorAll('[data-hyp]');
    if (hyps.length > 1) {
      const chosen = record.texts.filter(t => t.role === 'hypothesis').findIndex(t => t.chosen);
      check('the chosen hypothesis is shown', theMap().hypothesis === chosen && hyps[chosen].getAttribute('aria-pressed') === 'true');
      const other = chosen ? 0 : 1; hyps[other].click();
      check('another hypothesis has its own matrix', theMap().hypothesis === other && current().rows !== c.rows); hyps[chosen].click();
    }
    if (isGraph(c.map)) {
      const drawn = timed(() => { G.key = ''; setView('graph'); });
      check('graph is drawn', drawn < 400, drawn.toFixed(1) + ' ms');
      const [i, j] = G.edges[G.edges.length - 1];
      check('every node has its place', G.nodes.every(k => nodeX(k) >= 0 && nodeX(k) <= V.wide && nodeY(k) >= 0 && nodeY(k) <= V.high) && G.nodes.includes(i) && G.nodes.includes(j));
      fire('pointermove', nodeX(i), nodeY(i));
      check('hover finds the node', S.row === i && S.col === i && [...$('out').children].some(e => e.textContent.includes(c.cols[j])), S.row + ' for ' + i);
      check('the node is marked', near(pixel(over, nodeX(i), nodeY(i)), V.accent.match(/\w\w/g).map(h => parseInt(h, 16))));
      if (c.rows.length > 250) { fire('pointerdown', nodeX(j), nodeY(j)); fire('pointerup', nodeX(j), nodeY(j)); check('a clicked node becomes the middle', G.centre === j && G.nodes.length < c.rows.length); }
      press('Escape'); fire('pointerleave', 0, 0);
      const parsed = new DOMParser().parseFromString(svg(), 'image/svg+xml');
      check('SVG of the graph is well formed', !parsed.querySelector('parsererror') && parsed.querySelectorAll('circle').length >= G.nodes.length);
    }
    if (isMemory(c.map)) {
      setView('memory');
      check('a panel for each head', M.panels.length === record.maps.length, String(M.panels.length));
      const p = M.panels[M.panels.length - 1]; fire('pointermove', p.x + 2.5 * p.cell, p.y + 3.5 * p.slot);
      check('hover finds step and place', S.row === 2 && S.col === 3 && current().map === p.m, S.row + ',' + S.col); fire('pointerleave', 0, 0);
    }
    if (record.labels[c.map.cols].boxes) {
      setView('picture');
      const shown = () => current().map === c.map && P.w > 1;
      for (let k = 0; k < 50 && !shown(); k++) await frame();
      const b = record.labels[c.map.cols].boxes, at = bestOf(c, 0, -1, 1)[0][0], [x0, y0, x1, y1] = b[at];
      fire('pointermove', P.left + P.w * (x0 + x1) / 2, P.h * (y0 + y1) / 2);
      check('hover finds the region', S.row === 0 && S.col >= 0 && $('in').firstChild, S.row + ',' + S.col); fire('pointerleave', 0, 0); S.row = -1; setView('links');
    }
    const linked = Math.min(timed(() => setView('links')), timed(paint));
    check('links are drawn', linked < (n > 500 ? 400 : 200), linked.toFixed(1) + ' ms');
    const [a] = linkX(); fire('pointermove', a - 20, V.top + V.cell * (shift(current(), 'r') + 0.5));
    check('hover on a linked word', S.row === 0 && S.col < 0, S.row + ',' + S.col); fire('pointerleave', 0, 0);
    const vector = svg(), parsed = new DOMParser().parseFromString(vector, 'image/svg+xml');
    check('SVG of links is well formed', !parsed.querySelector('parsererror') && parsed.querySelectorAll('path').length > 0);
    if (c.w) {
      setView('matrix');
      const grid = new DOMParser().parseFromString(svg(), 'image/svg+xml');
      check('SVG of the matrix is well formed', !grid.querySelector('parsererror') && grid.querySelectorAll('rect,image').length > 1);
    }
    const png = await picturePng(), head = new Uint8Array(await png.slice(0, 4).arrayBuffer());
    check('PNG is a PNG', png.size > 200 && head[1] === 80 && head[2] === 78, png.size + ' bytes');
    setTheme('dark'); const dark = getComputedStyle(document.body).backgroundColor;
    check('dark is dark', dark === 'rgb(22, 24, 31)' && (!c.w || near(ramp(0), [22, 24, 31])), dark); setTheme('light');
    const lum = s => { const v = s.match(/\w\w/g).map(h => parseInt(h, 16) / 255).map(u => u <= 0.04045 ? u / 12.92 : ((u + 0.055) / 1.055) ** 2.4); return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2]; };
    for (const t of ['light', 'dark']) {
      document.documentElement.dataset.theme = t;
      const full = s => s.length === 4 ? s.replace(/\w/g, '$&$&') : s, b = lum(full(colour('bg')));
      for (const k of ['fg', 'dim', 'accent']) { const f = lum(full(colour(k))), r = (Math.max(f, b) + 0.05) / (Math.min(f, b) + 0.05); check('contrast of ' + k + ' when ' + t, r >= 4.5, r.toFixed(1)); }
    }
    setTheme('light');
    check('no sideways scrolling', document.documentElement.scrollWidth <= innerWidth + 1, document.documentElement.scrollWidth + ' in ' + innerWidth);
    const thumbs = document.querySelectorAll('#heads button');
    if (thumbs.length > 1) { thumbs[thumbs.length - 1].click(); check('a small head can be picked', String(S.head) === thumbs[thumbs.length - 1].dataset.head); }
  }
  document.title = failed ? 'FAIL' : 'PASS';
  document.body.append(make('pre', { id: 'test-result', textContent: lines.join('\n') + '\n' + (failed ? 'FAIL ' + failed : 'PASS ' + lines.length) }));
  $('record').textContent = '';
  hold.contentDocument.close();
}
