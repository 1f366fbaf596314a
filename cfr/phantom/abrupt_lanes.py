"""Sums of rows of LANES numbers in vector registers.

A loop over a row that adds to another array is compiled to one number at a time, because the compiler cannot know that
the arrays are different ones. Here the additions are written as vectors; each lane is summed in list order.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 24  # divides the arrangements of a set of stones (4! = 24, ...), or is a multiple of them (1, 2, 6)
_VECTOR = 8


def _vector(builder: Any, data: Any, index: Any) -> Any:
    return builder.bitcast(builder.gep(data, [index]), ir.VectorType(ir.DoubleType(), _VECTOR).as_pointer())


@intrinsic
def add_rows(
    typingctx: Any, target: Any, row: Any, source: Any, tables: Any, start: Any, stop: Any
) -> Any:
    """``target[row] += sum of source[tables[start:stop]]``, rows of LANES float64; ``tables`` uint32."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        into, row, out_of, tables, start, stop = args
        i64 = ir.IntType(64)
        lanes = i64(LANES)
        kinds = signature.args
        into = context.make_array(kinds[0])(context, builder, into).data
        out_of = context.make_array(kinds[2])(context, builder, out_of).data
        tables = context.make_array(kinds[3])(context, builder, tables).data
        to = builder.mul(row, lanes)
        parts = range(0, LANES, _VECTOR)
        addresses = [_vector(builder, into, builder.add(to, i64(part))) for part in parts]
        sums = [cgutils.alloca_once_value(builder, builder.load(address, align=8)) for address in addresses]
        with cgutils.for_range_slice(builder, start, stop, i64(1), intp=i64) as (e, _):
            at = builder.mul(builder.zext(builder.load(builder.gep(tables, [e])), i64), lanes)
            for part, total in zip(parts, sums, strict=True):
                term = builder.load(_vector(builder, out_of, builder.add(at, i64(part))), align=8)
                builder.store(builder.fadd(builder.load(total), term), total)
        for address, total in zip(addresses, sums, strict=True):
            builder.store(builder.load(total), address, align=8)
        return context.get_dummy_value()

    return types.void(target, types.int64, source, tables, types.int64, types.int64), codegen
