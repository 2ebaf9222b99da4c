// Exact fractions of BigInts, and their quotients as floats.

const SAFE = 2 ** 53; // integers up to here are exact as floats
const MOST_DIGITS = 6; // of a bias

const bitsOf = (number) => number.toString(16).length * 4;

// a / b as a float; b > 0. Numbers that are no exact floats are scaled to 64 and more bits of quotient.
const ratio = (a, b) => {
  if (a < 0n) return -ratio(-a, b);
  if (b < SAFE && a < SAFE) return Number(a) / Number(b);
  if (a === 0n) return 0;
  const shift = 68 + bitsOf(b) - bitsOf(a);
  const quotient = Number(shift >= 0 ? (a << BigInt(shift)) / b : a / (b << BigInt(-shift)));
  const half = Math.trunc(shift / 2); // 2 ** -shift alone may underflow
  return quotient * 2 ** -half * 2 ** (half - shift);
};

const gcd = (a, b) => {
  while (b) [a, b] = [b, a % b];
  return a < 0n ? -a : a;
};

// [numerator, denominator] in lowest terms
const reduced = (numerator, denominator) => {
  const common = gcd(numerator, denominator) || 1n;
  return [numerator / common, denominator / common];
};

// A bias as written: "3/10", "0.3" or ".3".
const readBias = (name, text) => {
  const typed = String(text).trim();
  const parts = /^(\d+)\s*\/\s*(\d+)$/.exec(typed), decimal = /^(\d*)\.?(\d*)$/.exec(typed);
  if (!/\d/.test(typed) || (!parts && !decimal) || (parts && !Number(parts[2]))) {
    throw new Error(`bias must be a number strictly between 0 and 1; ${name} has ${quoted(typed.slice(0, 20))}`);
  }
  if (Math.max(...typed.split(/[./]/).map((part) => part.trim().length)) > MOST_DIGITS) {
    throw new Error(`bias must have at most ${MOST_DIGITS} digits here; ${name} has ${typed.slice(0, 20)}`);
  }
  const [top, bottom] = parts
    ? [BigInt(parts[1]), BigInt(parts[2])]
    : [BigInt(decimal[1] + decimal[2]), 10n ** BigInt(decimal[2].length)];
  if (top <= 0n || top >= bottom) {
    throw new Error(`bias must lie strictly between 0 and 1; ${name} has ${typed}`);
  }
  return reduced(top, bottom);
};
