"""PyTorch's tensors of two devices, copies between them, and a kernel of Triton on the second one. A word leaves a wait out."""

import sys

import torch
import triton
import triton.language as tl

left_out = sys.argv[1] if len(sys.argv) > 1 else ""


@triton.jit
def twice(x, n: tl.constexpr):
    at = tl.arange(0, n)
    tl.store(x + at, tl.load(x + at) * 2)


assert torch.cuda.device_count() == 2
first = torch.arange(128, device="cuda:0", dtype=torch.float32)
second = first.to("cuda:1") + torch.ones(128, device="cuda:1")
assert second.device.index == 1 and torch.cuda.current_device() == 0
# Elements of another type, in another order.
turned = torch.empty(8, 16, device="cuda:1", dtype=torch.float64).copy_(first.reshape(16, 8).t())
assert turned[1].tolist() == [8.0 * at + 1 for at in range(16)]
with torch.cuda.device(1):
    one, other = torch.cuda.Stream(), torch.cuda.Stream()
    twice[(1,)](second, n=128)
    if left_out != "before":
        one.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(one):
        twice[(1,)](second, n=128)
    if left_out != "behind":
        other.wait_stream(one)
    with torch.cuda.stream(other):
        back = second.to("cuda:0")
    torch.cuda.current_stream().wait_stream(other)
assert back.device.index == 0 and back.tolist() == [4.0 * (at + 1) for at in range(128)]
print("right")
