"""The number of rows that balls hold: a radius that makes no sense is seen before anything is trained."""

from collections.abc import Sequence

import numpy as np

from oleander.candidates.balls import Balls
from oleander.candidates.pool import CandidatePool
from oleander.candidates.radii import typical_radii
from oleander.data.rows import Rows
from oleander.data.schema import format_number
from oleander.messages import show_share, warn_user
from oleander.results.fit_record import BallSize

# More radii than this are those of rows, and are not listed one by one.
MOST_RADII = 10
# A typical ball that holds at least this share of the rows is no local one.
NEARLY_ALL = 0.95
USUAL_SHARES = (0.05, 0.6)


def measure_sizes(pool: CandidatePool) -> tuple[BallSize, ...]:
    """Return the size of the pool's balls, the narrowest first; empty without balls."""
    regions = [candidate.region for candidate in pool.candidates]
    balls = np.array([index for index, region in enumerate(regions) if region.ball is not None], dtype=np.intp)
    if not len(balls):
        return ()
    radii = np.array([region.ball.radius for region in regions if region.ball is not None])
    n_points = np.diff(pool.covers.indptr)
    several = np.unique(radii)
    groups = {f"radius {format_number(float(radius))}": balls[radii == radius] for radius in several[:MOST_RADII]}
    if len(several) > MOST_RADII:
        groups = {f"radii from {format_number(float(several[0]))} to {format_number(float(several[-1]))}": balls}
    sizes = []
    for name, members in groups.items():
        n_held = float(np.median(pool.support[members]))
        sizes.append(BallSize(name, n_held, pool.rows.n_rows, bool((n_points[members] <= 1).mean() > 0.5)))
    return tuple(sizes)


def warn_of_sizes(balls: Balls, rows: Rows, sizes: Sequence[BallSize]) -> None:
    """Warn if most balls hold their center alone, or nearly all rows, and name radii that would hold a usual share."""
    narrow = all(size.is_narrow for size in sizes)
    if not sizes or not (narrow or all(size.share >= NEARLY_ALL for size in sizes)):
        return
    worst = sizes[-1] if narrow else sizes[0]
    what = "their center alone" if narrow else f"nearly all rows ({worst.n_held:,.0f} of {worst.n_rows:,})"
    found = typical_radii(rows, balls.norm, balls.measured_scales(rows), balls.max_flips, USUAL_SHARES)
    cures = [
        f"{show_share(share)} of the rows at radius {format_number(float(f'{radius:.2g}'))}"
        for share, radius in zip(USUAL_SHARES, found, strict=True)
        if 0 < radius < np.inf
    ]
    cure = f" A typical ball would hold {' and '.join(cures)}." if cures else ""
    warn_user(f"most balls of {worst.radii} hold {what}.{cure}")
