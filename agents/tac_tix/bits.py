"""Two bit instructions for kernels, which numba does not offer by itself."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


@intrinsic
def lowest(typingctx: Any, x: Any) -> Any:
    """``lowest(x)``: number of the lowest set bit of a uint64 (64 for zero), as int64."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), codegen


@intrinsic
def count_bits(typingctx: Any, x: Any) -> Any:
    """``count_bits(x)``: number of set bits of a uint64, as int64."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen


@intrinsic
def highest(typingctx: Any, x: Any) -> Any:
    """``highest(x)``: number of the highest set bit of a uint64 x != 0, as int64."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        zeros = builder.ctlz(args[0], ir.Constant(ir.IntType(1), 0))
        return builder.sub(ir.Constant(ir.IntType(64), 63), zeros)

    return types.int64(types.uint64), codegen
