/* grammar_words.c - the words themselves. Chosen so that each English word has one translation here. */
#include "data/made/grammar_words.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))
#define ANY (WORD_LIVING | WORD_THING | WORD_FOOD | WORD_PLACE)
#define NOT_PERSON (WORD_ANIMAL | WORD_THING | WORD_FOOD | WORD_PLACE)
#define M false, false
#define F true, false
#define M_CLOSED false, true

const rg_noun rg_nouns[] = {
    { "man", "men", "homme", "hommes", M, WORD_PERSON },
    { "woman", "women", "femme", "femmes", F, WORD_PERSON },
    { "child", "children", "enfant", "enfants", M, WORD_PERSON },
    { "boy", "boys", "garçon", "garçons", M, WORD_PERSON },
    { "girl", "girls", "fille", "filles", F, WORD_PERSON },
    { "king", "kings", "roi", "rois", M, WORD_PERSON },
    { "queen", "queens", "reine", "reines", F, WORD_PERSON },
    { "doctor", "doctors", "médecin", "médecins", M, WORD_PERSON },
    { "student", "students", "étudiant", "étudiants", M, WORD_PERSON },
    { "actress", "actresses", "actrice", "actrices", F, WORD_PERSON },
    { "nurse", "nurses", "infirmière", "infirmières", F, WORD_PERSON },
    { "uncle", "uncles", "oncle", "oncles", M, WORD_PERSON },
    { "aunt", "aunts", "tante", "tantes", F, WORD_PERSON },
    { "baker", "bakers", "boulanger", "boulangers", M, WORD_PERSON },
    { "dog", "dogs", "chien", "chiens", M, WORD_ANIMAL },
    { "cat", "cats", "chat", "chats", M, WORD_ANIMAL },
    { "bird", "birds", "oiseau", "oiseaux", M, WORD_ANIMAL },
    { "horse", "horses", "cheval", "chevaux", M, WORD_ANIMAL },
    { "mouse", "mice", "souris", "souris", F, WORD_ANIMAL },
    { "bee", "bees", "abeille", "abeilles", F, WORD_ANIMAL },
    { "spider", "spiders", "araignée", "araignées", F, WORD_ANIMAL },
    { "elephant", "elephants", "éléphant", "éléphants", M, WORD_ANIMAL },
    { "owl", "owls", "hibou", "hiboux", M_CLOSED, WORD_ANIMAL },
    { "fox", "foxes", "renard", "renards", M, WORD_ANIMAL },
    { "wolf", "wolves", "loup", "loups", M, WORD_ANIMAL },
    { "cow", "cows", "vache", "vaches", F, WORD_ANIMAL },
    { "turtle", "turtles", "tortue", "tortues", F, WORD_ANIMAL },
    { "apple", "apples", "pomme", "pommes", F, WORD_FOOD },
    { "orange", "oranges", "orange", "oranges", F, WORD_FOOD },
    { "egg", "eggs", "œuf", "œufs", M, WORD_FOOD },
    { "cake", "cakes", "gâteau", "gâteaux", M, WORD_FOOD },
    { "pear", "pears", "poire", "poires", F, WORD_FOOD },
    { "book", "books", "livre", "livres", M, WORD_THING },
    { "letter", "letters", "lettre", "lettres", F, WORD_THING },
    { "tree", "trees", "arbre", "arbres", M, WORD_THING },
    { "flower", "flowers", "fleur", "fleurs", F, WORD_THING },
    { "car", "cars", "voiture", "voitures", F, WORD_THING },
    { "boat", "boats", "bateau", "bateaux", M, WORD_THING },
    { "key", "keys", "clé", "clés", F, WORD_THING },
    { "table", "tables", "table", "tables", F, WORD_THING },
    { "chair", "chairs", "chaise", "chaises", F, WORD_THING },
    { "hat", "hats", "chapeau", "chapeaux", M, WORD_THING },
    { "shirt", "shirts", "chemise", "chemises", F, WORD_THING },
    { "picture", "pictures", "image", "images", F, WORD_THING },
    { "lamp", "lamps", "lampe", "lampes", F, WORD_THING },
    { "stone", "stones", "pierre", "pierres", F, WORD_THING },
    { "star", "stars", "étoile", "étoiles", F, WORD_THING },
    { "knife", "knives", "couteau", "couteaux", M, WORD_THING },
    { "tool", "tools", "outil", "outils", M, WORD_THING },
    { "house", "houses", "maison", "maisons", F, WORD_PLACE },
    { "garden", "gardens", "jardin", "jardins", M, WORD_PLACE },
    { "school", "schools", "école", "écoles", F, WORD_PLACE },
    { "church", "churches", "église", "églises", F, WORD_PLACE },
    { "hospital", "hospitals", "hôpital", "hôpitaux", M, WORD_PLACE },
    { "hotel", "hotels", "hôtel", "hôtels", M, WORD_PLACE },
    { "station", "stations", "gare", "gares", F, WORD_PLACE },
    { "market", "markets", "marché", "marchés", M, WORD_PLACE },
    { "forest", "forests", "forêt", "forêts", F, WORD_PLACE },
    { "village", "villages", "village", "villages", M, WORD_PLACE },
    { "kitchen", "kitchens", "cuisine", "cuisines", F, WORD_PLACE },
    { "beach", "beaches", "plage", "plages", F, WORD_PLACE },
    { "museum", "museums", "musée", "musées", M, WORD_PLACE },
    { "office", "offices", "bureau", "bureaux", M, WORD_PLACE },
    { "island", "islands", "île", "îles", F, WORD_PLACE },
    { "river", "rivers", "rivière", "rivières", F, WORD_PLACE },
    { "shop", "shops", "magasin", "magasins", M, WORD_PLACE },
};
const size_t rg_noun_count = COUNT(rg_nouns);

