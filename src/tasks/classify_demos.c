/* classify_demos.c - trainings of classifiers that are over in a minute.
 *
 *   sentiment   film reviews by the mean of their words
 *   fgsm        digits on textures; every picture is then changed a little to fool the network that learned them
 *   vat         two half moons with six labels: the unlabelled points show where the border runs
 *   dann        two half moons; the points of the users are turned by 35 degrees and have no labels (Ganin et al. 2016, figure 2) */
#include <math.h>

#include "regard/made.h"
#include "tasks/classify_demo_pictures.h"

/* A point of the upper or lower moon, turned by `degrees`. */
static rg_status add_point(rg_text *text, rg_random *r, size_t moon, double degrees)
{
    const double a = 3.14159265358979 * rg_random_uniform(r), turn = degrees * 0.017453292519943;
    const double x = (moon ? 1 - cos(a) : cos(a)) - 0.5 + 0.08 * rg_random_normal(r),
                 y = (moon ? 0.5 - sin(a) : sin(a)) - 0.25 + 0.08 * rg_random_normal(r);
    return rg_text_print(text, "%s\t%.5f %.5f\n", moon ? "lower" : "upper", x * cos(turn) - y * sin(turn),
                         x * sin(turn) + y * cos(turn));
}

static rg_status write_moons(const char *folder, const char *name, size_t points, double degrees, uint64_t seed)
{
    rg_random r = rg_random_new(seed, 1);
    rg_text   text = { 0 };
    char     *path = rg_format("%s/%s.tsv", folder, name);
    rg_status status = path ? rg_text_print(&text, "label\tnumbers\n") : RG_ENOMEM;
    for (size_t i = 0; status == RG_OK && i < points; i++) status = add_point(&text, &r, i % 2, degrees);
    if (status == RG_OK) status = rg_file_replace(path, text.data, text.length);
    rg_text_free(&text);
    rg_free(path);
    return status;
}

static rg_status moons_of_vat(rg_text *yaml, const char *folder, rg_small_size size)
{
    const size_t points = size == RG_SMALL_DEMO ? 1000 : 40;
    RG_TRY(write_moons(folder, "train", 6, 0, 3));
    RG_TRY(write_moons(folder, "more", points, 0, 4));
    RG_TRY(write_moons(folder, "valid", points, 0, 5));
    return rg_text_print(yaml,
                         "train-sets: [%s/train.tsv]\nunlabelled: [%s/more.tsv]\nvalid-sets: "
                         "[%s/valid.tsv]\nmini-batch: 6\nunlabelled-batch: %d\nafter-epochs: %d\n",
                         folder, folder, folder, size == RG_SMALL_DEMO ? 128 : 10, size == RG_SMALL_DEMO ? 3000 : 2);
}

static rg_status moons_of_dann(rg_text *yaml, const char *folder, rg_small_size size)
{
    const size_t points = size == RG_SMALL_DEMO ? 1000 : 40;
    RG_TRY(write_moons(folder, "train", points, 0, 3));
    RG_TRY(write_moons(folder, "target", points, 35, 4));
    RG_TRY(write_moons(folder, "valid", points, 35, 5));
    return rg_text_print(yaml,
                         "train-sets: [%s/train.tsv]\ntarget-sets: [%s/target.tsv]\nvalid-sets: "
                         "[%s/valid.tsv]\nmini-batch: 50\nafter-epochs: %d\n",
                         folder, folder, folder, size == RG_SMALL_DEMO ? 200 : 2);
}

static rg_status digits_of_fgsm(rg_text *yaml, const char *folder, rg_small_size size)
{
    const bool demo = size == RG_SMALL_DEMO;
    RG_TRY(rg_generator_write(&rg_generator_mnist_m, folder,
                              demo ? "count: 6000\nvalid: 500\ntest: 500\n" : "count: 60\nvalid: 20\ntest: 20\n"));
    return rg_text_print(yaml,
                         "train-sets: [%s/train-images-idx3-ubyte, %s/train-labels-idx1-ubyte]\nvalid-sets: "
                         "[%s/valid-images-idx3-ubyte, %s/valid-labels-idx1-ubyte]\n"
                         "mini-batch: 50\nafter-epochs: %d\n",
                         folder, folder, folder, folder, demo ? 3 : 1);
}

