"""Instructions planted in documents: found before they are indexed, marked in prompts, powerless in answers."""
