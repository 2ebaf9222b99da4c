// OPT: the least error of any tree of each size, by a recurrence over the 3**n subcubes, those with
// fewer free variables first; and trees that attain it. The twin of optimal/dynamic/table.py.

const EXACT_VARIABLES = 6; // units too large for floats stay exact up to here

// Units as numbers that the recurrence can add quickly: whole ones where floats or size allow it.
const unitsOf = (problem) => {
  const { mass, total, names } = problem;
  const errors = Array.from(mass, (_, subcube) => leafError(problem, subcube));
  if (mass instanceof Float64Array) return { errors: Float64Array.from(errors), exact: true };
  if (names.length <= EXACT_VARIABLES) return { errors, exact: true };
  const whole = Number(total); // at most 10**60, so nothing overflows
  return { errors: Float64Array.from(errors, (error) => Number(error) / whole), exact: false };
};

// How many variables are free in each subcube.
const freeVariables = (count) => {
  const free = new Uint8Array(3 ** count);
  for (let done = 1; done < free.length; done *= 3) {
    for (let subcube = 0; subcube < done; subcube++) {
      free[done + subcube] = free[subcube];
      free[2 * done + subcube] = free[subcube] + 1;
    }
  }
  return free;
};

// The subcubes, those with fewer free variables first.
const smallestFirst = (free, count) => {
  const order = new Int32Array(free.length), next = new Int32Array(count + 2);
  for (const many of free) next[many + 1]++;
  for (let many = 1; many <= count; many++) next[many] += next[many - 1];
  free.forEach((many, subcube) => { order[next[many]++] = subcube; });
  return order;
};

// The size of the smallest tree whose error no tree can lower.
const perfectSizes = (problem, order) => {
  const { mass, positive } = problem.cells, count = problem.names.length;
  const either = (one, two) => one | two;
  const sides = overSubcubes(Uint8Array.from(mass, (units, row) => {
    const lead = 2n * positive[row] - units;
    return lead > 0n ? 1 : lead < 0n ? 2 : 0;
  }), either);
  const perfect = new Int32Array(3 ** count);
  for (const subcube of order) {
    if (sides[subcube] < 3) continue; // one label is nowhere the less likely
    let best = Infinity;
    for (let step = 1, variable = 0; variable < count; variable++, step *= 3) {
      if (Math.floor(subcube / step) % 3 === 2) {
        best = Math.min(best, perfect[subcube - 2 * step] + perfect[subcube - step] + 1);
      }
    }
    perfect[subcube] = best;
  }
  return perfect;
};

// Lower the row `to` to the best of all trees whose root has the subtrees `low` and `high`.
// A row holds least errors by size and never rises; its last value stands for all larger sizes.
const relax = (rows, start, low, high, to) => {
  const begin = start[to], end = start[to + 1];
  const lowBegin = start[low], lowEnd = start[low + 1], highBegin = start[high], highEnd = start[high + 1];
  for (let i = lowBegin; i < lowEnd; i++) {
    if (i > lowBegin && rows[i] === rows[i - 1]) continue; // only sizes at which a row drops matter
    const shift = begin + (i - lowBegin) + 1 - highBegin;
    const stop = Math.min(highEnd, end - shift), error = rows[i];
    for (let j = highBegin; j < stop; j++) {
      const sum = error + rows[j];
      if (sum < rows[j + shift]) rows[j + shift] = sum;
    }
  }
};

const solveOptimal = (problem, maxSize) => {
  const count = problem.names.length, { errors, exact } = unitsOf(problem);
  const free = freeVariables(count);
  const order = smallestFirst(free, count);
  const perfect = perfectSizes(problem, order);
  const start = new Int32Array(free.length + 1);
  free.forEach((many, subcube) => {
    const length = Math.max(0, Math.min(maxSize - (count - many), perfect[subcube]) + 1);
    start[subcube + 1] = start[subcube] + length;
  });
  const size = start[free.length];
  const rows = errors instanceof Float64Array ? new Float64Array(size) : Array(size);
  for (const subcube of order) {
    const begin = start[subcube], end = start[subcube + 1];
    if (begin === end) continue; // too far from the root
    rows.fill(errors[subcube], begin, end);
    if (end - begin === 1) continue;
    for (let step = 1, variable = 0; variable < count; variable++, step *= 3) {
      if (Math.floor(subcube / step) % 3 === 2) relax(rows, start, subcube - 2 * step, subcube - step, subcube);
    }
    for (let at = begin + 1; at < end; at++) if (rows[at] > rows[at - 1]) rows[at] = rows[at - 1];
  }
  const solved = { problem, maxSize, exact, start, rows };
  solved.errors = Array.from({ length: maxSize + 1 }, (_, most) => leastError(solved, free.length - 1, most));
  return solved;
};

// The least error of a subcube by trees of at most `size` splits.
const leastError = ({ start, rows }, subcube, size) => rows[Math.min(start[subcube] + size, start[subcube + 1] - 1)];

// A smallest tree among those with the least error: a label, or [variable, low, high].
const optimalTree = (solved, size, subcube = wholeCube(solved.problem)) => {
  const { problem, start, rows } = solved;
  const least = leastError(solved, subcube, size);
  let wanted = 0;
  while (rows[start[subcube] + wanted] > least) wanted++;
  if (wanted === 0) return labelOf(problem, subcube);
  let best = null;
  problem.names.forEach((_, variable) => {
    if (!isFree(subcube, variable)) return;
    const low = half(subcube, variable, 0), high = half(subcube, variable, 1);
    for (let lowSize = 0; lowSize < wanted; lowSize++) {
      const error = leastError(solved, low, lowSize) + leastError(solved, high, wanted - 1 - lowSize);
      if (best === null || error < best.error) best = { error, variable, low, high, lowSize };
    }
  });
  return [
    best.variable,
    optimalTree(solved, best.lowSize, best.low),
    optimalTree(solved, wanted - 1 - best.lowSize, best.high),
  ];
};
