// Greedy growth, split by split, with everything that decided each split. The twin of
// growers/generic_loop.py, rules.py and ties.py; ties as in docs/decisions/0003.

const TIES = ["last", "first", "random", "heaviest", "lightest"];
const TIE_TOLERANCE = 1e-10;

const byReach = (leaf) => leaf.reach * leaf.gain;

// `priority`: how soon a leaf is split, the largest first; `born` numbers leaves in depth-first order.
// `depth`: of the subtrees whose drop in impurity is a leaf's gain; 1 for a single split.
const RULES = {
  topdown: { depth: 1, priority: byReach },
  bestfirst: { depth: 1, priority: (leaf) => leaf.gain },
  id3: { depth: 1, priority: (leaf) => leaf.born },
  lookahead2: { depth: 2, priority: byReach },
  lookahead3: { depth: 3, priority: byReach },
};

// The places of those numbers that tie with the largest.
const tiedPlaces = (values) => {
  const largest = Math.max(...values), least = largest - TIE_TOLERANCE * Math.abs(largest);
  return values.flatMap((value, place) => (value >= least ? [place] : []));
};

// One of several that tie, in order; a random choice moves `draws` on, even among one.
const pick = (tied, ties, draws) => {
  if (ties === "first") return tied[0];
  return ties === "random" ? tied[below(draws, tied.length)] : tied.at(-1);
};

// The offers of largest gain; those that tie are compared by ever shallower subtrees: docs/decisions/0022.
const bestOffers = (offers) => offers[0].drops.reduceRight(
  (kept, _, row) => tiedPlaces(kept.map((offer) => offer.drops[row])).map((place) => kept[place]), offers,
);

const newLeaf = (problem, settings, subcube, number, born, path) => {
  const mass = BigInt(problem.mass[subcube]), positive = BigInt(problem.positive[subcube]);
  const leaf = {
    number, born, path, subcube,
    reach: ratio(mass, problem.total),
    rate: mass ? ratio(positive, mass) : 0,
    label: labelOf(problem, subcube),
    error: BigInt(leafError(problem, subcube)), // in units
    pure: isPure(problem, subcube),
    offers: [],
  };
  if (leaf.pure) return leaf;
  const { depth, priority } = RULES[settings.rule];
  leaf.offers = offersOf(problem, settings.criterion, subcube, depth);
  if (leaf.offers.length) {
    leaf.gain = Math.max(...leaf.offers.map((offer) => offer.gain));
    leaf.best = bestOffers(leaf.offers);
    leaf.priority = priority(leaf);
  }
  return leaf;
};

const chooseLeaf = (open, ties, draws) => {
  const tied = tiedPlaces(open.map((leaf) => leaf.priority)).map((place) => open[place]);
  let chosen;
  if (ties === "heaviest" || ties === "lightest") {
    const sign = ties === "heaviest" ? 1 : -1;
    chosen = tied[tiedPlaces(tied.map((leaf) => sign * leaf.reach)).at(-1)];
  } else {
    chosen = pick(tied, ties, draws);
  }
  return { chosen, tied };
};

// Settings: rule, criterion, ties, seed. All leaves in order of creation; the split number s, from 1,
// makes the low child 2s - 1 and the high child 2s.
const grow = (problem, settings, maxSize) => {
  const draws = { state: BigInt.asUintN(64, BigInt(settings.seed)) };
  const leaves = [newLeaf(problem, settings, wholeCube(problem), 0, 0, [])];
  const steps = [], errors = [leaves[0].error];
  let open = leaves.filter((leaf) => leaf.offers.length);
  while (steps.length < maxSize && open.length) {
    const { chosen, tied } = chooseLeaf(open, settings.ties, draws);
    const { variable } = pick(chosen.best, settings.ties, draws);
    steps.push({
      leaf: chosen.number, variable, gain: chosen.gain, reach: chosen.reach,
      open: open.map((leaf) => leaf.number),
      tiedLeaves: tied.map((leaf) => leaf.number),
      tiedVariables: chosen.best.map((offer) => offer.variable),
    });
    const children = [0, 1].map((value) => newLeaf(
      problem, settings, half(chosen.subcube, variable, value), leaves.length + value,
      2 * steps.length + 1 - value, [...chosen.path, [variable, value]],
    ));
    chosen.split = true;
    leaves.push(...children);
    errors.push(errors.at(-1) - chosen.error + children[0].error + children[1].error);
    open = leaves.filter((leaf) => leaf.offers.length && !leaf.split);
  }
  while (errors.length <= maxSize) errors.push(errors.at(-1));
  return { leaves, steps, errors };
};

// The tree after some splits: a label, or [variable, low, high].
const grownTree = (growth, size) => {
  const split = new Map(growth.steps.slice(0, size).map((step, place) => [step.leaf, { ...step, place }]));
  const build = (number) => {
    const step = split.get(number);
    if (!step) return growth.leaves[number].label;
    return [step.variable, build(2 * step.place + 1), build(2 * step.place + 2)];
  };
  return build(0);
};
