/* live.js - the box of a served page: the translation at once, line by line; the attention of the chosen line when it is there. */
async function ask(path, body) {
  const answer = await fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }), json = await answer.json();
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
    const r = await ask('/v1/attention', request(source));
    if (number === asked) load(r);
  } catch (error) { if (number === asked) $('note').textContent = 'No attention to show: ' + error.message; }
}

/* Lines of the answer stand for lines of the text: the server keeps their number. One line is plain text, several are buttons. */
function showAnswer(number, text, translation) {
  const sources = text.split('\n'), lines = translation.split('\n'), full = sources.flatMap((s, i) => s.trim() ? [i] : []);
  const parts = lines.map((t, i) => full.length < 2 || !full.includes(i) ? document.createTextNode(t) : make('button', { type: 'button', className: 'line', textContent: t, dir: 'auto', title: sources[i] }));
  $('answer').replaceChildren(...parts.flatMap((p, i) => i ? ['\n', p] : [p]));
  parts.forEach((p, i) => { p.onclick = () => showLine(number, sources[i], p); });
  return showLine(number, sources[full[0]], parts[full[0]]);
}

async function submit() {
  const text = $('text').value.replace(/\r\n?/g, '\n').replace(/\n+$/, ''), number = ++asked;
  $('answer').textContent = $('note').textContent = '';
  if (!text.trim()) return;
  try {
    const { translatedText } = await ask('/translate', request(text));
    if (number === asked) await showAnswer(number, text, translatedText);
  } catch (error) { if (number === asked) $('note').textContent = error.message; }
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

/* What the box begins with, in the source's language; without one, nothing. */
const examples = { en: 'the red house', de: 'das rote Haus', fr: 'la maison rouge', es: 'la casa roja', it: 'la casa rossa', nl: 'het rode huis', pt: 'a casa vermelha', cs: 'červený dům' };
let typing = 0;
const forget = () => { before = null; $('change').replaceChildren(); };

async function liveBox() {
  $('live').hidden = false;
  remover = removeWord;
  try {
    const languages = await (await fetch('/languages')).json(), name = code => (languages.find(l => l.code === code) || { name: code }).name;
    const all = languages.flatMap(l => l.targets || []), others = languages.flatMap(l => (l.targets || []).filter(t => t !== l.code)), targets = [...new Set(others.length ? others : all)];
    options($('from'), languages.map(l => l.code), languages[0].code, name);
    options($('to'), targets, targets[0], name);
  } catch (error) { $('note').textContent = 'The server does not name its languages: ' + error.message; }
  $('live').onsubmit = e => { e.preventDefault(); clearTimeout(typing); forget(); submit(); };
  $('text').oninput = () => { clearTimeout(typing); forget(); typing = setTimeout(submit, 350); }; /* the map follows what is typed */
  if (!$('text').value && examples[$('from').value]) { $('text').value = examples[$('from').value]; submit(); }
  $('text').onkeydown = e => { if (e.key === 'Enter' && !e.shiftKey) { e.preventDefault(); $('live').requestSubmit(); } };
}
