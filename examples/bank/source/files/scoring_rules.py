"""Scoring rules of Larkfield Bank for card payments, release 26.1 (invented).

Each rule looks at one payment and the payments before it, and returns points. The sum, at most 100, is the score of
the payment; `decide` turns it into an action. Points and thresholds are set by Model Risk and reviewed every quarter.
What an analyst does with an alert is written in chapter 6 of the Fraud Policy Manual, not here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

BLOCK_THRESHOLD = 85
"""From this score on the payment is declined with R-17 and the card is blocked."""

STEP_UP_THRESHOLD = 60
"""From this score on the customer must confirm the payment in the app."""

ALERT_THRESHOLD = 45
"""From this score on an analyst looks at the payment afterwards."""

VELOCITY_WINDOW = timedelta(minutes=12)
VELOCITY_FREE_PAYMENTS = 4
VELOCITY_POINTS_PER_PAYMENT = 9
VELOCITY_MAX_POINTS = 36

COUNTRY_MISMATCH_POINTS = 28
HIGH_RISK_COUNTRY_POINTS = 30
TRAVEL_NOTE_FACTOR = 0.25
IMPOSSIBLE_SPEED_KMH = 870
IMPOSSIBLE_TRAVEL_POINTS = 55

NEW_DEVICE_AGE = timedelta(hours=36)
NEW_DEVICE_POINTS = 22

AMOUNT_MULTIPLE = 6.5
UNUSUAL_AMOUNT_POINTS = 19
MINIMUM_HISTORY = 8

NIGHT_HOURS = range(1, 5)
NIGHT_POINTS = 6

CARD_TESTING_AMOUNT_PENCE = 150
CARD_TESTING_DECLINES = 3
CARD_TESTING_POINTS = 41

MERCHANT_CATEGORY_POINTS = {
    "gift cards": 24,
    "crypto exchange": 31,
    "money transfer": 21,
    "consumer electronics": 13,
    "gambling": 16,
    "jewellery": 14,
    "travel agency": 7,
}

HIGH_RISK_COUNTRIES = frozenset({"Ostrel Isles", "Keldonia", "Port Maren", "Suvania"})


class Action(StrEnum):
    """What happens to a payment."""

    APPROVE = "approve"
    ALERT = "approve and alert"
    STEP_UP = "ask for confirmation"
    BLOCK = "decline with R-17"


@dataclass(frozen=True)
class Payment:
    """A request for authorisation. Amounts are pence; times are local to the bank."""

    card: str
    time: datetime
    amount_pence: int
    merchant: str
    category: str
    country: str
    in_person: bool = True
    approved: bool = True
    device_registered: datetime | None = None


@dataclass(frozen=True)
class Customer:
    """What the rules need to know about the cardholder."""

    home_country: str
    travel_notes: frozenset[str] = field(default_factory=frozenset)
    trusted_merchants: frozenset[str] = field(default_factory=frozenset)


Rule = Callable[[Payment, Customer, Sequence[Payment]], int]


def velocity(payment: Payment, customer: Customer, history: Sequence[Payment]) -> int:  # noqa: ARG001 (a rule)
    """Many payments in a short time: 9 points for each beyond the fourth within 12 minutes, at most 36."""
    since = payment.time - VELOCITY_WINDOW
    recent = sum(1 for earlier in history if earlier.time >= since) + 1
    excess = max(0, recent - VELOCITY_FREE_PAYMENTS)
    return min(VELOCITY_MAX_POINTS, excess * VELOCITY_POINTS_PER_PAYMENT)


def country_mismatch(payment: Payment, customer: Customer, history: Sequence[Payment]) -> int:  # noqa: ARG001
    """A payment outside the home country; more for a country on the high-risk list, a quarter with a travel note."""
    if payment.country == customer.home_country:
        return 0
    points = COUNTRY_MISMATCH_POINTS
    if payment.country in HIGH_RISK_COUNTRIES:
        points += HIGH_RISK_COUNTRY_POINTS
    if payment.country in customer.travel_notes:
        points = round(points * TRAVEL_NOTE_FACTOR)
    return points


def impossible_travel(payment: Payment, previous: Payment | None, distance_km: float) -> int:
    """Two payments in person whose distance could not be travelled in the time between them.

    The distance comes from the positions of the terminals. A speed above 870 km/h is taken as impossible.
    """
    if previous is None or not (payment.in_person and previous.in_person):
        return 0
    hours = (payment.time - previous.time).total_seconds() / 3600
    if hours <= 0:
        return IMPOSSIBLE_TRAVEL_POINTS if distance_km > 0 else 0
    return IMPOSSIBLE_TRAVEL_POINTS if distance_km / hours > IMPOSSIBLE_SPEED_KMH else 0


def new_device(payment: Payment, customer: Customer, history: Sequence[Payment]) -> int:  # noqa: ARG001 (a rule)
    """A payment from a device that was registered less than 36 hours ago."""
    if payment.device_registered is None:
        return 0
    return NEW_DEVICE_POINTS if payment.time - payment.device_registered < NEW_DEVICE_AGE else 0


def unusual_amount(payment: Payment, customer: Customer, history: Sequence[Payment]) -> int:  # noqa: ARG001
    """An amount above 6.5 times the median of the approved payments; silent with fewer than 8 of them."""
    amounts = sorted(earlier.amount_pence for earlier in history if earlier.approved)
    if len(amounts) < MINIMUM_HISTORY:
        return 0
    median = amounts[len(amounts) // 2]
    return UNUSUAL_AMOUNT_POINTS if payment.amount_pence > AMOUNT_MULTIPLE * median else 0


def merchant_category(payment: Payment, customer: Customer, history: Sequence[Payment]) -> int:  # noqa: ARG001
    """Points for goods that are easily turned into money. A merchant that the customer trusts costs nothing."""
    if payment.merchant in customer.trusted_merchants:
        return 0
    return MERCHANT_CATEGORY_POINTS.get(payment.category, 0)


def night_time(payment: Payment, customer: Customer, history: Sequence[Payment]) -> int:  # noqa: ARG001 (a rule)
    """A payment in person between 01:00 and 04:59."""
    return NIGHT_POINTS if payment.in_person and payment.time.hour in NIGHT_HOURS else 0


def card_testing(payment: Payment, customer: Customer, history: Sequence[Payment]) -> int:  # noqa: ARG001 (a rule)
    """Somebody tries out a card number: a small payment after three declines within an hour, not in person."""
    if payment.in_person or payment.amount_pence > CARD_TESTING_AMOUNT_PENCE:
        return 0
    since = payment.time - timedelta(hours=1)
    declines = sum(1 for earlier in history if earlier.time >= since and not earlier.approved)
    return CARD_TESTING_POINTS if declines >= CARD_TESTING_DECLINES else 0


RULES: dict[str, Rule] = {
    "VR-101 velocity": velocity,
    "VR-102 country mismatch": country_mismatch,
    "VR-104 new device": new_device,
    "VR-105 unusual amount": unusual_amount,
    "VR-106 merchant category": merchant_category,
    "VR-107 night": night_time,
    "VR-108 card testing": card_testing,
}
"""VR-103, impossible travel, needs the terminals' positions and is added by the caller of `score`."""


def score(payment: Payment, customer: Customer, history: Iterable[Payment], extra_points: int = 0) -> int:
    """The score of a payment, 0 to 100: the points of all rules plus `extra_points`, cut off at 100."""
    earlier = [one for one in history if one.card == payment.card and one.time <= payment.time]
    points = sum(rule(payment, customer, earlier) for rule in RULES.values())
    return min(100, points + extra_points)


def decide(points: int) -> Action:
    """The action for a score.

    >>> decide(85)
    <Action.BLOCK: 'decline with R-17'>
    >>> decide(84)
    <Action.STEP_UP: 'ask for confirmation'>
    """
    if points >= BLOCK_THRESHOLD:
        return Action.BLOCK
    if points >= STEP_UP_THRESHOLD:
        return Action.STEP_UP
    if points >= ALERT_THRESHOLD:
        return Action.ALERT
    return Action.APPROVE


def explain(payment: Payment, customer: Customer, history: Sequence[Payment]) -> list[str]:
    """The rules that gave points, highest first, as an analyst sees them."""
    points = {name: rule(payment, customer, history) for name, rule in RULES.items()}
    return [f"{name}: {given}" for name, given in sorted(points.items(), key=lambda one: -one[1]) if given]
