// The texts of a table's cells: numbers in plain writing, dates and times as ISO writes them, and ""
// for a missing one. The rules are those of `mictree.columns.cells`; only dates of which nothing
// tells whether the day or the month comes first stay texts here, with a note. tests/unit/date_cases.json
// has a list of columns with dates that both read alike.

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

// Ways to write dates and times; a column has one of them. `parts`: what the groups of the shape are.
const SHORT = (mark) => new RegExp(`^(\\d{1,2})${mark}(\\d{1,2})${mark}(\\d{4})$`);
const CLOCK = String.raw`[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?`;
const ISO = String.raw`(\d{4})-(\d\d)-(\d\d)`;
const DATE_FORMS = [
  { shape: new RegExp(`^${ISO}$`), parts: "ymd" },
  { shape: /^(\d{4})\/(\d{1,2})\/(\d{1,2})$/, parts: "ymd" },
  { shape: /^(\d{4})\.(\d{1,2})\.(\d{1,2})$/, parts: "ymd" },
  { shape: SHORT("\\."), parts: "dmy", usual: true }, // with points the day comes first if it can
  { shape: SHORT("\\."), parts: "mdy" },
  ...["/", "-"].flatMap((mark) => ["dmy", "mdy"].map((parts) => ({ shape: SHORT(mark), parts }))),
  { shape: new RegExp(`^${ISO}${CLOCK}$`), parts: "ymdhnsf" },
  { shape: new RegExp(`^${ISO}${CLOCK}(Z|[+-]\\d\\d:?\\d\\d)$`), parts: "ymdhnsfz", zoned: true }, // becomes UTC
];
const DAY = 86400e6; // microseconds, which floats hold exactly in years of four digits
const UNITS = [[DAY, 10], [60e6, 16], [1e6, 19], [1e3, 23], [1, 26]]; // and how much of an ISO text shows them

const zoneOf = (zone) => {
  if (zone === undefined || zone === "Z") return 0;
  const hours = Number(zone.slice(1, 3)), minutes = Number(zone.slice(-2));
  return hours > 23 || minutes > 59 ? NaN : (zone[0] === "-" ? -1 : 1) * (60 * hours + minutes) * 60e6;
};

// Microseconds since 1970, by a form; NaN if the cell is no date of this form.
const timeIn = ({ shape, parts }, cell) => {
  const groups = shape.exec(cell);
  if (!groups) return NaN;
  const { y, m, d, h = "0", n = "0", s = "0", f = "", z } = Object.fromEntries([...parts].map((part, place) => [part, groups[place + 1]]));
  const midnight = new Date(0);
  midnight.setUTCFullYear(Number(y), Number(m) - 1, Number(d));
  if (midnight.getUTCMonth() !== Number(m) - 1) return NaN; // a day or month that there is not lands elsewhere
  if (Number(h) > 23 || Number(n) > 59 || Number(s) > 60) return NaN; // 60: a leap second
  return midnight.getTime() * 1e3 + ((Number(h) * 60 + Number(n)) * 60 + Number(s)) * 1e6 + Number(f.slice(0, 6).padEnd(6, "0")) - zoneOf(z);
};

// A time with the fewest digits that keep it at or above another, as a threshold is shown.
const timeText = (time, least, { zoned }) => {
  const [unit, length] = UNITS.find(([size]) => Math.floor(time / size) * size >= least) ?? UNITS.at(-1);
  const whole = Math.floor(time / unit) * unit, micros = String(((whole % 1e3) + 1e3) % 1e3).padStart(3, "0");
  const iso = new Date(Math.floor(whole / 1e3)).toISOString().replace("Z", micros).replace("T", " ");
  return iso.slice(0, length) + (zoned ? " UTC" : "");
};

// How a column of dates is read: {form}, {unclear: a cell} if two ways give different dates, or null.
const findDates = (cells) => {
  const possible = DATE_FORMS.filter((form) => cells.length && cells.every((cell) => !Number.isNaN(timeIn(form, cell))));
  const [form, other] = possible;
  if (!form) return null;
  const differs = other && !form.usual && cells.find((cell) => timeIn(form, cell) !== timeIn(other, cell));
  return differs ? { unclear: differs } : { form };
};

const isPlain = (cell) => PLAIN.test(cell) || INFINITE.test(cell);
const isNumber = (cell) => isPlain(cell) || WITH_COMMA.test(cell) || IN_THOUSANDS.test(cell);
const areCodes = (cells) => cells.some((cell) => PADDED.test(cell)) && cells.every((cell) => DIGITS.test(cell)); // as zip codes
const numberOf = (cell) => Number(cell.replace(INFINITE, "$1Infinity"));
const blank = (cells, spellings) => cells.map((cell) => (spellings.includes(cell) ? "" : cell));
const presentOf = (cells) => cells.filter((cell) => cell !== "");

// Refuse a column in which most cells are dates, of one form or none.
const checkDates = (name, present) => {
  if (present.filter((cell) => DATE_FORMS.some(({ shape }) => shape.test(cell))).length * 2 <= present.length) return;
  const wrong = DATE_FORMS.map((form) => present.filter((cell) => Number.isNaN(timeIn(form, cell))));
  const strays = wrong.reduce((least, cells) => (cells.length < least.length ? cells : least));
  if (strays.length === present.length) return;
  throw new Error(`a column must hold dates of one form; ${name} has ${present.length - strays.length} such as ${quoted(present.find((cell) => !strays.includes(cell)))} `
    + `and ${strays.length} other: ${quoted(strays[0].slice(0, 40))}. Correct the table, or leave such cells empty`);
};

const readDates = (name, cells, form) => {
  const times = new Map(presentOf(cells).map((cell) => [cell, timeIn(form, cell)]));
  const text = (cell) => timeText(times.get(cell), times.get(cell), form);
  const known = new Map([...times.keys()].map((cell) => [text(cell), times.get(cell)]));
  return { name, numeric: false, order: (cell) => known.get(cell), show: (time, below) => timeText(time, below, form), cells: cells.map((cell) => cell && text(cell)) };
};

// One column: its cells, whether they are numbers, and the number by which they are ordered unless they are texts.
const readColumn = (name, cells) => {
  const numbers = blank(cells, MISSING_NUMBERS), present = presentOf(numbers), dates = findDates(present);
  const texts = { name, numeric: false, cells: blank(cells, MISSING_TEXTS) };
  if (dates?.form) return readDates(name, numbers, dates.form);
  if (dates) return { ...texts, unclear: dates.unclear };
  if (areCodes(present)) return texts;
  const hasComma = present.some((cell) => WITH_COMMA.test(cell));
  const other = present.filter((cell) => !isNumber(cell) && !(hasComma && POINTS.test(cell))), count = present.length - other.length;
  if (present.length && !other.length) return { name, numeric: true, order: numberOf, cells: numbers };
  if (count > other.length) {
    throw new Error(`a column must hold numbers or texts, not both; ${name} has ${count} numbers and ${other.length} other: `
      + `${quoted(other[0].slice(0, 40))}. Correct the table, or leave such cells empty`);
  }
  checkDates(name, present);
  return texts;
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
