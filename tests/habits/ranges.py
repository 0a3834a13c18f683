"""Ranges of people's habits and of the eye's errors: lowest, middle and highest value of each field.

A follower is estimated on hands with values from the first half, low to middle. Values from the second half are
reserved: a follower is judged on them, and nothing is ever estimated on them. In the first half, pace, hidden zones,
confidences, covered and doubled cards are as in the stored views of 29 hands. All else is guessed.
"""

Range = tuple[float, float, float]

HABITS: dict[str, Range] = {
    "clears_now": (0.0, 0.15, 0.3), "clears_later": (0.0, 0.1, 0.2),
    "with_remedy": (0.0, 0.2, 0.4), "whole_pile": (0.0, 0.1, 0.2), "forgets": (0.0, 0.05, 0.1),
    "pushes": (0.0, 0.15, 0.3), "push_mm": (3.0, 8.0, 14.0), "squares_up": (0.0, 0.03, 0.06),
    "fans": (0.0, 0.3, 0.6), "stacks": (0.0, 0.1, 0.3),
    "repicks": (0.0, 0.03, 0.06), "strays": (0.0, 0.02, 0.05),
    "slips": (0.0, 0.5, 1.0), "lingers": (0.0, 0.2, 0.4),
    "hasty": (0.0, 0.04, 0.08), "crosses": (0.2, 0.5, 0.8),
    "pause_s": (4.0, 2.6, 1.8), "hand_before_s": (0.9, 0.7, 0.4), "hand_after_s": (0.4, 0.7, 1.0),
}  # fmt: skip

NOISE: dict[str, Range] = {
    "jitter_mm": (0.0, 0.4, 0.8), "jitter_deg": (0.0, 0.5, 1.0), "doubt": (0.0, 0.01, 0.04),
    "misread": (0.0, 0.001, 0.003), "unreadable": (0.0, 0.005, 0.015), "flicker": (0.0, 0.02, 0.05),
    "missed": (0.0, 0.01, 0.03), "phantom": (0.0, 0.0005, 0.002),
    "beside_hand": (1.0, 0.7, 0.4), "covered_lost": (0.2, 0.5, 0.8), "unsure": (0.2, 0.5, 0.8),
    "covers": (0.0, 0.05, 0.1), "cover_s": (2.0, 5.0, 10.0), "gap": (0.0, 0.1, 0.2), "gap_s": (2.0, 5.0, 10.0),
    "settle_s": (0.2, 0.3, 0.5), "fps": (6.0, 4.0, 2.0),
}  # fmt: skip
