/* abbreviations.c - words before whose point a sentence goes on, by language.
 *
 * Only those that something follows: a title and its name, "no." and its number. What may as well end a sentence
 * ("etc.") is left out, since Unicode's rules look whether the next word begins with a capital. A single letter is an
 * initial in every language; a number with a point is an ordinal in German and its neighbours. */
#include "data/documents/sentences.h"

#include <ctype.h>
#include <string.h>

static const struct {
    const char *language;
    bool        ordinals; /* "3." is "third" */
    const char *words;    /* without their last point, in lower case */
} lists[] = {
    { "en", false,
      " mr mrs ms messrs mmes dr prof rev fr hon st gen col maj capt cmdr lt sgt cpl pvt adm gov sen rep pres supt det "
      "insp fig figs eq eqs sec ch chap vol vols no nos p pp art cf e.g i.e viz vs v al approx ca dept univ assn "
      "jan feb mar apr jun jul aug sept sep oct nov dec mt ft ave blvd rd ed eds trans " },
    { "de", true,
      " hr fr dr prof dipl ing mag hrn frl st str nr nrn bd bde abb abs abschn art aufl bspw bzw ca d.h d h dgl ebd evtl "
      "gem ggf ggü hl hrsg i.d.r inkl insb jh jhd kap lt max min mio mrd mind o.g o.ä o.a pos rd s s.a s.o s.u sog "
      "std str tab tel u.a u.u ungef usf vgl vs z.b z b z.t z.zt zzgl "
      "jan feb mär apr jun jul aug sept sep okt nov dez " },
    { "fr", false,
      " m mm mme mmes mlle mlles dr prof me st ste mgr gén col cap lt av bd fig figs p pp vol no n° nos art chap cf ch "
      "éd ex p.ex env hab ibid réf tél vs janv févr avr juil sept oct nov déc " },
    { "es", false,
      " sr sra sres sras srta dr dra drs prof profa d dña ing lic arq gral cnel cap tte sto sta s ud uds vd vds av avda c "
      "pág págs p pp fig figs núm n.º nº nro vol vols art arts cap ej p.ej cf aprox tel ee.uu "
      "ene feb mar abr may jun jul ago sept oct nov dic " },
    { "it", false,
      " sig sigg sig.ra dott dott.ssa prof prof.ssa avv ing arch on sen gen col cap fig figg pag pagg p pp vol n art "
      "artt cfr es p.es s ss " },
    { "nl", false, " dhr mevr mw dr prof ir ing mr drs st nr blz fig afb bijv bv ca d.w.z enz o.a resp vgl zgn jl " },
    { "pt", false, " sr sra srs sras srta dr dra prof profa eng d st sto sta av r pág págs p pp fig figs n nº núm vol art "
                   "cap ex p.ex cf aprox tel " },
};

static bool is_letter(unsigned char c) { return isalpha(c) || c >= 0x80; }

/* The word before the last point, points inside it and all. */
static size_t word_of(char *out, size_t room, const char *text, size_t bytes)
{
    size_t begin = bytes;
    while (begin && !strchr(" \t\r\n([{\"'/-", text[begin - 1]) && bytes - begin < room - 1) begin--;
    while (begin < bytes && !is_letter((unsigned char)text[begin]) && !isdigit((unsigned char)text[begin])) begin++;
    for (size_t i = begin; i < bytes; i++) {
        out[i - begin] = (char)tolower((unsigned char)text[i]);
        /* É and Ü of Latin-1 are C3 80 .. C3 9E, their small ones 20 higher */
        if (i > begin && (unsigned char)text[i - 1] == 0xC3 && (unsigned char)text[i] < 0x9F)
            out[i - begin] = (char)(text[i] + 0x20);
    }
    out[bytes - begin] = 0;
    return bytes - begin;
}

static bool listed(const char *list, const char *word, size_t n)
{
    for (const char *at = list; (at = strstr(at, word)); at++)
        if (at[-1] == ' ' && at[n] == ' ') return true;
    return false;
}

static bool all_digits(const char *word)
{
    return *word && strlen(word) <= 3 && strspn(word, "0123456789") == strlen(word);
}

bool rg_sentences__abbreviated(const char *language, const char *text, size_t bytes)
{
    char         word[32];
    const size_t n = word_of(word, sizeof word, text, bytes - 1);
    if (!n) return false;
    /* an initial: one capital letter, "I" and what is no Latin letter excepted */
    if (n == 1 && isupper((unsigned char)text[bytes - 2]) && text[bytes - 2] != 'I') return true;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const size_t k = strlen(lists[i].language);
        if (strncmp(language, lists[i].language, k) != 0 || isalpha((unsigned char)language[k])) continue;
        return listed(lists[i].words, word, n) || (lists[i].ordinals && all_digits(word));
    }
    return false;
}
