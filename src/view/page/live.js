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

async function liveBox() {
  $('live').hidden = false;
  try {
    const languages = await (await fetch('/languages')).json(), name = code => (languages.find(l => l.code === code) || { name: code }).name;
    const all = languages.flatMap(l => l.targets || []), others = languages.flatMap(l => (l.targets || []).filter(t => t !== l.code)), targets = [...new Set(others.length ? others : all)];
    options($('from'), languages.map(l => l.code), languages[0].code, name);
    options($('to'), targets, targets[0], name);
  } catch (error) { $('note').textContent = 'The server does not name its languages: ' + error.message; }
  $('live').onsubmit = e => { e.preventDefault(); submit(); };
  $('text').onkeydown = e => { if (e.key === 'Enter' && !e.shiftKey) { e.preventDefault(); $('live').requestSubmit(); } };
}
