"""The only place that configures numba: compiles kernels, keeps them on disk and runs them.

A kernel is a function that numba compiles. None uses fastmath: the same numbers in the same order
must give the same floats. A kernel that Python calls is decorated with ``jit``; one that only
kernels call, with ``inner_jit``, which leaves most of the compiling to its callers. ``run`` spreads
the calls of a kernel over the cores.

Kernels are kept on disk, once per machine. numba compares a kept kernel with the file of its source
only. But the kernels that it calls and the constants that it reads are compiled into it, and they
may come from other files. So a kept kernel counts only while its module and all modules of mictree
that this one imports, directly or through others, are unchanged (``digest``). While a group of
kernels is compiled for the first time, a line on stderr says so.

The rest of the module extends the language of kernels:

- counting bits, and reading and changing numbers that several threads share;
- functions that kernels call by their addresses: the priority and the impurity of a rule. A kernel
  that takes addresses is compiled once for all rules. The package's own functions are compiled; a
  user's function is called back in Python, because compiled it could lose errors, wrap integers
  around, or keep numbers that have changed since;
- vectors of LANES numbers that a processor adds and compares at once. A vector that is a
  variable of a loop stays in registers, whereas an array goes through memory each time, and LLVM
  makes vector code of some loops over arrays only.

Without compiling (``NUMBA_DISABLE_JIT=1``), plain Python and NumPy stand in for all of these.
"""

import contextlib
import ctypes
import functools
import hashlib
import math
import multiprocessing
import re
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from io import BufferedWriter
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple

import numba
import numpy as np
from llvmlite import binding, ir
from numba.core import caching, event, sigutils, types
from numba.core.ccallback import CFunc
from numba.core.codegen import CPUCodegen, JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.imputils import lower_constant
from numba.extending import intrinsic, models, register_model, typeof_impl

from mictree._support.files import unfinished

CORES = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
PARALLEL_WORK = 3e6  # about half a millisecond
PIECES_PER_CORE = 8  # so that none waits long for another's last one


def jit(function: Callable[..., Any]) -> Any:
    """Compile a kernel."""
    return _compile(function, no_cfunc_wrapper=True)


def inner_jit(function: Callable[..., Any]) -> Any:
    """Compile a kernel that only kernels call: without the code that reads Python's objects.

    For kernels with many arrays that code takes longer to compile than the kernel itself. Their own
    machine code is left out too, see ``_InnerCompiler``. Calling such a kernel from Python crashes
    the process.
    """
    return _compile_inner(function)


def inner_loop_jit(function: Callable[..., Any]) -> Any:
    """Compile an inner kernel that is optimized on its own, before its callers are.

    Compiling takes longer. It is for hot loops that were measured to be slower as ``inner_jit``.
    """
    return _compile(function, no_cfunc_wrapper=True, no_cpython_wrapper=True)


def closed_jit(function: Callable[..., Any]) -> Any:
    """Compile an inner kernel that a function makes from other kernels.

    It is kept with its callers only: on disk, all that one function makes have the same name.
    """
    return _compile_inner(function, kept=False)


def _compile_inner(function: Callable[..., Any], kept: bool = True) -> Any:
    options: dict[str, Any] = {"pipeline_class": _InnerCompiler} if INNER_CODE_IS_POSSIBLE else {}
    return _compile(function, kept, no_cfunc_wrapper=True, no_cpython_wrapper=True, **options)


def _compile(function: Callable[..., Any], kept: bool = True, **options: Any) -> Any:
    kernel = numba.njit(nogil=True, **options)(function)
    if kept and not numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        kernel._cache = _make_cache(function)  # type: ignore[attr-defined]
    return kernel


class KernelByType:
    """A kernel with a form for each type of one argument, a named tuple; as ``singledispatch``.

    Other kernels call it as any kernel. Which form they mean is known when they are compiled, so
    those of other types cost nothing.
    """

    def __init__(self, place: int) -> None:
        self.place = place
        self.forms: dict[type, Any] = {}

    def form(self, kind: type) -> Callable[[Any], Any]:
        """A decorator that makes an inner kernel of a function, for one type."""

        def register(function: Callable[..., Any]) -> Any:
            self.forms[kind] = inner_jit(function)
            return self.forms[kind]

        return register

    def __call__(self, *arguments: Any) -> Any:
        """For plain Python only: an inner kernel that is compiled must not be called from there."""
        form = self.forms[type(arguments[self.place])]
        return getattr(form, "py_func", form)(*arguments)


