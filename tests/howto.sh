# The examples of docs/howto-*.md cannot go stale: blocks that are whole parts are compiled, all others are found, line by line, in a file of
# the tree. A page without a check fails.
set -eu
docs=$SOURCE_DIR/docs

block() { # block PAGE N: the Nth C block of the page, without its indentation
    awk -v wanted="$2" '/^ *```c$/ { n++; inside = 1; indent = match($0, /`/) - 1; next }
                        /^ *```$/ { inside = 0 }
                        inside && n == wanted { print substr($0, indent + 1) }' "$docs/howto-$1.md"
}
compile() { "${CC:-cc}" -std=c17 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Wpedantic -Werror -Wno-missing-field-initializers -I"$SOURCE_DIR/include" \
    -I"$SOURCE_DIR/src" -I"$SOURCE_DIR/tests" "$@"; }
# Each line of the block stands in the file, blanks, line breaks and comments aside; a line of three dots stands for any.
found_in() { # found_in PAGE N FILE
    plain() { sed -E 's,/\*.*\*/,,; s/[[:blank:]]+//g; /^(\.\.\.)?$/d; /^\/\*/d; /^\*/d' "$@"; }
    block "$1" "$2" | plain > lines
    [ -s lines ] || { echo "docs/howto-$1.md has no C block $2"; exit 1; }
    plain "$SOURCE_DIR/$3" | tr -d '\n' > file
    while read -r line; do grep -qF -e "$line" file || echo "$line"; done < lines > strange
    [ ! -s strange ] || { echo "docs/howto-$1.md, block $2: not in $3:"; cat strange; exit 1; }
}

# command: a whole command
block command 1 > cmd_greet.c
compile -c cmd_greet.c

# layer: its header, its body, and the heart of its gradient test, which runs where the double library is built
{ echo '#include "regard/layers.h"'; block layer 2; } > highway.h
{ echo '#include "highway.h"'; block layer 1; } > highway.c
compile -I. -c highway.c
block layer 3 > test_lines
{
    echo '#include <setjmp.h>'
    echo '#include <stdarg.h>'
    echo '#include <stddef.h>'
    echo '#include <stdint.h>'
    echo '#include <cmocka.h>'
    echo '#include "highway.h"'
    echo '#include "support/gradient.h"'
    sed '/^\.\.\./,$d' test_lines
    echo 'void gradient(void **state);'
    echo 'void gradient(void **state) {'
    echo '    rg_highway layer; rg_params *params = NULL; (void)state;'
    echo '    assert_int_equal(rg_params_new(&params), RG_OK);'
    sed '1,/^\.\.\./d' test_lines
    echo '    rg_params_free(params); }'
} > grad_highway.c
compile -I. -DRG_REAL=double -c grad_highway.c

# experiment: a whole grid
block experiment 1 > experiment.c
compile -c experiment.c

# objective: the lines of a second pass
{
    echo '#include "regard/objective.h"'
    echo '#include "regard/ops.h"'
    echo 'rg_loss loss(rg_tape *t, const rg_pass *pass, rg_tensor *r);'
    echo 'rg_loss loss(rg_tape *t, const rg_pass *pass, rg_tensor *r) {'
    block objective 1
    echo '    return attacked; }'
} > objective.c
compile -c objective.c

# score, reach: a whole one of the tree; system, task: parts of whole ones
found_in score 1 src/attention/scores/general.c
found_in reach 1 src/attention/reaches/strided.c
found_in system 1 src/models/gat.c
found_in task 1 examples/04_new_task.c
found_in task 2 examples/04_new_task.c
found_in task 3 examples/04_new_task.c
found_in task 5 examples/04_new_task.c
found_in task 6 examples/04_new_task.c
{
    echo '#include "regard/examples.h"'
    echo '#include "regard/supervised.h"'
    block task 4
    echo 'extern const rg_task rg_task_checked;'
    echo 'const rg_task rg_task_checked = { .name = "checked", .assets_bytes = sizeof(assets), .describe = describe, .adopt = adopt, .drop = drop };'
} > assets.c
compile -c assets.c

# generator: a whole one, in the order of the page
{
    echo '#include "data/made/examples_made.h"'
    echo 'typedef struct { rg_made_settings base; } settings;'
    echo 'static const rg_option options[] = { RG_MADE_ROWS(settings, "10000"), RG_OPTION_END };'
    echo 'extern const rg_generator rg_generator_mine;'
    block generator 1
    block generator 2
} > generator.c
compile -Wno-unused-parameter -c generator.c

for page in "$docs"/howto-*.md; do
    name=${page##*/howto-}
    grep -q '```c$' "$page" || continue
    grep -qE "(block|found_in) ${name%.md} " "$0" || { echo "$page has C that nobody checks"; exit 1; }
done
echo "the examples of the how-to pages compile"