const rg_adjective rg_adjectives[] = {
    { "small", "petit", "petite", "petits", "petites", NULL, true, ANY },
    { "big", "grand", "grande", "grands", "grandes", NULL, true, ANY },
    { "old", "vieux", "vieille", "vieux", "vieilles", "vieil", true, ANY },
    { "beautiful", "beau", "belle", "beaux", "belles", "bel", true, ANY },
    { "new", "nouveau", "nouvelle", "nouveaux", "nouvelles", "nouvel", true, WORD_THING | WORD_FOOD | WORD_PLACE },
    { "young", "jeune", "jeune", "jeunes", "jeunes", NULL, true, WORD_LIVING },
    { "good", "bon", "bonne", "bons", "bonnes", NULL, true, ANY },
    { "enormous", "énorme", "énorme", "énormes", "énormes", NULL, true, NOT_PERSON },
    { "bad", "mauvais", "mauvaise", "mauvais", "mauvaises", NULL, true, ANY },
    { "red", "rouge", "rouge", "rouges", "rouges", NULL, false, NOT_PERSON },
    { "blue", "bleu", "bleue", "bleus", "bleues", NULL, false, NOT_PERSON },
    { "green", "vert", "verte", "verts", "vertes", NULL, false, NOT_PERSON },
    { "white", "blanc", "blanche", "blancs", "blanches", NULL, false, NOT_PERSON },
    { "black", "noir", "noire", "noirs", "noires", NULL, false, NOT_PERSON },
    { "yellow", "jaune", "jaune", "jaunes", "jaunes", NULL, false, NOT_PERSON },
    { "grey", "gris", "grise", "gris", "grises", NULL, false, NOT_PERSON },
    { "strange", "étrange", "étrange", "étranges", "étranges", NULL, false, ANY },
    { "clean", "propre", "propre", "propres", "propres", NULL, false, WORD_THING | WORD_PLACE },
    { "cold", "froid", "froide", "froids", "froides", NULL, false, WORD_FOOD | WORD_THING | WORD_PLACE },
    { "heavy", "lourd", "lourde", "lourds", "lourdes", NULL, false, WORD_ANIMAL | WORD_THING | WORD_FOOD },
    { "famous", "célèbre", "célèbre", "célèbres", "célèbres", NULL, false, WORD_PERSON | WORD_THING | WORD_PLACE },
    { "quiet", "calme", "calme", "calmes", "calmes", NULL, false, WORD_LIVING | WORD_PLACE },
    { "happy", "heureux", "heureuse", "heureux", "heureuses", NULL, false, WORD_LIVING },
    { "intelligent", "intelligent", "intelligente", "intelligents", "intelligentes", NULL, false, WORD_LIVING },
    { "dangerous", "dangereux", "dangereuse", "dangereux", "dangereuses", NULL, false,
      WORD_ANIMAL | WORD_THING | WORD_PLACE },
    { "french", "français", "française", "français", "françaises", NULL, false,
      WORD_PERSON | WORD_THING | WORD_FOOD | WORD_PLACE },
};
const size_t rg_adjective_count = COUNT(rg_adjectives);

#define HELD (WORD_THING | WORD_FOOD)
#define REGULAR(stem) { stem "e", stem "e", stem "ons", stem "ent" }, stem "er"

