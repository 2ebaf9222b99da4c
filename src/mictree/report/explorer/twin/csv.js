// A small table of data as a problem: its columns offer tests, and the page keeps at most ten.

const MOST_ROWS = 200;
const MOST_COLUMNS = 50;
const MOST_TEXT = 60000; // characters
const SEPARATORS = [",", ";", "\t", "|"];

// Rows of cells, and whether the last one lacks its closing quote; quotes as in RFC 4180.
const readCells = (text, separator) => {
  const rows = [[]];
  let cell = "", inside = false;
  const endCell = () => { rows.at(-1).push(cell.trim()); cell = ""; };
  for (let place = 0; place < text.length; place++) {
    const sign = text[place];
    if (inside) {
      if (sign !== '"') cell += sign;
      else if (text[place + 1] === '"') cell += text[++place];
      else inside = false;
    } else if (sign === '"' && !cell.trim()) {
      cell = "";
      inside = true;
    } else if (sign === separator) {
      endCell();
    } else if (sign === "\n") {
      endCell();
      rows.push([]);
    } else {
      cell += sign;
    }
  }
  endCell();
  return { rows: rows.filter((row) => row.length > 1 || row[0] !== ""), open: inside };
};

// By the separator that gives most rows as many cells as the header, and most cells.
const readRows = (text) => {
  let best = { alike: 0, width: 1, ...readCells(text, SEPARATORS[0]) };
  for (const separator of SEPARATORS) {
    const { rows, open } = readCells(text, separator), width = rows[0]?.length ?? 1;
    const alike = rows.filter((row) => row.length === width).length / rows.length;
    if (width > 1 && (alike > best.alike || (alike === best.alike && width > best.width))) best = { alike, width, rows, open };
  }
  if (best.open) throw new Error("a quoted cell must end with a quote; the last one does not");
  return best.rows;
};

const readTable = (text) => {
  if (text.length > MOST_TEXT) {
    throw new Error(`a table may have at most ${MOST_TEXT} characters here; this one has ${text.length}`);
  }
  const unix = text.replace(/\r\n?/g, "\n").replace(/^\ufeff/, "");
  const [names, ...rows] = readRows(unix);
  if (!names || names.length < 2) throw new Error("a table must have a header and two columns or more");
  if (names.length > MOST_COLUMNS) throw new Error(`a table may have at most ${MOST_COLUMNS} columns here; this one has ${names.length}`);
  if (new Set(names).size < names.length) {
    const twice = names.find((name, place) => names.indexOf(name) < place);
    throw new Error(`columns must have different names; ${quoted(twice)} occurs twice`);
  }
  if (!rows.length) throw new Error("a table must have a row beside its header; it has none");
  if (rows.length > MOST_ROWS) {
    throw new Error(`a table may have at most ${MOST_ROWS} rows here; this one has ${rows.length}. On the command line: mictree data FILE --target COLUMN`);
  }
  const wrong = rows.findIndex((row) => row.length !== names.length);
  if (wrong >= 0) throw new Error(`every row must have ${names.length} cells; row ${wrong + 1} has ${rows[wrong].length}`);
  const columns = readColumns(names, names.map((_, place) => rows.map((row) => row[place])));
  const infinite = columns.find(({ numeric, order, cells }) => numeric && presentOf(cells).some((cell) => !Number.isFinite(order(cell))));
  if (infinite) throw new Error(`a table must not contain infinity; ${infinite.name} does`);
  return { count: rows.length, columns };
};

const compare = (one, two) => (one < two ? -1 : one > two ? 1 : 0);

const valuesOf = ({ order, cells }) => [...new Set(presentOf(cells))].sort(order ? (one, two) => compare(order(one), order(two)) : compare);

