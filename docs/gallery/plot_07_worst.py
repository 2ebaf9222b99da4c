"""
Where BestFirst fails worst
===========================

Of all read-once formulas of at most 10 variables, all biases 1/2, this one costs BestFirst most
over the sizes 1 to 20.
"""

import mictree as mt

family = mt.families.up_to(variables=10, biases=(0.5,))
frame = mt.sweep(family, max_size=20, rules=[mt.BestFirst()]).sort("mic", descending=True)
worst = frame.row(0, named=True)
print(f"terms of sizes {worst['formula']}: MIC(20) = {worst['mic']:.4f}")
sizes = [int(size) for size in worst["formula"].split("+")]
mt.mic(mt.BestFirst(), mt.FormulaProblem(mt.ReadOnceDNF.of_sizes(sizes)), max_size=20).plot()
