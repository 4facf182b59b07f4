"""Find secrets that are digits: PINs, codes of doors, passwords of digits, payment cards.

Nothing about four digits tells a PIN from a year, so what announces them decides: a word for such a
code, or the thing that it opens, and what leads to a value. So it is with a card's number: one in
ten numbers of a scheme's range has the right check digit, and a log has thousands of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from factbook.redaction.lazy import Lazy
from factbook.redaction.reading import line_end
from factbook.redaction.spans import Span

KINDS: Final = frozenset(
    {"password", "payment-card", "card-code", "social-security-number", "bank-account"}
)
_LOCKED: Final = (  # what people open with digits
    r"alarm|gate|door|garage|lock|locker|lockbox|safe|entry|building|lift|elevator|keypad|disarm|"
    r"unlock|combination|voicemail|padlock"
)
HINT: Final = (
    r"[0-9]{3}#"
    rf"|(?i:(?:{_LOCKED}) code)|[cC]ode (?:for|to|of) |(?i:cv[vc]2?[ :=#\"'])"
    r"|code(?: is|:)? [0-9]"
    r"|(?i:\bssn\b|social security|\bbsn\b|national id|national insurance|passport n|iban\b|keypad)"
    r"|(?i:verification code)"
    r"|(?i:visa|mastercard|amex|maestro|credit|debit|karte|tarjeta|expiry)|\b[cC]ar(?:ds?|te)\b"
    r"|[cC]ard(?:_| )?[nN](?:o|um)|\b(?:cc|CC|exp)[ :][0-9]"
)

_BACK: Final = 64  # characters before a hint that are read
_FORTH: Final = 100  # and behind it
FAR: Final = (  # between a name and what leads to its value; both are to be read with (?x)
    r"(?:[ ](?:for|of|to|on|at|in|from|von|vom|für|fürs|zu|zum|zur|de|del|della|di|du|da|do|"
    r"pour)[ ][^\n\d\"`:=;]{1,50}?)?"
)
IS: Final = (
    r"(?:\s?[:=]\s?|['’]s[ ]|[ ](?:->|→|-|–|—)[ ]|[ ](?:is|was|are|to|ist|war|lautet|es|est|é|è|"
    r"e'|er|är)[ ](?:now[ ]|jetzt[ ])?:?)"
)
END: Final = r"(?![\w%]|[.:-]\d|[ ]?[+*=][ ]?[\d(]|[ ]-[ ]\d)"
OPEN: Final = r"[\"'`]{0,2}"
_PIN: Final = Lazy(
    rf"(?ix)(?<![a-z0-9._-])(?P<own>\b(?:my|mein|meine|mi|mon|mio|meu|new|old|card|karte|bank|"
    rf"atm|sim|phone|iphone|ipad|tarjeta|voicemail|door|debit|credit)[ ])?"
    rf"(?:pin(?:[ -]?(?:code|number|nummer))?s?|(?P<puk>puk))"
    rf"(?:{FAR}{IS}|[ ](?:for|of|to|on|is)(?:[ ][^\n\d]{{1,40}}?)?[ ]"
    # Four digits behind a blank are as well the number of a pin (`pin 1024`).
    rf"|(?(own)[ ]|(?!))|(?(puk)[ ]|(?!))|(?-i:(?<=PIN))[ ]|(?<=code|mmer|mber)[ ]"
    rf"|[ ](?={OPEN}\d{{5}})|[\"']\s?:\s?(?=[\"']))"
    rf"{OPEN}(?P<told>\d{{4,8}}){END}"
)
_BOARD: Final = Lazy(
    r"(?i)\b(?:gpio|pwm|board|header|connector|servo|led|arduino|solder)"
    r"|\b(?:IN|OUT)PUT\b"
)
_DONE: Final = (
    r"(?=[\"'`\s]*(?:$|[\n.,;!?)])|[ ](?:for|and|on|btw)\b)"  # nothing is counted: `4096 bytes`
)
_DOOR: Final = Lazy(  # and not the code of an exit or of the source
    rf"(?ix)(?:\b(?:{_LOCKED})[ ]code"
    rf"(?:{FAR}{IS}|(?<!building[ ]code)[ ](?={OPEN}[*\#]?\d{{4,8}}\#?{_DONE}))|"
    r"(?:^|[^\w\s-][ ]?|\b(?:the|my|our|your|new|old|a|access|entry|secret)[ ])code[ ]"
    rf"(?:for|to|of)[ ](?:[^\s\d:=]{{1,20}}[ ]){{0,3}}?(?:{_LOCKED})(?:[ ][a-z]{{1,12}}){{0,2}}?"
    rf"(?:{IS}|[ ](?={OPEN}[*\#]?\d{{4,8}}\#?{_DONE})))"
    rf"{OPEN}([*\#]?\d{{4,8}}\#?){END}"
)
_KEYPAD: Final = Lazy(r"(?i)\bcode\b[^\n\d]{0,40}?[ :]([*#]?\d{3,8}#)(?!\w)")
_CARD_CODE: Final = Lazy(
    rf"(?ix)(?:cv[vc]2?|(?P<vague>security[ ]code))\b[\"']?(?:{IS}|[ ](?={OPEN}\d{{3,4}}{_DONE}))?"
    rf"{OPEN}(?P<told>\d{{3,4}}){END}"
)
_SOCIAL: Final = Lazy(
    rf"(?ix)(?:ssn|social[ ]security(?:[ ](?:number|no\.?))?)[\"']?(?:{IS}|[ ]){OPEN}"
    r"(\d{3}[ -]\d\d[ -]\d{4})(?!\w)"
)
_PRESSED: Final = Lazy(rf"(?ix)\bkeypad(?:[ ]code)?{FAR}{IS}{OPEN}([*\#]?\d{{4,8}}\#?){END}{_DONE}")
_SENT_CODE: Final = Lazy(  # the 2fa code they sent me is 482913
    r"(?ix)\b(?:2fa|totp|otp|mfa|authenticator|verification)(?:[ -]code)?"
    r"(?:[ ][^\s\d\"`:=;.]{1,16}){0,5}?"
    rf"(?:{IS}|(?<=code)[ ]){OPEN}(\d{{3}}[ -]?\d{{3,5}}){END}{_DONE}"
)
_NATIONAL: Final = Lazy(
    r"(?ix)\b(?:bsn|national[ ](?:id|insurance)|passport[ ]n(?=[uo]))"
    r"(?:[ ]?(?:number|umber|o|no)\b\.?)?"
    rf"[\"']?(?:{IS}|[ ]){OPEN}(?=(?:[^\n\d]{{0,3}}\d){{6}})"
    r"([A-Z0-9](?:[ .-]?[A-Z0-9]){6,13})(?!\w)"
)
_SHAPES: Final = (
    (_PRESSED, "password"),
    (_SENT_CODE, "password"),
    (_NATIONAL, "social-security-number"),
    (_DOOR, "password"),
    (_KEYPAD, "password"),
    (_CARD_CODE, "card-code"),
    (_SOCIAL, "social-security-number"),
)
_IBAN: Final = Lazy(
    r"(?<![A-Z0-9])[A-Z]{2}\d\d(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9])"
)
_PAYS: Final = Lazy(
    r"(?i)visa|mastercard|amex|maestro|credit|debit|karte|tarjeta|exp|car|cc|cv[vc]"
)
_CARD: Final = Lazy(  # and no part of a row of numbers
    r"(?<![\w./+#@-])(?<!\d )"
    r"(?:[3-6]\d{3}[ -]?\d{4}[ -]?\d{4}[ -]?\d{1,4}|2[2-7]\d\d(?:[ -]?\d{4}){3}"
    r"|3[04-9]\d\d[ -]?\d{6}[ -]?\d{4,5})(?![\w/-])(?! \d{4}(?!\d))"
)
_OTHERWISE: Final = Lazy(  # what a number is called that is no card's
    r"(?:(?<![A-Za-z])id|Id|ID|(?i:span|order|trace|time(?:stamp)?))s?[\"'\]]?"
    r"(?:\s?[:=#]|\s(?:is|no\.?|number))?\s?[\"']?$"
)
_SCHEMES: Final = re.compile(  # Visa, Mastercard, American Express, Discover, Diners, JCB, UnionPay
    r"4\d{15}|(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)\d+(?<=^.{16})|3[47]\d{13}"
    r"|(?:6011|64[4-9]|65|35[2-8]|62)\d+(?<=^.{16})|(?:30[0-5]|3[689])\d+(?<=^.{14})"
)


def pin_spans(text: str, at: int, end: int) -> list[Span] | None:
    """Give the PINs around a hint; None if the line speaks of a board, whose pins have numbers."""
    low, high = _line(text, at, end)
    if _BOARD.search(text, low, high) is not None:
        return None
    return [(*pin.span("told"), "password") for pin in _PIN.finditer(text, low, high)]


def _line(text: str, at: int, end: int) -> tuple[int, int]:
    low = max(text.rfind("\n", max(0, at - _BACK), at) + 1, at - _BACK, 0)
    return low, line_end(text, end, end + _FORTH)


def number_spans(text: str, at: int, end: int) -> Iterator[Span]:
    """Give the code of digits that is announced at a hint."""
    secure = text[max(0, at - 9) : at].lower() == "security "
    bare = text[at] == "c" and text[end - 1].isdigit() and not secure
    if bare and "#" not in text[end : end + 8]:
        return  # of an error, which logs are full of
    low, high = _line(text, at, end)
    if secure or _PAYS.match(text, at) is not None:
        yield from _card_spans(text, low, high)
    for account in _IBAN.finditer(text, low, high) if text[at] in "iI" else ():
        if _is_account(account[0].replace(" ", "")):
            yield *account.span(), "bank-account"
    for shape, kind in _SHAPES:
        match = shape.search(text, low, high)
        if match is None or match.end() <= at:
            continue
        named = match.groupdict()
        if not named.get("vague") or _CARD.search(text, low, high) is not None:
            yield *match.span("told" if "told" in named else 1), kind
            return


def _card_spans(text: str, low: int, high: int) -> Iterator[Span]:
    """Give the numbers of payment cards around what announces one."""
    for match in _CARD.finditer(text, low, high):
        digits = re.sub(r"[ -]", "", match[0])
        scheme = _SCHEMES.fullmatch(digits) is not None and _is_checked(digits)
        if scheme and _OTHERWISE.search(text, max(low, match.start() - 24), match.start()) is None:
            yield *match.span(), "payment-card"


def code_spans(text: str, at: int, end: int) -> Iterator[Span]:
    """Give the code of a few digits that was sent to somebody, behind what it is called."""
    code = _SENT_CODE.match(text, at, line_end(text, end, end + _FORTH))
    if code is not None:
        yield *code.span(1), "password"


def _is_account(number: str) -> bool:
    """Tell whether the check digits of an international account number (IBAN) are right."""
    return int("".join(str(int(sign, 36)) for sign in number[4:] + number[:4])) % 97 == 1


def _is_checked(digits: str) -> bool:
    """Tell whether the last digit is the check digit of the others (Luhn)."""
    doubled = (sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (sum(map(int, digits[-1::-2])) + sum(doubled)) % 10 == 0 and len(set(digits)) > 1
