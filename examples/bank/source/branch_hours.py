"""The public page of branch opening hours: a page as a bank's website has it, with everything around the content."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from pathlib import Path

BRANCHES = (
    ("Larkfield High Street", "12 High Street, Larkfield", "09:00 to 17:30", "09:30 to 14:00", "closed"),
    ("Harrow Quay", "3 Quay Parade, Harrow Quay", "09:30 to 18:00", "10:00 to 15:30", "closed"),
    ("Northmoor", "41 Market Place, Northmoor", "09:00 to 16:30", "closed", "closed"),
    ("Millbrook", "8 Mill Lane, Millbrook", "10:00 to 16:00", "09:00 to 12:30", "closed"),
    ("St Aldan's", "27 Cathedral Row, St Aldan's", "09:15 to 17:00", "09:15 to 13:00", "closed"),
    ("Eastgate Centre", "Unit 14, Eastgate Centre", "10:00 to 19:00", "10:00 to 18:00", "11:00 to 16:00"),
    ("Fenwick Green", "2 The Green, Fenwick", "09:30 to 15:00", "closed", "closed"),
    ("Oldbridge Station", "Platform Arcade, Oldbridge", "07:30 to 19:30", "08:30 to 13:30", "closed"),
    ("Tarrant Park", "90 Park Road, Tarrant", "09:00 to 16:00", "09:30 to 12:00", "closed"),
    ("University Campus", "Student Union, Wexley Hill", "11:00 to 16:30", "closed", "closed"),
)
SERVICES = (
    ("Larkfield High Street", "yes", "yes", "yes", "step-free, hearing loop"),
    ("Harrow Quay", "yes", "yes", "no", "step-free"),
    ("Northmoor", "yes", "yes", "no", "step-free, hearing loop"),
    ("Millbrook", "yes", "no", "no", "one step, ramp on request"),
    ("St Aldan's", "yes", "no", "yes", "step-free"),
    ("Eastgate Centre", "no", "no", "no", "step-free, changing place in the centre"),
    ("Fenwick Green", "yes", "no", "no", "two steps, no ramp"),
    ("Oldbridge Station", "yes", "no", "yes", "lift from platform 4"),
    ("Tarrant Park", "yes", "no", "no", "step-free"),
    ("University Campus", "no", "no", "no", "step-free"),
)
HOLIDAYS = (
    ("New Year's Day", "1 January", "all branches closed"),
    ("Good Friday", "3 April 2026", "all branches closed"),
    ("Easter Monday", "6 April 2026", "Eastgate Centre 11:00 to 15:00, all others closed"),
    ("Larkfield Fair Day", "22 June 2026", "Larkfield High Street closes at 12:00, all others as usual"),
    ("Summer bank holiday", "31 August 2026", "Eastgate Centre 10:00 to 16:00, all others closed"),
    ("Christmas Eve", "24 December", "all branches close at 12:30"),
    ("Christmas Day and the day after", "25 and 26 December", "all branches closed"),
    ("New Year's Eve", "31 December", "all branches close at 14:30"),
)
MENU = ("Personal", "Business", "Cards", "Loans", "Savings", "Help", "Find a branch")

TEMPLATE = Path(__file__).parent / "files" / "branch-hours.template.html"


def write(path: Path) -> None:
    """Write the page."""
    page = TEMPLATE.read_text(encoding="utf-8").format(
        menu="\n".join(f'<li><a href="/{name.lower().replace(" ", "-")}">{name}</a></li>' for name in MENU),
        hours=_table(("Branch", "Address", "Monday to Friday", "Saturday", "Sunday"), BRANCHES),
        services=_table(("Branch", "Counter for cash", "Prints cards", "Safe deposit boxes", "Access"), SERVICES),
        holidays=_table(("Holiday", "Date", "Hours"), HOLIDAYS),
    )
    path.write_text(page, encoding="utf-8", newline="\n")


def _table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    body = "\n".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"
