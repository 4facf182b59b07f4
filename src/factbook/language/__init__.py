"""What is known of languages as such, one of each: whoever needs it asks here.

Sentences (`sentences`, in `markdown` too), whether one asks (`questions`), words and their stems
(`words`), forms of verbs and nouns (`verbs`, `nouns`), names of months and days (`calendar`),
numbers as words (`numbers`), values in words (`values`), lists as they are said (`coordination`),
common words and places. Does not know what is read or remembered.
"""
