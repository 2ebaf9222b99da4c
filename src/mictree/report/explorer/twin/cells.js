// The texts of a table's cells: numbers in plain writing, and "" for a missing one. The rules are
// those of `mictree.columns.cells`; only dates stay texts here.

const MISSING_TEXTS = ["", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "?"];
const MISSING_NUMBERS = [...MISSING_TEXTS, "None", "none", "-", "."]; // in a column of numbers

const PLAIN = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
const INFINITE = /^([+-]?)inf(inity)?$/i;
const WITH_COMMA = /^[+-]?(\d*|[1-9]\d{0,2}(\.\d{3})+),\d+([eE][+-]?\d+)?$/; // 1.234,5
const IN_THOUSANDS = /^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?$/; // 1,234.5
const WHOLE = /^[+-]?\d+([eE][+-]?\d+)?$/;
const POINTS = /^[+-]?[1-9]\d{0,2}(\.\d{3})+$/; // 1.234 beside 1.234,5
const PADDED = /^0\d+$/, DIGITS = /^\d+$/; // 00501
const SHAPES = { ",": [WITH_COMMA, WHOLE, POINTS], ".": [IN_THOUSANDS, PLAIN] }; // by decimal mark

const isPlain = (cell) => PLAIN.test(cell) || INFINITE.test(cell);
const isNumber = (cell) => isPlain(cell) || WITH_COMMA.test(cell) || IN_THOUSANDS.test(cell);
const areCodes = (cells) => cells.some((cell) => PADDED.test(cell)) && cells.every((cell) => DIGITS.test(cell)); // as zip codes
const numberOf = (cell) => Number(cell.replace(INFINITE, "$1Infinity"));
const blank = (cells, spellings) => cells.map((cell) => (spellings.includes(cell) ? "" : cell));
const presentOf = (cells) => cells.filter((cell) => cell !== "");

// One column: whether it holds numbers, and its cells.
const readColumn = (name, cells) => {
  const numbers = blank(cells, MISSING_NUMBERS), present = presentOf(numbers);
  if (areCodes(present)) return { name, numeric: false, cells: blank(cells, MISSING_TEXTS) };
  const hasComma = present.some((cell) => WITH_COMMA.test(cell));
  const texts = present.filter((cell) => !isNumber(cell) && !(hasComma && POINTS.test(cell))), count = present.length - texts.length;
  if (present.length && !texts.length) return { name, numeric: true, cells: numbers };
  if (count > texts.length) {
    throw new Error(`a column must hold numbers or texts, not both; ${name} has ${count} numbers and ${texts.length} other: `
      + `${quoted(texts[0].slice(0, 40))}. Correct the table, or leave such cells empty`);
  }
  return { name, numeric: false, cells: blank(cells, MISSING_TEXTS) };
};

// The decimal mark that all columns of numbers with commas can have.
const findDecimal = (columns) => {
  const possible = Object.keys(SHAPES).filter((mark) => columns.every(({ cells }) => (
    presentOf(cells).every((cell) => SHAPES[mark].some((shape) => shape.test(cell))))));
  if (possible.length === 1) return possible[0];
  const [{ name, cells }] = columns;
  throw new Error(`commas in numbers must have one meaning; ${name} has ${quoted(cells.find((cell) => cell.includes(",")))}: `
    + "write a decimal point instead, or nothing between thousands");
};

const readColumns = (names, columns) => {
  const read = columns.map((cells, place) => readColumn(names[place], cells));
  const commas = read.filter(({ numeric, cells }) => numeric && !presentOf(cells).every(isPlain));
  if (!commas.length) return read;
  const decimal = findDecimal(commas);
  const plain = (cell) => (decimal === "," ? cell.replaceAll(".", "").replace(",", ".") : cell.replaceAll(",", ""));
  for (const column of commas) column.cells = column.cells.map(plain);
  return read;
};
