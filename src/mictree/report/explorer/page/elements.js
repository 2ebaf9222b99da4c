// Elements of the page. Texts are only ever set as text, never as markup.

const find = (id) => document.getElementById(id);

const fillElement = (element, attributes, children) => {
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== null && value !== false) element.setAttribute(key, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false).map((child) => (child instanceof Node ? child : String(child))));
  return element;
};
const html = (name, attributes = {}, ...children) => fillElement(document.createElement(name), attributes, children);
const svg = (name, attributes = {}, ...children) => fillElement(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);

const decimal = (number) => {
  if (number === 0) return "0";
  if (number < 1e-4) return number.toExponential(2);
  return String(Number(number.toPrecision(4)));
};

const MOST_DENOMINATOR = 100000n; // larger fractions say less than their decimals

// A number, as a fraction too where that is short.
const shown = (number, exact) => {
  if (!exact || exact[1] === 1n || exact[1] > MOST_DENOMINATOR) return decimal(number);
  return `${exact[0]}/${exact[1]} = ${decimal(number)}`;
};

const listed = (words) => (words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`);

// A long name loses its middle, as its end tells tests of one column apart.
const MOST_NAME = 24, LAST_OF_NAME = 12;
const clipped = (name) => (name.length > MOST_NAME ? `${name.slice(0, MOST_NAME - 1 - LAST_OF_NAME)}…${name.slice(-LAST_OF_NAME)}` : name);

const tableHead = (...cells) => html("thead", {}, html("tr", {}, cells.map((cell) => html("th", { scope: "col" }, cell))));

// A row of a table that becomes a card on a phone: each cell has its column's title with it.
const cardCells = (titles, cells) => cells.map((cell, place) => html("td", { "data-label": titles[place] }, cell));

// Frames whose content is wider say so, as phones show no bar to scroll with.
const markOverflow = (frame) => frame.classList.toggle("overflows", frame.scrollWidth > frame.clientWidth + 1);
const watchOverflow = () => {
  const observer = new ResizeObserver((entries) => entries.forEach(({ target }) => markOverflow(target.closest(".scroll"))));
  for (const part of document.querySelectorAll(".scroll, .scroll > table")) observer.observe(part);
};
