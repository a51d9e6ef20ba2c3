# Archives (docx, odt, pptx, epub), "translated" to capitals by document_upper, looked at with zipfile and an XML parser:
# well formed, every text in capitals, all else as it was, other members untouched. And archives that are refused.
import re, subprocess, sys, zipfile
import xml.etree.ElementTree as tree

TOOL = sys.argv[1]
failures = 0


def fail(*why):
    global failures
    failures += 1
    print('FAILED:', *why)


def make(name, members):
    with zipfile.ZipFile(name, 'w') as z:
        for member, content in members:
            info = zipfile.ZipInfo(member, (2020, 1, 2, 3, 4, 6))
            info.compress_type = zipfile.ZIP_STORED if member in ('mimetype', 'picture.png') else zipfile.ZIP_DEFLATED
            z.writestr(info, content)


def run(kind, way, *files):
    return subprocess.run([TOOL, kind, way] + list(files), capture_output=True, text=True)


W = '<w:document xmlns:w="urn:w" xmlns:r="urn:r"><w:body>%s</w:body></w:document>'
A = '<p:sld xmlns:a="urn:a" xmlns:p="urn:p"><p:txBody>%s</p:txBody></p:sld>'
O = ('<office:document-content xmlns:office="urn:o" xmlns:text="urn:t" xmlns:number="urn:n" xmlns:draw="urn:d" xmlns:xlink="urn:l">'
     '<number:text>untouched</number:text><office:text>%s</office:text></office:document-content>')
H = '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>book</title></head><body>%s</body></html>'


def r(text, bold=False, more=''):
    return '<w:r>%s<w:t xml:space="preserve">%s</w:t>%s</w:r>' % ('<w:rPr><w:b/></w:rPr>' if bold else '', text, more)


def field(command, result):
    """begin, command, separate, result, end: each in a run of its own."""
    kind = '<w:r><w:fldChar w:fldCharType="%s"/></w:r>'
    return kind % 'begin' + '<w:r><w:instrText xml:space="preserve"> %s </w:instrText></w:r>' % command + kind % 'separate' + result + kind % 'end'


