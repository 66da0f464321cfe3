"""What a fit comes to: the chosen explainers, what they say, how good they are, and the trade-off around them."""
