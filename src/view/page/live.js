/* live.js - the box of a served page: the translation at once, line by line; the attention of the chosen line when it is there. */
let asking = new AbortController(); /* a newer text cancels what was asked for the older one */
async function ask(path, body, signal) {
  const answer = await fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body), signal }), json = await answer.json();
  if (!answer.ok) throw new Error(json.error || answer.statusText);
  return json;
}

let asked = 0; /* answers to older questions are not shown */
function request(q) {
  const body = { q, source: $('from').value || 'auto', target: $('to').value || 'und', format: $('as-html').checked ? 'html' : 'text' };
  const key = new URLSearchParams(location.hash.slice(1)).get('key');
  if (key) body.api_key = key; /* a server that asks for one: /#key=... */
  return body;
}

/* What cannot be drawn is said beside the translation, not instead of it. */
async function showLine(number, source, line) {
  document.querySelectorAll('#answer .line').forEach(e => e.setAttribute('aria-pressed', e === line));
  $('note').textContent = '';
  try {
    const r = await ask('/v1/attention', request(source), asking.signal);
    if (number === asked) load(r);
  } catch (error) { if (number === asked) $('note').textContent = 'No attention to show: ' + error.message; }
}

/* 0: sure, 4: hardly. */
const unsure = p => p >= 0.9 ? 0 : p >= 0.7 ? 1 : p >= 0.5 ? 2 : p >= 0.3 ? 3 : 4;

/* The words of a line, each with how sure the model was; `scored` is what is left of the words of all sentences, in their order. */
function coloured(line, scored) {
  return line.split(/(\s+)/).map(w => {
    const at = w.trim() ? scored.slice(0, 8).findIndex(s => s.text === w) : -1; /* a word that was joined to another is passed over */
    if (at < 0) return w;
    const known = scored.splice(0, at + 1)[at];
    const e = make('span', { className: 'w', textContent: w, title: (100 * known.probability).toFixed(0) + ' %' });
    e.dataset.level = unsure(known.probability);
    return e;
  });
}

/* Lines of the answer stand for lines of the text: the server keeps their number. One line is plain text, several are buttons. */
function showAnswer(number, text, { translatedText, scores }) {
  const sources = text.split('\n'), lines = translatedText.split('\n'), full = sources.flatMap((s, i) => s.trim() ? [i] : []);
  const scored = (scores || []).flatMap(s => s.words);
  const parts = lines.map((t, i) => {
    const words = $('as-html').checked ? [t] : coloured(t, scored);
    return full.length < 2 || !full.includes(i) ? make('span', {}, ...words) : make('button', { type: 'button', className: 'line', dir: 'auto', title: sources[i] }, ...words);
  });
  $('answer').replaceChildren(...parts.flatMap((p, i) => i ? ['\n', p] : [p]));
  $('copy').disabled = false;
  $('legend').hidden = !$('answer').querySelector('.w');
  parts.forEach((p, i) => { if (p.className === 'line') p.onclick = () => showLine(number, sources[i], p); });
  return showLine(number, sources[full[0]], parts[full[0]]);
}

function showFound({ detectedLanguage: found }) {
  const auto = [...$('from').options].find(o => o.value === 'auto');
  if (auto) auto.textContent = found && $('from').value === 'auto' ? 'Detected: ' + languageName(found.language) : 'Detect language';
}

async function submit() {
  const text = $('text').value.replace(/\r\n?/g, '\n').replace(/\n+$/, ''), number = ++asked;
  asking.abort();
  asking = new AbortController();
  $('note').textContent = '';
  if (!text.trim()) { $('answer').replaceChildren(); $('copy').disabled = true; $('legend').hidden = true; return; }
  $('answer').classList.add('waiting');
  try {
    const answer = await ask('/translate', { ...request(text), scores: true }, asking.signal);
    if (number !== asked) return;
    $('answer').classList.remove('waiting');
    showFound(answer);
    await showAnswer(number, text, answer);
  } catch (error) { if (number === asked) { $('answer').replaceChildren(); $('answer').classList.remove('waiting'); $('copy').disabled = true; $('legend').hidden = true; $('note').textContent = error.message; } }
}

/* Words of a that b does not have in the same order, and the other way round, for what a removed word changed. */
function changed(a, b) {
  const n = a.length, m = b.length, t = Array.from({ length: n + 1 }, () => new Uint16Array(m + 1));
  for (let i = n; i-- > 0;) for (let j = m; j-- > 0;) t[i][j] = a[i] === b[j] ? t[i + 1][j + 1] + 1 : Math.max(t[i + 1][j], t[i][j + 1]);
  const out = [];
  for (let i = 0, j = 0; i < n || j < m;) {
    if (i < n && j < m && a[i] === b[j]) { out.push([b[j], '']); i++; j++; }
    else if (i < n && (j === m || t[i + 1][j] >= t[i][j + 1])) out.push([a[i++], 'del']);
    else out.push([b[j++], 'ins']);
  }
  return out;
}