// At most three thresholds, each halfway between two neighbouring values, near the quartiles, and its text;
// times are big integers.
const quartiles = (numbers, show) => {
  const sorted = numbers.slice().sort(compare), found = new Map();
  for (const share of [0.25, 0.5, 0.75]) {
    const value = sorted[Math.floor(share * (sorted.length - 1))];
    const next = sorted.find((other) => other > value);
    if (next === undefined) continue;
    const middle = show ? (value + next) >> 1n : Number(((value + next) / 2).toPrecision(12));
    found.set(middle, show ? show(middle, value) : middle);
  }
  return [...found].sort(([one], [two]) => compare(one, two));
};

// The tests that a column offers; a test that a missing value cannot answer is not met.
const testsOf = (column) => {
  const { name, order, show, cells } = column, present = presentOf(cells), values = valuesOf(column);
  const tests = [];
  if (values.length > 2 && order) {
    for (const [threshold, text] of quartiles(present.map(order), show)) {
      tests.push([`${name} > ${text}`, (cell) => order(cell) > threshold]);
    }
  } else if (values.length > 1) {
    for (const value of values.length === 2 ? values.slice(1) : values) {
      tests.push([`${name} = ${value}`, (cell) => cell === value]);
    }
  }
  const met = tests.map(([title, meets]) => ({ title, bits: cells.map((cell) => (cell !== "" && meets(cell) ? 1 : 0)) }));
  if (present.length < cells.length && present.length) {
    met.push({ title: `${name} is missing`, bits: cells.map((cell) => (cell === "" ? 1 : 0)) });
  }
  return met;
};

// The gain of a test at the root, by entropy.
const rootGainOf = (bits, labels) => {
  const problem = dataProblem(["test"], bits, labels);
  const split = splitOf(problem, wholeCube(problem), 0);
  return split ? entropyGain(split) : -1;
};

// The ten tests of largest gain, in the order of the columns; of tests that separate the rows alike
// only the first.
const chooseTests = (tests, labels) => {
  const seen = new Set(), different = tests.filter(({ bits }) => {
    const key = bits.map((bit) => bit ^ bits[0]).join("");
    return !seen.has(key) && key.includes("1") && seen.add(key);
  });
  const gains = different.map(({ bits }) => rootGainOf(bits, labels));
  const best = [...gains.keys()].sort((one, two) => gains[two] - gains[one] || one - two).slice(0, MOST_VARIABLES);
  return { chosen: best.sort((one, two) => one - two).map((place) => different[place]), offered: different.length };
};

// `target` names the column to predict, by default the last; `positive` the value with label 1, by
// default the later of two, or the most frequent of more.
const readData = (text, target, positive) => {
  const { count, columns } = readTable(text), names = columns.map(({ name }) => name);
  const label = target ? columns[names.indexOf(target)] : columns.at(-1);
  if (!label) throw new Error(`the table must have a column ${quoted(target)}; it has ${names.slice(0, 10).join(", ")}`);
  const unknown = count - presentOf(label.cells).length;
  if (unknown) throw new Error(`every row must have a label; ${label.name} is missing in ${unknown} of ${count} rows`);
  const values = valuesOf(label);
  const frequency = (value) => label.cells.filter((cell) => cell === value).length;
  const usual = values.length === 2 ? values[1] : values.reduce((most, value) => (frequency(value) > frequency(most) ? value : most));
  const one = values.includes(positive) ? positive : usual;
  const labels = label.cells.map((cell) => (cell === one ? 1 : 0));
  const offered = columns.flatMap((column) => (column === label ? [] : testsOf(column)));
  const tests = chooseTests(offered, labels);
  if (!tests.chosen.length) throw new Error("a column besides the target must have two different values; none has");
  const packed = labels.map((_, row) => tests.chosen.reduce((sum, { bits }, place) => sum + (bits[row] << place), 0));
  return {
    columns: names, target: label.name, values, positive: one, rows: packed, labels,
    tests: tests.chosen.map(({ title }) => title), offered: tests.offered,
    doubts: columns.filter(({ doubt }) => doubt).map(({ name, doubt }) => [name, doubt]),
  };
};
