// The texts of a table's cells: numbers in plain writing, dates and times as ISO writes them, and ""
// for a missing one. The rules are those of `mictree.columns.cells`; tests/unit/date_cases.json lists
// columns with dates that both read alike.

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
const CLOCK = String.raw`[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?`, ZONE = String.raw`(Z|[+-]\d\d:?\d\d)`;
const YEAR_FIRST = [String.raw`(\d{4})`, String.raw`(\d\d)`, String.raw`(\d\d)`];
const YEAR_LAST = [String.raw`(\d{1,2})`, String.raw`(\d{1,2})`, String.raw`(\d{4})`];
const DATE_FORMS = [[YEAR_FIRST, ["ymd"]], [YEAR_LAST, ["dmy", "mdy"]]].flatMap(([days, orders]) => ["-", "/", "."].flatMap((mark) => (
  [["", ""], [CLOCK, "hnsf"], [CLOCK + ZONE, "hnsfz"]].flatMap(([end, rest]) => {
    const shape = new RegExp(`^${days.join(`\\${mark}`)}${end}$`);
    return orders.map((order) => ({ shape, order, mark, parts: order + rest, zoned: rest.endsWith("z") })); // zones become UTC
  }))));
const SECOND = 1000000n, DAY = 86400n * SECOND; // microseconds, which floats do not hold in all years
const UNITS = [[DAY, 10], [60n * SECOND, 16], [SECOND, 19], [1000n, 23], [1n, 26]]; // and how much of an ISO text shows them
const floorTo = (time, unit) => time - ((time % unit) + unit) % unit;

// Microseconds of an offset from UTC; null if there is no such offset.
const zoneOf = (zone) => {
  if (zone === undefined || zone === "Z") return 0n;
  const hours = Number(zone.slice(1, 3)), minutes = Number(zone.slice(-2));
  return hours > 23 || minutes > 59 ? null : BigInt((zone[0] === "-" ? -60 : 60) * (60 * hours + minutes)) * SECOND;
};

// Microseconds since 1970, by a form; null if the cell is no date of this form.
const timeIn = ({ shape, parts }, cell) => {
  const groups = shape.exec(cell);
  if (!groups) return null;
  const { y, m, d, h = "0", n = "0", s = "0", f = "", z } = Object.fromEntries([...parts].map((part, place) => [part, groups[place + 1]]));
  const midnight = new Date(0), zone = zoneOf(z);
  midnight.setUTCFullYear(Number(y), Number(m) - 1, Number(d));
  if (midnight.getUTCMonth() !== Number(m) - 1) return null; // a day or month that there is not lands elsewhere
  if (Number(h) > 23 || Number(n) > 59 || Number(s) > 59 || zone === null) return null;
  const seconds = midnight.getTime() / 1000 + (Number(h) * 60 + Number(n)) * 60 + Number(s);
  const time = BigInt(seconds) * SECOND + BigInt(f.slice(0, 6).padEnd(6, "0")) - zone;
  const year = new Date(Number(floorTo(time, DAY) / 1000n)).getUTCFullYear();
  return year < 1 || year > 9999 ? null : time;
};

// A time with the fewest digits that keep it at or above another, as a threshold is shown.
const timeText = (time, least, { zoned }) => {
  const [unit, length] = UNITS.find(([size]) => floorTo(time, size) >= least) ?? UNITS.at(-1);
  const whole = floorTo(time, unit), millis = floorTo(whole, 1000n);
  const iso = new Date(Number(millis / 1000n)).toISOString().replace("Z", String(whole - millis).padStart(3, "0")).replace("T", " ");
  return iso.slice(0, length) + (zoned ? " UTC" : "");
};

// What to say of times of which only some have a zone; null if that is not what is wrong.
const doubtZones = (cells) => {
  const plain = DATE_FORMS.find(({ parts, shape }) => parts.endsWith("f") && cells.some((cell) => shape.test(cell)));
  const zoned = plain && DATE_FORMS.find((form) => form.zoned && form.order === plain.order && form.mark === plain.mark);
  if (!plain || !cells.every((cell) => plain.shape.test(cell) || zoned.shape.test(cell))) return null;
  const [one, other] = [zoned, plain].map(({ shape }) => cells.find((cell) => shape.test(cell)));
  return `of its times some have a zone, as ${one}, and some have none, as ${other}; write all in one way.`;
};

// What to say of dates that no order reads; `forms` have one shape.
const doubtDays = (cells, forms) => {
  const never = cells.find((cell) => forms.every((form) => timeIn(form, cell) === null));
  if (never) return `there is no ${never}; correct it, or leave it empty.`;
  const [day, month] = forms.map((other) => cells.find((cell) => timeIn(other, cell) === null)).reverse();
  return `some begin with the day, as ${day}, and some with the month, as ${month}; write the year first.`;
};

// How a column of dates is read: {form}; {doubt: what is wrong} if it looks like dates; or null.
// With points the day comes first where it can.
const findDates = (cells) => {
  if (!cells.length) return null;
  const said = (doubt) => doubt && { doubt };
  const forms = DATE_FORMS.filter(({ shape }) => cells.every((cell) => shape.test(cell)));
  if (!forms.length) return said(doubtZones(cells));
  const [form, other] = forms.filter((each) => cells.every((cell) => timeIn(each, cell) !== null));
  if (!form) return said(doubtDays(cells, forms));
  const differs = other && form.mark !== "." && cells.find((cell) => timeIn(form, cell) !== timeIn(other, cell));
  return differs ? said(`nothing tells which number of ${differs} is the day; write the year first.`) : { form };
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
  const wrong = DATE_FORMS.map((form) => present.filter((cell) => timeIn(form, cell) === null));
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
  if (dates) return { ...texts, doubt: dates.doubt };
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