const rg_verb rg_verbs[] = {
    { "sleeps", "sleep", NULL, { "dors", "dort", "dormons", "dorment" }, "dormir", 0 },
    { "sings", "sing", NULL, REGULAR("chant"), 0 },
    { "runs", "run", NULL, { "cours", "court", "courons", "courent" }, "courr", 0 },
    { "laughs", "laugh", NULL, { "ris", "rit", "rions", "rient" }, "rir", 0 },
    { "works", "work", NULL, REGULAR("travaill"), 0 },
    { "arrives", "arrive", NULL, REGULAR("arriv"), 0 },
    { "falls", "fall", NULL, REGULAR("tomb"), 0 },
    { "dances", "dance", NULL, REGULAR("dans"), 0 },
    { "speaks", "speak", NULL, REGULAR("parl"), 0 },
    { "cries", "cry", NULL, REGULAR("pleur"), 0 },
    { "lives", "live", NULL, REGULAR("habit"), 0 },
    { "sees", "see", NULL, { "vois", "voit", "voyons", "voient" }, "verr", ANY },
    { "eats", "eat", NULL, { "mange", "mange", "mangeons", "mangent" }, "manger", WORD_FOOD },
    { "loves", "love", NULL, REGULAR("aim"), ANY },
    { "buys", "buy", NULL, { "achète", "achète", "achetons", "achètent" }, "achèter", HELD },
    { "finds", "find", NULL, REGULAR("trouv"), ANY },
    { "looks", "look", "for", REGULAR("cherch"), ANY },
    { "takes", "take", NULL, { "prends", "prend", "prenons", "prennent" }, "prendr", HELD },
    { "draws", "draw", NULL, REGULAR("dessin"), ANY },
    { "hears", "hear", NULL, { "entends", "entend", "entendons", "entendent" }, "entendr", WORD_PERSON },
    { "carries", "carry", NULL, REGULAR("port"), HELD },
    { "washes", "wash", NULL, { "lave", "lave", "lavons", "lavent" }, "laver", ANY },
    { "sells", "sell", NULL, { "vends", "vend", "vendons", "vendent" }, "vendr", HELD },
    { "hides", "hide", NULL, REGULAR("cach"), HELD },
    { "follows", "follow", NULL, { "suis", "suit", "suivons", "suivent" }, "suivr", WORD_PERSON },
    { "listens", "listen", "to", REGULAR("écout"), WORD_PERSON },
    { "knows",
      "know",
      NULL,
      { "connais", "connaît", "connaissons", "connaissent" },
      "connaîtr",
      WORD_LIVING | WORD_PLACE },
    { "wants", "want", NULL, { "veux", "veut", "voulons", "veulent" }, "voudr", HELD },
    { "visits", "visit", NULL, REGULAR("visit"), WORD_PLACE },
    { "helps", "help", NULL, REGULAR("aid"), WORD_PERSON },
};
const size_t rg_verb_count = COUNT(rg_verbs);

const rg_verb rg_verb_be = { "is", "are", NULL, { "suis", "est", "sommes", "sont" }, "ser", 0 };
const rg_verb rg_verb_go = { "goes", "go", NULL, { "vais", "va", "allons", "vont" }, "ir", 0 };

const rg_preposition rg_prepositions[] = {
    { { "in", NULL }, { "dans", NULL }, PREPOSITION_PLAIN, WORD_PLACE },
    { { "behind", NULL }, { "derrière", NULL }, PREPOSITION_PLAIN, ANY },
    { { "with", NULL }, { "avec", NULL }, PREPOSITION_PLAIN, WORD_LIVING },
    { { "for", NULL }, { "pour", NULL }, PREPOSITION_PLAIN, WORD_LIVING },
    { { "under", NULL }, { "sous", NULL }, PREPOSITION_PLAIN, WORD_THING },
    { { "near", NULL }, { "près", NULL }, PREPOSITION_DE, ANY },
    { { "next", "to" }, { "à", "côté" }, PREPOSITION_DE, WORD_PLACE | WORD_LIVING },
    { { "of", NULL }, { NULL, NULL }, PREPOSITION_DE, WORD_LIVING },
    { { "to", NULL }, { NULL, NULL }, PREPOSITION_A, WORD_PLACE },
    { { "from", NULL }, { NULL, NULL }, PREPOSITION_DE, WORD_PLACE },
};
const size_t rg_preposition_count = COUNT(rg_prepositions);

const rg_adverb rg_adverbs[] = {
    { "often", "souvent" },
    { "always", "toujours" },
    { "sometimes", "parfois" },
    { "already", "déjà" },
};
const size_t rg_adverb_count = COUNT(rg_adverbs);
