/* sentencepiece.cc - the only C++ of the library: SentencePiece behind C functions that never throw.
 *
 * A SentencePieceProcessor is only read after it is loaded, so one of them serves any number of threads. */
#include "data/text/sentencepiece.h"

#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <sstream>
#include <string>
#include <unordered_map>

#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

struct rg_spm {
    sentencepiece::SentencePieceProcessor processor;
};

namespace {

void explain(char *why, const char *reason)
{
    std::snprintf(why, RG_SPM_WHY, "%s", reason);
    for (char *c = why; *c; c++)
        if (*c == '\n' || *c == '\r') *c = ' ';
}

/* Run body(), which returns a Status; false and the reason when it fails in any way. */
template <typename Body> bool guarded(char *why, Body body)
{
    try {
        const sentencepiece::util::Status status = body();
        if (status.ok()) return true;
        explain(why, status.ToString().c_str());
    } catch (const std::exception &error) {
        explain(why, error.what());
    } catch (...) {
        explain(why, "SentencePiece failed without saying why");
    }
    return false;
}

sentencepiece::util::Status refuse(const char *reason)
{
    return sentencepiece::util::Status(sentencepiece::util::StatusCode::kInternal, reason);
}

/* Our lines as SentencePiece's iterator. */
class Lines : public sentencepiece::SentenceIterator {
public:
    explicit Lines(const rg_spm_training &training) : training_(training) { Next(); }
    bool               done() const override { return done_; }
    const std::string &value() const override { return value_; }
    void               Next() override
    {
        const char *text = nullptr;
        size_t      bytes = 0;
        const int   got = training_.next(training_.context, &text, &bytes);
        done_ = got <= 0;
        failed_ = got < 0;
        if (!done_) value_.assign(text, bytes);
    }
    sentencepiece::util::Status status() const override
    {
        return failed_ ? refuse("the lines could not be read") : sentencepiece::util::Status();
    }

private:
    const rg_spm_training &training_;
    std::string            value_;
    bool                   done_ = false, failed_ = false;
};

} // namespace

/* "--name=value --flag": over what is there, but for what the vocabulary itself decides. */
static std::string add_options(std::unordered_map<std::string, std::string> &settings, const std::string &options)
{
    static const char *const ours[] = { "input", "model_prefix", "model_type", "vocab_size", "unk_id", "bos_id", "eos_id",
                                        "pad_id", "input_format", "num_threads" };
    std::istringstream words(options);
    for (std::string word; words >> word;) {
        word.erase(0, word.find_first_not_of('-'));
        const size_t      equals = word.find('=');
        const std::string name = word.substr(0, equals);
        for (const char *const mine : ours)
            if (name == mine) return "--sentencepiece-options: " + name + " is not for it to say";
        settings[name] = equals == std::string::npos ? "true" : word.substr(equals + 1);
    }
    return "";
}

static std::string joined(const char *const *words, size_t count)
{
    std::string all;
    for (size_t i = 0; i < count; i++) all += (i ? "," : "") + std::string(words[i]);
    return all;
}

bool rg_spm_train(rg_spm_sink *model, void *context, const rg_spm_training *t, char *why)
{
    return guarded(why, [&] {
        std::unordered_map<std::string, std::string> settings = {
            { "model_type", t->type },
            { "vocab_size", std::to_string(t->size) },
            { "hard_vocab_limit", "false" },
            { "character_coverage", std::to_string(t->coverage) },
            { "byte_fallback", t->byte_fallback ? "true" : "false" },
            { "input_sentence_size", std::to_string(t->max_lines) },
            { "shuffle_input_sentence", "true" },
            { "max_sentence_length", "65536" },
            { "normalization_rule_name", "identity" },
            { "num_threads", std::to_string(t->threads) },
            { "unk_id", "0" }, { "bos_id", "1" }, { "eos_id", "2" }, { "pad_id", "-1" },
            { "minloglevel", "3" },
        };
        if (t->symbol_count) settings["user_defined_symbols"] = joined(t->symbols, t->symbol_count);
        const std::string wrong = add_options(settings, t->options ? t->options : "");
        if (!wrong.empty()) return refuse(wrong.c_str());
        sentencepiece::SetRandomGeneratorSeed(t->seed);
        Lines       lines(*t);
        std::string bytes;
        const auto  status = sentencepiece::SentencePieceTrainer::Train(settings, &lines, &bytes);
        if (!status.ok()) return status;
        return model(context, bytes.data(), bytes.size()) ? status : refuse("the trained model could not be stored");
    });
}