TOC = '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> TOC </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>'
END = '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
DOCX = [
    '<w:p>%s%s%s</w:p>' % (r('see '), field('HYPERLINK "HTTP://X.Y/Z"', r('the ') + r('link', True)), r(' now.')),
    '<w:p>%s</w:p>' % field('HYPERLINK "HTTP://X.Y/Z"', r('only a link')),
    '<w:p><w:hyperlink r:id="x">%s</w:hyperlink></w:p>' % r('only a linked text'),
    '<w:p>%s<w:hyperlink r:id="a">%s<w:r><w:tab/></w:r>%s</w:hyperlink></w:p><w:p><w:hyperlink r:id="b">%s</w:hyperlink></w:p><w:p>%s</w:p>'
    % (TOC, r('first chapter'), field('PAGEREF _A', r('3')), r('second chapter'), END),
    '<w:p>%s%s%s</w:p>' % (TOC, r('a contents of '), r('two formats', True)),
    '<w:p>%s<w:fldSimple w:instr=" REF head ">%s</w:fldSimple>%s</w:p>' % (r('as in '), r('the heading'), r(' above')),
    '<w:p>%s<w:fldSimple w:instr=" DATE ">%s</w:fldSimple></w:p>' % (r('written on '), r('MONDAY')),
    '<w:p>%s<w:sdt><w:sdtPr/><w:sdtContent>%s</w:sdtContent></w:sdt>%s</w:p>' % (r('press '), r('a control'), r(' twice')),
    '<w:p>%s%s</w:p>' % (r('dated '), field('DATE', r('MONDAY'))), '<w:p>%s</w:p>' % field('DATE', r('MONDAY')),
    '<w:p>%s</w:p>' % r('one'), '<w:p/>', '<w:p><w:pPr><w:jc w:val="left"/></w:pPr>%s</w:p>' % r('two words'),
    '<w:p>%s%s%s</w:p>' % (r('some '), r('bold', True), r(' text')), '<w:p>%s%s</w:p>' % (r('fi', True), r('rst')),
    '<w:p>%s%s</w:p>' % (r('split '), r('run')), '<w:p>%s</w:p>' % r('12 / 34'), '<w:p>%s</w:p>' % r('a &amp; b &lt; c'),
    '<w:p>%s<w:hyperlink r:id="x">%s%s</w:hyperlink>%s</w:p>' % (r('see '), r('the '), r('link', True), r('. After it.')),
    '<w:p>%s%s</w:p>' % (r('a', more='<w:tab/><w:t>b</w:t>'), '<w:r><w:footnoteReference w:id="1"/></w:r>'),
    '<w:p><w:bookmarkStart w:id="0"/>%s<w:bookmarkEnd w:id="0"/><w:proofErr/>%s</w:p>' % (r('marked '), r('text')),
    '<w:p>%s<w:r><w:drawing><w:p>%s</w:p></w:drawing></w:r>%s</w:p>' % (r('outer '), r('boxed text'), r('end')),
    '<w:p><w:r><w:drawing><w:p>%s</w:p></w:drawing></w:r></w:p>' % r('alone in a box'),
    '<w:p>%s<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>PAGE</w:instrText></w:r>'
    '<w:r><w:fldChar w:fldCharType="separate"/></w:r>%s<w:r><w:fldChar w:fldCharType="end"/></w:r>%s</w:p>'
    % (r('page '), r('KEPT FIELD'), r(' of many')),
    '<w:p>%s<w:ins w:id="1">%s</w:ins></w:p>' % (r('plain '), r('inserted')),
    '<w:p>%s<w:del w:id="2"><w:r><w:delText>GONE</w:delText></w:r></w:del></w:p>' % r('kept '),
    '<w:tbl><w:tr><w:tc><w:p>%s</w:p></w:tc><w:tc><w:p>%s</w:p></w:tc></w:tr></w:tbl>' % (r('cell one'), r('cell two')),
    '<w:p>%s</w:p>' % r('First one. Second one. %s and {name}'),
    '<w:p>%s%s%s</w:p>' % (r('One. '), r('Two. Three.', True), r(' Four.')),
]
PPTX = [
    '<a:p><a:r><a:rPr lang="en"/><a:t>title</a:t></a:r></a:p>', '<a:p><a:endParaRPr lang="en"/></a:p>',
    '<a:p><a:pPr lvl="1"/><a:r><a:rPr lang="en" b="1"/><a:t>bold</a:t></a:r><a:r><a:rPr lang="en"/><a:t> and not bold</a:t></a:r>'
    '<a:endParaRPr lang="en"/></a:p>',
    '<a:p><a:r><a:t>above</a:t></a:r><a:br><a:rPr lang="en"/></a:br><a:r><a:t>below</a:t></a:r></a:p>',
    '<a:p><a:r><a:t>slide </a:t></a:r><a:fld id="x" type="slidenum"><a:t>7</a:t></a:fld></a:p>',
]
ODT = [
    '<text:p>A rule<text:note text:id="f"><text:note-citation>1</text:note-citation><text:note-body><text:p>First note. It has <text:span>two</text:span> '
    'sentences.</text:p><text:p>And another.</text:p></text:note-body></text:note> that holds. Next<office:annotation><text:p>a remark</text:p>'
    '</office:annotation> one.</text:p>',
    '<text:p><text:note><text:note-body><text:p>before all</text:p></text:note-body></text:note>words</text:p>',
    '<text:p>words<text:note><text:note-body><text:p>behind all</text:p></text:note-body></text:note></text:p>',
    '<text:p><text:note><text:note-body><text:p>alone</text:p></text:note-body></text:note></text:p>',
    '<text:p>a <text:span>bold<text:note><text:note-body><text:p>of <text:span>a</text:span> span</text:p></text:note-body></text:note> word</text:span> here</text:p>',
    '<text:p>plain</text:p>', '<text:h>a <text:span text:style-name="T1">bold</text:span> head</text:h>',
    '<text:p>a<text:s/>b<text:tab/>c<text:line-break/>d</text:p>', '<text:p/>',
    '<text:p>see <text:a xlink:href="http://x">the link</text:a>. Next one.</text:p>',
    '<text:p>noted<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>the note</text:p></text:note-body>'
    '</text:note> and on</text:p>',
    '<text:list><text:list-item><text:p>item &amp; more</text:p></text:list-item></text:list>',
]
EPUB = ['<p>one <i>two</i> three</p>', '<h1 title="hint">head</h1>', '<p>a<br/>b</p>', '<pre>KEPT</pre>', '<img alt="picture" src="a.png"/>']

