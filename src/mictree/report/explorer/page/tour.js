// A tour of five steps for a class. Each step sets the page and points at a part of it.

const PAPER = { formula: "x1 & x2 | y1 & y2 & y3", maxSize: 8 };

const TOUR = [
  {
    title: "1 of 5: What a split gains",
    text: [
      "Toss five coins: x1, x2, y1, y2, y3. The label is 1 if both x are 1, or if all three y are 1. A tree has to guess the label, and may look at one coin at a time.",
      "With no question at all it always answers 0, and is wrong for 11 of the 32 outcomes. A question splits the outcomes into two groups. Its gain says how much purer the groups are than the whole: 0 means that it does not help at all.",
      "The list below shows what each question gains. Asking for an x gains most, and both x gain the same.",
    ],
    state: { ...PAPER, rule: "topdown", size: 0 },
    point: "step",
  },
  {
    title: "2 of 5: Greedy growth",
    text: [
      "A greedy rule always makes the split that looks best now, and never takes it back. The ends of the tree are its leaves; a leaf whose outcomes all have one label is finished.",
      "TopDown weighs a leaf's gain by its reach, the share of outcomes that come there. So it prefers leaves where a split helps many outcomes. Press + a few times: the table names the open leaves and the one that is next.",
    ],
    state: { ...PAPER, rule: "topdown", size: 2 },
    point: "step",
  },
  {
    title: "3 of 5: The best tree",
    text: [
      "How good could a tree with the same number of splits be? The page finds out: it solves every part of the table, small parts first, and so finds a tree with the least error of all trees of this size.",
      "Here another rule grows, BestFirst. It looks at the gain alone. With 5 splits it is wrong for 2 of 32 outcomes, the best tree for only 1.",
    ],
    state: { ...PAPER, rule: "bestfirst", size: 5 },
    point: "optimal-part",
  },
  {
    title: "4 of 5: Why they differ",
    text: [
      "Most greedy rules look one step ahead. Here s is a switch: if s is 0 the label is a, otherwise it is b. Asking for s first gains nothing by itself, but then one more question on either side finishes the tree: 3 splits.",
      "a and b gain something at once, so a rule that looks one step ahead starts with one of them, and needs 5 splits. The red area between the curves is the price: the excess error. Its mean over all sizes is called MIC.",
      "Choose “Lookahead 2” as the rule: it plans two questions ahead, starts with s, and needs 3 splits.",
    ],
    state: { formula: "~s & a | s & b", rule: "topdown", ties: "first", maxSize: 6, size: 3 },
    point: "chart",
  },
  {
    title: "5 of 5: What ties do",
    text: [
      "Often several splits look equally good, and something has to decide. Here the label is 1 if exactly one of a and b is 1, and z has nothing to do with it. Every first split gains 0: all three tie.",
      "Taking the last one starts with z and wastes splits. Choose “the first” under “When several tie” and look again. The last table on the page compares all rules and all ways to break ties.",
    ],
    state: { formula: "a ^ b", extra: ["z"], rule: "topdown", ties: "last", maxSize: 7, size: 3 },
    point: "greedy-part",
  },
];

const tourPlace = { at: -1 };

const showTour = (change) => {
  const step = TOUR[tourPlace.at];
  document.querySelector(".pointed")?.classList.remove("pointed");
  find("tour").hidden = !step;
  if (!step) return;
  find("tour-title").textContent = step.title;
  find("tour-text").replaceChildren(...step.text.map((sentence) => html("p", {}, sentence)));
  find("tour-back").disabled = tourPlace.at === 0;
  find("tour-next").textContent = tourPlace.at === TOUR.length - 1 ? "Finish" : "Next";
  find(step.point).classList.add("pointed");
  change(() => ({ ...DEFAULTS, ...step.state }));
  find("tour-title").focus({ preventScroll: true });
  find(step.point).scrollIntoView({ block: "nearest" });
};

const listenToTour = (change) => {
  const go = (to) => {
    tourPlace.at = to < TOUR.length ? to : -1;
    showTour(change);
    if (tourPlace.at < 0) find("start-tour").focus();
  };
  find("start-tour").addEventListener("click", () => go(0));
  find("tour-back").addEventListener("click", () => go(tourPlace.at - 1));
  find("tour-next").addEventListener("click", () => go(tourPlace.at + 1));
  find("tour-end").addEventListener("click", () => go(TOUR.length));
};
