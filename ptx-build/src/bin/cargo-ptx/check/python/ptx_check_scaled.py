"""Products of matrices with scales, of which PyTorch's kernel for CPUs has only those with one scale or one for each row."""

import torch

# Older releases have neither.
FOUR, POWER = (getattr(torch, name, None) for name in ("float4_e2m1fn_x2", "float8_e8m0fnu"))
# The numbers of e2m1 by their codes.
FOURS = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
# Rows and columns of scales that lie together.
ROWS, COLUMNS = 128, 4


def numbers(matrix):
    """The rows of a matrix as floats. Of e2m1 there are two in a byte, the first one below."""
    if matrix.dtype != FOUR:
        return matrix.float()
    codes = matrix.contiguous().view(torch.uint8)
    return FOURS[torch.stack([codes & 15, codes >> 4], -1).long()].flatten(1)


def in_rows(scales, rows, columns):
    """Scales that lie in blocks, as cuBLAS wants them: of each 128 rows and 4 columns, the rows of one remainder by 32 side by side."""
    across, down = -(-columns // COLUMNS), -(-rows // ROWS)
    blocks = scales.float().flatten().reshape(down, across, ROWS // 4, 4, COLUMNS)
    return blocks.permute(0, 3, 2, 1, 4).reshape(down * ROWS, across * COLUMNS)[:rows, :columns]


def scaled(matrix, scales):
    """The rows of a matrix, each number with its scale."""
    of_matrix = numbers(matrix)
    if scales.dtype == torch.float32:
        return of_matrix * scales
    rows, depth = of_matrix.shape
    of_scale = 32 if scales.dtype == POWER else 16
    return of_matrix * in_rows(scales, rows, depth // of_scale).repeat_interleave(of_scale, 1)


def scaled_mm(a, b, scale_a, scale_b, bias=None, scale_result=None, out_dtype=None, use_fast_accum=False):
    scales = scale_b.t() if scale_b.dtype == torch.float32 and scale_b.dim() == 2 else scale_b
    result = scaled(a, scale_a) @ scaled(b.t(), scales).t()
    result = result if bias is None else result + bias.float()
    return result.to(out_dtype or a.dtype)