KINDS = {
    'docx': (W, DOCX, 'word/document.xml', [('[Content_Types].xml', '<Types/>'), ('picture.png', b'\x89PNG\0\1'),
                                          ('word/styles.xml', '<x>kept words</x>')]),
    'pptx': (A, PPTX, 'ppt/slides/slide1.xml', [('ppt/presentation.xml', '<x>kept words</x>')]),
    'odt': (O, ODT, 'content.xml', [('mimetype', 'application/vnd.oasis.opendocument.text'), ('meta.xml', '<x>kept words</x>')]),
    'epub': (H, EPUB, 'OEBPS/c1.xhtml', [('mimetype', 'application/epub+zip'), ('OEBPS/style.css', 'p { color: red }')]),
}
KEPT = ['%s', '{name}', 'untouched', '12 / 34']


def upper(text):
    text = text.upper()
    for k in KEPT:
        text = text.replace(k.upper(), k)
    return text


def letters(element):
    return sorted(c for t in element.itertext() for c in t if not c.isspace())


def skeleton(element, deep=True):
    """Elements without text, runs and formats, which may be cut otherwise."""
    inside = [skeleton(e) for e in element if not re.search(r'}(r|rPr|t)$', e.tag)]
    for e in element:
        if re.search(r'}(r|t)$', e.tag):
            inside += [skeleton(k) for k in e if not re.search(r'}(rPr|t)$', k.tag)]
    return (element.tag, tuple(sorted(element.attrib)), tuple(sorted(map(repr, inside))))


cases = 0
for kind, (around, bodies, main, others) in KINDS.items():
    for way in ('same', 'reverse'):
        files = []
        for i, body in enumerate(bodies + [''.join(bodies)]):
            name = '%s%d.%s' % (way, i, kind)
            make(name, others[:1] + [(main, '<?xml version="1.0" encoding="UTF-8"?>\n' + around % body)] + others[1:])
            files += [name, 'out-' + name]
        done = run(kind, way, *files)
        if done.returncode:
            fail(kind, way, done.stderr)
            continue
        for before, after in zip(files[::2], files[1::2]):
            cases += 1
            a, b = zipfile.ZipFile(before), zipfile.ZipFile(after)
            if b.testzip() or [(i.filename, i.date_time, i.compress_type) for i in a.infolist()] != [
                    (i.filename, i.date_time, i.compress_type) for i in b.infolist()]:
                fail(before, 'names, times or ways of packing have changed')
            for member, content in others:
                if a.read(member) != b.read(member):
                    fail(before, member, 'has changed')
            try:
                x, y = tree.fromstring(a.read(main)), tree.fromstring(b.read(main))
            except tree.ParseError as error:
                fail(before, error, b.read(main).decode())
                continue
            if skeleton(x) != skeleton(y):
                fail(before, 'elements', b.read(main).decode())
            wanted = sorted(c for c in upper(''.join(x.itertext())) if not c.isspace())
            if letters(y) != wanted:
                fail(before, 'text', b.read(main).decode())
            if way == 'same' and upper(''.join(x.itertext())).split() != ''.join(y.itertext()).split():
                fail(before, 'order of the text', repr(''.join(y.itertext())))

# A note is no end of a sentence: its words change their places around it, and those of the note theirs.
make('note.odt', [('content.xml', O % ODT[0].replace('First note. It has <text:span>two</text:span> sentences.', 'one two'))])
run('odt', 'reverse', 'note.odt', 'out-note.odt')
note = tree.fromstring(zipfile.ZipFile('out-note.odt').read('content.xml'))
words = ' '.join(''.join(note.itertext()).split())
if 'TWO ONE' not in words or 'HOLDS.' not in words or words.index('HOLDS.') > words.index('RULE'):
    fail('a sentence with a note is not whole:', words)

# What is refused, with a message that says why.
def refused(name, kind, words):
    done = run(kind, 'same', name, 'out')
    if done.returncode != 1 or words not in done.stderr:
        fail(name, done.returncode, done.stderr)


make('bomb.docx', [('word/document.xml', W % ('<w:p/>' + ' ' * 40000000))])
refused('bomb.docx', 'docx', 'bomb.docx: word/document.xml grows from')
make('other.docx', [('content.xml', '<x/>')])
refused('other.docx', 'docx', 'has no word/document.xml')
open('cut.docx', 'wb').write(open('same0.docx', 'rb').read()[:-30])
refused('cut.docx', 'docx', 'not a whole zip archive')
data = bytearray(open('same0.docx', 'rb').read())
with zipfile.ZipFile('same0.docx') as z:
    at = z.getinfo('word/document.xml').header_offset + 30 + len('word/document.xml') + 20
data[at] ^= 0xff
open('damaged.docx', 'wb').write(data)
refused('damaged.docx', 'docx', 'is damaged')
print('%d archives, %d failures' % (cases, failures))
sys.exit(1 if failures else 0)