#define GRID                                                                                                         \
    "layers: c5x12s2n p2 c3x24n c3x32n p7\nmini-batch: 32\nlearn-rate: 0.003\nlr-schedule: cosine\n" \
    "early-stopping: 0\n"

const rg_demo rg_classify_demos[] = {
    { .name = "sentiment",
      .summary = "film reviews: a few phrases, at times one of another opinion",
      .type = "classifier",
      .settings = "encoder: words\ndim-emb: 32\nattention-dim: 32\n",
      .metric = "accuracy",
      .expected = 0.9,
      .ask = "the cast : superb acting , the music : a joy , the second half : uneven",
      .asking = "words: true\nprobabilities: true\n" },
    { .name = "fgsm",
      .summary = "digits on textures, changed by 8/255 per pixel to fool the network",
      .type = "cnn",
      .settings = "layers: c3x16 p2 c3x32 p2 f64\npool: flatten\nlearn-rate: 0.002\nearly-stopping: 0\n",
      .metric = "error under attack",
      .expected = 0.5,
      .attack = 8.0 / 255,
      .attacked = "FOLDER/test-images-idx3-ubyte FOLDER/test-labels-idx1-ubyte",
      .small = digits_of_fgsm },
    { .name = "vat",
      .summary = "two half moons, six labels and 1,000 points without one",
      .type = "mlp",
      .objective = "vat",
      .settings = "layers: f64 f64\nepsilon: 0.3\nlearn-rate: 0.003\nearly-stopping: 0\nvalid-epochs: "
                  "500\nrestore-best: false\n",
      .metric = "accuracy",
      .expected = 0.9,
      .small = moons_of_vat },
    { .name = "dann",
      .summary = "two half moons; the target is turned by 35 degrees and has no labels",
      .type = "mlp",
      .objective = "domain",
      .settings = "layers: f32 f32\nactivation: tanh\ndomain-layers: [32]\nlearn-rate: 0.002\nearly-stopping: "
                  "0\nvalid-epochs: 50\nrestore-best: false\n",
      .metric = "accuracy",
      .expected = 0.9,
      .small = moons_of_dann },
    { .name = "cam",
      .summary = "a digit on a dark canvas: which is it, and where did the network look?",
      .type = "cnn",
      .settings = "layers: c3x24s2 p2 c3x48 c3x48\npool: gap\nafter-epochs: 5\n",
      .metric = "accuracy",
      .expected = 0.9,
      .ask = "FOLDER/shown.png",
      .asking = "box: true\n",
      .small = rg_demo_cam },
    { .name = "stn",
      .summary = "a spatial transformer turns digits back before they are read",
      .type = "cnn",
      .settings =
          "layers: f128 f64\npool: flatten\nfront: stn\nfront-layers: f32 f32\nfront-rate: 0.3\nafter-epochs: 5\n",
      .metric = "accuracy",
      .expected = 0.85,
      .ask = "FOLDER/shown.png",
      .small = rg_demo_stn },
    { .name = "grid16",
      .summary = "a digit in one of sixteen cells: soft attention finds it by its gradient",
      .type = "cnn",
      .settings = GRID "pool: soft\nafter-epochs: 3\n",
      .metric = "accuracy",
      .expected = 0.9,
      .ask = "FOLDER/shown.png",
      .small = rg_demo_grid },
    { .name = "grid16-hard",
      .summary = "the same with hard attention, which chooses one cell and learns by REINFORCE",
      .type = "cnn",
      .settings = GRID "pool: hard\nafter-epochs: 6\n",
      .metric = "accuracy",
      .expected = 0.8,
      .ask = "FOLDER/shown.png",
      .small = rg_demo_grid },
    { .name = "ram",
      .summary = "six glimpses of a canvas, each placed by what the ones before it saw",
      .type = "ram",
      .settings = "glimpses: 6\npatch: 12\nscales: 3\nafter-epochs: 8\n",
      .metric = "accuracy",
      .expected = 0.8,
      .ask = "FOLDER/shown.png",
      .small = rg_demo_ram },
    { 0 },
};
