"""The model to be explained: asked, checked and counted; retried, asked twice or reached over HTTP where needed."""

from oleander.black_box.asking import BlackBox, BlackBoxError
from oleander.black_box.counting import CountingBlackBox, SpentError
from oleander.black_box.pair import ModelPair
from oleander.black_box.retries import Retrying, retrying
from oleander.black_box.service import Service, ServiceError, http
from oleander.black_box.twice import AskingTwice, asking_twice

__all__ = [
    "AskingTwice",
    "BlackBox",
    "BlackBoxError",
    "CountingBlackBox",
    "ModelPair",
    "Retrying",
    "Service",
    "ServiceError",
    "SpentError",
    "asking_twice",
    "http",
    "retrying",
]