bool rg_spm_load(rg_spm **out, const void *model, size_t bytes, char *why)
{
    return guarded(why, [&] {
        std::unique_ptr<rg_spm> spm(new rg_spm);
        const auto status = spm->processor.LoadFromSerializedProto({ static_cast<const char *>(model), bytes });
        if (status.ok()) *out = spm.release();
        return status;
    });
}

void rg_spm_free(rg_spm *spm)
{
    delete spm;
}

static int byte_of(const sentencepiece::SentencePieceProcessor &processor, int id, const std::string &piece)
{
    unsigned byte = 0;
    if (!processor.IsByte(id) || std::sscanf(piece.c_str(), "<0x%2X>", &byte) != 1) return -1;
    return static_cast<int>(byte);
}

bool rg_spm_encode(const rg_spm *spm, const char *text, size_t bytes, rg_spm_piece_sink *sink, void *context, char *why)
{
    return guarded(why, [&] {
        sentencepiece::ImmutableSentencePieceText encoded;
        const auto status = spm->processor.Encode({ text, bytes }, encoded.mutable_proto());
        if (!status.ok()) return status;
        for (size_t i = 0; i < encoded.pieces_size(); i++) {
            const auto         piece = encoded.pieces(static_cast<int>(i));
            const std::string &name = piece.piece();
            const int          id = static_cast<int>(piece.id());
            if (!sink(context, id, name.data(), name.size(), byte_of(spm->processor, id, name)))
                return refuse("the pieces could not be stored");
        }
        return status;
    });
}

bool rg_spm_encode_ids(const rg_spm *spm, const char *text, size_t bytes, rg_spm_ids_sink *sink, void *context, char *why)
{
    return guarded(why, [&] {
        std::vector<int> ids;
        const auto       status = spm->processor.Encode({ text, bytes }, &ids);
        if (!status.ok()) return status;
        return sink(context, ids.data(), ids.size()) ? status : refuse("the ids could not be stored");
    });
}

bool rg_spm_decode(const rg_spm *spm, const int32_t *ids, size_t count, rg_spm_sink *sink, void *context, char *why)
{
    return guarded(why, [&] {
        std::string text;
        const auto  status = spm->processor.Decode(std::vector<int>(ids, ids + count), &text);
        if (!status.ok()) return status;
        return sink(context, text.data(), text.size()) ? status : refuse("the text could not be stored");
    });
}

int32_t rg_spm_size(const rg_spm *spm)
{
    return spm->processor.GetPieceSize();
}

int32_t rg_spm_unk(const rg_spm *spm)
{
    return spm->processor.unk_id();
}

int32_t rg_spm_bos(const rg_spm *spm)
{
    return spm->processor.bos_id();
}

int32_t rg_spm_eos(const rg_spm *spm)
{
    return spm->processor.eos_id();
}

const char *rg_spm_piece(const rg_spm *spm, int32_t id)
{
    return spm->processor.IdToPiece(id).c_str();
}

int32_t rg_spm_find(const rg_spm *spm, const char *piece)
{
    return spm->processor.PieceToId(piece);
}

int32_t rg_spm_find_ordinary(const rg_spm *spm, const char *text, size_t bytes)
{
    const auto &p = spm->processor;
    const int   id = p.PieceToId({ text, bytes });
    return p.IsUnknown(id) || p.IsControl(id) || p.IsByte(id) || p.IsUnused(id) ? -1 : id;
}

double rg_spm_score(const rg_spm *spm, int32_t id)
{
    return static_cast<double>(spm->processor.GetScore(id));
}

bool rg_spm_is_control(const rg_spm *spm, int32_t id)
{
    return spm->processor.IsControl(id) || spm->processor.IsUnknown(id);
}
