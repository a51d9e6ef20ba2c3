/* table.c - the kernels of one instruction set, gathered. */
#include "tensor/kernels/isa.h"

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define TABLE PASTE(rg_kernels_, RG_ISA, )

extern const rg_kernels TABLE;
const rg_kernels TABLE = {
    .name = TEXT(RG_ISA),
    .gemm_packed = ISA(gemm_packed),
    .pack = ISA(pack),
    .pack_transposed = ISA(pack_transposed),
    .pack_tiles = ISA(pack_tiles),
    .gemm_tiles = ISA(gemm_tiles),
    .map = ISA(map),
    .map_backward = ISA(map_backward),
    .add = ISA(add),
    .mul = ISA(mul),
    .axpy = ISA(axpy),
    .scale = ISA(scale),
    .dot = ISA(dot),
    .sum = ISA(sum),
    .max = ISA(max),
    .softmax = ISA(softmax),
    .softmax_backward = ISA(softmax_backward),
    .norm = ISA(norm),
    .norm_backward = ISA(norm_backward),
    .gemm_ranges = ISA(gemm_ranges),
    .exps = ISA(exps),
    .weigh_rows = ISA(weigh_rows),
    .slope_rows = ISA(slope_rows),
    .heads_dot = ISA(heads_dot),
    .heads_axpy = ISA(heads_axpy),
    .rows_dot = ISA(rows_dot),
    .rows_sum = ISA(rows_sum),
    .additive = ISA(additive),
    .additive_backward = ISA(additive_backward),
    .rewrite = ISA(rewrite),
    .rewrite_backward = ISA(rewrite_backward),
    .axpy_dot = ISA(axpy_dot),
    .columns_softmax = ISA(columns_softmax),
    .columns_softmax_backward = ISA(columns_softmax_backward),
    .lists_mix = ISA(lists_mix),
    .lists_sum = ISA(lists_sum),
    .lists_expand = ISA(lists_expand),
    .edges_weigh = ISA(edges_weigh),
    .edges_back = ISA(edges_back),
    .dropout = ISA(dropout),
    .dropout_mask = ISA(dropout_mask),
    .dropout_by = ISA(dropout_by),
    .dropout_bits = ISA(dropout_bits),
    .gates = &ISA(gates),
};
