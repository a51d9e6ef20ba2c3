#!/bin/bash
# Tasks about pictures from the command line: forms of captions, pictures that are absent or damaged, sets compared.
set -u
fail() { echo "$1"; exit 1; }
"$REGARD" make captcha -n 12 --valid 4 --test 0 --shortest 2 --longest 2 -o made > /dev/null || fail "make"
SMALL="--type caption --vocab-kind characters --layers c3x4s2 --dim-emb 4 --dim-rnn 6 --mini-batch 4 --after-batches 2 --cpu-threads 1 --overwrite"
train() { "$REGARD" train $SMALL "$@" > out.txt 2>&1; }

# one text per line, by the header's names; the archive beside the table is found
train -t made/train.tsv --valid-sets made/valid.tsv --valid-freq 2 -m a.safetensors || { cat out.txt; fail "a table"; }
grep -q "12 texts of 12 pictures" out.txt || { cat out.txt; fail "texts are not counted"; }

# the same as COCO JSON and as three columns give the same weights
tail -n +2 made/train.tsv | awk -F'\t' 'BEGIN { printf "{\"images\":[" } { i[NR] = $1; t[NR] = $2 }
    END { for (k = 1; k <= NR; k++) printf "%s{\"id\":%d,\"file_name\":\"%s\"}", (k > 1 ? "," : ""), k, i[k]; printf "],\"annotations\":["
          for (k = 1; k <= NR; k++) printf "%s{\"image_id\":%d,\"caption\":\"%s\"}", (k > 1 ? "," : ""), k, t[k]; printf "]}" }' > coco.json
tail -n +2 made/train.tsv | awk -F'\t' '{ print $1 "\t0\t" $2 }' > three.tsv
train -t made/train.tsv -m a.safetensors && train -t coco.json --pictures made/train.tar -m b.safetensors && train -t three.tsv --pictures made/train.tar -m c.safetensors ||
    { cat out.txt; fail "other forms of captions"; }
cmp a.safetensors b.safetensors || fail "COCO captions are learned otherwise"
cmp a.safetensors c.safetensors || fail "three columns are learned otherwise"

# a folder whose names are the texts
mkdir named && tail -n +2 made/train.tsv | while IFS=$'\t' read -r file text; do tar -xOf made/train.tar "$file" > "named/$text.png"; done
train -t named/ -m d.safetensors || { cat out.txt; fail "a folder"; }
first=$(ls named | head -1)
"$REGARD" predict -m d.safetensors "named/$first" --n-best 3 --beam-size 4 > said.txt 2> why.txt || { cat why.txt; fail "predict"; }
[ "$(grep -c "named/$first" said.txt)" = 3 ] || { cat said.txt; fail "three answers"; }

# pictures that are named and absent are counted and listed; none at all, an empty file and HTML are refused with the name
printf 'nowhere.png\t0\t12\n' >> three.tsv
train -t three.tsv --pictures made/train.tar -m e.safetensors || { cat out.txt; fail "an absent picture"; }
grep -q "1 of 13 pictures are not in made/train.tar: nowhere.png" out.txt || { cat out.txt; fail "absent pictures are not listed"; }
train -t three.tsv --pictures named -m e.safetensors && fail "no picture at all"
grep -q "named has none of the 13 pictures" out.txt || { cat out.txt; fail "no picture at all: message"; }
mkdir bad && : > bad/12.png && train -t bad/ -m e.safetensors && fail "an empty file"
grep -q "12.png" out.txt || { cat out.txt; fail "an empty file: message"; }
printf '<html>no</html>' > bad/12.png && train -t bad/ -m e.safetensors && fail "HTML"
grep -q "12.png" out.txt || { cat out.txt; fail "HTML: message"; }
printf '{"images":[],"annotations":[{"image_id":1,"caption":"x"}]}' > bad.json && train -t bad.json --pictures named -m e.safetensors && fail "an image that is not there"
grep -q "bad.json: annotation 1 is about image 1" out.txt || { cat out.txt; fail "an image that is not there: message"; }

# sets: by hand F1 = 2 * 3 / (2 * 3 + 1 + 1), IoU = 3 / 5
printf 'picture\ttags\na.png\tred|bar\nb.png\tred\nc.png\tblue\n' > gold.tsv
printf 'input\ttags\nx/a.png\tred|bar\nx/b.png\tred|bar\nx/c.png\t\n' > said.tsv
"$REGARD" evaluate --type sets gold.tsv --json < said.tsv > sets.txt 2>&1 || { cat sets.txt; fail "evaluate sets"; }
grep -q '"f1":0.75' sets.txt && grep -q '"iou":0.6' sets.txt && grep -q '"exact":0.33' sets.txt || { cat sets.txt; fail "sets by hand"; }
printf 'b.png\tred\na.png\tred\nc.png\tred\n' | "$REGARD" evaluate --type sets gold.tsv > sets.txt 2>&1 && fail "other pictures"
grep -q "same pictures in the same order" sets.txt || { cat sets.txt; fail "other pictures: message"; }
exit 0
