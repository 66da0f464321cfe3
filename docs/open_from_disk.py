"""Let the dark-mode switch work where the site is opened from a disk (a hook of mkdocs).

Without a server the theme loads the search index as a script, and its other parts stop if there is none. The theme's
own plugin for this, ``offline``, also loads a script from another host.
"""

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig


def on_post_build(config: MkDocsConfig) -> None:
    """Write the search index as a script beside the index itself."""
    index = Path(config.site_dir) / "search" / "search_index.json"
    index.with_suffix(".js").write_text(f"var __index = {index.read_text(encoding='utf-8')}", encoding="utf-8")
