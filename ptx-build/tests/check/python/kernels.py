"""Kernels of Triton, and of a library that PyTorch opens, beside PyTorch's own operators. The first argument is a mistake to make."""

import sys

import torch
import triton
import triton.language as tl

MISTAKE = sys.argv[1] if len(sys.argv) > 1 else None


@triton.jit
def softmax(to, source, columns, WIDTH: tl.constexpr, MASKED: tl.constexpr):
    row = tl.program_id(0) * columns
    at = tl.arange(0, WIDTH)
    if MASKED:
        x = tl.load(source + row + at, mask=at < columns, other=float("-inf"))
    else:
        x = tl.load(source + row + at)  # Beyond the last row's end.
    x = tl.exp(x - tl.max(x, 0))
    tl.store(to + row + at, x / tl.sum(x, 0), mask=at < columns)


@triton.jit
def product(to, a, b, N: tl.constexpr):
    i, j = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    tl.store(to + i * N + j, tl.dot(tl.load(a + i * N + j), tl.load(b + i * N + j)))


torch.manual_seed(0)
x = torch.randn(7, 100, device="cuda")
y = torch.empty_like(x)
softmax[(7,)](y, x, 100, WIDTH=128, MASKED=MISTAKE != "bounds")
if MISTAKE is None:
    torch.testing.assert_close(y, torch.softmax(x, -1))

a, b = (torch.randn(32, 32, device="cuda").half() for _ in range(2))
c = torch.empty(32, 32, device="cuda")
product[(1,)](c, a, b, N=32)
torch.testing.assert_close(c, (a @ b).float(), rtol=1e-2, atol=1e-2)

# Copies for which PyTorch does not wait.
there = c.to("cpu", non_blocking=True)
if MISTAKE != "early":
    torch.cuda.synchronize()
print("sum", there.sum().item())
pinned = torch.ones(1000).pin_memory()
ones = pinned.to("cuda", non_blocking=True)
if MISTAKE != "early":
    torch.cuda.current_stream().synchronize()
pinned.add_(1)
assert ones.sum().item() == 1000

# Operators: with a gradient, in place, through a view, one that has no kernel for CPUs, a draw, and a copy that changes the type.
w = torch.randn(100, 10, device="cuda", requires_grad=True)
(torch.nn.functional.rms_norm(x, (100,)) @ w).square().sum().backward()
reference = w.detach().cpu().requires_grad_()
(torch.nn.functional.rms_norm(x.cpu(), (100,)) @ reference).square().sum().backward()
torch.testing.assert_close(w.grad.cpu(), reference.grad, rtol=1e-4, atol=1e-3)
x[2:4, ::3].zero_().add_(1)
assert x[2:4, ::3].sum().item() == 68 and x[2, 1].item() != 1
assert torch.equal(x.t().half().cpu(), x.cpu().t().half())
generator = torch.Generator(device="cuda").manual_seed(3)
first = torch.rand(5, device="cuda", generator=generator)
assert not torch.equal(first, torch.rand(5, device="cuda", generator=generator))
attention = torch.nn.functional.scaled_dot_product_attention(*(torch.randn(1, 2, 8, 16, device="cuda") for _ in range(3)))
image = torch.nn.Conv2d(3, 4, 3, device="cuda")(torch.randn(1, 3, 8, 8, device="cuda"))
assert attention.shape == (1, 2, 8, 16) and image.shape == (1, 4, 6, 6)

# A stream of its own, whose work the other one uses. Between the two a tensor ends.
side = torch.cuda.Stream()
d = torch.empty(32, 32, device="cuda")
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    product[(1,)](d, a, b, N=32)
del there, image
if MISTAKE != "stream":
    torch.cuda.current_stream().wait_stream(side)
torch.testing.assert_close(d + 1, c + 1)
print("right")
