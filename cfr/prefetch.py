"""A memory prefetch for compiled code: asks for a cache line early and changes nothing else."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


@intrinsic
def prefetch(typingctx: Any, array: Any, index: Any) -> Any:
    """``prefetch(array, index)``: start loading the cache line of ``array[index]`` (one-dimensional, contiguous)."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        address = builder.bitcast(builder.gep(data, [args[1]]), cgutils.voidptr_t)
        i32 = ir.IntType(32)
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, i32, i32, i32]), "llvm.prefetch.p0"
        )
        builder.call(function, [address, i32(0), i32(3), i32(1)])  # to read, keep, data
        return context.get_dummy_value()

    return types.void(array, types.int64), codegen
