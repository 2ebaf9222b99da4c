"""Compiles kernels that only kernels call into code to link, not to run.

numba optimises every kernel, makes machine code of it, and links it into each kernel that calls it,
which is then optimised and made into machine code as a whole. Python never enters an inner kernel,
so for those both steps are done for nothing, again at every level of calls. Here they are left out:
the kernel that Python enters holds all code that it runs, and optimises it once. The first search
on a machine so takes about a quarter less time, and runs as fast afterwards.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import llvmlite.binding as llvm
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

KEPT = "bitcode"  # as numba names what it has to compile when it reads it; its own is "object"
_ENVIRONMENT = "_ZN08NumbaEnv"  # how numba's names of environments begin


class LinkedLibrary(JITCodeLibrary):
    """The code of one inner kernel and of the kernels that it calls."""

    def _optimize_final_module(self) -> None:
        """Leave that to the kernel that Python enters."""

    def _finalize_final_module(self) -> None:
        """Make the module ready to be linked; the machine gets its environments only.

        An environment holds what a kernel needs of Python's objects. numba writes its address into
        a variable that all kernels share by name.
        """
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        variables = self._final_module.global_variables
        shared = [str(one) for one in variables if one.name.startswith(_ENVIRONMENT)]
        environments = llvm.parse_assembly("\n".join(shared))
        environments.triple = self._final_module.triple
        environments.data_layout = self._final_module.data_layout
        self._codegen._add_module(environments)
        self._finalized = True

    def serialize_using_object_code(self) -> Any:
        """What is kept on disk: there is no machine code."""
        return self.name, KEPT, self._get_module_for_linking().as_bitcode()


class LinkedCompiler(Compiler):
    """numba's compiler, with such a library for what it makes."""

    def compile_extra(self, func: Any) -> Any:
        """Compile a function."""
        self.state.library = LinkedLibrary(self.state.targetctx.codegen(), func.__qualname__)
        return super().compile_extra(func)


@contextmanager
def reading_linked(codegen: Any) -> Iterator[None]:
    """Within it, numba reads such libraries from disk; the caller has numba's compiler lock."""
    codegen._library_class = LinkedLibrary
    try:
        yield
    finally:
        del codegen._library_class  # the class has numba's own
