"""The paper's two healthcare studies, redone: data, steps, claims and a page.

The folder is not part of the installed package. It imports the package and ``benchmarks.rivals``; the package never
imports it. ``data`` reads the data sets, ``steps`` computes and draws, ``claims`` decides which of the paper's claims
hold. Run ``make paper`` or ``python -m studies`` in the project's root; the results are in
``docs/evidence/studies.md``.
"""
