/* content.c - content words: what is left of a sentence without punctuation and without articles, prepositions,
 * conjunctions, pronouns, particles and auxiliary verbs. Those are listed for a few languages; the list that covers
 * most of a text is its language's.
 *
 * A word is what stands between blanks, its pieces put together, in lower case and without punctuation at either
 * end. */
#include "tasks/content.h"

#include <string.h>
#include <utf8proc.h>

static const struct {
    const char *code, *words; /* between blanks */
} lists[] = {
    { "en",
      " a an the this that these those some any each every no all both either neither another other such of to in on "
      "at by "
      "for from with without into onto over under above below up down off out about across along around through during "
      "before after behind beside between against near next upon within toward towards while as and or but nor so if "
      "than "
      "then because when where who whom whose which what how why not n't is are was were be been being am do does did "
      "done "
      "has have had having will would can could shall should may might must i me my mine you your yours he him his she "
      "her "
      "hers it its we us our ours they them their theirs himself herself itself themselves myself there here very too "
      "also "
      "just only s 's " },
    { "de", " der die das den dem des ein eine einen einem einer eines kein keine keinen keinem keiner dieser diese "
            "dieses diesen "
            "diesem jener jene jenes jeder jede jedes alle andere anderen anderer anderes und oder aber denn sondern "
            "doch als wie "
            "wenn dass daß weil ob während bevor nachdem in im ins an am ans auf aufs aus bei beim mit nach von vom "
            "vor zu zum "
            "zur über unter um durch für gegen ohne bis seit hinter neben zwischen entlang gegenüber ist sind war "
            "waren sein bin "
            "bist wird werden wurde wurden worden hat haben hatte hatten kann können konnte soll sollen muss müssen "
            "will wollen "
            "mag darf ich du er sie es wir ihr mich dich sich uns euch ihm ihn ihnen mein meine dein deine seine "
            "seiner seinem "
            "seinen seines ihre ihrer ihrem ihren ihres unser euer man nicht auch noch nur schon sehr so da dort hier "
            "dabei davon "
            "daran darauf dazu her hin ab vorbei der deren dessen was wer wo welche welcher welches " },
    { "fr",
      " le la les l' l un une des du de d' d au aux ce cet cette ces c' c cela ça mon ma mes ton ta tes son sa ses "
      "notre nos "
      "votre vos leur leurs tout toute tous toutes autre autres chaque quelque quelques aucun aucune et ou mais ni car "
      "donc "
      "or que qu' qu qui dont où quand comme si lorsque tandis pendant à en dans sur sous par pour avec sans vers chez "
      "entre devant derrière contre depuis jusque jusqu' près côté est sont était étaient être été suis es sommes êtes "
      "a "
      "ont avait avaient avoir eu ai as avons avez fait sera peut je j' j tu il elle on nous vous ils elles me m' m te "
      "t' t "
      "se s' s lui y ne n' n pas plus très aussi même là ici celui celle ceux celles afin alors " },
    { "es",
      " el la los las lo un una unos unas este esta estos estas ese esa eso aquel aquella su sus mi mis tu tus nuestro "
      "nuestra y e o u pero ni que porque si cuando como donde mientras de del a al en con sin por para sobre bajo "
      "entre "
      "hacia desde hasta contra ante tras es son era eran ser sido está están estaba estar ha han había haber hay fue "
      "fueron se me te le les nos yo él ella ellos ellas usted no más muy también ya " },
    { "it", " il lo la i gli le l' un una uno dei degli delle del dello della di da in con su per tra fra a al allo "
            "alla ai agli "
            "alle dal dalla nel nella nei sul sulla e ed o ma né che perché se quando come dove mentre è sono era "
            "erano essere "
            "stato ha hanno aveva avere questo questa questi queste quello quella suo sua suoi sue mio mia io tu lui "
            "lei noi voi "
            "loro si mi ti ci vi ne non più molto anche già " },
    { "nl",
      " de het een deze dit die dat en of maar want dus als toen omdat terwijl in op aan van voor met zonder bij naar "
      "uit "
      "over onder boven door tegen tussen langs om tot is zijn was waren ben wordt worden werd werden heeft hebben had "
      "hadden kan kunnen zal zullen moet ik jij je hij zij ze wij we jullie hem haar hun hen zich mijn jouw uw ons "
      "onze te "
      "er niet geen ook nog al zeer hier daar wie wat waar welke " },
    { "pt", " o a os as um uma uns umas este esta estes estas esse essa isso aquele aquela seu sua seus suas meu minha "
            "e ou mas "
            "nem que porque se quando como onde enquanto de do da dos das em no na nos nas com sem por pelo pela para "
            "sobre sob "
            "entre até desde contra é são era eram ser sido está estão estava estar tem têm tinha ter há foi foram se "
            "me te lhe "
            "eu tu ele ela nós eles elas não mais muito também já ao aos à às " },
    { "cs", " a i nebo ale ani že aby když jako kde protože v ve na z ze do od k ke s se si o u po pro při za před nad "
            "pod mezi "
            "bez přes je jsou byl byla bylo byli být bude mít má mají ten ta to ti ty tato tento toto který která "
            "které jeho její "
            "jejich svůj svou své já on ona oni mu jí jim ho ne už také " },
};
enum { LISTS = sizeof lists / sizeof *lists };

