# The shared library exports what the public headers declare, all of it and nothing else; a module exports its one entry.
set -eu
command -v python3 > /dev/null || exit 77
library=$BUILD_DIR/libregard.so

# what counts lines (REGARD_COVERAGE) is the compiler's
exported() { nm -D --defined-only "$1" | awk '$2 != "A" && $3 !~ /^(__gcov_.*|mangle_path)$/ { print $3 }' | sort; }
"$SOURCE_DIR/tools/api-index" --symbols | sort > declared
[ "$(wc -l < declared)" -gt 500 ] || { echo "found only $(wc -l < declared) declarations"; exit 1; }
exported "$library" > exported
comm -13 declared exported > excess
comm -23 declared exported > missing
[ ! -s excess ] || { echo "exported, but in no public header:"; cat excess; }
[ ! -s missing ] || { echo "in a public header, but not exported (is it between RG_API_BEGIN and RG_API_END?):"; cat missing; }
[ ! -s excess ] && [ ! -s missing ]

for pair in figures=rg_figure__render serve=rg_serve__models mpi=rg_mpi__open; do
    module=$BUILD_DIR/regard-${pair%=*}.so
    [ -e "$module" ] || continue
    [ "$(exported "$module")" = "${pair#*=}" ] || { echo "regard-${pair%=*}.so exports:"; exported "$module"; exit 1; }
done
echo "$(wc -l < exported) symbols, all of them declared in public headers"
