"""What the rules that read prose take out of a sentence before they look for their words.

Regular expressions in lower case, tried on one sentence at a time; those that begin with `^` are
tried at its start only. What they match is blanked, and the sentence counts only when one of the
rule's words is left. Apostrophes may be typewriter or curly ones. Each line stands for chatter that
was seen in real replies and says nothing that anyone would look for later.
"""

from __future__ import annotations

from typing import Final

__all__ = ["NO_DISCOVERY", "NO_ISSUE", "NO_SOLUTION"]

_CODE_AND_QUOTES: Final = (r"`[^`]*`", r"[\"“][^\"“”]{1,200}[\"”]")
_SPEAKS_OF_PLANS: Final = (
    r"(?:let me|let['’]s|let us|(?:i|we)['’](?:ll|d)|(?:i|we) (?:will|would|need to|should|want to"
    r"|can|could|must)|i['’]?m (?:\w+ly |also )?\w+ing|i am \w+ing|we['’]?re \w+ing"
    r"|you (?:can|could|should|may want to|might want to)|would you like|do you want|shall i"
    r"|should i|want me to)\b.*"
)
_PLANS: Final = (
    # What somebody is about to do, offers, asks for or is just doing is no result yet.
    rf"^\W*(?:(?:now|next|so|then|first|and|but|ok(?:ay)?),? )*{_SPEAKS_OF_PLANS}",
    rf"[,;—–(] ?(?:(?:so|then|and|but|or) )?{_SPEAKS_OF_PLANS}",
    r"\b(?:try|trying|tried|attempt(?:ed|ing)?|going|need(?:s|ed)?|want(?:s|ed)?|how|ready|able"
    r"|plan(?:ned)?|asked|continue|proceed|order|required|time) to\b.*",
    r"\b(?:need(?:s|ed)?|look(?:ing)? for|wait(?:ing)? for|check(?:ing|ed)? for|expect(?:ed|ing)?) "
    r"(?:a|an|the|any|some)\b.*",
    r"^(?:(?:now|next|then|first|finally|also|please),? )*(?:add|apply|check|commit|compare|create|"
    r"debug|edit|ensure|handle|implement|inspect|investigate|look|make|open|push|read|refactor|"
    r"remove|replace|rerun|run|see|show|test|try|update|use|verify|wrap|write)\b.*",
    r"^.*\?[\"'”)*]*$",  # questions
)
_CONDITIONS: Final = (
    # What would happen is not what happened.
    r"\b(?:if|when(?:ever)?|in case|unless|until|once|next time|so that)\b[^,;:.]*",
    r"\b(?:may|might|could|can|would|will|should|must|must not|cannot|to|instead of|rather than)"
    r"(?: \w+){0,4} (?:errors?|fail(?:s|ed|ing|ures?)?|found)\b",
)


_ANNOUNCED: Final = (r"^\W*(?:\w+[,!.]? )?here['’]s [^:]*:",)  # it tells what comes, not what is

NO_SOLUTION: Final = (
    *_CODE_AND_QUOTES,
    *_PLANS,
    *_ANNOUNCED,
    # "fix" as a verb is a plan; as a noun, or before a colon, it tells what was done.
    r"(?:^\W*|: |\b(?:now|then|and|also|automatically|just|first|or|lint|auto|not|that|to) )"
    r"fix\b(?!:| (?:is|was|belongs))",
    r"\b(?:fix(?:es)?|solutions?|workarounds?) (?:should|would|could|might|requires?|needs?)\b.*",
    r"\b(?:fix strategy|fixes go|(?:issues?|errors?|bugs?) fixed in|could add an?)\b.*",
    r"\bhow i (?:resolved|fixed|solved) (?:it|this|that|them)\W*$",
    r"\b(?:bug|auto|automatic|error|recent|pending|remaining|future|quick|lint) fix(?:es)?\b",
    r"\bfixed[- ](?:(?:relative|absolute) )?(?:width|size|position|height|length|number|set|"
    r"amount|rate|point|seed|order|list|interval|price|term|paths?|points?)\b",
    r"\b(?:as|being|gets?|not|un|conflicts?(?: are| is| were)?) resolved\b",
    r"\bresolved (?:config|value|thread|content|path|url|section|file|comment|conversation"
    r"|version|type|module|dependenc|conflict|the (?:merge )?conflict)\w*",
    r"^.*\b(?:unstaged|staged|rebas(?:e|ed|ing)|final diff|(?:latest|recent) commits?"
    r"|local only|rerun(?:ning)?|is pushed|are pushed|the branch)\b.*",
)

