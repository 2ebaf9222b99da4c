"""Data sets whose optimal trees are known, built from their rules."""

from itertools import product

import numpy as np

MONKS = {
    1: lambda row: row[0] == row[1] or row[4] == 0,
    2: lambda row: sum(value == 0 for value in row) == 2,
    3: lambda row: (row[4] == 2 and row[3] == 0) or (row[4] != 3 and row[1] != 2),
}
VALUES = (3, 3, 2, 3, 4, 2)
LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))


def monks(number: int) -> tuple[np.ndarray, np.ndarray]:
    """All 432 rows, 15 one-hot columns; an attribute of two values is one column."""
    rows = list(product(*map(range, VALUES)))
    X = [
        [
            bit
            for value, count in zip(row, VALUES, strict=True)
            for bit in ([value] if count == 2 else [int(value == k) for k in range(count)])
        ]
        for row in rows
    ]
    return np.array(X, dtype=np.uint8), np.array([int(MONKS[number](row)) for row in rows])


def tic_tac_toe() -> tuple[np.ndarray, np.ndarray]:
    """The 958 end positions of the game, 27 one-hot columns; 1 where the first player has won."""
    ends: dict[tuple[int, ...], int] = {}
    seen: set[tuple[int, ...]] = set()

    def won(board: list[int], player: int) -> bool:
        return any(all(board[place] == player for place in line) for line in LINES)

    def play(board: list[int], player: int) -> None:
        if tuple(board) in seen:
            return
        seen.add(tuple(board))
        if won(board, 1) or won(board, 2) or 0 not in board:
            ends[tuple(board)] = int(won(board, 1))
            return
        for place in range(9):
            if board[place] == 0:
                board[place] = player
                play(board, 3 - player)
                board[place] = 0

    play([0] * 9, 1)
    X = [[int(value == kind) for value in board for kind in (1, 2, 0)] for board in ends]
    return np.array(X, dtype=np.uint8), np.array(list(ends.values()))


def xor_with_decoys() -> tuple[np.ndarray, np.ndarray]:
    """Two columns whose xor is the label and two that look better; two splits find the label."""
    rows, labels = [], []
    for first, second in product((0, 1), repeat=2):
        if first != second:
            rows += 3 * [(first, second, 1, 1)]
            labels += 3 * [1]
        else:
            rows += [(first, second, 0, 0), (first, second, 0, 1), (first, second, 1, 0)]
            labels += 3 * [0]
    return np.array(rows, dtype=np.uint8), np.array(labels)


def random_bits(rows: int, literals: int, seed: int, classes: int = 2, noise: float = 0.15):
    """Bits, and labels of a small rule with noise."""
    random = np.random.default_rng(seed)
    X = (random.random((rows, literals)) < 0.5).astype(np.uint8)
    y = (X[:, 0] & X[:, 1]) + (X[:, 2 % literals] | X[:, 3 % literals]) * (classes - 1)
    wrong = random.random(rows) < noise
    return X, np.where(wrong, random.integers(0, classes, rows), y % classes)


def compile_search() -> None:
    """Run every kernel of the search once, so that a time limit is not spent on compiling."""
    import mictree as mt

    X, y = random_bits(200, 20, 0, noise=0.4)
    for weights in (None, np.full(len(y), 0.5)):
        problem = mt.SampleProblem(X, y, weights)
        mt.optimal_trees(problem, 3)
        mt.optimal_trees(problem, 12, time_limit=0.01)
