// From a request to its answer. A request has plain fields:
//   kind       "formula", "table" or "data"
//   formula    a text; `extra`: names of irrelevant variables
//   table      a text of 0 and 1, one for each row; `names`: its variables
//   csv        a text; `target`, `positive`
//   bias       one for all variables; `biases`: {name: bias} for some
//   rule, criterion, ties, seed, maxSize

const MOST_SIZE = 100;

const shellQuoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

const checkChoice = (value, choices, name) => {
  if (!choices.includes(value)) throw new Error(`${name} must be one of ${choices.join(", ")}; got ${quoted(String(value).slice(0, 20))}`);
};

const checkWhole = (value, most, name, least = 0) => {
  if (!Number.isInteger(value) || value < least || value > most) {
    throw new Error(`${name} must be a whole number from ${least} to ${most}; got ${String(value).slice(0, 20)}`);
  }
};

const checkNames = (names) => {
  for (const name of names) {
    if (!IDENTIFIER.test(name)) throw new Error(`a variable name must be an identifier; got ${quoted(name.slice(0, 40))}`);
    if (OPERATORS.has(name)) throw new Error(`a variable name must not be an operator; got ${quoted(name)}`);
  }
  const twice = names.find((name, place) => names.indexOf(name) < place);
  if (twice !== undefined) throw new Error(`variable names must differ; ${twice} is given twice`);
};

const readFormula = ({ formula, extra }) => {
  if (formula.length > MOST_SIGNS) throw new Error(`a formula may have at most ${MOST_SIGNS} characters here; this one has ${formula.length}`);
  const symbols = postfix(formula), written = namesOf(symbols);
  checkNames(extra);
  const names = [...new Set([...written, ...extra])];
  if (names.length > MOST_VARIABLES) {
    const options = names.slice(written.length).map((name) => ` --bias ${name}=1/2`).join("");
    throw new Error(`this page takes at most ${MOST_VARIABLES} variables, because it solves all 3^${MOST_VARIABLES} parts of the table; there are ${names.length}. `
      + `On the command line: mictree mic ${shellQuoted(formula)}${options}`);
  }
  return { names, table: truthTable(symbols, names) };
};

const readTableText = ({ table, names }) => {
  checkNames(names);
  if (names.length > MOST_VARIABLES) throw new Error(`this page takes at most ${MOST_VARIABLES} variables; there are ${names.length}`);
  if (!/^[01]*$/.test(table) || table.length !== 2 ** names.length) {
    throw new Error(`a table of ${names.length} variables has ${2 ** names.length} labels, each 0 or 1; got ${quoted(table.slice(0, 20))} of length ${table.length}`);
  }
  return { names, table: Uint8Array.from(table, Number) };
};

const readProblem = (request) => {
  if (request.kind === "data") {
    const data = readData(request.csv, request.target, request.positive);
    return { problem: dataProblem(data.tests, data.rows, data.labels), data };
  }
  const { names, table } = request.kind === "table" ? readTableText(request) : readFormula(request);
  const biases = names.map((name) => readBias(name, (Object.hasOwn(request.biases, name) ? request.biases[name] : request.bias)));
  return { problem: productProblem(names, table, biases), table, biases };
};

const checkSettings = ({ kind, rule, criterion, ties, seed, maxSize }) => {
  checkChoice(kind, ["formula", "table", "data"], "kind");
  checkChoice(rule, Object.keys(RULES), "rule");
  checkChoice(criterion, CRITERIA, "criterion");
  checkChoice(ties, TIES, "ties");
  checkWhole(seed, 2 ** 31 - 1, "seed");
  checkWhole(maxSize, MOST_SIZE, "the largest size", 1);
};

// Errors as floats and, where they are exact, as [numerator, denominator]; MIC, the mean of the excess.
const compareErrors = (problem, growth, solved) => {
  const { total } = problem, sizes = growth.errors.length - 1;
  const float = (units) => (typeof units === "bigint" ? ratio(units, total) : solved.exact ? units / Number(total) : units);
  const greedy = growth.errors.map(float), optimal = solved.errors.map(float);
  const result = { greedy, optimal, exact: null };
  if (!solved.exact) {
    result.excess = greedy.map((error, size) => Math.max(0, error - optimal[size]));
    result.mic = result.excess.slice(1).reduce((sum, excess) => sum + excess, 0) / sizes;
    return result;
  }
  const excess = growth.errors.map((units, size) => units - BigInt(solved.errors[size]));
  const sum = excess.slice(1).reduce((all, units) => all + units, 0n);
  result.excess = excess.map(float);
  result.mic = ratio(sum, total * BigInt(sizes));
  result.exact = {
    greedy: growth.errors.map((units) => reduced(units, total)),
    optimal: solved.errors.map((units) => reduced(BigInt(units), total)),
    excess: excess.map((units) => reduced(units, total)),
    mic: reduced(sum, total * BigInt(sizes)),
  };
  return result;
};

const answer = (request) => {
  checkSettings(request);
  const { problem, table, biases, data } = readProblem(request);
  const growth = grow(problem, request, request.maxSize);
  const solved = solveOptimal(problem, request.maxSize);
  const sizes = Array.from({ length: request.maxSize + 1 }, (_, size) => size);
  return {
    names: problem.names,
    table: table ? Array.from(table) : null,
    biases: biases ?? null,
    data: data ?? null,
    leaves: growth.leaves,
    steps: growth.steps,
    errors: compareErrors(problem, growth, solved),
    trees: {
      greedy: sizes.map((size) => grownTree(growth, size)),
      optimal: sizes.map((size) => optimalTree(solved, size)),
    },
  };
};

// The MIC of every rule under every choice among ties.
const answerTies = (request) => {
  checkSettings(request);
  const { problem } = readProblem(request), solved = solveOptimal(problem, request.maxSize);
  return Object.keys(RULES).map((rule) => ({
    rule,
    mic: TIES.map((ties) => {
      const growth = grow(problem, { ...request, rule, ties }, request.maxSize);
      return compareErrors(problem, growth, solved).mic;
    }),
  }));
};
