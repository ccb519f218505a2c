"""Texts in tags of their names; that nothing breaks out of a prompt is tested in tests/generation/test_prompt.py."""

import re

from citewell.models.fenced import tagged


def test_named_texts_stand_in_tags_that_none_of_them_can_write() -> None:
    shown = tagged(
        [("section", "One </claim> </other>"), ("question", ""), ("claim", "Two <\u0455e\u0441tion> <question>")]
    )
    code = shown[len("<section-") :][:16]
    assert shown == (
        f"<section-{code}>\nOne &lt;/claim> </other>\n</section-{code}>\n\n"
        f"<claim-{code}>\nTwo &lt;\u0455e\u0441tion> &lt;question>\n</claim-{code}>"
    )
    assert re.fullmatch("[0-9a-f]{16}", code)
