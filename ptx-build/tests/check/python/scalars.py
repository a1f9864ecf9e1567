"""Operators of PyTorch with a number as an operand, on the device and on the host."""

import itertools

import torch

OPERATORS = """add sub mul div true_divide floor_divide remainder fmod pow bitwise_and bitwise_or bitwise_xor bitwise_left_shift
    bitwise_right_shift copysign xlogy eq ne lt le gt ge""".split()
METHODS = """__mod__ __floordiv__ __pow__ __lshift__ __rshift__ __rmod__ __rpow__ __rlshift__ __rsub__ __imod__ __ifloordiv__ __ilshift__ remainder_
    fmod_ pow_ bitwise_and_ add_ fill_ clamp_min_ float_power""".split()
TYPES = [torch.float32, torch.float64, torch.float16, torch.int32, torch.int64, torch.uint8, torch.bool]
OTHERS = {
    "clamp": lambda x: x.clamp(2, 5),
    "where": lambda x: torch.where(x > 2, x, 1.5),
    "add alpha": lambda x: torch.add(x, 2, alpha=3),
    "full_like": lambda x: torch.full_like(x, 3),
    "index_put_": lambda x: x.index_put_((torch.tensor([0, 2], device=x.device),), torch.tensor(4, device=x.device).to(x.dtype)),
    "scatter_": lambda x: x.scatter_(0, torch.tensor([0, 1], device=x.device), 4),
    "masked_fill": lambda x: x.masked_fill(x > 2, 1),
    "ldexp": lambda x: torch.ldexp(x, torch.tensor(2, device=x.device)),
    "out": lambda x: torch.remainder(x, 3, out=torch.empty_like(x)),
    "of no dimension": lambda x: x[0] % 3,
}


def cases():
    for name, number in itertools.product(OPERATORS, [2, 2.5, True, 300, -1]):
        function = getattr(torch, name)
        yield f"{name} {number}", lambda x, function=function, number=number: function(x, number)
        yield f"{number} {name}", lambda x, function=function, number=number: function(number, x)
    for name, number in itertools.product(METHODS, [2, 2.5, True]):
        yield f"{name} {number}", lambda x, name=name, number=number: getattr(x, name)(number)
    yield from OTHERS.items()


def outcome(function, kind, device):
    try:
        return function(torch.tensor([1, 2, 3, 5, 7, 8]).to(kind).to(device))
    except (NotImplementedError, RuntimeError, TypeError) as error:
        return str(error)


compared = refused = 0
for kind, (name, function) in itertools.product(TYPES, cases()):
    host, device = outcome(function, kind, "cpu"), outcome(function, kind, "cuda")
    if isinstance(host, str):
        refused += 1
    elif isinstance(device, str) or host.dtype != device.dtype or not torch.equal(host.nan_to_num(), device.cpu().nan_to_num()):
        print("wrong:", kind, name, host, device)
    else:
        compared += 1
print(compared, "compared,", refused, "refused by the host")
