"""Does PyTorch's own operators of tensors on the device by the CPU, while `cargo ptx check` runs a program.

PyTorch's library has its kernels as machine code alone, which cannot be run without a GPU. So an operator takes the bytes of its
tensors to the host, PyTorch's kernel for CPUs does it there, and what it has changed goes back. Other kernels, of Triton or of
extensions, run as they are and are checked.
"""

import ctypes
import functools
import inspect
import sys
import warnings

import torch
from ptx_check_scaled import FOUR, scaled_mm
from torch._decomp import decomposition_table

# Operators that launch no kernel.
PLAIN = {
    "_local_scalar_dense",
    "_pin_memory",
    "empty.memory_format",
    "empty_strided",
    "is_pinned",
    "is_set_to",
    "record_stream",
    "resize_",
    "set_",
    "set_.source_Storage",
    "set_.source_Storage_storage_offset",
    "set_.source_Tensor",
}

# Operators that launch a kernel of the device, though they count as made of others.
WHOLE = {"ldexp.Tensor", "ldexp.out", "ldexp_"}

driver = ctypes.CDLL("libcuda.so.1")
driver.cuMemcpyDtoHAsync_v2.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_size_t, ctypes.c_void_p]
driver.cuMemcpyHtoDAsync_v2.argtypes = [ctypes.c_uint64, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
driver.cuMemsetD8Async.argtypes = [ctypes.c_uint64, ctypes.c_ubyte, ctypes.c_size_t, ctypes.c_void_p]
# The operators are replaced as long as this lives.
library = torch.library.Library("aten", "IMPL")
# What copies in this release. Older ones do not give it away.
own_copy = torch.library.get_kernel("aten::copy_", "CUDA") if hasattr(torch.library, "get_kernel") else None
told = False
generators = {}


def is_on_device(value):
    return isinstance(value, torch.Tensor) and value.device.type == "cuda"


def mapped(what, value):
    """The value, with each part of a list replaced."""
    if isinstance(value, (list, tuple)):
        return type(value)(mapped(what, part) for part in value)
    return what(value)


def parts(value):
    """A value, or the parts of a list."""
    return (part for each in value for part in parts(each)) if isinstance(value, (list, tuple)) else (value,)


def extent(tensor):
    """Where the bytes of a tensor begin in its storage, and where they end."""
    first = tensor.storage_offset() * tensor.itemsize
    if tensor.numel() == 0:
        return first, first
    last = sum((size - 1) * stride for size, stride in zip(tensor.size(), tensor.stride()))
    return first, first + (last + 1) * tensor.itemsize


def copy_bytes(call, to, source, size):
    """Copies or fills bytes, in PyTorch's stream."""
    status = call(to, source, size, torch.cuda.current_stream().cuda_stream) if size else 0
    if status:
        raise RuntimeError(f"{size} bytes could not be copied or filled: CUDA error {status}")


def to_device(host, tensor):
    first, end = extent(host)
    copy_bytes(driver.cuMemcpyHtoDAsync_v2, tensor.data_ptr(), host.data_ptr(), end - first)


def on_own_device(function):
    """The function where the device of its first tensor, or the one that it names, is the current one."""

    def guarded(*arguments, **named):
        values = list(parts([arguments, list(named.values())]))
        devices = [value.device for value in values if is_on_device(value)]
        devices += [value for value in values if isinstance(value, torch.device) and value.type == "cuda"]
        with torch.cuda.device(next(iter(devices), None)):
            return function(*arguments, **named)

    return guarded


def on_host(generator):
    """The generator of the host that stands for one of the device. It begins with the same seed."""
    seed = generator.initial_seed()
    known = generators.get(generator)
    if known is None or known[0] != seed:
        known = generators[generator] = (seed, torch.Generator().manual_seed(seed))
    return known[1]


class Call:
    """The tensors of one call on the host. Those that share memory on the device share it here."""

    def __init__(self, values):
        if torch.cuda.is_current_stream_capturing():
            raise RuntimeError("cargo ptx check: PyTorch's own operators cannot be captured in a graph without a GPU")
        self.device, self.hosts, self.regions, self.memories = None, [], {}, {}
        for tensor in filter(is_on_device, parts(values)):
            self.device = tensor.device
            storage = tensor.untyped_storage()._cdata
            first, end = extent(tensor)
            known = self.regions.get(storage, (first, end))
            # A tensor of larger elements may begin in it.
            self.regions[storage] = (min(first, known[0]) // 16 * 16, max(end, known[1]))

    def host(self, value):
        """An argument on the host."""
        if isinstance(value, torch.device) and value.type == "cuda":
            self.device = value
            return torch.device("cpu")
        if isinstance(value, torch.Generator) and value.device.type == "cuda":
            return on_host(value)
        if not is_on_device(value):
            return value
        memory, first = self.memory(value.untyped_storage())
        offset = value.storage_offset() - first // value.itemsize
        host = torch.empty(0, dtype=value.dtype).set_(memory, offset, value.size(), value.stride())
        host = host.conj() if value.is_conj() else host
        host = torch._neg_view(host) if value.is_neg() else host
        self.hosts.append((value, host))
        return host

    def memory(self, storage):
        """The bytes of a storage that the tensors of the call reach, and where these begin in it."""
        first, end = self.regions[storage._cdata]
        if storage._cdata not in self.memories:
            memory = self.memories[storage._cdata] = torch.UntypedStorage(end - first)
            copy_bytes(driver.cuMemcpyDtoHAsync_v2, memory.data_ptr(), storage.data_ptr() + first, end - first)
        return self.memories[storage._cdata], first

    def bring_back(self, changed):
        """Takes what the operator has changed to the device."""
        changed = {id(tensor) for tensor in parts(changed)}
        for tensor, host in self.hosts:
            if id(tensor) in changed:
                tensor.resize_(host.size()) if tensor.size() != host.size() else None
                to_device(host, tensor)

    def result(self, value):
        """A result on the device: an argument, or a new tensor."""
        if not isinstance(value, torch.Tensor) or value.device.type != "cpu" or self.device is None:
            return value
        for tensor, host in self.hosts:
            if host is value:
                return tensor
        tensor = torch.empty_strided(value.size(), value.stride(), dtype=value.dtype, device=self.device)
        to_device(value, tensor)
        return tensor


def tell():
    global told
    if not told:
        told = True
        text = "PyTorch's own operators are done by the CPU and not checked: its kernels are machine code alone"
        print("cargo ptx check:", text, file=sys.stderr, flush=True)


def is_written(argument):
    return argument.alias_info is not None and argument.alias_info.is_write


def done(operator, arguments, named):
    """What an operator of tensors of the host gives. One that has no kernel for CPUs may be made of others."""
    try:
        return operator(*arguments, **named)
    except NotImplementedError as error:
        # It may also refuse its arguments.
        if not any(words in str(error) for words in ["Could not run", "not implemented for"]):
            raise
        made_of_others = decomposition_table.get(operator)
    if made_of_others is None:
        text = f"cargo ptx check: PyTorch has no `{operator}` for CPUs: let the program do without it here"
        raise NotImplementedError(text)
    return made_of_others(*arguments, **named)


def is_number(value):
    return isinstance(value, (bool, int, float, complex))


def with_tensors(arguments, are_tensors):
    """The arguments, with tensors where an operator takes them: PyTorch hands over a number that it has made a tensor of as a number."""
    others = [value for value in arguments if isinstance(value, torch.Tensor)]

    def tensor(number):
        made = torch.tensor(number, dtype=torch.double if isinstance(number, float) else None)
        # A number leaves the type of a result to the tensors, where another tensor may change it.
        wanted = torch.result_type(others[0], number) if others else made.dtype
        return made if others and torch.result_type(others[0], made) == wanted else made.to(wanted)

    pairs = zip(arguments, are_tensors)
    return [tensor(value) if is_tensor and is_number(value) else value for value, is_tensor in pairs]


def kernel(operator):
    """What takes the place of an operator's kernel for the device."""
    schema = operator._schema.arguments
    written = [(at, argument.name) for at, argument in enumerate(schema) if is_written(argument)]
    are_tensors = [isinstance(argument.type, torch.TensorType) for argument in schema]

    def on_cpu(*arguments, **named):
        tell()
        arguments = with_tensors(arguments, are_tensors)
        call = Call([arguments, list(named.values())])
        hosts = mapped(call.host, arguments)
        named_hosts = {name: mapped(call.host, value) for name, value in named.items()}
        result = done(operator, hosts, named_hosts)
        call.bring_back([arguments[at] if at < len(arguments) else named.get(name) for at, name in written])
        return mapped(call.result, result)

    return on_cpu


def is_whole(to, source):
    """Whether both have the same elements in the same order, without gaps."""
    are_alike = to.dtype == source.dtype and to.size() == source.size() and to.stride() == source.stride()
    have_same_signs = to.is_conj() == source.is_conj() and to.is_neg() == source.is_neg()
    return are_alike and have_same_signs and torch.ops.aten.is_non_overlapping_and_dense(to)


def copy_(keys, to, source, non_blocking=False):
    """Copies a tensor: its destination is not read."""
    are_both = is_on_device(to) and is_on_device(source)
    if are_both and to.device == source.device:
        tell()
    elif is_whole(to, source) and own_copy is not None:
        # It launches no kernel, and keeps pinned memory until it is done.
        return own_copy.call_boxed(keys, to, source, non_blocking)
    elif are_both and own_copy is not None:
        # Its own copy orders the streams of both devices.
        whole = torch.empty(to.size(), dtype=source.dtype, device=to.device)
        return to.copy_(whole.copy_(source.expand_as(to).resolve_conj().resolve_neg().contiguous()))
    elif are_both:
        torch.cuda.synchronize(to.device)
        torch.cuda.synchronize(source.device)
    elif is_whole(to, source):
        call = driver.cuMemcpyHtoDAsync_v2 if is_on_device(to) else driver.cuMemcpyDtoHAsync_v2
        copy_bytes(call, to.data_ptr(), source.data_ptr(), to.numel() * to.itemsize)
        if not non_blocking:
            torch.cuda.current_stream().synchronize()
        return to
    else:
        # The host does a part of it, where the device would come after its stream.
        torch.cuda.current_stream().synchronize()
    host = Call([source]).host(source)
    if not is_on_device(to):
        return to.copy_(host)
    if torch.ops.aten.is_non_overlapping_and_dense(to) and not to.is_conj() and not to.is_neg():
        to_device(torch.empty_strided(to.size(), to.stride(), dtype=to.dtype).copy_(host), to)
    else:
        call = Call([to])
        call.host(to).copy_(host)
        call.bring_back([to])
    return to


def zero_(tensor):
    """Fills a tensor: it is not read."""
    if torch.ops.aten.is_non_overlapping_and_dense(tensor):
        first, end = extent(tensor)
        copy_bytes(driver.cuMemsetD8Async, tensor.data_ptr(), 0, end - first)
        return tensor
    return kernel(torch.ops.aten.zero_.default)(tensor)


def flash_attention(query, key, value, dropout_p=0.0, is_causal=False, return_debug_mask=False, *, scale=None):
    """The host's operator of this kind has fewer results. What is left out is for the gradients."""
    tell()
    call = Call([query, key, value])
    hosts = [call.host(value) for value in (query, key, value)]
    on_host = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
    output, logarithms = map(call.result, on_host(*hosts, dropout_p, is_causal, scale=scale))
    nothing = torch.empty(0, dtype=torch.uint64, device=query.device)
    return output, logarithms, None, None, query.size(2), key.size(2), nothing, nothing, torch.empty_like(nothing)


def scaled_product(*arguments, **named):
    """A product of matrices with scales: those of blocks are not known to the host's operator."""
    tell()
    call = Call([arguments, list(named.values())])
    hosts = mapped(call.host, arguments), {name: mapped(call.host, value) for name, value in named.items()}
    return call.result(scaled_mm(*hosts[0], **hosts[1]))


def operators():
    """Each operator that has a kernel for the device and is no view, by its name."""
    for name in torch._C._dispatch_get_all_op_names():
        space, _, word = name.partition("::")
        has_kernel = word in WHOLE or torch._C._dispatch_has_kernel_for_dispatch_key(name, "CUDA")
        if space != "aten" or word in PLAIN or not has_kernel:
            continue
        base, _, overload = word.partition(".")
        operator = getattr(getattr(torch.ops.aten, base), overload or "default")
        if all(argument.alias_info is None or is_written(argument) for argument in operator._schema.arguments):
            yield word, operator


def install(_):
    if torch.version.cuda is None:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Older releases override without being asked to.
        override = {"allow_override": True} if "allow_override" in inspect.signature(library.impl).parameters else {}
        replaced = {word: kernel(operator) for word, operator in operators()} | {
            "zero_": zero_,
            "_scaled_dot_product_flash_attention": flash_attention,
        } | ({"_scaled_mm": scaled_product} if FOUR else {})
        for word, function in replaced.items():
            library.impl(word, on_own_device(function), "CUDA", **override)
        copy = on_own_device(copy_)
        keyed = (copy, {"with_keyset": True}) if own_copy else (functools.partial(copy, None), {})
        library.impl("copy_", keyed[0], "CUDA", **keyed[1], **override)
    # Attention and convolutions are then made of operators that CPUs have.
    torch.backends.cudnn.enabled = False
    for name in ["flash", "mem_efficient", "cudnn"]:
        getattr(torch.backends.cuda, f"enable_{name}_sdp")(False)