NO_ISSUE: Final = (
    *_CODE_AND_QUOTES,
    *_PLANS,
    *_CONDITIONS,
    r"\b(?:no|zero|0|without|not|never|longer|any|few|fewer|free of)(?: \w+){0,3} "
    r"(?:errors?|fail(?:s|ed|ing|ures?)?|bugs?)\b",
    r"\b(?:errors?|failures?|failed|bugs?)\s*[:=]\s*(?:0|no|none)\b",
    r"\b(?:errors?|failures?|bugs?)[ -](?:\w+ )?(?:handl\w+|messages?|actions?|recover\w*"
    r"|report\w*|display\w*|cases?|states?|boundar\w+|fix(?:es)?|scenarios?|codes?|pages?"
    r"|log(?:s|ging)?|types?|classes|status|badges?|tabs?|text|path|output|toasts?|fields?"
    r"|markers?|tracking|check(?:s|ing)?|correction|rates?|modes?|summary|changes|free|prone"
    r"|callbacks?|events?|objects?|analysis|list)\b",
    r"\bfailed (?:handlers?|states?|messages?|status|tests? list|loads|items?)\b",
    r"\bon (?:error|failure)s?\b|\bfor failed\b|\bthe case where\b.*|\b(?:error|bug) is marked\b",
    r"\b(?:past|beyond) the (?:\w+ ){0,3}(?:error|failure)s?\b",
    r"\bupdated? (?:\w+ ){0,3}failing\b",
    # An error that is gone, caught or prevented is no issue any more.
    r"\b(?:fix(?:e[ds])?|resolv(?:ed?|es|ing)|address(?:e[ds])?|handl(?:ed?|es|ing)"
    r"|prevent(?:s|ed|ing)?|avoid(?:s|ed|ing)?|suppress(?:e[ds])?|catch(?:es|ing)?|treat\w*"
    r"|simulat\w+|mark\w*)(?: \S+){0,5} (?:errors?|failures?|failing|failed|bugs?)\b",
    r"\b(?:errors?|failures?|bugs?|failing)\b.{0,60}\b(?:(?:been|are|is|was|were|now) (?:all )?"
    r"(?:fixed|resolved|gone|green|addressed|pass(?:es|ing)?))\b",
    r"\b(?:previously|originally|original) failing\b",
    r"^(?:now )?i (?:see|understand|get|found) the (?:\w+ )?(?:bug|error|issue|failure)\W*$",
)

NO_DISCOVERY: Final = (
    *_CODE_AND_QUOTES,
    *_PLANS,
    *_CONDITIONS,
    r"\b(?:not|no|none|nothing|never|isn['’]t|wasn['’]t|aren['’]t)(?: \w+){0,4} found\b",
    r"\b(?:is|are|be|was|were) found\b",
    r"\bfound (?:no|nothing|in|at|under|with|by|here)\b",
    r"\bfound (?:crucial|some|useful|more|relevant|enough)? ?(?:information|details|context)\b",
    r"\bfound (?:a|an|the|one|it) ?(?:\w+ )?(?:issue|problem|bug|error|cause)?[.!:]*\s*$",
    r"\bwhat (?:i|we)(?:['’]ve)? found\b",
    r"\bdiscovered (?!that|an?\b|the|why|how|where|what|two|three|\d)\w+",
    r"\broot cause (?:analysis|of (?:the|why|how)|behind|fix|is (?:not|un)|may|might)\b",
    # What a search brought up is no discovery: that something is so, or that it is wrong.
    r"\bfound (?:(?!\b(?:that|how|why|where|is|are|was|were|has|have|had|do|does|did|will|can"
    r"|should|\w+ed|\w+s (?:an?|the)|bugs?|issues?|problems?|gaps?|errors?|causes?|leaks?|races?"
    r"|conflicts?|mismatch|mistakes?)\b)(?:[^:;.,—]|\.(?=\S)))*(?:(?:[;,—]|\.\s).*|\.)?$",
    r"\bsolve the root cause\b",
)
