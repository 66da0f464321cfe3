"""Results in words: facts become sentences here, and sentences become text, HTML and Markdown.

Every sentence about a result is written once, in this folder. ``describe`` and ``draw`` show any result as text and as
HTML, and are what ``print`` and a notebook call.
"""

from oleander.words.claims import describe as describe
from oleander.words.html import draw as draw
