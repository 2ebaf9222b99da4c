// A small random generator, the same numbers as in Python (Steele's SplitMix64): _support/draws.py.

const below = (draws, count) => {
  const wrap = (number) => BigInt.asUintN(64, number);
  draws.state = wrap(draws.state + 0x9e3779b97f4a7c15n);
  let mixed = draws.state;
  mixed = wrap((mixed ^ (mixed >> 30n)) * 0xbf58476d1ce4e5b9n);
  mixed = wrap((mixed ^ (mixed >> 27n)) * 0x94d049bb133111ebn);
  mixed = (mixed ^ (mixed >> 31n)) >> 1n;
  return Number(mixed % BigInt(count));
};
