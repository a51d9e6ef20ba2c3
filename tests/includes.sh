# Includes point one way: a folder of src may include itself and the folders before it, never a later one.
# A public header regard/<name>.h belongs to the folder of that name, or to the folder that has <name>.c.
set -u
order="base tensor autograd layers attention data decode models train tasks view serve cli"

rank() { # rank FOLDER -> its place, empty when it is not in the list
    n=0
    for folder in $order; do
        n=$((n + 1))
        [ "$folder" != "$1" ] || { echo $n; return; }
    done
}

home_of() { # home_of TREE NAME -> the folder a public header belongs to
    if [ -n "$(rank "$2")" ]; then echo "$2"; return; fi
    for file in "$1"/src/*/"$2".c "$1"/src/*/"$2".cc; do
        [ -e "$file" ] && { basename "$(dirname "$file")"; return; }
    done
}

check() { # check TREE: prints what is wrong
    for file in $(cd "$1" && find src include \( -name '*.c' -o -name '*.h' -o -name '*.cc' \) | sort); do
        case $file in
        include/regard/*) own=$(home_of "$1" "$(basename "$file" .h)") ;;
        *) own=$(echo "$file" | cut -d/ -f2) ;;
        esac
        if [ -z "$(rank "$own")" ]; then echo "$file: in no folder of the order"; continue; fi
        for name in $(sed -nE 's/^ *# *include +"([^"]+)".*/\1/p' "$1/$file"); do
            case $name in
            regard/*) other=$(home_of "$1" "$(basename "$name" .h)") ;;
            */*) other=$(echo "$name" | cut -d/ -f1) ;;
            *) other=$own ;;
            esac
            if [ -z "$(rank "$other")" ]; then echo "$file: includes $name, which is in no folder of the order"
            elif [ "$(rank "$other")" -gt "$(rank "$own")" ]; then echo "$file: $own may not include $name of $other"; fi
        done
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
