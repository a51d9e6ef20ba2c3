# The fast kernels must hold fused multiply-adds: with the wrong flags gcc compiles vector types without them, silently.
set -u
command -v objdump > /dev/null || exit 77
status=0
seen=0
for isa in avx2 avx512 wide; do
    objects=$(find "$BUILD_DIR/CMakeFiles/kernels_$isa.dir" -name '*gemm*.o' 2> /dev/null)
    for object in $objects; do
        seen=1
        count=$(objdump -d "$object" | grep -c vfmadd)
        split=$(objdump -d "$object" | grep -cE 'vmulps +[^,]*%[yz]mm')
        echo "$isa $(basename "$object"): $count vfmadd, $split vmulps"
        [ "$count" -gt 0 ] || { echo "  none: the flags of cmake/kernels.cmake are wrong"; status=1; }
    done
done
[ $seen = 1 ] || exit 77
exit $status
