# The calculator: worked examples of lectures, a soft dictionary of 1,000 keys, messages that name file, line and column.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

complain() {
    echo "$1"
    [ -f out ] && head -20 out
    failures=$((failures + 1))
}

expect() { # expect CODE PATTERN WORDS...
    code=$1 pattern=$2
    shift 2
    "$REGARD" "$@" > out 2>&1 < /dev/null
    got=$?
    if [ $got != "$code" ] || ! grep -qE -- "$pattern" out; then complain "regard $*: exit $got, expected $code and /$pattern/:"; fi
}

# scores of 112 and 96 at d = 64: 14 and 12, and 0.88 and 0.12
awk 'BEGIN { printf "1"; for (i = 1; i < 64; i++) printf "\t0"; print "" }' > q.tsv
awk 'BEGIN { printf "112"; for (i = 1; i < 64; i++) printf "\t0"; printf "\n96"; for (i = 1; i < 64; i++) printf "\t0"; print "" }' > k.tsv
expect 0 '^0.88	0.12$' attend --queries q.tsv --keys k.tsv --score scaled_dot --digits 2
expect 0 '^112	96$' attend --queries q.tsv --keys k.tsv --score dot --print scores
expect 0 '^14	12$' attend --queries q.tsv --keys k.tsv --score scaled_dot --print scores

# house prices: weights 0.6, 0.3, 0.1 from scores ln 0.6, ln 0.3, ln 0.1
echo 1 > q.tsv
awk 'BEGIN { print log(0.6); print log(0.3); print log(0.1) }' > k.tsv
printf '500\n300\n200\n' > v.tsv
expect 0 '^0.6	0.3	0.1$' attend -q q.tsv -k k.tsv -v v.tsv -s dot --digits 4
expect 0 '^410$' attend -q q.tsv -k k.tsv -v v.tsv -s dot --digits 4 --print output
expect 0 '"weights": \[\[\[0.6, 0.3, 0.1\]\]\], "output": \[\[410\]\]' attend -q q.tsv -k k.tsv -v v.tsv -s dot --digits 4 --json

# the steps one below the other; hard attention reads one value, a sample too; W^O joins heads
"$REGARD" attend -q q.tsv -k k.tsv -v v.tsv -s dot --digits 2 --print steps > out
printf '# scores\n-0.51\t-1.2\t-2.3\n# weights\n0.6\t0.3\t0.1\n# output\n4.1e+02\n' | cmp -s - out || complain "--print steps"
expect 0 '^500$' attend -q q.tsv -k k.tsv -v v.tsv -s dot --choose hard --print output
for seed in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    "$REGARD" attend -q q.tsv -k k.tsv -v v.tsv -s dot --choose sample --seed $seed --print output
done | sort | uniq -c > out
[ "$(awk '$2 != 500 && $2 != 300 && $2 != 200' out)" = "" ] && [ "$(wc -l < out)" -ge 2 ] || complain "--choose sample:"
printf '2 1\n' > o.tsv
expect 0 '^820	410$' attend -q q.tsv -k k.tsv -v v.tsv -s dot --digits 4 --join o.tsv --print output
printf '2 1\n3 4\n' > o.tsv
expect 2 'o.tsv: 2 lines; --join has a line for each of the 1 columns' attend -q q.tsv -k k.tsv -v v.tsv -s dot --join o.tsv

# kernel regression: the nearest house decides when the bandwidth is small
printf '1 2\n4 4\n9 1\n' > k.tsv
echo '4 4.1' > q.tsv
expect 0 '^300$' attend -q q.tsv -k k.tsv -v v.tsv -s distance --bandwidth 0.1 --print output

# reaches: two sentences, one row looking at itself and the past, an edge list
printf '1 0\n0 1\n\n1 1\n2 0\n0 3\n' > q.tsv
expect 0 '^\.	\.	0\.[0-9]+	0\.[0-9]+	0\.[0-9]+$' attend -q q.tsv
expect 0 '^\.	\.	1	\.	\.$' attend -q q.tsv -r causal
expect 0 '^\.	\.	\.	1	\.$' attend -q q.tsv -r window:1
expect 0 '^\.	1	\.	\.	\.$' attend -q q.tsv -r window_causal:1
expect 0 '^1	\.	\.	\.	\.$' attend -q q.tsv -r before:1
printf '1 5\n3 2\n3 4\n' > e.tsv
expect 0 '^\.	\.	\.	\.	1$' attend -q q.tsv -r edges:e.tsv
expect 0 'weights of head 2' attend -q q.tsv --heads 2
expect 0 'null, null' attend -q q.tsv -r causal --json