class _KernelByTypeType(types.Callable, types.Opaque):
    """What numba must find out to compile a call: the form that the arguments choose."""

    def __init__(self, kernel: KernelByType) -> None:
        self.kernel = kernel
        super().__init__(f"KernelByType({id(kernel)})")

    @property
    def key(self) -> int:
        return id(self.kernel)

    def _choose(self, arguments: Any) -> Any:
        kind = arguments[self.kernel.place].instance_class
        return types.Dispatcher(self.kernel.forms[kind])

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        return self._choose(args).get_call_type(context, args, kws)

    def get_call_signatures(self) -> Any:
        return (), True

    def get_impl_key(self, sig: Any) -> Any:
        return self._choose(sig.args).get_impl_key(sig)


register_model(_KernelByTypeType)(models.OpaqueModel)


@typeof_impl.register(KernelByType)
def _type_of_kernel(value: KernelByType, context: Any) -> Any:
    return _KernelByTypeType(value)


@lower_constant(_KernelByTypeType)
def _no_value(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    return context.get_dummy_value()


_ENVIRONMENT = "_ZN08NumbaEnv"  # how numba begins the name of a kernel's environment
# a later numba may lack these names of its own: then inner kernels are compiled as all others
INNER_CODE_IS_POSSIBLE = hasattr(CPUCodegen, "_create_empty_module") and all(
    hasattr(JITCodeLibrary, name) for name in ("_optimize_final_module", "_finalize_final_module")
)


class _InnerCompiler(Compiler):
    """numba's compiler, but for the library that keeps the code.

    numba links a kernel into every caller, where LLVM inlines and optimizes it, and into the
    callers of these. Optimized machine code of an inner kernel alone would never be called. So it
    stays LLVM's own code until a kernel that Python calls is compiled. Compiling all kernels takes
    little more than half the time, and nearly all are as fast; ``inner_loop_jit`` is for the
    others.
    """

    def define_pipelines(self) -> Any:
        """numba's, which puts the code into a library that it finds here."""
        codegen = self.state.targetctx.codegen()
        self.state.library = _InnerLibrary(codegen, self.state.func_id.func_qualname)
        self.state.library.enable_object_caching()
        return super().define_pipelines()


class _InnerLibrary(JITCodeLibrary):
    def _optimize_final_module(self) -> None:
        """Left to the callers."""

    def _finalize_final_module(self) -> None:
        """Make machine code of the environments only, whose addresses numba fills in."""
        linked = self._final_module
        self._final_module = binding.parse_assembly(str(self._environments(linked)))
        super()._finalize_final_module()
        self._final_module = linked

    def _environments(self, linked: binding.ModuleRef) -> ir.Module:
        module = self._codegen._create_empty_module(self.name)
        for variable in linked.global_variables:
            if variable.name.startswith(_ENVIRONMENT):
                pointer = ir.IntType(8).as_pointer()
                place: Any = ir.GlobalVariable(module, pointer, variable.name)
                place.linkage = "common"  # one address, although every caller declares it too
                place.initializer = ir.Constant(pointer, None)
        return module


def run(kernel: Any, count: int, work: float, *arguments: Any) -> None:
    """Call ``kernel(start, stop, *arguments)`` on ranges that make up ``range(count)``.

    All cores take part, or only one where ``work`` inner steps are not worth starting threads. The
    threads end with the call, so a process may fork, and several may call at once: see decision
    0015.
    """
    cores = usable_cores()
    if work < PARALLEL_WORK or cores == 1:
        kernel(0, count, *arguments)
        return
    kernel(0, 0, *arguments)  # compiled in this thread: in another, Ctrl-C would have to wait
    step = max(1, -(-count // (PIECES_PER_CORE * cores)))
    with ThreadPoolExecutor(cores) as pool:
        calls = pool.map(
            lambda start: kernel(start, min(start + step, count), *arguments),
            range(0, count, step),
        )
        for _ in calls:  # raises what a call raised, and cancels the calls behind it
            pass


_single = threading.local()  # depth: the calls of one_core that this thread is within


@contextmanager
def one_core() -> Iterator[None]:
    """Within it, one core is usable: for callers that keep all cores busy themselves."""
    _single.depth = getattr(_single, "depth", 0) + 1
    try:
        yield
    finally:
        _single.depth -= 1


def usable_cores() -> int:
    """The number of threads that work in this thread may start."""
    return 1 if getattr(_single, "depth", 0) else CORES


KERNEL_FILES = "mictree:kernel files"  # the kind of numba's events while one is read or written
_PACKAGE = Path(__file__).parents[1]
_SOURCES = frozenset(_PACKAGE.rglob("*.py"))
_IMPORT = re.compile(
    # only at the start of a line: what a function imports is no constant of a kernel
    r"^(?:from\s+mictree([\w.]*)\s+import\s+(\([^)]*\)|.*)|import\s+mictree([\w.]*))",
    re.M,
)


def _make_cache(function: Any) -> Any:
    """A kernel's cache; it keeps nothing where no folder can be written to."""
    try:
        return _Cache(function)
    except RuntimeError:  # numba's, after it has tried every folder
        _announcer.kept = False
        return caching.NullCache()


class _Implementation(caching.CompileResultCacheImpl):
    def get_filename_base(self, fullname: str, abiflags: str) -> str:
        """Without the line number, by which numba tells kernels of one name apart."""
        return f"{fullname}.py{sys.version_info.major}{sys.version_info.minor}{abiflags}"


class _Files(caching.IndexDataCacheFile):
    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[BufferedWriter]:
        """Leave no temporary file behind after Ctrl-C, as numba would."""
        with unfinished(Path(filepath)) as temporary, temporary.open("xb") as file:
            yield file


class _Cache(caching.FunctionCache):
    _impl_class = _Implementation

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        stamp = digest(Path(function.__code__.co_filename))
        # in the names too: if writing fails half way, a new index must not lead to an older kernel
        self._name_now = f"{self._impl.filename_base}.{stamp[:16]}"
        self._cache_file = _Files(self._cache_path, self._name_now, stamp)

    def has_types(self) -> bool:
        """Whether the kernel is kept for some types."""
        return Path(self._cache_path, f"{self._name_now}.nbi").exists()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """A kept kernel, or None; whatever a damaged file raises, the kernel is compiled again.

        So it is if the file has a kernel for other types: two processes that keep kernels at once
        may write the same file.
        """
        with event.trigger_event(KERNEL_FILES, data=self._name_now):
            try:
                kernel = super().load_overload(sig, target_context)
                types, _ = sigutils.normalize_signature(sig)
                return kernel if kernel is None or kernel.signature.args == types else None
            except Exception:
                with contextlib.suppress(OSError):
                    self._cache_file.flush()
                return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a kernel, and none made from older sources; the disk may be full."""
        with event.trigger_event(KERNEL_FILES, data=self._name_now):
            try:
                super().save_overload(sig, data)
                for path in Path(self._cache_path).glob(f"{self._impl.filename_base}.*.nb[ic]"):
                    if not path.name.startswith(self._name_now):
                        path.unlink(missing_ok=True)
            except OSError as error:
                _announcer.kept = False
                _announcer.announce(f"compiled kernels cannot be kept: {error}")


def digest(source: Path) -> str:
    """A hash of a module and of all modules of mictree that it imports."""
    seen: set[Path] = set()
    waiting = [source]
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen.add(path)
            waiting += _read(path)[1]
    hashes = (_read(path)[0] for path in sorted(seen))
    return hashlib.sha256(b"".join(hashes)).hexdigest()


@functools.cache
def _read(path: Path) -> tuple[bytes, tuple[Path, ...]]:
    """The hash of a file and the files that it imports."""
    content = path.read_bytes()
    return hashlib.sha256(content).digest(), tuple(_imports(content.decode()))


def _imports(source: str) -> Iterator[Path]:
    for module, names, plain in _IMPORT.findall(source):
        folder = _PACKAGE.joinpath(*(module or plain).split("."))
        # what is imported may be a module, or a name in one
        for path in (folder, *(folder / name for name in re.findall(r"\w+", names))):
            for candidate in (path.with_suffix(".py"), path / "__init__.py"):
                if candidate in _SOURCES:
                    yield candidate


class Group(NamedTuple):
    """Kernels that one use of the package needs, by the beginnings of their modules' names.

    seconds : about what compiling all of them takes, measured on a machine of 2024
    """

    name: str
    seconds: int
    modules: tuple[str, ...]


GROUPS = (  # of a module's name, the first group that has its beginning counts
    Group("growth on formulas", 2, ("growers.choosing", "impurity")),
    Group(
        "optimal trees of formulas", 12,
        ("optimal.lattice", "optimal.program", "optimal.table", "optimal.allowed"),
    ),
    Group("growth on streamed data", 3, ("distributed",)),
    Group("growth on data", 17, ("columns", "problems", "growers")),
    Group("search at a price", 4, ("optimal.priced", "optimal.rows")),
    Group("search on numbers", 17, ("optimal.sweep", "optimal.ordered", "optimal.costs")),
    Group("search on 0/1 columns", 8, ("optimal",)),
    Group("families of functions", 5, ("families.function", "families.table_growth")),
    Group("families of formulas", 9, ("families",)),
)  # fmt: skip
_OTHER_KERNELS = Group("other kernels", 2, ("",))


def group_of(module: str) -> Group:
    """The group of the kernels in a module."""
    name = module.removeprefix("mictree.")
    return next((group for group in GROUPS if name.startswith(group.modules)), _OTHER_KERNELS)


class _Announcer(event.Listener):
    """Says which kernels are being compiled; loading them from disk is silent.

    Kernels that are compiled for another one count as a part of it.
    """

    def __init__(self) -> None:
        self.announced: set[str] = set()
        self.kept = True  # False once a kernel could not be written to disk
        self.on_compile: Callable[[], None] | None = None  # called instead of printing
        self._depth = 0

    def on_start(self, event: Any) -> None:
        """Numba starts to compile."""
        self._depth += 1
        if self._depth > 1:
            return
        if self.on_compile is not None:
            self.on_compile()
            return
        kernel = (event.data or {}).get("dispatcher")
        group = group_of(getattr(kernel, "__module__", ""))
        if group.name not in self.announced:
            self.announce(self._line(group, kernel))
            self.announced.add(group.name)

    def on_end(self, event: Any) -> None:
        """Numba is done."""
        self._depth -= 1

    def _line(self, group: Group, kernel: Any) -> str:
        cache = getattr(kernel, "_cache", None)
        other = isinstance(cache, _Cache) and cache.has_types()
        time = "for another type of data" if other else f"about {group.seconds} s"
        kept = "once on this machine"
        if not self.kept:
            kept = "in memory only: no folder can be written to; NUMBA_CACHE_DIR can name one"
        elif not self.announced:
            kept += " (mictree compile: everything at once)"
        return f"compiling: {group.name}, {time}, {kept}"

    def announce(self, text: str) -> None:
        """Print a line on stderr, but none twice, and none from a worker of a pool."""
        worker = multiprocessing.current_process().name != "MainProcess"
        if text not in self.announced and not worker:
            self.announced.add(text)
            print(f"mictree: {text}", file=sys.stderr)


_announcer = _Announcer()
event.register("numba:compile", _announcer)


@contextmanager
def calling_before_compiling(function: Callable[[], None]) -> Iterator[None]:
    """Within it, ``function`` is called before a kernel is compiled; nothing is announced."""
    _announcer.on_compile = function
    try:
        yield
    finally:
        _announcer.on_compile = None


def kernels_are_kept() -> bool:
    """Whether all kernels that were compiled so far could be kept on disk."""
    return _announcer.kept


def _generate_popcount(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return builder.ctpop(arguments[0])


def _popcount(typing: Any, word: Any) -> Any:
    """The number of ones in a uint64, for use in kernels (LLVM's ctpop)."""
    return types.uint64(types.uint64), _generate_popcount


def _generate_word_load(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    place = builder.gep(array.data, [arguments[1]])
    word = builder.bitcast(place, context.get_value_type(types.uint64).as_pointer())
    return builder.load(word, align=1)


def _load_word(typing: Any, buffer: Any, start: Any) -> Any:
    """Eight bytes of a contiguous array of bytes, from any place on, as a uint64."""
    return types.uint64(buffer, types.intp), _generate_word_load


def _place(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    return builder.gep(array.data, [arguments[1]])


def _generate_atomic_load(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    builder.fence("acquire")
    return builder.load_atomic(_place(context, builder, signature, arguments), "acquire", 8)


def _atomic_load(typing: Any, array: Any, place: Any) -> Any:
    """A number of a contiguous array of 64-bit numbers, read after all that was read before."""
    return array.dtype(array, types.intp), _generate_atomic_load


def _generate_atomic_add(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    place = _place(context, builder, signature, arguments)
    return builder.atomic_rmw("add", place, arguments[2], "acq_rel")


def _atomic_add(typing: Any, array: Any, place: Any, amount: Any) -> Any:
    """Add to a number of such an array; returns what it was."""
    return array.dtype(array, types.intp, array.dtype), _generate_atomic_add


def _generate_atomic_swap(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    place = _place(context, builder, signature, arguments)
    done = builder.cmpxchg(place, arguments[2], arguments[3], "acq_rel", "monotonic")
    builder.fence("release")  # on ARM what is written next could be seen before the swap
    return builder.extract_value(done, 1)


def _atomic_swap(typing: Any, array: Any, place: Any, old: Any, new: Any) -> Any:
    """Replace a number of such an array if it is still the old one; says whether it was."""
    return types.boolean(array, types.intp, array.dtype, array.dtype), _generate_atomic_swap


def _plain_load(array: Any, place: int) -> Any:
    return array.flat[place]


def _plain_add(array: Any, place: int, amount: Any) -> Any:
    old = array.flat[place]
    array.flat[place] = old + array.dtype.type(amount)
    return old


def _plain_swap(array: Any, place: int, old: Any, new: Any) -> bool:
    array.flat[place] = new
    return True


if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
    # coverage runs the kernels as plain Python, where an intrinsic cannot be called
    popcount: Any = np.bitwise_count

    load_word: Any = lambda buffer, start: buffer[start : start + 8].copy().view(np.uint64)[0]  # noqa: E731
    atomic_load: Any = _plain_load
    atomic_add: Any = _plain_add
    atomic_swap: Any = _plain_swap
else:
    popcount = intrinsic(_popcount)
    load_word = intrinsic(_load_word)
    atomic_load = intrinsic(_atomic_load)
    atomic_add = intrinsic(_atomic_add)
    atomic_swap = intrinsic(_atomic_swap)


@jit
def lowest_bit(word):
    """The position of the lowest one of a uint64 that is not 0."""
    return np.int64(popcount((word & (~word + np.uint64(1))) - np.uint64(1)))


# of self, which a compiled method must not use, reach, gain and born
PRIORITY = types.float64(types.int64, types.float64, types.float64, types.int64)
IMPURITY = types.float64(types.float64)
_C_TYPES = {types.float64: ctypes.c_double, types.int64: ctypes.c_int64}


def _c_function(signature: Any) -> Any:
    """The ctypes kind of functions of a signature."""
    return ctypes.CFUNCTYPE(_C_TYPES[signature.return_type], *(_C_TYPES[t] for t in signature.args))


def _call(context: Any, builder: Any, signature: Any, address: Any, arguments: Any) -> Any:
    kinds = [context.get_value_type(kind) for kind in signature.args]
    result = context.get_value_type(signature.return_type)
    pointer = builder.inttoptr(address, ir.FunctionType(result, kinds).as_pointer())
    return builder.call(pointer, arguments)


def _generate_priority(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    no_self = ir.Constant(ir.IntType(64), 0)
    return _call(context, builder, PRIORITY, arguments[0], [no_self, *arguments[1:]])


def _generate_impurity(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return _call(context, builder, IMPURITY, arguments[0], arguments[1:])


def _call_priority(typing: Any, address: Any, reach: Any, gain: Any, born: Any) -> Any:
    """The priority of a leaf by the function at an address."""
    return types.float64(types.int64, *PRIORITY.args[1:]), _generate_priority


def _call_impurity(typing: Any, address: Any, rate: Any) -> Any:
    """The impurity of a positive rate by the function at an address."""
    return types.float64(types.int64, *IMPURITY.args), _generate_impurity


if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
    # coverage runs the kernels as plain Python, where an intrinsic cannot be called
    call_priority: Any = lambda address, *leaf: _c_function(PRIORITY)(address)(0, *leaf)  # noqa: E731
    call_impurity: Any = lambda address, rate: _c_function(IMPURITY)(address)(rate)  # noqa: E731
else:
    call_priority = intrinsic(_call_priority)
    call_impurity = intrinsic(_call_impurity)


class Callback:
    """A Python function that kernels call back; call ``settle`` when the kernel is done.

    What the function raises cannot pass through a kernel: it is kept, and the kernel gets nan.
    """

    def __init__(self, function: Callable[..., float], signature: Any) -> None:
        self._function = function
        self._error: BaseException | None = None
        self._pointer = _c_function(signature)(self)

    def __call__(self, *arguments: float) -> float:
        if self._error is None:
            try:
                return self._function(*arguments)
            except BaseException as error:
                self._error = error
        return math.nan

    @property
    def address(self) -> int:
        """Where kernels find it."""
        address = ctypes.cast(self._pointer, ctypes.c_void_p).value
        assert address is not None
        return address

    def settle(self) -> None:
        """Raise what the function raised."""
        if self._error is not None:
            raise self._error


class Compiled:
    """One of the package's own functions, compiled once in a process and kept on disk."""

    _known: dict[FunctionType, CFunc] = {}  # noqa: RUF012

    def __init__(self, function: FunctionType, signature: Any) -> None:
        if function not in self._known:
            # no error can leave compiled code: a division by 0 gives inf or nan there
            options = {"nopython": True, "error_model": "numpy"}
            made: Any = CFunc(function, (signature.args, signature.return_type), {}, options)
            made._cache = _make_cache(function)
            made.compile()
            self._known[function] = made
        self.address: int = int(self._known[function].address)  # type: ignore[arg-type]  # untyped

    def settle(self) -> None:
        """Nothing was raised."""


def is_own(function: Any) -> bool:
    """Whether a function is the package's own."""
    return isinstance(function, FunctionType) and function.__module__.startswith("mictree.")


LANES = 32


class Vector(types.Type):
    """LANES numbers of one kind, whole or float64."""

    def __init__(self, kind: Any) -> None:
        self.kind = kind
        super().__init__(name=f"Vector({kind})")


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Vector) -> None:
        super().__init__(manager, kind, ir.VectorType(_element(kind.kind), LANES))


def _element(kind: Any) -> Any:
    """LLVM's type of a number."""
    return ir.DoubleType() if kind == types.float64 else ir.IntType(kind.bitwidth)


def _spread_code(builder: Any, number: Any) -> Any:
    """A vector with one number everywhere."""
    nothing = ir.Constant(ir.VectorType(number.type, LANES), ir.Undefined)
    first = builder.insert_element(nothing, number, ir.IntType(32)(0))
    everywhere = ir.Constant(ir.VectorType(ir.IntType(32), LANES), None)
    return builder.shuffle_vector(first, nothing, everywhere)


def _generate_spread(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return _spread_code(builder, arguments[0])


def _typed_spread(typing: Any, number: Any) -> Any:
    """A vector with one number everywhere."""
    return Vector(number)(number), _generate_spread


def _generate_choose(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    bits, number = arguments
    chosen = builder.bitcast(bits, ir.VectorType(ir.IntType(1), LANES))
    everywhere = _spread_code(builder, number)
    return builder.select(chosen, everywhere, ir.Constant(everywhere.type, None))


def _typed_choose(typing: Any, bits: Any, number: Any) -> Any:
    """A vector with the number where a bit is 1, and 0 elsewhere."""
    return Vector(number)(types.uint32, number), _generate_choose


def _vector_place(context: Any, builder: Any, kind: Any, array: Any, start: Any) -> Any:
    """The address of LANES numbers of an array."""
    first = builder.gep(context.make_array(kind)(context, builder, array).data, [start])
    vector = ir.VectorType(_element(kind.dtype), LANES)
    return builder.bitcast(first, vector.as_pointer())


def _generate_vector_load(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    kind = signature.args[0]
    place = _vector_place(context, builder, kind, *arguments)
    return builder.load(place, align=kind.dtype.bitwidth // 8)


def _typed_load(typing: Any, array: Any, start: Any) -> Any:
    """LANES numbers of an array, from ``start`` on."""
    return Vector(array.dtype)(array, types.intp), _generate_vector_load


def _generate_store(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    kind, (vector, array, start) = signature.args[1], arguments
    place = _vector_place(context, builder, kind, array, start)
    builder.store(vector, place, align=kind.dtype.bitwidth // 8)
    return context.get_dummy_value()


def _typed_store(typing: Any, vector: Any, array: Any, start: Any) -> Any:
    """Write a vector into an array, from ``start`` on."""
    return types.void(vector, array, types.intp), _generate_store


def _pairwise(generate: Callable[[Any, Any, Any], Any]) -> Callable[..., Any]:
    """An operation on two vectors."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return generate(builder, *arguments)

    def typed(typing: Any, one: Any, other: Any) -> Any:
        return one(one, other), build

    return typed


def _is_float(vector: Any) -> bool:
    return isinstance(vector.type.element, ir.DoubleType)


def _add(builder: Any, one: Any, other: Any) -> Any:
    return (builder.fadd if _is_float(one) else builder.add)(one, other)


def _subtract(builder: Any, one: Any, other: Any) -> Any:
    return (builder.fsub if _is_float(one) else builder.sub)(one, other)


def _multiply(builder: Any, one: Any, other: Any) -> Any:
    return (builder.fmul if _is_float(one) else builder.mul)(one, other)


def _divide(builder: Any, one: Any, other: Any) -> Any:
    return builder.fdiv(one, other)


def _compare(builder: Any, sign: str, one: Any, other: Any) -> Any:
    return (builder.fcmp_ordered if _is_float(one) else builder.icmp_signed)(sign, one, other)


def _take_least(builder: Any, one: Any, other: Any) -> Any:
    return builder.select(_compare(builder, "<", one, other), one, other)


def _take_most(builder: Any, one: Any, other: Any) -> Any:
    return builder.select(_compare(builder, ">", one, other), one, other)


def _plain_spread(number: Any) -> Any:
    return np.full(LANES, number)


def _plain_choose(bits: Any, number: Any) -> Any:
    inside = int(bits) >> np.arange(LANES) & 1
    return np.where(inside == 1, number, number.dtype.type(0))


def _plain_vector_load(array: Any, start: int) -> Any:
    return array[start : start + LANES].copy()


def _plain_store(vector: Any, array: Any, start: int) -> None:
    array[start : start + LANES] = vector


if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
    # coverage runs the kernels as plain Python, where an intrinsic cannot be called
    spread: Any = _plain_spread
    choose: Any = _plain_choose
    load: Any = _plain_vector_load
    store: Any = _plain_store
    add: Any = np.add
    subtract: Any = np.subtract
    multiply: Any = np.multiply
    divide: Any = np.divide
    least: Any = np.minimum
    most: Any = np.maximum
else:
    spread = intrinsic(_typed_spread)
    choose = intrinsic(_typed_choose)
    load = intrinsic(_typed_load)
    store = intrinsic(_typed_store)
    add = intrinsic(_pairwise(_add))
    subtract = intrinsic(_pairwise(_subtract))
    multiply = intrinsic(_pairwise(_multiply))
    divide = intrinsic(_pairwise(_divide))  # of floats only
    least = intrinsic(_pairwise(_take_least))
    most = intrinsic(_pairwise(_take_most))
