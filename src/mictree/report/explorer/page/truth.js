// The truth table as a grid: the later variables choose the row, the earlier ones the column.

const bitsText = (number, names) => names.map((_, place) => (number >> place) & 1).join("");

const drawTruth = (answer, toggle) => {
  const { names, table } = answer;
  const wide = Math.ceil(names.length / 2), across = names.slice(0, wide), down = names.slice(wide);
  find("truth-help").textContent = names.length < 2 ? ""
    : `Columns: the values of ${across.join(", ")}.${down.length ? ` Rows: the values of ${down.join(", ")}.` : ""}`;
  const columns = Array.from({ length: 2 ** wide }, (_, column) => column);
  const cell = (row) => {
    const place = names.map((name, at) => `${name} ${(row >> at) & 1}`).join(", ");
    const button = html("button", { type: "button", class: table[row] ? "one" : "", "data-row": row, tabindex: row ? "-1" : "0", "aria-pressed": Boolean(table[row]) ? "true" : "false", "aria-label": `${place || "always"}: label 1` }, table[row]);
    button.addEventListener("click", () => toggle(row));
    return html("td", {}, button);
  };
  const rows = Array.from({ length: 2 ** down.length }, (_, row) => html("tr", {},
    html("th", { scope: "row" }, bitsText(row, down)), columns.map((column) => cell(row * 2 ** wide + column))));
  return [html("thead", {}, html("tr", {}, html("td"), columns.map((column) => html("th", { scope: "col" }, bitsText(column, across))))), html("tbody", {}, rows)];
};

// Arrow keys move between cells.
const moveInTruth = (event, names) => {
  const row = Number(event.target.dataset.row);
  const across = 2 ** Math.ceil(names.length / 2);
  const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -across, ArrowDown: across }[event.key];
  if (by === undefined || Number.isNaN(row)) return;
  event.preventDefault();
  focusTruth(row + by);
};

const focusTruth = (row) => {
  const cell = find("truth").querySelector(`[data-row="${Number(row)}"]`);
  if (!cell) return;
  find("truth").querySelector('[tabindex="0"]')?.setAttribute("tabindex", "-1");
  cell.setAttribute("tabindex", "0");
  cell.focus();
};
