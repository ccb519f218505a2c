"""What a technique would cost before it is tried: tokens of the user's own documents, at the user's own prices.

    counting        an index counted, or of a large one a part that is drawn
    collection      what was counted, scaled up
    rates           prices, speeds and assumptions, of a file or the command line
    work            calls and tokens, and what they cost and take at those rates
    formulas        the sums of the literature, on plain numbers
    case            a collection, a question and what is assumed; the forecast of the settings as they are
    enriching       what the settings have a language model write of the documents
    at_questions    techniques paid for at every question, each one function: a case in, a forecast out
    at_indexing     techniques paid for once
    table           the forecasts beside the current settings

docs/cost.md has every formula with its source.
"""
