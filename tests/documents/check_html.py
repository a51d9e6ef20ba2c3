# HTML documents of every kind, "translated" to capitals by document_upper, looked at with an independent parser:
# the same tags nested in the same way, every text node and text attribute in capitals, all else as it was.
import html.parser, subprocess, sys, os

TOOL = sys.argv[1]
VOID = {'area', 'base', 'br', 'col', 'embed', 'hr', 'img', 'input', 'link', 'meta', 'param', 'source', 'track', 'wbr'}
KEPT = {'code', 'kbd', 'samp', 'var', 'tt', 'math', 'svg', 'script', 'style', 'pre'}
TEXTS = {'title', 'alt', 'placeholder', 'aria-label', 'label'}

CASES = [
    # plain and blocks
    'plain text', '<p>one paragraph</p>', '<p>one</p><p>two</p>', '<div><p>one</p> between <p>two</p></div>',
    '<h1>head</h1>\n<p>body text</p>\n', '<ul><li>first</li><li>second</li></ul>', '<ul><li>first<li>second</ul>',
    '<ol start="3"><li>x y</li></ol>', '<dl><dt>term<dd>its meaning</dl>',
    '<table><thead><tr><th>a b</th></tr></thead><tbody><tr><td>c</td><td>d e</td></tr></tbody></table>',
    '<table><tr><td>one<td>two<tr><td>three</table>', 'line one<br>line two<br/>line three',
    '<blockquote>said <cite>somebody</cite></blockquote>', '<details><summary>more</summary>hidden text</details>',
    '<figure><img src="x.png"><figcaption>a figure</figcaption></figure>', '<p>a<hr>b</p>',
    '<select><option value="x">red<option selected>blue</select>', '<textarea rows=2>some\ntext</textarea>',
    '<button type="submit">press me</button>', '<form><label for="a">name</label><input id=a></form>',
    '<!DOCTYPE html>\n<html lang="en">\n<head><title>the title</title></head>\n<body>text</body>\n</html>\n',
    # inline
    'some <b>bold</b> text', '<b>all bold</b>', 'a <b>b</b> <i>c</i> d', '<a href="x">link</a> first',
    'last <a href="x?a=1&amp;b=2">link</a>', 'in<b>side</b> a word', '<span class="a b">one</span><span>two</span>',
    'an <img src="i.png"> image', 'text<sup>2</sup> and H<sub>2</sub>O', 'a <!-- comment --> b', '<em>x</em>, <em>y</em>.',
    'soft<wbr>break', '<abbr>HTML</abbr> text', '<small>small print</small>', '<mark>one two three</mark> four',
    '<q>quoted</q> and <del>deleted</del> <ins>inserted</ins>', '<font color=red>old</font> tags', '<u></u>empty <u></u>',
    # nested
    '<b>a <i>b</i> c</b> d', '<b><i><u>deep</u></i></b>', '<a href="x"><b>bold</b> link</a> and more',
    '<p><span><span><span>three</span></span></span></p>', '<b>x <i>y</i></b> <i>z <b>w</b></i>',
    '<div><div><div>block <em>inside</em> block</div></div></div>', '<li><p>item <strong>one</strong></p></li>',
    '<a href="1"><img src="a.png" alt="picture"></a>', '<p>first. <b>Second sentence. Third</b> sentence. Fourth.</p>',
    '<p><i>One. Two. Three.</i></p>', '<td><b>x</b><br><i>y</i></td>',
    # entities
    'a &amp; b', '&lt;tag&gt; as text', 'caf&eacute; na&#239;ve &#xE9;t&#xe9;', 'x &nbsp; y', '&copy; 2020 somebody &mdash; us',
    'AT&T and R&D', '&quot;quoted&quot; &apos;too&apos;', '&nosuch; name', '1 &lt; 2 &amp;&amp; 3 &gt; 2 is true', '&hellip;and so on',
    '&CounterClockwiseContourIntegral; sign', '&copy without semicolon', 'a &#8364;5 note', '&notanentity',
    # attributes
    '<p title="a hint">text</p>', '<img src="a.png" alt="a red cat">', '<input type="text" placeholder="your name">',
    '<a href="x" title="read &quot;this&quot; now">link</a>', '<img alt=cat src=a.png> and text',
    "<img alt='single quotes' src=\"b.png\">", '<div title="x &amp; y" data-title="kept">text</div>',
    '<meta name="description" content="about this page">', '<meta name="viewport" content="width=device-width">',
    '<input type="submit" value="send it">', '<input type="text" value="kept value">', '<p data-x="a > b">text</p>',
    '<b title="bold hint">bold</b> text', '<button aria-label="close it">x</button>', '<img alt="" src="a">empty',
    '<track label="english text" kind="captions">', '<TD TITLE="UPPER">mixed CASE</TD>',
    # what is kept
    'press <code>ctrl</code> now', '<pre>kept text\n  here</pre>after', '<script>if (a < b) { x("<b>no</b>") }</script>text',
    '<style>p > b { color: red }</style><p>text</p>', '<p translate="no">kept</p><p>not kept</p>',
    'a <span translate="no">Brand Name</span> thing', '<span class="notranslate">kept</span> text',
    'see https://example.org/path?q=a&amp;b=c for more', 'mail me@example.org today', 'hello %s, you have %1$d new {things}',
    'use ${name} and {{ value }} here', '<kbd>Esc</kbd> ends it', '<svg><text>kept</text></svg> drawn', '<var>x</var> is a number',
    # broken
    'a <b>never closed', 'never opened</b> text', '<b>crossed <i>tags</b> here</i> end', '<p>unclosed <a href="x">link<p>next',
    'a < b and c > d', 'text <', '<b><b><b>x</b>',
    '<div>a</span>b</div>', '<<b>x</b>', '<a href=x>y</a href=z> w', 'x <b/> y', '</p>text</p>', '<p>a<p>b<p>c',
    '<li>a</ul>b', '\t<p>\n  spaces   inside  </p>\n\n', '<p>line one\nline two\nline three</p>',
]


