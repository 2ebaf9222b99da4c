"""Compiles kernels that only kernels call, no further than their callers need.

numba links such a kernel into every caller, where LLVM inlines and optimizes it, and into the
callers of these. Optimized machine code of the kernel alone would never be called. So here it stays
LLVM's own code until a kernel that Python calls is compiled. Compiling all kernels takes little
more than half the time, and nearly all are as fast; ``inner_loop_jit`` is for the others.
"""

from typing import Any

from llvmlite import binding, ir
from numba.core.codegen import CPUCodegen, JITCodeLibrary
from numba.core.compiler import Compiler

_ENVIRONMENT = "_ZN08NumbaEnv"  # how numba begins the name of a kernel's environment
# a later numba may lack these names of its own: then inner kernels are compiled as all others
POSSIBLE = hasattr(CPUCodegen, "_create_empty_module") and all(
    hasattr(JITCodeLibrary, name) for name in ("_optimize_final_module", "_finalize_final_module")
)


class InnerCompiler(Compiler):
    """numba's compiler, but for the library that keeps the code."""

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
