"""Tensors whose conjugate or sign is only noted give what they give on the host, also to `torch.fft`."""

import torch

torch.manual_seed(1)
x, y = torch.randn(3, 9, 10, dtype=torch.complex64), torch.randn(3, 9, 10)
count = 0


def compare(name, does, *tensors):
    global count
    mine, theirs = does(*(tensor.cuda() for tensor in tensors)), does(*tensors)
    torch.testing.assert_close(mine.cpu(), theirs, msg=lambda text: f"{name}: {text}")
    count += 1


def written(tensor):
    """What lies below is written by way of the view."""
    whole = tensor.clone()
    whole.conj().copy_(tensor)
    whole.imag[0].fill_(2)
    whole.conj().imag[1].copy_(tensor.real[1])
    return whole


compare("conjugate", torch.conj, x)
compare("its copy", lambda x: torch.conj(x).clone(), x)
compare("sum", lambda x: torch.conj(x) + x, x)
compare("imaginary part", lambda x: torch.conj(x).imag, x)
compare("part of it", lambda x: torch.conj(x).imag[1:, ::2] * 2, x)
compare("written", written, x)
for name in ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn"]:
    compare(name, getattr(torch.fft, name), y if name in ("rfft", "ihfft", "rfft2", "rfftn") else x)
print(count, "compared")