class Reader(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.events, self.texts, self.kept, self.values = [], [], [], []
        self.stack = []
        self.feed(text)
        self.close()

    def keeps(self):
        return any(k for _, k in self.stack)

    def handle_starttag(self, tag, attrs):
        kept = tag in KEPT or any((n == 'translate' and v == 'no') or (n == 'class' and v and 'notranslate' in v) for n, v in attrs)
        names = dict(attrs)
        meta = tag == 'meta' and names.get('name') == 'description'
        button = tag == 'input' and names.get('type') == 'submit'
        shown = []
        for n, v in attrs:
            if v and not kept and not self.keeps() and (n in TEXTS or (meta and n == 'content') or (button and n == 'value')):
                self.values.append(v)
            else:
                shown.append((n, v))
        self.events.append(('<', tag, tuple(shown)))
        if tag not in VOID:
            self.stack.append((tag, kept))

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.stack.pop()

    def handle_endtag(self, tag):
        self.events.append(('>', tag))
        while any(t == tag for t, _ in self.stack):
            if self.stack.pop()[0] == tag:
                break

    def handle_data(self, data):
        (self.kept if self.keeps() else self.texts).append(data)

    def handle_comment(self, data):
        self.events.append(('!', data))

    def handle_decl(self, decl):
        self.events.append(('decl', decl))


PROTECTED = ['https://example.org/path?q=a&b=c', 'me@example.org', '%s', '%1$d', '{things}', '${name}', '{{ value }}']


def words(text):
    return ' '.join(text.split())


def upper(text):
    out = ''.join(c.upper() if 'a' <= c <= 'z' else c for c in text)
    for p in PROTECTED:
        out = out.replace(p.upper(), p)
    return words(out)


failures = 0


def fail(case, way, why):
    global failures
    failures += 1
    print('FAILED (%s): %r: %s' % (way, case, why))


# What is never closed is no text: as it was, up to the end.
EXACT = [
    ('<p', '<p'), ('a <p', 'A <p'), ('<p class="never closed>text</p>', '<p class="never closed>TEXT</p>'),
    ('a <!-- never closed comment', 'A <!-- never closed comment'), ('', ''), ('\n \n', '\n \n'),
    ('<p>\n  one two\n\t</p>\n', '<p>\n  ONE TWO\n\t</p>\n'),
]


def run(cases, way):
    files = []
    for i, case in enumerate(cases):
        name = '%s%d.html' % (way, i)
        with open(name, 'w', encoding='utf-8', newline='') as f:
            f.write(case)
        files += [name, 'out-' + name]
    done = subprocess.run([TOOL, 'html', way] + files, capture_output=True, text=True)
    if done.returncode:
        sys.exit('document_upper: %d: %s' % (done.returncode, done.stderr))
    return [open(name, encoding='utf-8', newline='').read() for name in files[1::2]]


for (case, expected), out in zip(EXACT, run([c for c, _ in EXACT], 'same')):
    if out != expected:
        fail(case, 'exact', out)
for way in ('same', 'reverse'):
    for case, out in zip(CASES, run(CASES, way)):
        a, b = Reader(case), Reader(out)
        if [upper(v) for v in a.values] != [words(v) for v in b.values] and way == 'same':
            fail(case, way, 'attributes %r -> %r' % (a.values, b.values))
        if sorted(a.kept) != sorted(b.kept):
            fail(case, way, 'kept %r -> %r' % (a.kept, b.kept))
        if way == 'same':
            if a.events != b.events:
                fail(case, way, 'tags %r -> %r' % (a.events, b.events))
            if upper(' '.join(''.join(a.texts).split())) != words(''.join(b.texts)):
                fail(case, way, 'text %r -> %r' % (a.texts, b.texts))
        else:
            if sorted(map(repr, a.events)) != sorted(map(repr, b.events)):
                fail(case, way, 'tags %r -> %r' % (a.events, b.events))
            letters = sorted(upper(''.join(a.texts)).replace(' ', '')), sorted(words(''.join(b.texts)).replace(' ', ''))
            if letters[0] != letters[1]:
                fail(case, way, 'text %r -> %r' % (a.texts, b.texts))
print('%d cases, %d failures' % (len(CASES), failures))
assert len(CASES) >= 60
sys.exit(1 if failures else 0)