/* The text without the word that source piece i is part of; pieces follow each other in the text. */
function without(text, pieces, i) {
  let at = 0;
  for (let k = 0; k <= i; k++) {
    const found = text.toLowerCase().indexOf(pieces[k].toLowerCase(), at);
    if (found < 0) continue;
    if (k === i) {
      const begin = text.lastIndexOf(' ', found) + 1, space = text.indexOf(' ', found), end = space < 0 ? text.length : space;
      return (text.slice(0, begin) + text.slice(end + 1)).trim();
    }
    at = found + pieces[k].length;
  }
  return text;
}

let before = null; /* the text that words were removed from, and its answer */
async function removeWord(i, pieces) {
  const text = $('text').value, shorter = without(text, pieces, i);
  if (shorter === text || !shorter) return;
  before = before || { text, answer: $('answer').textContent };
  $('text').value = shorter;
  await submit();
  if (!before) return;
  const back = make('button', { type: 'button', textContent: 'put back' });
  back.onclick = () => { $('text').value = before.text; before = null; $('change').replaceChildren(); submit(); };
  $('change').replaceChildren('Without “' + pieces[i] + '”: ', ...changed(before.answer.split(' '), $('answer').textContent.split(' ')).flatMap(([w, how]) => [how ? make(how, { textContent: w }) : w, ' ']), back);
}

/* ------------------------------------------------------------------------------------------------- languages */

let languages = [];
const languageName = code => (languages.find(l => l.code === code) || { name: code }).name;
const targetsOf = code => {
  const of = languages.filter(l => code === 'auto' || l.code === code), all = [...new Set(of.flatMap(l => l.targets || []))];
  const others = [...new Set(of.flatMap(l => (l.targets || []).filter(t => t !== l.code)))];
  return others.length ? others.sort() : all;
};

/* What can be chosen as target depends on the source; swapping needs the opposite direction. */
function settleLanguages(wanted) {
  const targets = targetsOf($('from').value), now = wanted || $('to').value;
  options($('to'), targets, targets.includes(now) ? now : targets[0], languageName);
  $('swap').disabled = $('from').value === 'auto' || !targetsOf($('to').value).includes($('from').value) || ![...$('from').options].some(o => o.value === $('to').value);
}

async function readLanguages() {
  languages = await (await fetch('/languages')).json();
  const sources = languages.filter(l => (l.targets || []).some(t => t !== l.code)), from = (sources.length ? sources : languages).map(l => l.code);
  options($('from'), [...from, ...(from.includes('und') ? [] : ['auto'])], from[0], code => code === 'auto' ? 'Detect language' : languageName(code));
  settleLanguages();
}

function swap() {
  const from = $('from').value, to = $('to').value, text = $('answer').textContent;
  $('from').value = to;
  settleLanguages(from);
  if (text) $('text').value = text;
  grow();
  forget();
  submit();
}

/* ------------------------------------------------------------------------------------------------------- the box */

async function copyAnswer() {
  const text = $('answer').textContent;
  try { await navigator.clipboard.writeText(text); }
  catch { /* only pages that came over TLS or from this machine may */
    const box = make('textarea', { value: text });
    document.body.append(box); box.select(); document.execCommand('copy'); box.remove();
  }
  $('copy').textContent = 'Copied';
  setTimeout(() => { $('copy').textContent = 'Copy'; }, 1200);
}

function grow() { const t = $('text'); t.style.minHeight = t.style.height = ''; t.style.minHeight = Math.min(t.scrollHeight + 2, innerHeight * 0.6) + 'px'; }

/* What the box begins with, in the source's language; without one, nothing. */
const examples = { en: 'the red house', de: 'das rote Haus', fr: 'la maison rouge', es: 'la casa roja', it: 'la casa rossa', nl: 'het rode huis', pt: 'a casa vermelha', cs: 'červený dům', pl: 'czerwony dom', sv: 'det röda huset', da: 'det røde hus', uk: 'червоний дім', ru: 'красный дом' };
let typing = 0;
const forget = () => { before = null; $('change').replaceChildren(); };

async function liveBox() {
  $('live').hidden = false;
  remover = removeWord;
  try { await readLanguages(); } catch (error) { $('note').textContent = 'The server does not name its languages: ' + error.message; }
  const again = () => { clearTimeout(typing); forget(); submit(); };
  $('live').onsubmit = e => { e.preventDefault(); again(); };
  $('from').onchange = () => { const example = Object.values(examples).includes($('text').value); settleLanguages(); if (example && examples[$('from').value]) $('text').value = examples[$('from').value]; again(); };
  $('to').onchange = () => { settleLanguages(); again(); };
  $('as-html').onchange = again;
  $('sure').onchange = () => $('answer').classList.toggle('calm', !$('sure').checked);
  $('swap').onclick = swap;
  $('copy').onclick = copyAnswer;
  $('text').oninput = () => { clearTimeout(typing); forget(); grow(); typing = setTimeout(submit, 350); }; /* the map follows what is typed */
  if (!$('text').value && examples[$('from').value]) { $('text').value = examples[$('from').value]; submit(); }
  $('text').onkeydown = e => { if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) { e.preventDefault(); $('live').requestSubmit(); } };
}
