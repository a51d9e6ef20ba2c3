// Translates lines of standard input with a folder that `regard export --to marian` wrote, in the WebAssembly of another program:
//
//     node bench/marian_engines.js bergamot|fxtranslate FOLDER PRECISION PACKAGES < lines > answers
//
// PACKAGES is a folder in which npm installed @browsermt/bergamot-translator and fxtranslate. PRECISION is that of bergamot's products:
// int8shiftAlphaAll or float32. Lines go one by one, so that the shortlist of one is not that of its neighbours.
const fs = require("node:fs");
const path = require("node:path");
const { Worker } = require("node:worker_threads");

const [engine, folder, precision, packages] = process.argv.slice(2);
const lines = fs.readFileSync(0, "utf8").replace(/\n$/, "").split("\n");
const read = (name) => (fs.existsSync(path.join(folder, name)) ? fs.readFileSync(path.join(folder, name)) : null);
const model = read("model.bin");
const source = read("vocab.spm") || read("srcvocab.spm");
const target = read("vocab.spm") || read("trgvocab.spm");
const lex = read("lex.s2t.bin");

async function bergamot() {
    // The package calls itself a module, which its worker is not: it is run as the script it was written as.
    const here = path.join(packages, "node_modules/@browsermt/bergamot-translator/worker");
    const file = path.join(here, "translator-worker.js");
    // Its answers end at twice the length of the source, which cuts words of short sentences in the middle.
    const script = fs.readFileSync(file, "utf8").replace("max-length-factor: 2.0", "max-length-factor: 4.0");
    const worker = new Worker(`(function (__dirname, __filename, require) {${script}\n})(${JSON.stringify(here)}, ${JSON.stringify(file)}, require)`, { eval: true });
    const waiting = new Map();
    let count = 0;
    worker.on("message", ({ id, result, error }) => {
        const { accept, reject } = waiting.get(id);
        waiting.delete(id);
        if (error) reject(new Error(error.message || String(error)));
        else accept(result);
    });
    worker.on("error", (error) => { for (const { reject } of waiting.values()) reject(error); });
    const call = (name, ...args) => new Promise((accept, reject) => {
        waiting.set(++count, { accept, reject });
        worker.postMessage({ id: count, name, args });
    });
    const bytes = (buffer) => buffer.buffer.slice(buffer.byteOffset, buffer.byteOffset + buffer.length);
    const pair = { from: "a", to: "b" };
    await call("initialize", {});
    const vocabulary = bytes(source);
    const vocabs = read("vocab.spm") ? [vocabulary] : [vocabulary, bytes(target)];
    await call("loadTranslationModel", pair, { model: bytes(model), shortlist: lex ? bytes(lex) : new ArrayBuffer(0), vocabs, config: { "gemm-precision": precision } });
    for (const text of lines) {
        const [answer] = await call("translate", { models: [pair], texts: [{ text, html: false, qualityScores: false }] });
        process.stdout.write(answer.target.text + "\n");
    }
    await worker.terminate();
}

function fxtranslate() {
    const { Translator } = require(path.join(packages, "node_modules/fxtranslate"));
    const translator = new Translator(model, source, target, lex);
    for (const line of lines) process.stdout.write(translator.translate(line) + "\n");
}

Promise.resolve(engine === "bergamot" ? bergamot() : fxtranslate()).catch((error) => {
    process.stderr.write(`${engine}: ${error && error.stack ? error.stack : error}\n`);
    process.exit(1);
});
