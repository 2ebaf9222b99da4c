"""Every public name has an example in its docstring, and so have the methods that users call."""

import inspect

import pytest

import mictree as mt

ROOMS = ("distributions", "families", "impurity")
CLASSES = tuple(
    name
    for name in mt.__all__
    if inspect.isclass(getattr(mt, name)) and not name.endswith("Problem")
)  # the methods of problems are questions that growers ask, each in one line
# one sentence says it all, or the class's example shows it
WITHOUT = {
    "priority", "with_seed", "plot", "misclassified", "telling_sizes", "evaluate", "of_sizes",
    "error_reductions", "positions",
}  # fmt: skip


def public_things():
    for name in mt.__all__:
        if name not in (*ROOMS, "__version__"):
            yield name, getattr(mt, name)
    for room in ROOMS:
        module = getattr(mt, room)
        for name in module.__all__:
            if callable(getattr(module, name)):
                yield f"{room}.{name}", getattr(module, name)


def methods():
    for name in CLASSES:
        for method, value in inspect.getmembers(getattr(mt, name), inspect.isroutine):
            own = str(getattr(value, "__module__", "")).startswith("mictree")
            if own and not method.startswith("_") and method not in WITHOUT:
                yield f"{name}.{method}", value


def has_example(thing):
    return ">>> " in (inspect.getdoc(thing) or "")


@pytest.mark.parametrize("name", dict(public_things()))
def test_every_public_name_has_an_example(name):
    assert has_example(dict(public_things())[name])


def test_every_method_that_users_call_has_an_example():
    assert [name for name, method in methods() if not has_example(method)] == []


def test_a_name_without_an_example_is_noticed():
    def bare():
        """Nothing to see."""

    assert not has_example(bare)
    assert len(list(methods())) > 100


def test_examples_come_after_the_parameters():
    for kind in (mt.TopDown, mt.BestFirstClassifier):
        text = inspect.getdoc(kind)
        assert text.index("Parameters\n") < text.index("Examples\n")
        assert text.count("Examples\n") == text.count("Parameters\n") == 1


def test_dir_is_complete():
    assert {*mt.__all__} <= {*dir(mt)}
    assert all(name in mt.__all__ or name.startswith("__") for name in dir(mt))
