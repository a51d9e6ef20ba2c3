# Ranks on several hosts (network namespaces, bench/ranks/hosts): the bits of as many workers over a slow link, with two and four hosts; a link that
# is cut ends the run in the time it has, with a message and everything saved.
# release only
set -u
[ -e "$BUILD_DIR/regard-mpi.so" ] && ldd "$BUILD_DIR/regard-mpi.so" | grep -q libmpi.so || exit 77 # of Open MPI
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
fail() { echo "FAILED: $*"; failed=1; }
hosts=$SOURCE_DIR/bench/ranks/hosts
export HOSTS_NAME=regard-test$$
"$hosts" --rate 1gbit true > log 2>&1
[ $? = 77 ] && { cat log; exit 77; }
"$REGARD" make grammar -n 400 --seed 1 -o made > /dev/null || fail "no sentences"
text="--type transformer -t made.en made.fr --vocab-kind words --dim-vocabs 0 --dim-emb 32 --transformer-dim-ffn 64 --transformer-heads 4 --enc-depth 1
      --dec-depth 1 --mini-batch-words 300 --disp-freq 5"
for n in 2 4; do
    "$REGARD" train $text --after-batches 12 --cpu-threads $n -m one.st --overwrite > log 2>&1 || fail "one process"
    "$hosts" -n $n --rate 1gbit "$REGARD" train $text --after-batches 12 --cpu-threads 1 -m many.st --overwrite > log 2>&1 || { tail -20 log; fail "$n hosts"; }
    cmp one.st many.st || fail "$n hosts are not $n workers"
done

# Then rank 0, which waits for the other, and mpirun, which learns of it from its daemon there and from TCP.
"$REGARD" train $text --after-batches 300 --cpu-threads 2 -m whole.st > log 2>&1 || fail "a longer run"
(for _ in $(seq 400); do grep -qs 'Up. 20 ' log.cut && touch cut && break; sleep 0.05; done) &
MPIRUN_OPTIONS="--mca oob_tcp_keepalive_time 2 --mca oob_tcp_keepalive_intvl 1 --mca oob_tcp_keepalive_probes 3" timeout 120 "$hosts" -n 2 --rate 1gbit \
    --cut cut "$REGARD" train $text --after-batches 300 --cpu-threads 1 --rank-timeout 2 --save-freq 100000 -m lost.st > log.cut 2>&1
code=$?
[ $code != 0 ] && [ $code != 124 ] || fail "the link is cut and mpirun ends with $code"
grep -q "rank 1 has not answered for 2 seconds" log.cut || fail "it does not say who is missing: $(cat log.cut)"
"$REGARD" train $text --after-batches 300 --cpu-threads 2 -m lost.st > log 2>&1 || fail "resuming: $(tail -1 log)"
grep -q "resuming after" log || fail "it did not resume"
cmp whole.st lost.st || fail "what was saved is not the state after an update"
ip netns list | grep -q "^$HOSTS_NAME-" && fail "namespaces are left: $(ip netns list)"
[ $failed = 0 ] && echo "hosts have the bits of workers"
exit $failed
