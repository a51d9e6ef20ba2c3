# Training in several processes under mpirun: the bits of one process with as many workers, for every kind of batch; a killed and a stalled
# rank end the run with a message and everything saved; resuming with another number of ranks; one log. All of it with the MPI that regard was
# built with; where Open MPI and MPICH are both installed, the module is compiled for the other one too, and what depends on MPI is tried with it.
# release only
set -u
[ -e "$BUILD_DIR/regard-mpi.so" ] || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
fail() { echo "FAILED: $*"; failed=1; }
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_rmaps_base_oversubscribe=1 # containers without ptrace; two cores
built=openmpi other=mpich
ldd "$BUILD_DIR/regard-mpi.so" | grep -q libmpich && built=mpich other=openmpi
mpi=$built program=$REGARD
launcher() { # launcher MPI: Debian has both beside each other
    command -v "mpirun.$1" && return
    mpirun --version 2> /dev/null | grep -q "Open MPI" && [ "$1" = mpich ] && return 1
    command -v mpirun
}
launcher $mpi > /dev/null || exit 77
ranks() { # ranks N ARGUMENTS...
    n=$1 options=
    shift
    [ $mpi = openmpi ] && options="--allow-run-as-root --oversubscribe --bind-to none"
    "$(launcher $mpi)" $options -n "$n" "$program" "$@"
}
# same NAME RANKS THREADS ARGUMENTS...: so many ranks of THREADS workers against one process with all of them
same() {
    name=$1 count=$2 threads=$3
    shift 3
    "$REGARD" train "$@" --cpu-threads $((count * threads)) -m one.st --overwrite > log 2>&1 || { tail -3 log; fail "$name in one process"; }
    ranks "$count" train "$@" --cpu-threads "$threads" -m many.st --overwrite > log 2>&1 || { tail -20 log; fail "$name in $count ranks"; }
    cmp one.st many.st || fail "$name: $count ranks of $threads are not $((count * threads)) workers"
}

"$REGARD" make grammar -n 400 --seed 1 -o made > /dev/null || fail "no sentences"
"$REGARD" make mnist-m -n 48 --valid 16 --test 16 -o pictures > said 2>&1 || { cat said; fail "no pictures"; }
"$REGARD" make ring8 --count 300 -o ring > said 2>&1 || { cat said; fail "no ring"; }
text="--type transformer -t made.en made.fr --vocab-kind words --dim-vocabs 0 --dim-emb 32 --transformer-dim-ffn 64 --transformer-heads 4 --enc-depth 1
      --dec-depth 1 --mini-batch-words 300 --disp-freq 5"
same "translation with validation" 2 1 $text --valid-sets made.en made.fr --valid-freq 7 --after-batches 20 --keep-best
[ "$(grep -c 'Up. 5 ' log)" = 1 ] || fail "not one log: $(grep 'Up. 5 ' log)"
[ "$(wc -l < many.st.jsonl)" = "$(wc -l < one.st.jsonl)" ] || fail "another number of lines in the log"
grep -q exchange_seconds many.st.jsonl || fail "the log does not say how long ranks waited for sums"
same "translation with a delay, and an epoch that ends in the middle of an update" 2 2 $text --optimizer-delay 4 --after-epochs 2
same "sums after the backward pass" 2 1 $text --rank-overlap false --after-batches 6
same "phases that freeze each other's weights" 2 1 --type gan -t ring/train.tsv --noise 4 --generator-layers f8 --discriminator-layers f8 --mini-batch 50 --after-batches 12
same "a language model that carries states" 3 1 --type lm -t made.en --vocab-kind characters --dim-emb 12 --dim-rnn 12 --layers 1 --mini-batch 7 --chunk 12 --after-batches 12
same "pictures with batch norm" 2 1 --type cnn -t pictures/train-images-idx3-ubyte --layers "c3x4s2n c3x4n" --mini-batch 12 --after-batches 6
same "a memory" 2 1 --type ntm --mini-batch 3 --sequences 30 --bits 3 --max-length 3 --units 16 --memory-rows 12 --memory-width 5 --valid-freq 0 --test-count 2
same "a Transformer in four ranks" 4 1 $text --after-batches 6
"$REGARD" make grammar -n 30000 --seed 2 -o large > /dev/null || fail "no more sentences"
same "shards of a large corpus" 2 1 ${text/made.en made.fr/large.en large.fr} --corpus-memory 1 --mini-batch-words 3000 --after-batches 20
ls large.fr.*.encoded > /dev/null || fail "no shards: $(cat log)"

# Resuming: with as many workers the bits are the same, from one process to two and back.
resume() {
    rm -f whole.st* resumed.st*
    "$REGARD" train $text --after-batches 20 --cpu-threads 2 -m whole.st > log 2>&1 || fail "a whole run"
    ranks 2 train $text --after-batches 10 --cpu-threads 1 -m resumed.st > log 2>&1 && "$REGARD" train $text --after-batches 20 --cpu-threads 2 -m resumed.st > log 2>&1
    cmp whole.st resumed.st || fail "$mpi: two ranks, then one process: $(tail -1 log)"
    rm -f resumed.st*
    "$REGARD" train $text --after-batches 10 --cpu-threads 2 -m resumed.st > log 2>&1 && ranks 2 train $text --after-batches 20 --cpu-threads 1 -m resumed.st > log 2>&1
    cmp whole.st resumed.st || fail "$mpi: one process, then two ranks: $(tail -1 log)"
    ranks 2 train $text --after-batches 30 --cpu-threads 2 -m resumed.st > log 2>&1 || fail "$mpi: two ranks, then two of two workers: $(tail -1 log)"
    grep -q "workers" log || fail "$mpi: it does not say that sums are rounded otherwise: $(cat log)"
}

