# regard evaluate from outside: the numbers, several references, gzip, JSON, files that do not belong together.
set -u
data=$SOURCE_DIR/tests/data/metrics
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

expect() { # expect CODE PATTERN HYPOTHESIS WORDS...
    code=$1 pattern=$2 hypothesis=$3
    shift 3
    "$REGARD" evaluate "$@" < "$hypothesis" > "$work/out" 2>&1
    got=$?
    if [ $got != "$code" ] || ! grep -qE -- "$pattern" "$work/out"; then
        echo "regard evaluate $*: exit $got, expected $code and /$pattern/:"
        cat "$work/out"
        failures=$((failures + 1))
    fi
}

score() { # score SET KEY: what the stored numbers say, to two digits
    awk -v set="\"$1\"" -v key="\"$2\"" 'index($0, " " set ":") { in_set = 1 } in_set && index($0, key) { in_key = 1 }
        in_key && /"score"/ { sub(/.*: /, ""); printf "%.2f", $0; exit }' "$data/sacrebleu.json"
}

for set in free odd zh; do
    expect 0 "^BLEU\|nrefs:1\|case:mixed\|eff:no\|tok:13a\|smooth:exp\|version:2.6.0 = $(score $set 'bleu tok=13a lc=False') " \
        "$data/$set.hyp" --metrics bleu "$data/$set.ref"
    expect 0 "^TER\|.* = $(score $set 'ter normalized=True')$" "$data/$set.hyp" --metrics ter --normalized -- "$data/$set.ref"
    expect 0 "^chrF2\+\+\|.* = $(score $set 'chrf word_order=2 lc=True')$" "$data/$set.hyp" --lowercase --metrics chrf++ "$data/$set.ref"
done
expect 0 "tok:zh.* = $(score zh 'bleu tok=zh lc=False') " "$data/zh.hyp" --tokenize zh "$data/zh.ref"
expect 0 '^BLEU\|nrefs:2.* = 100\.00 ' "$data/free.hyp" "$data/free.ref" "$data/free.hyp"
expect 0 '^exact = 100.00' "$data/free.ref" --metrics exact "$data/free.ref"
expect 0 '^ROUGE-L' "$data/free.hyp" --metrics rouge "$data/free.ref"
expect 0 '"confidence_half": [0-9.]+' "$data/free.hyp" --json --confidence --metrics bleu "$data/free.ref"
expect 0 '^BLEU of length 1-10 ' "$data/free.hyp" --by-length --metrics bleu "$data/free.ref"
expect 0 '^chrF2 of length 6-9 ' "$data/free.hyp" --lengths 5 9 --plot "$work/lengths.svg" --metrics bleu chrf "$data/free.ref"
cp "$work/lengths.svg" "$work/two.svg"
expect 0 '^BLEU of length 6-9 ' "$data/free.hyp" --lengths 5 9 --plot "$work/lengths.svg" --metrics bleu "$data/free.ref"
colours() { grep -o 'stroke:rgb[^;]*' "$1" | sort -u | wc -l; }
[ "$(colours "$work/two.svg")" = $(($(colours "$work/lengths.svg") + 1)) ] || { echo "two metrics are not two curves"; failures=$((failures + 1)); }
expect 2 'lengths.xyz: a name that ends in .png' "$data/free.hyp" --plot "$work/lengths.xyz" "$data/free.ref"
printf 'a\tx\nb\tx\nb\tx\nc\tx\n' > "$work/gold.tsv"
printf 'a\nb\na\nc\n' > "$work/said.tsv"
expect 0 'accuracy 0.75' "$work/said.tsv" --type classes --plot "$work/confusion.json" "$work/gold.tsv"
"$REGARD" show "$work/confusion.json" > "$work/drawn" && grep -q 'b (2)' "$work/drawn" && grep -q '0.50' "$work/drawn" || { cat "$work/drawn"; failures=$((failures + 1)); }
expect 0 'accuracy 0.75' "$work/said.tsv" --type classes --plot "$work/confusion.png" "$work/gold.tsv"
[ -s "$work/confusion.png" ] || { echo "no figure of a confusion matrix"; failures=$((failures + 1)); }
expect 2 'draws bleu, chrf' "$data/free.hyp" --plot "$work/exact.png" --metrics exact "$data/free.ref"
expect 2 'rising whole numbers, not "5"' "$data/free.hyp" --lengths 9 5 --by-length "$data/free.ref"
expect 0 '^ROUGE-1.*value:recall\|bytes:75 = ' "$data/free.hyp" --rouge-bytes 75 --metrics rouge1 "$data/free.ref"
"$REGARD" evaluate -i "$data/free.hyp" "$data/free.ref" < /dev/null | grep -q "= $(score free 'bleu tok=13a lc=False') " || { echo "--hypothesis"; failures=$((failures + 1)); }
expect 0 '"line": 3, ' "$data/free.hyp" --json --sentences --metrics chrf "$data/free.ref"
gzip -c "$data/free.ref" > "$work/free.ref.gz"
expect 0 "^BLEU.* = $(score free 'bleu tok=13a lc=False') " "$data/free.hyp" "$work/free.ref.gz"
expect 1 'has [0-9]+ lines, .*zh.ref [0-9]+' "$data/free.hyp" "$data/zh.ref"
expect 1 'no-such-file' "$data/free.hyp" no-such-file
expect 2 'at least one file' "$data/free.hyp"
expect 2 'no metric is called "meteor"; there are bleu, chrf' "$data/free.hyp" --metrics meteor
expect 2 'tokenize' "$data/free.hyp" --tokenize spm "$data/free.ref"
printf '0-0 1-1\n' > "$work/links"
printf '0-0 1?1 2-2\n' > "$work/gold"
expect 0 '^AER = 25.00 ' "$work/links" --metrics aer "$work/gold"
printf '0-0 x 2-2\n' > "$work/links"
expect 1 'line 1: output: "x" is not a link' "$work/links" --metrics aer "$work/gold"
expect 1 'line 1: reference: "x" is not a link' "$work/gold" --metrics aer "$work/links"
: > "$work/none"
expect 1 'nothing to judge' "$work/none" "$work/none"
[ $failures = 0 ]
