// The texts of a table's cells: numbers in plain writing, dates and times as ISO writes them, and ""
// for a missing one. The rules are those of `mictree.columns.cells`; tests/unit/date_cases.json and
// number_cases.json list columns that both are tested on.

const MISSING_TEXTS = ["", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "?"];
const MISSING_NUMBERS = [...MISSING_TEXTS, "None", "none", "-", "."]; // in a column of numbers

const PLAIN = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
const INFINITE = /^([+-]?)inf(inity)?$/i;
const BOOLEAN = /^(true|false)$/i;
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
const SECOND = 1000000000n, MILLI = 1000000n, DAY = 86400n * SECOND; // nanoseconds, which floats do not hold
const UNITS = [[DAY, 10], [60n * SECOND, 16], [SECOND, 19], [MILLI, 23], [1000n, 26], [1n, 29]]; // and how much of an ISO text shows them
const floorTo = (time, unit) => time - ((time % unit) + unit) % unit;

// Nanoseconds of an offset from UTC; null if there is no such offset.
const zoneOf = (zone) => {
  if (zone === undefined || zone === "Z") return 0n;
  const hours = Number(zone.slice(1, 3)), minutes = Number(zone.slice(-2));
  return hours > 23 || minutes > 59 ? null : BigInt((zone[0] === "-" ? -60 : 60) * (60 * hours + minutes)) * SECOND;
};

// Nanoseconds since 1970, by a form; null if the cell is no date of this form.
const timeIn = ({ shape, parts }, cell) => {
  const groups = shape.exec(cell);
  if (!groups) return null;
  const { y, m, d, h = "0", n = "0", s = "0", f = "", z } = Object.fromEntries([...parts].map((part, place) => [part, groups[place + 1]]));
  const midnight = new Date(0), zone = zoneOf(z);
  midnight.setUTCFullYear(Number(y), Number(m) - 1, Number(d));
  if (midnight.getUTCMonth() !== Number(m) - 1) return null; // a day or month that there is not lands elsewhere
  if (Number(h) > 23 || Number(n) > 59 || Number(s) > 59 || zone === null) return null;
  const seconds = midnight.getTime() / 1000 + (Number(h) * 60 + Number(n)) * 60 + Number(s);
  const time = BigInt(seconds) * SECOND + BigInt(f.slice(0, 9).padEnd(9, "0")) - zone;
  const year = new Date(Number(floorTo(time, DAY) / MILLI)).getUTCFullYear();
  return year < 1 || year > 9999 ? null : time;
};

// A time with the fewest digits that keep it at or above another, as a threshold is shown.
const timeText = (time, least, { zoned }) => {
  const [unit, length] = UNITS.find(([size]) => floorTo(time, size) >= least) ?? UNITS.at(-1);
  const whole = floorTo(time, unit), millis = floorTo(whole, MILLI);
  const iso = new Date(Number(millis / MILLI)).toISOString().replace("Z", String(whole - millis).padStart(6, "0")).replace("T", " ");
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
  const withDoubt = (doubt) => doubt && { doubt };
  const forms = DATE_FORMS.filter(({ shape }) => cells.every((cell) => shape.test(cell)));
  if (!forms.length) return withDoubt(doubtZones(cells));
  const [form, other] = forms.filter((each) => cells.every((cell) => timeIn(each, cell) !== null));
  if (!form) return withDoubt(doubtDays(cells, forms));
  const differs = other && form.mark !== "." && cells.find((cell) => timeIn(form, cell) !== timeIn(other, cell));
  return differs ? withDoubt(`nothing tells which number of ${differs} is the day; write the year first.`) : { form };
};

// Other ways to write dates, which are not read as dates.
const MONTH = String.raw`(jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sept?(ember)?|oct(ober)?|nov(ember)?|dec(ember)?)\.?`
  .replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
const WEEKDAY = String.raw`(\p{L}{2,9}[., ]+)?`, CLOCKS = String.raw`([T:, ]+\d{1,2}:\d{2}.*)?`;
const OTHER_DATES = [
  String.raw`\d{4}[-/]\d{1,2}`, // 2024-01
  String.raw`\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ]\d{1,2}:\d{2}.*)?`, // 2024/1/26
  String.raw`\d{1,2}[-/.]\d{1,2}[-/.](\d{2}|\d{4})( \d{1,2}:\d{2}.*)?`, // 26/01/24, 26.1.2024 9:30
  String.raw`\d{1,2}[- ]\p{L}{3,9}[-, ]+(\d{2}|\d{4})`, // 26-Jan-24
  String.raw`\p{L}{3,9} \d{1,2},? \d{4}`, // January 26, 2024
  String.raw`${WEEKDAY}\d{1,2}[-/. ]+${MONTH}[-/., ]+(\d{2}|\d{4})${CLOCKS}`, // Fri, 26 Jan 24
  String.raw`${WEEKDAY}${MONTH} +\d{1,2},? \d{4}${CLOCKS}`, // Friday, January 26, 2024 10:30
  String.raw`${WEEKDAY}${MONTH} +\d{1,2} \d{1,2}:\d{2}.* \d{4}`, // Fri Jan 26 10:30:00 2024
  String.raw`${MONTH}[-/ ](\d{2}|\d{4})`, // Jan-24
].map((shape) => new RegExp(`^${shape.replaceAll("\\d", "\\p{Nd}")}$`, "u"));
const FEW_DATES = 2; // tests of texts and thresholds separate so few alike

// What to say of texts most of which look like dates; nothing if they do not.
const doubtTexts = (cells) => {
  const different = [...new Set(presentOf(cells))];
  const like = different.filter((cell) => [...OTHER_DATES, ...DATE_FORMS.map(({ shape }) => shape)].some((shape) => shape.test(cell)));
  if (different.length <= FEW_DATES || like.length * 2 <= different.length) return undefined;
  return `cells such as ${like[0].slice(0, 40)} are not read as dates; write 2024-01-26 or 2024-01-26 10:30.`;
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
  if (present.length && present.every((cell) => BOOLEAN.test(cell))) return { ...texts, cells: numbers.map((cell) => cell.toLowerCase()) };
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
  return { ...texts, doubt: doubtTexts(texts.cells) };
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
