// Gains without cancellation: each comes from the difference of the children's rates, never from
// impurities that are subtracted. The twin of impurity/gains.py.

const LEAST_RATE = 1e-300; // quotients of smaller ones overflow
const SERIES_BELOW = 0.02; // where the power series of `divergence` takes over
const SERIES = [10, 9, 8, 7, 6, 5, 4, 3, 2].map((power) => (-1) ** power / (power * (power - 1)));
const CRITERIA = ["entropy", "gini", "root", "minority"];

// (1 + x) log(1 + x) - x for x >= -1, to full relative precision
const divergence = (change) => {
  if (Math.abs(change) < SERIES_BELOW) {
    return SERIES.reduce((sum, coefficient) => sum * change + coefficient, 0) * change ** 2;
  }
  return change <= -1 ? 1 : (1 + change) * Math.log1p(change) - change;
};

// Both halves of a subcube: shares, rates of label 0 and 1, and the difference of the positive rates.
const splitOf = (problem, subcube, variable) => {
  const [low, high] = [0, 1].map((value) => {
    const at = half(subcube, variable, value);
    return { mass: BigInt(problem.mass[at]), positive: BigInt(problem.positive[at]) };
  });
  if (!low.mass || !high.mass) return null; // no test: all inputs agree on it
  const whole = low.mass + high.mass;
  for (const side of [low, high]) {
    side.share = ratio(side.mass, whole);
    side.rates = [ratio(side.mass - side.positive, side.mass), ratio(side.positive, side.mass)];
    side.lead = ratio(2n * side.positive - side.mass, side.mass);
  }
  const cross = high.positive * low.mass - low.positive * high.mass;
  return { variable, low, high, difference: ratio(cross, low.mass * high.mass) };
};

const entropyGain = ({ low, high, difference }) => {
  let sum = 0;
  for (const label of [0, 1]) {
    const rate = Math.max(low.share * low.rates[label] + high.share * high.rates[label], LEAST_RATE);
    const change = (label ? difference : -difference) / rate;
    sum += rate * (high.share * divergence(Math.max(low.share * change, -1))
      + low.share * divergence(Math.max(-high.share * change, -1)));
  }
  return sum / Math.LN2;
};

const giniGain = ({ low, high, difference }) => low.share * high.share * 2 * difference ** 2;

const rootGain = ({ low, high, difference }) => {
  if (difference === 0) return 0;
  const rate = (label) => low.share * low.rates[label] + high.share * high.rates[label];
  const spread = (side) => side.share * Math.sqrt(side.rates[0] * side.rates[1]);
  const whole = Math.sqrt(rate(0) * rate(1)) + spread(low) + spread(high);
  const crossed = Math.sqrt(low.rates[0] * high.rates[1]) + Math.sqrt(low.rates[1] * high.rates[0]);
  return (2 * low.share * high.share * (difference / crossed) ** 2) / whole; // of both labels
};

// by how much the error falls: a child helps where another label than its parent's leads
const minorityGain = ({ low, high }, label) => {
  const sign = label ? -1 : 1;
  return low.share * Math.max(sign * low.lead, 0) + high.share * Math.max(sign * high.lead, 0);
};

const GAINS = { entropy: entropyGain, gini: giniGain, root: rootGain, minority: minorityGain };
