// Numbers in tables: all sizes, and MIC under every choice among ties.

const drawSizes = (answer, size) => {
  const { greedy, optimal, excess, exact } = answer.errors;
  const rows = greedy.map((_, at) => html("tr", { class: at === size ? "chosen" : undefined },
    html("th", { scope: "row" }, at),
    [[greedy, exact?.greedy], [optimal, exact?.optimal], [excess, exact?.excess]].map(([floats, fractions]) => html("td", {}, shown(floats[at], fractions?.[at])))));
  return [tableHead("splits", "greedy error", "least error", "excess"), html("tbody", {}, rows)];
};

const drawAllTies = (table, state) => [
  tableHead("rule", ...TIES),
  html("tbody", {}, table.map(({ rule, mic }) => html("tr", {},
    html("th", { scope: "row" }, RULE_NAMES[rule]),
    mic.map((value, place) => html("td", { "data-label": `ties: ${TIES[place]}`, class: rule === state.rule && TIES[place] === state.ties ? "chosen" : undefined }, decimal(value)))))),
];