# every score answers, weights of a row sum to 1
for score in $("$REGARD" scores | awk 'NR > 1 { print $1 }'); do
    "$REGARD" attend -q q.tsv -s "$score" -r causal > out 2> err || complain "score $score fails: $(cat err)"
    awk '{ s = 0; for (i = 1; i <= NF; i++) s += $i; if (s < 0.9999 || s > 1.0001) bad = 1 } END { exit bad || NR != 5 }' out || complain "score $score: rows do not sum to 1"
    expect 0 "^$score: a score" explain "$score"
    [ -f "$SOURCE_DIR/docs/scores/$score.md" ] || complain "docs/scores/$score.md is missing"
    grep -q "scores/$score.md" "$SOURCE_DIR/docs/attention.md" || complain "docs/attention.md does not name $score"
done

# linear is w_q . q + w_k . k: the query cancels in the softmax; a function around it brings it back; dot has none
printf '1 0\n0 1\n3 -2\n' > rows.tsv
different() { "$REGARD" attend -q rows.tsv -s linear --digits 4 "$@" 2> /dev/null | sort -u | wc -l; }
[ "$(different)" = 1 ] && [ "$(different --score-activation identity)" = 1 ] || complain "linear depends on the query"
for f in tanh relu leaky_relu; do [ "$(different --score-activation $f)" -gt 1 ] || complain "linear with $f does not depend on the query"; done
expect 2 'no function inside the dot score' attend -q rows.tsv -s dot --score-activation tanh

systems=$("$REGARD" systems | sed -nE 's/^  ([a-z][a-z0-9-]*) .*/\1/p')
[ "$(echo "$systems" | wc -w)" -ge 20 ] || complain "systems lists only: $systems"
for system in $systems; do
    expect 0 "^$system: a system" explain "$system"
    expect 0 '^      all +[0-9]+ +[0-9.]+$' explain "$system" --parts
done
expect 0 '6 x 2 \+ 6 x 3 = 30 sub-layers' explain transformer --preset base --vocabulary 37000 --parts
expect 0 '2 x 2 \+ 1 x 3 = 7 sub-layers' explain transformer --enc-depth 2 --dec-depth 1 --parts
expect 2 'takes the NAME of one system' explain additive --parts
expect 2 "no preset 'huge'" explain transformer --preset huge --parts
[ -z "$(ls -d "${TMPDIR:-/tmp}"/regard.* 2> /dev/null)" ] || complain "explain --parts leaves a folder behind"
expect 0 '^    queries +target words' explain transformer
expect 0 '^ +x x x \. \. \.$|^ +\. \. x \. \. \.$' explain causal
expect 2 'did you mean additive' explain aditive

# what is wrong, and where
printf '1\t2\n3\tx4\n' > bad.tsv
expect 1 'bad.tsv, line 2, column 2: "x4" is not a number' attend -q bad.tsv
printf '1\t2\n# a remark\n3\n' > bad.tsv
expect 1 'bad.tsv, line 3: 1 numbers; the lines before have 2' attend -q bad.tsv
printf '# nothing\n\n' > bad.tsv
expect 1 'bad.tsv: there are no numbers' attend -q bad.tsv
printf '1 nan\n' > bad.tsv
expect 1 'line 1, column 2' attend -q bad.tsv
printf '1 9\n' > bad.tsv
expect 1 'bad.tsv, line 1: there is no pair 1 9' attend -q q.tsv -r edges:bad.tsv
expect 1 'no-such.tsv' attend -q no-such.tsv
expect 2 'queries is needed' attend
expect 2 "no score 'dott'" attend -q q.tsv -s dott
expect 2 'give its size' attend -q q.tsv -r window
expect 2 'there is no reach' attend -q q.tsv -r sideways
expect 2 'do not make 3 heads' attend -q q.tsv --heads 3
printf '1 2\n' > one.tsv
expect 2 'an empty line starts a group' attend -q q.tsv -k one.tsv
expect 2 'each key has a value' attend -q q.tsv -v one.tsv