# A rank that is killed or stalled in the middle. What was saved has the state after a whole update: going on gives the bits of a run that nobody
# disturbed.
"$REGARD" train $text --after-batches 200 --cpu-threads 2 -m undisturbed.st > log 2>&1 || fail "a longer run"
rank_1() { # its process
    for p in $(pgrep -x regard); do
        [ "$(readlink /proc/$p/cwd)" = "$work" ] && tr '\0' '\n' < /proc/$p/environ 2> /dev/null | grep -qE '^(OMPI_COMM_WORLD|PMI)_RANK=1$' && echo $p
    done
}
disturb() { # disturb SIGNAL WORDS SAVE-FREQ
    rm -f lost.st* log # an old log would say 'Up. 20' before there is a run
    ranks 2 train $text --after-batches 200 --cpu-threads 1 --rank-timeout 1 --save-freq "$3" -m lost.st > log 2>&1 &
    job=$!
    for _ in $(seq 200); do grep -qs 'Up. 20 ' log && break; sleep 0.05; done
    rank1=$(rank_1)
    [ -n "$rank1" ] && kill -"$1" $rank1 || fail "rank 1 was not found"
    wait $job && fail "$mpi: a run whose rank was sent $1 ended well"
    kill -KILL $rank1 2> /dev/null # one that is stopped outlives MPICH's mpirun
    grep -q "$2" log || fail "$mpi, $1: it does not say why it ended: $(cat log)"
    [ -e lost.st.checkpoint ] || { fail "$mpi, $1: nothing was saved"; return; }
    "$REGARD" train $text --after-batches 200 --cpu-threads 2 -m lost.st > log 2>&1 || fail "$mpi, $1: resuming: $(tail -1 log)"
    grep -q "resuming after" log || fail "$mpi, $1: it did not resume"
    cmp undisturbed.st lost.st || fail "$mpi, $1: what was saved is not the state after an update"
}
stalled_and_killed() {
    disturb STOP "rank 1 has not answered for 1 seconds" 100000
    if [ $mpi = openmpi ]; then disturb KILL "rank 1 did not answer any more\|exited on signal 9" 100000
    else disturb KILL "EXIT CODE: 9" 7; fi # MPICH's mpirun kills the others at once: the last checkpoint stands
}

# What one rank finds wrong all say, once; also what a worker finds while gradients are summed beside it.
faults() {
    ranks 2 train $text --after-batches 30 --learn-rate 1e30 --rank-timeout 20 -m x.st > log 2>&1 && fail "$mpi: no finite loss, no error"
    grep -q "not finite\|the loss is" log || fail "$mpi: what was wrong with the loss? $(cat log)"
    grep -q "has not answered" log && fail "$mpi: a rank kept the others waiting"
    ranks 2 train --type transformer -t nowhere.en nowhere.fr --after-batches 3 -m x.st > log 2>&1 && fail "$mpi: no data, no error"
    grep -q "nowhere.en" log || fail "$mpi: which file is missing? $(cat log)"
}

# Ranks of another MPI than the module's would know nothing of each other, and all write the same files.
strangers() {
    rm -f x.st*
    for name in OMPI_COMM_WORLD_SIZE PMI_SIZE; do
        [ $name = PMI_SIZE ] && [ $mpi = mpich ] && continue # MPICH believes it
        env $name=2 "$program" train $text --after-batches 3 -m x.st > log 2>&1 && fail "$mpi: $name: one of several ranks trained alone"
        grep -q "mpirun is of another MPI" log || fail "$mpi: $name: $(tail -3 log)"
    done
}

resume
stalled_and_killed
faults
strangers

# The other MPI, when it is here: the module is one small file.
package=mpich
[ $other = openmpi ] && package=ompi-c
if launcher $other > /dev/null && pkg-config --exists $package; then
    mkdir other
    cp "$REGARD" other/regard && cp -L "$BUILD_DIR"/libregard.so.0 other/ || fail "no program to copy"
    $CC -std=c17 -D_POSIX_C_SOURCE=200809L -D_DEFAULT_SOURCE -O1 -fPIC -shared -fvisibility=hidden -I"$SOURCE_DIR/include" -I"$SOURCE_DIR/src" \
        "$SOURCE_DIR"/src/train/mpi/*.c $(pkg-config --cflags --libs $package) -o other/regard-mpi.so || fail "the module is not compiled with $other"
    mpi=$other program=$work/other/regard
    same "$other: a Transformer" 2 1 $text --after-batches 20
    same "$other: a Transformer in four ranks" 4 1 $text --after-batches 6
    resume
    stalled_and_killed
    faults
    strangers
else
    echo "not tried with $other"
fi
[ $failed = 0 ] && echo "ranks have the bits of workers"
exit $failed