static bool begins_word(rg_vocab_kind kind, const char *piece, const char *before)
{
    const size_t end = strlen(before);
    if (kind == RG_VOCAB_TOKENS || kind == RG_VOCAB_WORD) return true;
    if (kind == RG_VOCAB_WORDS) return end == 0 || before[end - 1] != '\'';
    if (kind == RG_VOCAB_CHARACTERS) return strcmp(piece, " ") == 0;
    if (kind == RG_VOCAB_WORDPIECE) return strncmp(piece, "##", 2) != 0;
    if (kind == RG_VOCAB_BYTES) return strncmp(piece, "\xc4\xa0", 2) == 0; /* GPT-2's sign for a blank */
    return strncmp(piece, "\xe2\x96\x81", 3) == 0;
}

void rg_content_number(int *out, const rg_vocab *vocab, const int32_t *ids, size_t n)
{
    int word = -1;
    for (size_t i = 0; i < n; i++) {
        const char *piece = rg_vocab_piece(vocab, ids[i]), *before = i ? rg_vocab_piece(vocab, ids[i - 1]) : "";
        word += !i || begins_word(rg_vocab_kind_of(vocab), piece, before);
        out[i] = word;
    }
}

/* A letter or a number somewhere. */
static bool has_letter(const char *text)
{
    utf8proc_int32_t c;
    for (utf8proc_ssize_t n; *text && (n = utf8proc_iterate((const utf8proc_uint8_t *)text, -1, &c)) > 0; text += n) {
        const utf8proc_category_t kind = utf8proc_category(c);
        if (kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_NO) return true;
    }
    return false;
}

/* Pieces from .. until with the same word number: the word in lower case between two blanks, signs without letters
 * left out. */
static rg_status word_text(rg_text *out, const rg_vocab *vocab, const int32_t *ids, const int *number, size_t n,
                           size_t *at)
{
    rg_text   word = { 0 };
    rg_status status = RG_OK;
    const int which = number[*at];
    for (; status == RG_OK && *at < n && number[*at] == which; ++*at) {
        const char *piece = rg_vocab_piece(vocab, ids[*at]);
        if (strncmp(piece, "\xe2\x96\x81", 3) == 0) piece += 3;
        if (has_letter(piece)) status = rg_text_add_string(&word, piece);
    }
    out->length = 0;
    if (status == RG_OK) status = rg_text_add_string(out, " ");
    if (status == RG_OK) status = rg_text_lower(out, rg_text_c(&word), strlen(rg_text_c(&word)));
    if (status == RG_OK) status = rg_text_add_string(out, " ");
    rg_text_free(&word);
    return status;
}

rg_status rg_content_count(rg_small_words *counts, const rg_vocab *vocab, const int32_t *ids, size_t n)
{
    rg_text   word = { 0 };
    int      *number = rg_alloc_array(n + 1, sizeof *number);
    rg_status status = number ? RG_OK : RG_ENOMEM;
    if (status == RG_OK) rg_content_number(number, vocab, ids, n);
    for (size_t i = 0; status == RG_OK && i < n;) {
        status = word_text(&word, vocab, ids, number, n, &i);
        if (status != RG_OK || strlen(rg_text_c(&word)) < 3) continue;
        counts->seen++;
        for (size_t k = 0; k < LISTS; k++) counts->found[k] += strstr(lists[k].words, rg_text_c(&word)) != NULL;
    }
    rg_text_free(&word);
    rg_free(number);
    return status;
}

const char *rg_content_language(const rg_small_words *counts)
{
    size_t best = 0;
    for (size_t k = 1; k < LISTS; k++)
        if (counts->found[k] > counts->found[best]) best = k;
    return 10 * counts->found[best] >= counts->seen && counts->found[best] ? lists[best].code : NULL;
}

rg_status rg_content_mark(bool *out, const char *language, const rg_vocab *vocab, const int32_t *ids, size_t n)
{
    const char *words = "";
    rg_text     word = { 0 };
    int        *number = rg_alloc_array(n + 1, sizeof *number);
    rg_status   status = number ? RG_OK : RG_ENOMEM;
    for (size_t k = 0; language && k < LISTS; k++)
        if (strcmp(lists[k].code, language) == 0) words = lists[k].words;
    if (status == RG_OK) rg_content_number(number, vocab, ids, n);
    for (size_t i = 0, first = 0; status == RG_OK && i < n; first = i) {
        status = word_text(&word, vocab, ids, number, n, &i);
        if (status != RG_OK) break;
        const bool content = strlen(rg_text_c(&word)) > 2 && !strstr(words, rg_text_c(&word));
        for (size_t k = first; k < i; k++)
            out[k] = content && has_letter(rg_vocab_piece(vocab, ids[k]) +
                                           (strncmp(rg_vocab_piece(vocab, ids[k]), "\xe2\x96\x81", 3) == 0 ? 3 : 0));
    }
    rg_text_free(&word);
    rg_free(number);
    return status;
}
