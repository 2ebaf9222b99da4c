// The next split: which leaves are open, which one is taken and why, and by which variable.

const RULE_NAMES = { topdown: "TopDown", bestfirst: "BestFirst", id3: "ID3", lookahead2: "Lookahead 2", lookahead3: "Lookahead 3" };
const RULE_REASONS = {
  topdown: "TopDown takes the open leaf with the largest reach × gain",
  bestfirst: "BestFirst takes the open leaf with the largest gain, however few inputs reach it",
  id3: "ID3 goes depth first: it takes the youngest leaf, left before right",
  lookahead2: "Lookahead 2 takes the open leaf with the largest reach × gain of a subtree of 2 levels",
  lookahead3: "Lookahead 3 takes the open leaf with the largest reach × gain of a subtree of 3 levels",
};
const planAhead = (depth) => `Before each split it plans ${depth} levels of questions at every leaf. It asks the first question of the best plan, then plans anew.`;
const RULE_HELP = {
  topdown: "It prefers leaves where a question helps many inputs.",
  bestfirst: "It prefers leaves where a question helps most, even if few inputs come there.",
  id3: "It finishes one branch before it starts the next.",
  lookahead2: planAhead(2), lookahead3: planAhead(3),
};
const LEAF_TIES = {
  last: "the one made last", first: "the one made first", random: "one of them at random",
  heaviest: "the one that most inputs reach (if still equal, the last)",
  lightest: "the one that fewest inputs reach (if still equal, the last)",
};
const VARIABLE_TIES = { first: "the first of them", random: "one of them at random" };

const product = (leaf) => `${decimal(leaf.reach)} × ${decimal(leaf.gain)} = ${decimal(leaf.reach * leaf.gain)}`;

const sameGain = (one, other) => tiedPlaces([one, other]).length === 2;

// Sentences that say why the next split is made.
const reasonsOf = (answer, state, size) => {
  const step = answer.steps[size], noun = answer.data ? "test" : "variable";
  if (!step) {
    return [answer.leaves.every((leaf) => leaf.pure || leaf.split)
      ? "Every leaf is pure: the tree makes no error, and growth has ended."
      : "No leaf can be split any more, because the tests cannot tell its rows apart. Growth has ended."];
  }
  const leaf = answer.leaves[step.leaf], name = answer.names[step.variable];
  const ahead = leaf.best[0].drops.length > 1;
  const measured = { bestfirst: `, ${decimal(leaf.gain)}`, id3: "" }[state.rule] ?? `, ${product(leaf)}`;
  const reasons = [`${RULE_REASONS[state.rule]}: leaf ${leaf.number}${measured}.`];
  if (step.tiedLeaves.length > 1) {
    reasons.push(`Leaves ${listed(step.tiedLeaves)} are equally good; your choice among ties takes ${LEAF_TIES[state.ties]}.`);
  }
  if (step.tiedVariables.length > 1) {
    const names = step.tiedVariables.map((variable) => answer.names[variable]);
    reasons.push(`There, ${listed(names)} gain the same${ahead ? ", with and without what follows" : ""}; your choice among ties takes ${VARIABLE_TIES[state.ties] ?? "the last of them"}, ${name}.`);
  } else if (ahead) {
    const tied = leaf.offers.filter((offer) => offer.variable !== step.variable && sameGain(offer.gain, leaf.gain)).map((offer) => answer.names[offer.variable]);
    reasons.push(`There, the best subtree begins with ${name}${tied.length ? `; ones that begin with ${listed(tied)} gain as much in the end, but less on the way` : ""}.`);
  } else {
    reasons.push(`There, ${name} is the ${noun} with the largest gain.`);
  }
  if (leaf.gain === 0) reasons.push(`The gain is 0: ${ahead ? "these levels alone help" : "this split alone helps"} nothing, but the ones below may.`);
  return reasons;
};

const gainTitle = (levels) => (levels > 1 ? `gain of ${levels} levels` : "gain");

const leafRow = (leaf, answer, step, titles) => {
  const chosen = leaf.number === step.leaf;
  const name = answer.names[chosen ? step.variable : leaf.best[0].variable];
  const cells = [pathText(leaf.path, answer.names), decimal(leaf.reach), decimal(leaf.rate), name, decimal(leaf.gain), decimal(leaf.reach * leaf.gain)];
  return html("tr", { class: chosen ? "chosen" : undefined },
    html("th", { scope: "row" }, chosen ? `${leaf.number} ← next` : leaf.number), cardCells(titles, cells));
};

const drawOpenLeaves = (answer, step) => {
  if (!step) return [];
  const levels = answer.leaves[step.leaf].best[0].drops.length;
  const titles = ["where", "reach: share of inputs that come here", "of them label 1", "best split", gainTitle(levels), "reach × gain"];
  return [tableHead("leaf", ...titles), html("tbody", {}, step.open.map((number) => leafRow(answer.leaves[number], answer, step, titles)))];
};

// The gains of all splits of the chosen leaf, as bars.
const drawOffers = (answer, step) => {
  if (!step) return [];
  const { offers, gain, number } = answer.leaves[step.leaf], levels = offers[0].drops.length;
  const titles = [...(levels > 1 ? ["alone"] : []), gainTitle(levels)];
  const rows = offers.map((offer) => {
    const taken = offer.variable === step.variable;
    const bar = svg("svg", { class: "bar", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("rect", { class: taken ? "taken" : "", width: gain ? Math.max(0.5, (offer.gain / gain) * 100) : 0.5, height: 8 }));
    return html("tr", { class: taken ? "chosen" : undefined },
      html("th", { scope: "row" }, answer.names[offer.variable], taken ? " ← taken" : ""),
      cardCells(titles, [...(levels > 1 ? [decimal(offer.drops[0])] : []), decimal(offer.gain)]), html("td", { class: "wide" }, bar));
  });
  return [
    html("h4", {}, `What each split of leaf ${number} gains${levels > 1 ? ", alone and with the best that may follow" : ""}`),
    html("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": "gains at the leaf" },
      html("table", { class: "numbers offers cards" }, tableHead(answer.data ? "test" : "variable", ...titles, "compared"), html("tbody", {}, rows))),
  ];
};
