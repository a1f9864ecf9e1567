"""Products of matrices with a scale for each 16 or 32 numbers of a row, as PyTorch hands them to cuBLAS."""

import torch

ROWS, COLUMNS, DEPTH = 200, 40, 192
NUMBERS = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6])


def in_blocks(scales):
    """Each 128 rows and 4 columns together, and of these the rows of one remainder by 32."""
    rows, columns = scales.shape
    down, across = -(-rows // 128), -(-columns // 4)
    padded = torch.zeros(down * 128, across * 4)
    padded[:rows, :columns] = scales
    places = padded.view(down, 128, across, 4).permute(0, 2, 1, 3)
    return places.reshape(-1, 4, 32, 4).transpose(1, 2).reshape(-1, 32, 16).flatten()


def is_right(kind, of_scale, of_scales):
    def drawn(rows):
        scales = torch.randint(0, 3, (rows, DEPTH // of_scale)).exp2()
        if kind == torch.float4_e2m1fn_x2:
            codes = torch.randint(0, 16, (rows, DEPTH))
            matrix, numbers = (codes[:, ::2] + 16 * codes[:, 1::2]).to(torch.uint8).view(kind), NUMBERS[codes]
        else:
            matrix = torch.randint(-4, 5, (rows, DEPTH)).to(kind)
            numbers = matrix.float()
        return matrix.cuda(), in_blocks(scales).to(of_scales).cuda(), numbers * scales.repeat_interleave(of_scale, 1)

    (a, of_a, one), (b, of_b, other) = drawn(ROWS), drawn(COLUMNS)
    found = torch._scaled_mm(a, b.t(), of_a, of_b, out_dtype=torch.float32)
    assert torch.equal(found.cpu(), one @ other.t()), kind


is_right(torch.float4_e2m1fn_x2, 16, torch.float8_e4m3fn)
is_right(torch.float8_e4m3fn, 32, torch.float8_e8m0fnu)
one, two = torch.randn(16, 32).to(torch.float8_e4m3fn), torch.randn(48, 32).to(torch.float8_e4m3fn)
for scales in [(torch.tensor(2.0), torch.tensor(0.5)), (torch.rand(16, 1), torch.rand(1, 48))]:
    found = torch._scaled_mm(one.cuda(), two.cuda().t(), *(scale.cuda() for scale in scales), out_dtype=torch.float32)
    torch.testing.assert_close(found.cpu(), (one.float() * scales[0]) @ (two.float().t() * scales[1]))
print("right")
