"""The error of a fit that finds no explainer."""


class NothingFoundError(ValueError):
    """No explainer reaches the floor on these rows; the message says how near the best one comes and what to do."""
