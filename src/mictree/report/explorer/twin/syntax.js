// Boolean expressions: a text becomes symbols in postfix order, or an error that says where it
// went wrong. The twin of functions/syntax.py; positions count characters, not UTF-16 units.

const OPERATORS = new Map([
  ["~", "~"], ["not", "~"], ["¬", "~"],
  ["&", "&"], ["and", "&"], ["∧", "&"],
  ["^", "^"], ["⊕", "^"],
  ["|", "|"], ["or", "|"], ["∨", "|"],
  ["->", "->"], ["→", "->"],
  ["<->", "<->"], ["↔", "<->"],
]);
const WORDS_BETWEEN = new Map([["xor", "^"], ["implies", "->"], ["iff", "<->"]]); // names where an operand is due
const PRECEDENCE = new Map([["~", 6], ["&", 5], ["^", 4], ["|", 3], ["->", 2], ["<->", 1]]);
const IDENTIFIER = /^[\p{XID_Start}_]\p{XID_Continue}*$/u;
const CONTINUES = /^\p{XID_Continue}$/u;
const SIGNS = new Set([...OPERATORS.keys()].filter((text) => !IDENTIFIER.test(text)).map((text) => text[0]));
const SPACE = /^[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]$/u;

// A text as Python's repr shows it.
const quoted = (text) => {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const named = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\", [quote]: `\\${quote}` };
  const escape = (sign) => {
    if (sign in named) return named[sign];
    const code = sign.codePointAt(0), hex = code.toString(16);
    if (sign === " " || !/[\p{C}\p{Z}]/u.test(sign)) return sign;
    if (code < 0x100) return `\\x${hex.padStart(2, "0")}`;
    return code < 0x10000 ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
  };
  return quote + Array.from(text, escape).join("") + quote;
};

const failAt = (signs, reason, position) => {
  const shown = signs.slice(Math.max(0, position - 20), position + 20).join("");
  throw new Error(`${reason}, at position ${position + 1} (near ${quoted(shown)})`);
};

const readWord = (signs, start, end) => {
  const text = signs.slice(start, end).join("");
  if (OPERATORS.has(text)) return { kind: "operator", text: OPERATORS.get(text), position: start };
  if (!IDENTIFIER.test(text) && text !== "0" && text !== "1") {
    if (CONTINUES.test(signs[start])) failAt(signs, `${quoted(text)} is not an identifier`, start);
    failAt(signs, `unknown character ${quoted(signs[start])}`, start);
  }
  return { kind: "operand", text, position: start };
};

const readSign = (signs, start) => {
  for (const length of [3, 2, 1]) {
    const text = signs.slice(start, start + length).join("");
    if (OPERATORS.has(text)) {
      return [{ kind: "operator", text: OPERATORS.get(text), position: start }, start + Array.from(text).length];
    }
  }
  return failAt(signs, `unknown character ${quoted(signs[start])}`, start);
};

function* tokens(signs) {
  for (let start = 0, end; start < signs.length; start = end) {
    end = start + 1;
    if (signs[start] === "(" || signs[start] === ")") {
      yield { kind: "parenthesis", text: signs[start], position: start };
    } else if (SIGNS.has(signs[start])) {
      const [token, after] = readSign(signs, start);
      end = after;
      yield token;
    } else if (!SPACE.test(signs[start])) {
      while (end < signs.length && CONTINUES.test(signs[end])) end++;
      yield readWord(signs, start, end);
    }
  }
}

// One token after an operand; says whether an operand is due next.
const takeOperator = (signs, read, pending, finished) => {
  const word = WORDS_BETWEEN.get(read.text), token = word ? { ...read, kind: "operator", text: word } : read;
  if (token.text === ")") {
    while (pending.length && pending.at(-1).text !== "(") finished.push(pending.pop());
    if (!pending.length) failAt(signs, "')' has no '('", token.position);
    pending.pop();
    return false;
  }
  if (token.kind !== "operator" || token.text === "~") {
    failAt(signs, `an operator is missing before ${quoted(token.text)}`, token.position);
  }
  const mine = PRECEDENCE.get(token.text);
  while (pending.length) {
    const before = PRECEDENCE.get(pending.at(-1).text) ?? 0; // a parenthesis holds everything back
    if (before < mine || (before === mine && token.text === "->")) break; // "->" associates to the right
    finished.push(pending.pop());
  }
  pending.push(token);
  return true;
};

// Operator precedence with an explicit stack, so that depth is unbounded.
const postfix = (text) => {
  const signs = Array.from(text), finished = [], pending = [];
  let expectOperand = true;
  for (const token of tokens(signs)) {
    if (!expectOperand) {
      expectOperand = takeOperator(signs, token, pending, finished);
    } else if (token.kind === "operand") {
      finished.push(token);
      expectOperand = false;
    } else if (token.text === "(" || token.text === "~") {
      pending.push(token);
    } else if (!pending.length && !finished.length) {
      failAt(signs, `a formula must not start with ${quoted(token.text)}`, token.position);
    } else {
      failAt(signs, `a literal is missing before ${quoted(token.text)}`, token.position);
    }
  }
  if (expectOperand) {
    if (!pending.length) throw new Error("a formula must have at least one term; the text is empty");
    failAt(signs, "a literal is missing", signs.length);
  }
  while (pending.length) {
    if (pending.at(-1).text === "(") failAt(signs, "'(' is never closed", pending.at(-1).position);
    finished.push(pending.pop());
  }
  return finished.map((token) => token.text);
};

const OPERATIONS = {
  "&": (left, right) => left & right,
  "^": (left, right) => left ^ right,
  "|": (left, right) => left | right,
  "->": (left, right) => (left ^ 1) | right,
  "<->": (left, right) => left ^ right ^ 1,
};

// The names, in the order in which they are first written.
const namesOf = (symbols) => [...new Set(symbols.filter((each) => !PRECEDENCE.has(each) && each !== "0" && each !== "1"))];

// The value in every row; bit i of the row number is the value of variable i.
const truthTable = (symbols, names) => {
  const rows = 2 ** names.length, stack = [];
  const column = new Map(names.map((name, place) => [name, place]));
  for (const symbol of symbols) {
    if (symbol === "~") {
      stack.push(stack.pop().map((value) => value ^ 1));
    } else if (PRECEDENCE.has(symbol)) {
      const right = stack.pop(), left = stack.pop(), apply = OPERATIONS[symbol];
      stack.push(left.map((value, row) => apply(value, right[row])));
    } else {
      const place = column.get(symbol);
      stack.push(Uint8Array.from({ length: rows }, (_, row) => (place === undefined ? Number(symbol) : (row >> place) & 1)));
    }
  }
  return stack[0];
};
