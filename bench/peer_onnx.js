// ONNX Runtime on the graphs that peer_onnx.py writes: greedy decoding with the past kept from step to step, float32.
//
//   node peer_onnx.js MODULE THREADS [cpu]     MODULE: folder of onnxruntime-node; one JSON line of an answer for each line asked
"use strict";
const fs = require("fs"), os = require("os"), path = require("path");
const { execFileSync } = require("child_process");
const readline = require("readline");
const ort = require(process.argv[2]);
const threads = Number(process.argv[3]);
const cpu = process.argv[4] === "cpu";

function now() {
    if (!cpu) return performance.now() / 1e3;
    const used = process.cpuUsage();
    return (used.user + used.system) / 1e6;
}

function openGraph(folder, name) {
    return ort.InferenceSession.create(path.join(folder, name), {
        intraOpNumThreads: threads, interOpNumThreads: 1, executionMode: "sequential", graphOptimizationLevel: "all", logSeverityLevel: 3,
    });
}

const words = (rows) => new ort.Tensor("int64", BigInt64Array.from(rows.flat(), BigInt), [rows.length, rows[0].length]);

async function open(p, folder) {
    execFileSync("/usr/bin/python3", [path.join(__dirname, "peer_onnx.py"), folder],
                 { input: JSON.stringify(p), env: { ...process.env, PYTHONWARNINGS: "ignore" }, stdio: ["pipe", "ignore", "inherit"] });
    const text = JSON.parse(fs.readFileSync(path.join(folder, "expected.json")));
    return { p, start: await openGraph(folder, "start.onnx"), step: await openGraph(folder, "step.onnx"), source: words(text.source), expected: text.answer };
}

// Tokens of every step, one BigInt64Array each.
async function search(m) {
    const batch = m.p.batch, heads = m.p.heads, width = m.p.d / heads;
    const feeds = await m.start.run({ source: m.source });
    for (let i = 0; i < m.p.layers; i++) {
        feeds["past_k" + i] = new ort.Tensor("float32", new Float32Array(0), [batch, heads, width, 0]);
        feeds["past_v" + i] = new ort.Tensor("float32", new Float32Array(0), [batch, heads, 0, width]);
    }
    feeds.tokens = new ort.Tensor("int64", new BigInt64Array(batch).fill(1n), [batch, 1]);
    const answer = [];
    for (let t = 0; t < m.p.words; t++) {
        feeds.place = new ort.Tensor("int64", BigInt64Array.of(BigInt(t)), [1]);
        const out = await m.step.run(feeds);
        feeds.tokens = out.next;
        for (let i = 0; i < m.p.layers; i++) {
            feeds["past_k" + i] = out["now_k" + i];
            feeds["past_v" + i] = out["now_v" + i];
        }
        answer.push(out.next.data);
    }
    return answer;
}

// Share of words that PyTorch answered too. Rounding may part two near ties, and what follows them.
function agreement(m, answer) {
    let same = 0;
    m.expected.forEach((row, b) => row.forEach((word, t) => { same += BigInt(word) === answer[t][b] ? 1 : 0; }));
    return same / (m.p.batch * m.p.words);
}

async function measure(m, seconds) {
    const answer = await search(m), same = agreement(m, answer);
    if (same < 0.8) throw new Error("only " + same + " of the words are PyTorch's");
    const samples = [], begin = now();
    while (samples.length < 3 || (now() - begin < seconds && samples.length < 2000)) {
        const from = now();
        await search(m);
        samples.push(now() - from);
    }
    samples.sort((a, b) => a - b);
    return { best: samples[0], median: samples[samples.length >> 1], check: m.p.batch * answer.length };
}

async function main() {
    const opened = new Map();
    console.log(JSON.stringify({ version: ort.env.versions.node, threads }));
    for await (const line of readline.createInterface({ input: process.stdin })) {
        const ask = JSON.parse(line);
        if (ask.case !== "decode" || ask.params.beam !== 1) {
            console.log(JSON.stringify({ missing: true }));
            continue;
        }
        const folder = fs.mkdtempSync(path.join(os.tmpdir(), "bench-onnx-"));
        try {
            const key = JSON.stringify(ask.params);
            if (!opened.has(key)) opened.clear(), opened.set(key, await open(ask.params, folder));
            console.log(JSON.stringify(await measure(opened.get(key), ask.seconds)));
        } finally {
            fs.rmSync(folder, { recursive: true });
        }
    }
}

main().catch((e) => { console.error(e); process.exit(1); });
