"""Black boxes that are slow, far away or fail now and then, made such that a fit can rely on them."""

from oleander.black_boxes.retries import Retrying, retrying
from oleander.black_boxes.service import Service, ServiceError, http
from oleander.black_boxes.twice import AskingTwice, asking_twice

__all__ = ["AskingTwice", "Retrying", "Service", "ServiceError", "asking_twice", "http", "retrying"]
