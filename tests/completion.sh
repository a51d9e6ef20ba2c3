# Manuals and completions come from the tables: every command has a page, every option of a command stands in its page and
# in all three scripts, and shells that are installed read the scripts.
# release only: texts from tables, which test_options reads under sanitizers
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
cd "$work" || exit 1
for shell in bash zsh fish; do "$REGARD" --completion $shell > c.$shell || fail "--completion $shell"; done
"$REGARD" --completion tcsh > out 2> log && fail "tcsh was taken"
"$REGARD" --man nonesuch > out 2> log && fail "a page of no command"
"$REGARD" --man > regard.1 || fail "--man"
"$REGARD" --man commands > commands
[ "$(wc -l < commands)" -ge 25 ] || fail "commands"
while read -r command; do
    "$REGARD" --man "$command" > page.1 || fail "--man $command"
    grep -q "^regard.-$command .- " page.1 || fail "the name of $command"
    grep -q "regard.-$command (1)" regard.1 || fail "$command in regard.1"
    sed 's/\\-/-/g;s/\\://g' page.1 > page.txt
    "$REGARD" "$command" --help | sed -n 's/^  \(-., \|    \)--\([a-z0-9-]*\).*/\2/p' | sort -u > flags
    while read -r flag; do
        grep -q -- "--$flag\b" page.txt || fail "--$flag in the page of $command"
        grep -q "from $command' -l $flag\b" c.fish || fail "--$flag of $command in fish"
    done < flags
    if [ "$command" = train ] || [ "$command" = explain ] && command -v man > /dev/null && man --version 2> /dev/null | grep -q '^man 2'; then
        LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z page.1 > out 2> log
        [ -s log ] && { cat log; fail "the page of $command"; }
    fi
done < commands
if command -v bash > /dev/null; then
    cat > try <<'BASH'
source ./c.bash
complete_line() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _regard; echo "${COMPREPLY[*]}"; }
complete_line regard transl
complete_line regard train --transformer-head
complete_line regard train --type transf
complete_line regard train --early-stopping-on a
BASH
    printf 'translate\n--transformer-heads\ntransformer\nall any\n' > want
    bash try > got 2>&1
    cmp -s want got || { cat got; fail "bash completes"; }
fi
command -v zsh > /dev/null && { zsh -n c.zsh || fail "zsh reads it"; }
if command -v fish > /dev/null; then
    HOME=$work fish -c 'source c.fish; complete -C "regard train --transformer-head"' 2> log | grep -q -- '--transformer-heads' || { cat log; fail "fish completes"; }
fi
[ "$failures" = 0 ]
