# The kernels on AArch64: base and tensor are cross-compiled, and the kernel and product tests run under qemu-user.
# release only
# timeout 900
set -eu
cc=aarch64-linux-gnu-gcc
command -v $cc > /dev/null && command -v qemu-aarch64 > /dev/null || exit 77
cd "$SOURCE_DIR"
ls src/tensor/kernels/*.c > /dev/null 2>&1 || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

flags="-O2 -Iinclude -Isrc -Itests -Itests/support/cross -D_POSIX_C_SOURCE=200809L -D_DEFAULT_SOURCE -fno-math-errno
       -DREGARD_VERSION=\"0\" -DREGARD_LIBDIR=\"\" -DTEST_DATA=\"tests/data\" -DSOURCE_DIR=\".\" -Wall -Wextra -Werror
       -Wno-missing-field-initializers"
[ -n "${CAMPAIGN:-}" ] || flags="$flags -DEMULATED" # fewer large products
one() { # one SOURCE FLAGS...: compile into the work folder
    source=$1
    shift
    # shellcheck disable=SC2086
    $cc $flags "$@" -c "$source" -o "$work/$(echo "$source" | tr / _).o"
}
for source in src/base/*.c src/tensor/*.c; do
    [ "$source" = src/base/options_yaml.c ] || one "$source" -std=c17 -ffp-contract=off -DRG_NEONDOT
done
for source in src/tensor/kernels/*.c; do
    contract=fast
    case $source in */optimise.c | */int8.c) contract=off ;; esac
    one "$source" -std=gnu17 -ffp-contract=$contract -Wno-psabi -DRG_ISA=neon -DRG_ISA_neon=1 -DRG_LANES=4
done
# the dot product instruction, which some processors have
# shellcheck disable=SC2086
$cc $flags -std=gnu17 -ffp-contract=off -Wno-psabi -march=armv8.2-a+dotprod -DRG_ISA=neondot -DRG_ISA_neondot=1 -DRG_LANES=4 \
    -c src/tensor/kernels/int8.c -o "$work/neondot.o"
aarch64-linux-gnu-ar rcs "$work/libregard.a" "$work"/*.o

ran=0
for source in tests/test_kernel*.c tests/test_product*.c tests/test_int8.c tests/test_tensor*.c; do
    [ -e "$source" ] || continue
    name=$(basename "$source" .c)
    # shellcheck disable=SC2086
    $cc $flags -std=c17 -static "$source" tests/support/faults.c "$work/libregard.a" -lm -lpthread -o "$work/$name"
    echo "== $name"
    qemu-aarch64 "$work/$name" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    tail -3 "$work/log"
    ran=1
done
[ $ran = 1 ] || exit 77
