"""Rows of two-dimensional arrays as kernel arguments, without reference counting.

``rows[lane]`` inside a kernel counts a reference on the whole array up and down, atomically: with two or three rows
per call that is most of the time of a small game's step. ``lane_of(rows, lane)`` is the same row as a borrowed view.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np import arrayobj


@intrinsic
def lane_of(typingctx: Any, rows: Any, lane: Any) -> Any:
    """``rows[lane]`` of a C-contiguous two-dimensional array; valid while the caller holds ``rows``, not checked."""
    view = types.Array(rows.dtype, 1, "C")

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        whole = arrayobj.make_array(signature.args[0])(context, builder, args[0])
        _, columns = cgutils.unpack_tuple(builder, whole.shape, 2)
        row_stride, item_stride = cgutils.unpack_tuple(builder, whole.strides, 2)
        base = builder.ptrtoint(whole.data, context.get_value_type(types.intp))
        address = builder.add(base, builder.mul(args[1], row_stride))
        row = arrayobj.make_array(view)(context, builder)
        arrayobj.populate_array(
            row,
            data=builder.inttoptr(address, whole.data.type),
            shape=cgutils.pack_array(builder, [columns]),
            strides=cgutils.pack_array(builder, [item_stride]),
            itemsize=whole.itemsize,
            meminfo=None,  # nobody's reference
        )
        return row._getvalue()

    return view(rows, types.intp), codegen
