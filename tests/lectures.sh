# docs/lectures.md cannot go stale: every command and flag it names exists, and commands that need no data run.
# release only: what the page's commands do is tested elsewhere, under sanitizers too
set -u
page=$SOURCE_DIR/docs/lectures.md
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# the numbers in the text are those of the tables
rows=$(grep -cE '^\| b?[0-9]' "$page")
slides=$(awk -F'|' '/^## / { deck = $0 }
    /^\| b?[0-9]/ { n = split($2, part, ",")
        for (i = 1; i <= n; i++) { backup = part[i] ~ /b/ ? "b" : ""; gsub(/[b ]/, "", part[i]); split(part[i] "-" part[i], ends, "-")
            for (k = ends[1] + 0; k <= ends[2] + 0; k++) seen[deck backup k] = 1 } }
    END { for (k in seen) count++; print count }' "$page")
part=$(grep -cE '^\| b?[0-9].*\| in part: ' "$page")
grep -qE "have $rows rows for $slides slides; $part rows? (is|are) shown in part" "$page" || fail "the page has $rows rows for $slides slides, $part in part, and says otherwise"

grep -oE '`regard [^`]*`' "$page" | tr -d '`' | sort -u > commands
[ "$(wc -l < commands)" -ge 100 ] || fail "only $(wc -l < commands) commands on the page"

help_of() { # help_of COMMAND WORDS...: what --help prints, with the system or name that chooses further flags
    case $1 in
    train) "$REGARD" train --type "$(echo "$*" | sed -n 's/.*--type \([a-z0-9-]*\).*/\1/p')" $(echo "$*" | grep -oE -- '--(objective|world) [a-z]+') --help ;;
    make | reproduce) "$REGARD" "$1" "$2" --help ;;
    *) "$REGARD" "$1" --help ;;
    esac
}
# flags that the model's task brings
of_models=' --questions --class --gates --attack --by --profile --png --wav '
while read -r _ line; do
    # shellcheck disable=SC2086
    help_of $line > help 2> err || fail "regard $line: $(head -2 err)"
    for flag in $(echo "$line" | grep -oE -- '--[a-z][a-z-]*'); do
        grep -qE -- "$flag( |\$)" help || case $of_models in *" $flag "*) ;; *) fail "regard $line: no $flag in its help" ;; esac
    done
done < commands
"$REGARD" demo > demos 2>&1
for name in $(sed -nE 's/^regard demo ([a-z0-9-]+).*/\1/p' commands); do grep -qE "^  $name( |\$)" demos || fail "there is no demo $name"; done

grep -E '^regard (explain|systems|scores|trace|gradients)' commands > quick
[ "$(wc -l < quick)" -ge 15 ] || fail "only $(wc -l < quick) commands that need nothing"
while read -r _ line; do eval "\"$REGARD\" $line" > out 2> err < /dev/null || fail "regard $line: $(tail -2 err)"; done < quick
[ $failures = 0 ]
