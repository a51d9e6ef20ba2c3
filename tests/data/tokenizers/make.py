#!/usr/bin/python3
"""Writes vocab.json, merges.txt, vocab.txt and cases.jsonl: small vocabularies and the ids that GPT-2's and BERT's
tokenisers, written here from their definitions on Python's own Unicode tables, give some 230 unusual strings.

    GPT-2   the published regular expression (module `regex`), then the pair of lowest rank, all its places at once
    BERT    clean, CJK apart, lower case and accents (uncased), punctuation apart, longest match first
"""
import collections, json, random, regex, sys, unicodedata

WORD = regex.compile(r"""'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+""")


def characters():
    keep = list(range(0x21, 0x7F)) + list(range(0xA1, 0xAD)) + list(range(0xAE, 0x100))
    table, extra = {}, 0
    for b in range(256):
        table[b] = chr(b) if b in keep else chr(256 + extra)
        extra += b not in keep
    return table


BYTE = characters()


def spell(word):
    return [BYTE[b] for b in word.encode("utf-8")]


def merge(parts, pair):
    out, i = [], 0
    while i < len(parts):
        if i + 1 < len(parts) and (parts[i], parts[i + 1]) == pair:
            out.append(parts[i] + parts[i + 1])
            i += 2
        else:
            out.append(parts[i])
            i += 1
    return out


def learn_bpe(text, merges):
    words = collections.Counter(tuple(spell(w)) for w in WORD.findall(text))
    ranks = []
    for _ in range(merges):
        pairs = collections.Counter()
        for word, n in words.items():
            for pair in zip(word, word[1:]):
                pairs[pair] += n
        if not pairs:
            break
        best = max(pairs, key=lambda p: (pairs[p], p))
        ranks.append(best)
        joined = collections.Counter()
        for word, n in words.items():
            joined[tuple(merge(list(word), best))] += n
        words = joined
    return ranks


def cut_bpe(text, ranks, ids):
    out = []
    for word in WORD.findall(text):
        parts = spell(word)
        while len(parts) > 1:
            best = min(zip(parts, parts[1:]), key=lambda p: ranks.get(p, 1e9))
            if best not in ranks:
                break
            parts = merge(parts, best)
        out += [ids[p] for p in parts]
    return out


CJK = [(0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F), (0x2B820, 0x2CEAF), (0xF900, 0xFAFF),
       (0x2F800, 0x2FA1F)]


def is_punctuation(c):
    n = ord(c)
    return 33 <= n <= 47 or 58 <= n <= 64 or 91 <= n <= 96 or 123 <= n <= 126 or unicodedata.category(c)[0] == "P"


def words_of(text, uncased):
    clean = ""
    for c in text:
        if c in " \t\n\r" or unicodedata.category(c) == "Zs":
            clean += " "
        elif ord(c) in (0, 0xFFFD) or unicodedata.category(c)[0] == "C":
            continue
        elif any(a <= ord(c) <= b for a, b in CJK):
            clean += " " + c + " "
        else:
            clean += c
    words = []
    for token in clean.split():
        if uncased:
            token = "".join(c for c in unicodedata.normalize("NFD", token.lower()) if unicodedata.category(c) != "Mn")
        word = ""
        for c in token:
            if is_punctuation(c):
                words += [word, c]
                word = ""
            else:
                word += c
        words.append(word)
    return [w for w in words if w]


def cut_wordpiece(text, ids, uncased):
    out = []
    for word in words_of(text, uncased):
        pieces, begin = [], 0
        while begin < len(word) <= 100:
            end = next((e for e in range(len(word), begin, -1) if ("##" if begin else "") + word[begin:e] in ids), None)
            if end is None:
                break
            pieces.append(ids[("##" if begin else "") + word[begin:end]])
            begin = end
        out += pieces if begin == len(word) else [ids["[UNK]"]]
    return out


SENTENCES = """The quick brown fox jumps over the lazy dog. It's what we've said they'd do, isn't it? I'm sure they'll come; you're right!
In 1984, about 3.14 million people (or 2,718) read "Nineteen Eighty-Four" -- e-mail: someone@example.org, http://example.org/a?b=c&d=e#f.
Le garçon a mangé une crêpe à l'école. L'été, c'est déjà fini. Où êtes-vous? Ça va bien, merci. Naïveté, cœur, Noël, façade.
Die Straße ist schön und größer als früher. Äpfel, Öl und Übung. Fünfzig Füße. İstanbul'da çok güzel günler. ΟΔΟΣ ὁδός Ἑλλάς.
Привет, мир! Как дела? Это предложение по-русски. Съешь ещё этих мягких французских булок. Україна, їжак.
你好,世界。这是一个测试。我们喜欢学习语言。日本語のテキストです。カタカナとひらがな。東京都。한국어 문장입니다. 안녕하세요.
مرحبا بالعالم هذا نص عربي שלום עולם זה טקסט नमस्ते दुनिया यह हिंदी है สวัสดีชาวโลก Xin chào thế giới, tiếng Việt rất đẹp."""

