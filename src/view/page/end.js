/* end.js - the page begins. */
(() => {
  let kept = null;
  try { kept = localStorage.getItem('regard-theme'); } catch { /* a file may not keep anything */ }
  const asked = document.documentElement.dataset.theme || kept || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
  document.documentElement.dataset.theme = /[#&]theme=(light|dark)/.test(location.hash) ? RegExp.$1 : asked;
  wire();
  /* #view=links&layer=1&head=2&combine=mean&row=4&theme=dark: a view that can be sent to somebody */
  const wish = new URLSearchParams(location.hash.slice(1));
  const text = $('record').textContent.trim();
  if (text) load(JSON.parse(text));
  else $('title').textContent = document.title = 'Attention';
  if (record && record.maps.length && wish.size) {
    for (const k of ['layer', 'head', 'step', 'row', 'col']) if (wish.has(k)) S[k] = +wish.get(k);
    for (const k of ['view', 'combine', 'name']) if (wish.has(k)) S[k] = wish.get(k);
    S.held = S.row >= 0 || S.col >= 0;
    refresh(true);
    glance();
  }
  drawnAt = performance.now();
  if (live) liveBox();
  if (testing) selfTest();
})();
