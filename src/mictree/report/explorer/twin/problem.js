// A problem: 2**n cells, each with the whole number of units of probability that fall into it, and
// those of them with label 1. Subcubes are numbered in base 3: digit i is 0 or 1 where variable i
// is fixed, 2 where it is free. The twin of problems/table.py, and for data of problems/sample.py.

const MOST_VARIABLES = 10;
const MOST_SIGNS = 4000; // of a formula

// Values of the 2**n cells, combined over each of the 3**n subcubes.
const overSubcubes = (cells, combine) => {
  let cube = cells, done = 1; // `done` subcubes of the variables so far, side by side
  while (cube.length > done) {
    const blocks = cube.length / done / 2;
    const next = new cells.constructor(cube.length + blocks * done);
    for (let block = 0; block < blocks; block++) {
      for (let place = 0; place < done; place++) {
        const low = cube[2 * block * done + place], high = cube[(2 * block + 1) * done + place];
        next[3 * block * done + place] = low;
        next[(3 * block + 1) * done + place] = high;
        next[(3 * block + 2) * done + place] = combine(low, high);
      }
    }
    cube = next;
    done *= 3;
  }
  return cube;
};

const makeProblem = (names, mass, positive, isData) => {
  const total = mass.reduce((sum, units) => sum + units, 0n);
  // as floats where these are exact: faster, and no less right
  const store = total < SAFE ? (units) => Float64Array.from(units, Number) : (units) => Array.from(units);
  const add = (one, two) => one + two;
  return {
    names, total, isData,
    mass: overSubcubes(store(mass), add),
    positive: overSubcubes(store(positive), add),
    cells: { mass, positive },
    drops: new Map(), // known to lookahead.js
  };
};

// Independent variables with biases [numerator, denominator], and a table of 0 and 1.
const productProblem = (names, table, biases) => {
  let mass = [1n];
  for (const [numerator, denominator] of biases) {
    mass = [...mass.map((units) => units * (denominator - numerator)), ...mass.map((units) => units * numerator)];
  }
  return makeProblem(names, mass, mass.map((units, row) => (table[row] ? units : 0n)), false);
};

// Rows of tests, each a number whose bit i is the result of test i, and their labels 0 and 1.
const dataProblem = (names, rows, labels) => {
  const mass = Array(2 ** names.length).fill(0n), positive = mass.slice();
  rows.forEach((row, number) => {
    mass[row] += 1n;
    positive[row] += BigInt(labels[number]);
  });
  return makeProblem(names, mass, positive, true);
};

const wholeCube = (problem) => 3 ** problem.names.length - 1;

const isFree = (subcube, variable) => Math.floor(subcube / 3 ** variable) % 3 === 2;

const half = (subcube, variable, value) => subcube - (2 - value) * 3 ** variable;

// Of two equally likely labels a table takes 1, data the first class.
const labelOf = (problem, subcube) => {
  const lead = 2n * BigInt(problem.positive[subcube]) - BigInt(problem.mass[subcube]);
  return lead > 0n || (lead === 0n && !problem.isData) ? 1 : 0;
};

// The units of a subcube that its label gets wrong.
const leafError = (problem, subcube) => {
  const mass = problem.mass[subcube], positive = problem.positive[subcube], rest = mass - positive;
  return positive < rest ? positive : rest;
};

const isPure = (problem, subcube) => !Number(leafError(problem, subcube));
