// The splits that a subcube offers, with the drops in impurity that subtrees below them bring. The twin of
// growers/lookahead.py: a subtree's drop is the gain of its root test plus the drops of both its sides,
// weighted by their shares. A side that is pure, or that offers no split, adds nothing.

// `drops` by depth: of the split alone, then of the best subtrees of depth 2, 3, ...; `gain` is the last.
const offersOf = (problem, criterion, subcube, depth) => {
  const label = labelOf(problem, subcube), offers = [];
  problem.names.forEach((_, variable) => {
    const split = isFree(subcube, variable) && splitOf(problem, subcube, variable);
    if (!split) return;
    const gain = GAINS[criterion](split, label), drops = [gain];
    if (depth > 1) {
      const [low, high] = [0, 1].map((value) => largestDrops(problem, criterion, half(subcube, variable, value), depth - 1));
      low.forEach((drop, row) => drops.push(gain + (split.low.share * drop + split.high.share * high[row])));
    }
    offers.push({ variable, drops, gain: drops.at(-1) });
  });
  return offers;
};

// The largest drops in a subcube, by depth from 1 on; each is computed once for a problem.
const largestDrops = (problem, criterion, subcube, depth) => {
  const key = `${criterion} ${depth} ${subcube}`;
  if (!problem.drops.has(key)) {
    const offers = isPure(problem, subcube) ? [] : offersOf(problem, criterion, subcube, depth);
    problem.drops.set(key, Array.from({ length: depth }, (_, row) => Math.max(0, ...offers.map(({ drops }) => drops[row]))));
  }
  return problem.drops.get(key);
};