# a soft dictionary: 1,000 unit keys of 64 numbers, queries are keys with noise 0.1 a number, beta 50
awk 'function normal() { return sqrt(-2 * log(1 - rand())) * cos(6.283185307 * rand()) }
BEGIN {
    srand(7)
    for (i = 0; i < 1000; i++) {
        s = 0
        for (d = 0; d < 64; d++) { k[d] = normal(); s += k[d] * k[d] }
        line = ""; noisy = ""; value = ""
        for (d = 0; d < 64; d++) {
            k[d] /= sqrt(s)
            line = line sprintf("%.6f\t", k[d]); noisy = noisy sprintf("%.6f\t", k[d] + 0.1 * normal())
        }
        for (d = 0; d < 8; d++) value = value sprintf("%.6f\t", normal())
        print line > "k.tsv"; print noisy > "q.tsv"; print value > "v.tsv"
    }
}'
"$REGARD" attend -q q.tsv -k k.tsv -v v.tsv -s cosine --sharpness 50 --print output > out || complain "the dictionary failed"
share=$(awk 'NR == FNR { for (d = 1; d <= 8; d++) v[NR, d] = $d; n = NR; next }
{
    best = -1
    for (i = 1; i <= n; i++) {
        s = 0
        for (d = 1; d <= 8; d++) s += ($d - v[i, d]) ^ 2
        if (best < 0 || s < least) { best = i; least = s }
    }
    right += best == FNR
}
END { printf "%.1f", 100 * right / FNR }' v.tsv out)
awk -v s="$share" 'BEGIN { exit !(s >= 99) }' || complain "the dictionary finds $share % of its values; 99 are expected"

# a score's weights from files, as its formula has them: additive by hand. W q = (1, 2), U k1 = (0, 0), U k2 = (1, -1):
# e1 = 2 tanh 1 + 3 tanh 2, e2 = 2 tanh 2 + 3 tanh 1
printf '1 0.5\n' > q.tsv; printf '0 0\n1 1\n' > k.tsv
printf '0 2\n1 2\n' > W.tsv; printf '0.5 0.5\n-2 1\n' > U.tsv; printf '2 3\n' > v.tsv
"$REGARD" attend -q q.tsv -k k.tsv -s additive --w W.tsv --u U.tsv --v v.tsv --print weights > out 2> err || complain "weights from files: $(cat err)"
awk 'function tanh(x) { return (exp(2 * x) - 1) / (exp(2 * x) + 1) }
{ e = exp(2 * tanh(1) + 3 * tanh(2)); f = exp(2 * tanh(2) + 3 * tanh(1)); d = $1 - e / (e + f); exit !(d < 1e-5 && d > -1e-5) }' out ||
    complain "additive by hand: $(cat out)"
grep -q drawn err && complain "nothing had to be drawn: $(cat err)"
# what was drawn is printed in the form that files have: given back, it gives the same
"$REGARD" attend -q q.tsv -k k.tsv -s general --print weights > drawn 2> err
"$REGARD" attend -q q.tsv -k k.tsv -s general --print score --digits 9 > W.tsv 2> err
"$REGARD" attend -q q.tsv -k k.tsv -s general --w W.tsv --seed 2 --print weights > out 2> err
cmp -s drawn out || complain "printed weights given back: $(cat drawn out W.tsv)"
expect 0 '"learned": {"w": \[\[' attend -q q.tsv -k k.tsv -s general --print all --json
expect 2 'has nothing that --u could set' attend -q q.tsv -k k.tsv -s general --u U.tsv
expect 2 '1 lines of 2 numbers; --w is 8 lines of 2 here' attend -q q.tsv -k k.tsv -s additive --w v.tsv

# a record of the weights, for regard show
printf '1 0\n0 1\n\n1 1\n2 0\n0 3\n' > q.tsv
"$REGARD" attend -q q.tsv -r causal --attention weights.json --print nothing || complain "no record was written"
expect 0 '5 x 5' show weights.json --list

[ $failures = 0 ] || exit 1
echo "soft dictionary: $share % found"