ODD = ["", " ", "  ", "   a", "a   ", "a  b", "a \t b", "\t", "\n", "\r\n", "a\nb", "a\n\nb", "a \n b", "\u00a0", "a\u00a0b", "a \u00a0b", "\u3000", "\u2003x",
       "x\u2028y", "\u2029", "\u202f5", "\u200b", "a\u200bb", "\u200d", "\ufeffx", "\u00ad", "co\u00adop", "\x00", "a\x00b", "\x01\x02", "\x1b[0m", "\x1c\x1d\x1e\x1f", "a\x1cb",
       "\x7f", "\x85", "a\x85b", "\u0600", "\ue000", "\U000f0000", "\ufffd", "a\ufffdb", "😀", "😀😀", "a😀b", "👩‍👩‍👧‍👦", "👍🏽", "🇩🇪🇫🇷", "❤️", "☕️ x", "é", "e\u0301", "é e\u0301 ê",
       "ﬁ", "①②", "Ⅳ", "½", "٣٤", "१२३", "²³", "x²", "ǅ", "ß", "ẞ", "SS", "İ", "I\u0307", "ı", "Σ", "ΟΔΟΣ", "ΟΔΟΣ.", "ΣΣ Σ", "ῼ", "Ω", "Å", "Å", "a\u0345", "ﷺ", "가", "각", "한국어",
       "你", "你好", "a你b", "你 好", "日本語テキスト", "カタカナ", "ｶﾞ", "ＡＢＣ", "㈱", "丽", "𠀀", "𠮷野家", "豈", "々", "〇", "。", "、", "「」", "《》", "…", "—", "–", "‘’", "“”", "„“", "¿¡", "؟", "،", "।", "·",
       "'", "''", "'s", "'S", "'t", "it's", "it'S", "it’s", "we've", "I'll", "I'd", "I'm", "they're", "'re're", " 's", "' s", "don't", "rock'n'roll", "x'", "'x", "''s", "O'Neil's",
       "1", "12", "1234567890", "3.14", "1,000", "1e-5", "a1", "1a", "a1b2", "v1.2.3", "$5", "5€", "£", "%", "100%", "#1", "@x", "a_b", "_", "__init__", "a-b", "--", "---", "a--b", "...", "!?", "!!!", "(a)", "[UNK]",
       "[CLS]", "<s>", "</s>", "<|endoftext|>", "##a", "## a", "#", "a#b", "a+b=c", "^", "`", "~", "|", "\\", "\\n", "/", "a/b", "{}", "{\"a\": 1}", "<b>x</b>", "&amp;", "http://a.b/c?d=e", "a@b.c", "C++", "C#", ".NET",
       "naïve", "NAÏVE", "Ünïcödé", "crème brûlée", "El Niño", "Đà Nẵng", "tiếng Việt", "Łódź", "Český Krumlov", "ñandú", "ÅÄÖ", "æøå", "þórr", "Ǆ", "ŉ", "ﬀ", "ſ", "K", "ΐ", "ᾳ",
       "Привет", "ПРИВЕТ", "ё", "Ё", "й", "Й", "їжак", "по-русски", "مرحبا", "مُحَمَّد", "שָׁלוֹם", "שלום", "हिन्दी", "नमस्ते", "สวัสดี", "ไทย", "မြန်မာ", "தமிழ்", "ಕನ್ನಡ", "ქართული", "Ქ", "հայերեն", "Ա",
       "a" * 100, "a" * 101, "the" * 40, "é" * 100, "x" * 300, "ab " * 20, " " * 50, "a" + " " * 9 + "b", "\n" * 5 + "x", "\t\t x", "x \t", "x\u00a0", "x \u3000 y", "\u2003\u2003", "—" * 10, "。" * 4,
       "The quick brown fox", "the lazy dog.", "Isn't it?", "you're right!", "TRANSLATION", "Translation of texts", "e-mail: someone@example.org", "Nineteen Eighty-Four", "unaffable", "undo", "\U0001f468\u200d\U0001f4bb codes",
       "zero\u200cwidth", "right\u200fmark", "\u202ertl\u202c", "a\u0300\u0301\u0302b", "Z͑ͫ̓ͪ̂", "\u0301", " \u0301", "1\u20e3", "©®™", "°C", "µ", "∑∫√", "→←", "■", "𝒳𝓎", "𝟘", "ℵ", "א"]


def main():
    corpus = SENTENCES * 2
    merges = learn_bpe(corpus, 420)
    pieces = [BYTE[b] for b in sorted(BYTE, key=lambda b: BYTE[b])] + [a + b for a, b in merges]
    pieces = list(dict.fromkeys(pieces)) + ["<|endoftext|>"]
    ids = {p: i for i, p in enumerate(pieces)}
    json.dump(ids, open("vocab.json", "w"))
    with open("merges.txt", "w", encoding="utf-8") as out:
        out.write("#version: 0.2\n" + "".join("%s %s\n" % m for m in merges))

    bert = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    random.seed(1)
    for uncased in (True, False):
        for word in words_of(SENTENCES, uncased):
            bert.append(word)
            bert += [word[:k] for k in (1, 2, 3)] + ["##" + word[k:] for k in (1, 2, 3) if k < len(word)] + ["##" + c for c in word[1:]]
    bert += [c for t in ODD for w in words_of(t, True) for c in w[:1] if random.random() < 0.6] + ["un", "##aff", "##able", "##do", "##é", "##x", "aaa", "##aaaa"]
    bert = [p for p in dict.fromkeys(bert) if p.strip() and "\n" not in p]
    with open("vocab.txt", "w", encoding="utf-8") as out:
        out.write("".join(p + "\n" for p in bert))
    number = {p: i for i, p in enumerate(bert)}

    ranks = {m: i for i, m in enumerate(merges)}
    with open("cases.jsonl", "w", encoding="utf-8") as out:
        for text in dict.fromkeys(ODD + SENTENCES.split("\n")):
            row = {"text": text, "bytes": cut_bpe(text, ranks, ids), "uncased": cut_wordpiece(text, number, True),
                   "cased": cut_wordpiece(text, number, False)}
            out.write(json.dumps(row) + "\n")


sys.exit(main())
