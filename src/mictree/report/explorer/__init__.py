"""The explorer: one HTML file that grows and solves trees by itself.

``twin`` computes: the same growth and the same optimal trees as the package, in JavaScript.
``page`` shows them. Python only joins the files and fills in the first problem.
"""
