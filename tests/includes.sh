# Includes point one way: a folder of src may include itself and the folders before it, never a later one.
# A public header regard/<name>.h belongs to the folder of that name, or to the folder that has <name>.c or <name>_*.c;
# where neither says so, `homes` does; a header nobody claims belongs where the latest header it includes does.
set -u
# model.h is what search knows of a model (start, step, keep), so it comes with decode.
homes="graph=data made=data ops=autograd recurrent=autograd conv=autograd model=decode objective=objectives translate=tasks task=train learning=train trainer=train processes=train"
order="base tensor autograd attention layers data metrics decode models objectives train view explain tasks import serve lab cli"

declare -A rank=()
place=0
for folder in $order; do rank[$folder]=$((place++)); done

home_of() { # home_of TREE NAME: sets `home`, the folder a public header belongs to
    home=$2
    [ -z "${rank[$2]:-}" ] || return 0
    for pair in $homes; do
        if [ "${pair%=*}" = "$2" ]; then home=${pair#*=}; return; fi
    done
    for source in "$1"/src/*/"$2".c "$1"/src/*/*/"$2".c "$1"/src/*/"$2"_*.c "$1"/src/*/*/"$2"_*.c; do
        if [ -e "$source" ]; then home=${source#"$1"/src/}; home=${home%%/*}; return; fi
    done
    local latest=base name_of
    for name_of in $(sed -nE 's/^ *# *include +"regard\/([^"]+)\.h".*/\1/p' "$1/include/regard/$2.h" 2> /dev/null); do
        home_of "$1" "$name_of"
        [ -z "${rank[$home]:-}" ] || [ "${rank[$home]}" -le "${rank[$latest]}" ] || latest=$home
    done
    home=$latest
}

folder_of() { # folder_of TREE PATH: sets `home`, of a file of ours or of an include as it is written
    case $2 in
    include/regard/*.h | regard/*.h) home=${2##*/}; home_of "$1" "${home%.h}" ;;
    src/*) home=${2#src/}; home=${home%%/*} ;;
    *) home=${2%%/*} ;;
    esac
}

check() { # check TREE: prints what is wrong
    (cd "$1" && grep -rEo --include='*.[ch]' --include='*.cc' '^ *# *include +"[^"]+/[^"]+"' src include) |
        sed -E 's/:.*"([^"]+)"/ \1/' | while read -r file name; do
        folder_of "$1" "$file"
        own=$home
        folder_of "$1" "$name"
        if [ -z "${rank[$own]:-}" ]; then echo "$file: in no folder of the order"
        elif [ -z "${rank[$home]:-}" ]; then echo "$file: includes $name, which is in no folder of the order"
        elif [ "${rank[$home]}" -gt "${rank[$own]}" ]; then echo "$file: $own may not include $name of $home"; fi
    done
}

# The check itself must see a wrong include.
wrong=$(mktemp -d)
trap 'rm -rf "$wrong"' EXIT
mkdir -p "$wrong/src/base" "$wrong/src/tensor" "$wrong/include/regard"
echo '#include "tensor/kernels.h"' > "$wrong/src/base/status.c"
echo '#include "regard/base.h"' > "$wrong/src/tensor/kernels.c"
echo '#include "regard/train.h"' > "$wrong/include/regard/tensor.h"
[ "$(check "$wrong" | wc -l)" = 2 ] || { echo "the check does not see wrong includes:"; check "$wrong"; exit 1; }

found=$(check "$SOURCE_DIR")
[ -z "$found" ] || { echo "$found"; exit 1; }
echo "includes point one way"
