"""Every threshold, weight, window and bound, once, each with where it comes from.

"origins 001.4" is a section of docs/origins.md, on the five documents that factbook was designed
from; "ours" is a number that we measured or chose, with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

# --- confidence -----------------------------------------------------------------------------------

DIRECT_OBSERVATION: Final = 1.0  # origins 000.3: tool calls, exact commands
RELIABLE_REGEX: Final = 0.9  # origins 000.3: ssh hosts
PATTERN: Final = 0.8  # origins 000.3: archive operations, paths
KEYWORD: Final = 0.7  # origins 000.3: system names, solutions, issues
INFERENCE: Final = 0.6  # origins 000.3: discoveries

TRUST_CAP: Final[Mapping[str, float]] = MappingProxyType(
    {"direct": 1.0, "observed": 1.0, "derived": 0.8, "external": 0.6}
)  # a fact is never surer than its channel

TRUST_ORDER: Final[tuple[str, ...]] = (
    "direct",
    "observed",
    "derived",
    "external",
)  # best first

# --- what is never stored -------------------------------------------------------------------------

GENERIC_WORDS: Final = frozenset(
    [
        "the",
        "a",
        "an",
        "and",
        "or",
        "of",
        "to",
        "in",
        "on",
        "it",
        "is",
        "this",
        "that",
        "these",
        "those",
        "with",
        "for",
        "from",
        "by",
        "at",
        "as",
        "be",
        "was",
    ]
)  # origins 000.4: "generic words ("the", "a", "and")"

INTERNAL_TOOLS: Final = frozenset(
    {"TodoWrite", "AskUserQuestion", "EnterPlanMode", "ExitPlanMode"}
)  # origins 000.4, learned: bookkeeping of the host, no `used_tool`

WARMUP_PROMPTS: Final = frozenset(
    {"Warmup"}
)  # origins 000.4, learned: the host's own cache warming

REJECTION_REASONS: Final = (
    "empty",  # nothing but white space
    "generic",  # only generic words
    "no_span",  # the quoted span is not in the episode
    "redacted",  # the object is nothing but a redaction label
    "injected",  # factbook's own text is not evidence
    "bad_confidence",  # not a number from 0 to 1
    "not_quoted",  # the quote does not stand in the stored episode (a reused record id)
    # of typed memories (origins 002.2)
    "low_confidence",  # under the floor of any type
    "fact_below_threshold",  # under the threshold of its type
    "not_grounded_in_summary",  # nothing in the source supports it
    "hallucination",  # partly supported, with a content word that is not
    "type_rule_violation",  # a rule of its type forbids it
    "semantically_invalid",  # it says nothing
    "refused_before",  # its owner said no to it
    # of operations on keyed facts (origins 004.2)
    "operation_refused",  # the message does not say so, or it cannot be done
    # of entities and what is said about them (origins 003.7)
    "not_a_name",  # origins 003.7's structural filter, and what was learned since
    "unrelated_name",  # its semantic filter
    "one_source",  # a new thing that a single host or file knows of
    "unknown_entity",  # a fact about something that nobody cares about
    "deleted_by_owner",  # its owner removed it, and did not ask for it again
    "not_a_fact",  # no sentence that says something of its entity
    "external_instruction",  # text of others that wants to be obeyed, or poses as somebody
    # of what a model reads off commands (origins 000.4's future part)
    "not_a_host",
    "not_a_file",
    "not_done",  # a request asks for it: nothing was done yet
    "too_many",  # more than one command holds, one search brings in, or a model may state
    "duplicate",  # answered twice
    "unknown_id",  # of no command that was asked about
    # of what a model reads off turns
    "malformed",  # it has not the shape of an item, or is too long for one
    "not_said",  # asked, supposed, somebody else's words, or the opposite of what is said
    "not_asked",  # of a kind that such a turn is not asked about
)

LINE_REJECTIONS: Final = (
    "not_json",  # cannot be read as JSON at any place
    "not_an_object",  # JSON, but not a record
    "too_long",  # over MAX_LINE_BYTES
    "too_deep",  # nested deeper than the parser allows
    "bad_record",  # a known type whose required parts are missing or of another type
)

# --- bounds of what is kept (ours) ----------------------------------------------------------------

SNIPPET_CHARS: Final = 240  # origins 000.3: snippets are sentences of at most 240 characters
QUOTE_CHARS: Final = 400  # evidence quotes; the span's offsets always cover the whole
PROMPT_CHARS: Final = 16_000  # what a human typed; longer is pasted material
REPLY_CHARS: Final = 16_000  # what an assistant wrote
FIELD_CHARS: Final = 600  # one bulky input field (old_string, content ...)
COMMAND_CHARS: Final = (
    64_000  # origins 000.3 wants the full command; heredocs of files are cut here
)
RESULT_CHARS: Final = 2_400  # tool output in all: first lines, error lines, last lines
RESULT_HEAD_LINES: Final = 12
RESULT_TAIL_LINES: Final = 8
RESULT_NOTED_LINES: Final = 12  # lines in between that report an error or a finding
RESULT_LINE_CHARS: Final = 240
EXCERPT_CHARS: Final = 160  # of a rejected line
MAX_LINE_BYTES: Final = 64 * 1024 * 1024  # one JSONL record; larger ones are rejected and counted
CURSOR_DIGEST_BYTES: Final = 4096  # how much of a file's head and tail tells whether it is the same
BATCH_BYTES: Final = 4 * 1024 * 1024  # log bytes that one transaction covers at most
WORKERS_FROM_BYTES: Final = 8 * 1024 * 1024  # below it, starting processes costs more than it saves
HEAD_START_BYTES: Final = 2 * 1024 * 1024  # read by the first process while others are spawned
MAX_WORKERS: Final = 4
CLOCK_SKEW_MS: Final = 24 * 3600 * 1000  # a record dated later than now + this keeps no date

RETOLD_KINDS: Final = frozenset(
    {"prompt", "reply", "summary", "turn"}
)  # two records with one id and different words are two episodes; of calls, which have ids of their
# own, only one that goes on where the other ends

# --- redaction ------------------------------------------------------------------------------------

MIN_DIGEST_CHARS: Final = 8  # shorter secrets get no digest: they could be guessed
TOLD_SECRETS: Final = 20_000  # so many are known again where nothing announces them

# --- recall ---------------------------------------------------------------------------------------

SIMILARITY_WEIGHT: Final = 0.6  # origins 001.3: relevance_score
SIMILARITY_POWER: Final = 2.0  # ours: on the share of the best score, so that 0.1 recency orders
# equals and does not overturn a better match (LoCoMo, three dialogs: R@5 75.3 -> 77.8)
CONFIDENCE_WEIGHT: Final = 0.3
RECENCY_WEIGHT: Final = 0.1
DECAY_PER_DAY: Final = 0.01  # origins 001.3: exp(-0.01 * days)
MIN_CONFIDENCE_ACTIVE: Final = 0.3  # origins 001.3: below it a fact is deprecated
MIN_CONFIDENCE_PASSIVE: Final = 0.5  # origins 001.3: passive needs more than this
DEFAULT_LIMIT: Final = 10
LEXICAL_CANDIDATES: Final = (
    100  # ours: rows that each leg gives to the ranking; 60 to 200 are level
)
VECTOR_CANDIDATES: Final = 60
NEIGHBOURS: Final = (
    1  # turns around each of them that join; 8 find no more, and cost ten times as much
)
FACT_CANDIDATES: Final = 100
CUED_CANDIDATES: Final = 400  # facts of a predicate that the question names, newest first
CUED_SHARE: Final = 1.25  # of the best score, for a fact that is asked for and holds every word
CUE_WORDS_SHARE: Final = 0.4  # what such a fact loses when its own sentence has none of those words
OUTDATED_SHARE: Final = 0.5  # ours: of its relevance, for an episode whose statement is over
GIVEN_UP_SHARE: Final = 0.4  # ours: of a turn's files; where so many are gone, it does not hold
TOLD_WITHIN_MS: Final = 7 * 24 * 3600 * 1000  # how long after a month people still tell of it
TURN_CHARS: Final = 400  # ours: of a prompt and of each reply that a turn is embedded by
TURN_REPLIES: Final = 2  # ours: the last ones of a turn, of these
ASKED_CHARS: Final = 120  # ours: of the prompt that each record of its turn is embedded with
BEARS_FROM: Final = 0.15  # ours: cosine under which nothing bears on a question by its meaning
BEARS_FULLY: Final = 0.65  # ours: and from which all of it does
BEARS_WORDS: Final = 2.0  # ours: power on the share of a question's words
TOLD_BEARS: Final = 0.5  # ours: what was told on purpose leads from here on
TOLD_LEADS: Final = 2  # ours: so many of it
LOG_BEARS: Final = 1.0  # ours, by bench.answers_from_logs: relevance and bearing of what logs hold,
# of which less ends a list; 1.1 loses one answer in a hundred among ten, 1.2 more
LOG_BEARS_BESIDE: Final = 0.5  # ours: where something bears so much
PASSIVE_BEARS: Final = 0.11  # ours: less does not come by itself
CONTEXT_TURN: Final = 1_200  # ours, by bench.answers_from_logs: characters of a turn in a context
SAID_BEARS: Final = 0.05  # ours: a statement of which less bears on a question is no answer
CONTEXT_TURNS: Final = 6  # ours: turns of logs that a context may hold
CONTEXT_HITS: Final = 18  # ours: hits of all kinds among which they are looked for
TURNS_READ: Final = 24  # ours: of the turns found, whose words are read to weigh them
TURN_RECORDS: Final = 200  # ours: of a turn, by whose words and vectors it is weighed
TURN_VECTORS: Final = 1_000  # ours: of a turn, among which the nearest are shown
TURN_FOUND: Final = 6  # ours: rows of one turn that are weighed, and read for what is shown
TURN_FILES: Final = 6  # ours: named of those that a turn changed
TURN_READ: Final = 12  # ours: nearest records of a turn that are read for what is shown
TURN_WORDS: Final = 0.2  # ours, by bench.answers_from_logs: weight of a turn's BM25, as of the
# share of the question's words in it
TURN_NEAR: Final = 0.8  # ours, likewise: of the mean cosine of its nearest records
TURN_NEAREST: Final = 3  # ours, likewise: so many of these
TURN_NEAR_ONE: Final = 0.9  # ours, likewise: of the nearest alone
TURN_NEAR_PROMPT: Final = 0.4  # ours, likewise: of its prompt, whose vector stands for all of it
TURN_BM25: Final = 0.4  # ours, likewise: of its best record by words, before turns are read
TURN_K1: Final = 1.2  # BM25's usual numbers (Robertson and Zaragoza 2009), of turns as documents
TURN_B: Final = 0.75
TURN_SHOWN: Final = 2_100  # ours, by bench.answers_from_logs: characters that are shown of a turn
PASSAGE_CHARS: Final = 300  # ours: in parts of so many
ENDED_CHARS: Final = 300  # ours: of what was said last
PROMPT_SHOWN: Final = 240
SESSION_FIRST: Final = 5  # ours: turns that a page of a session begins with
SESSION_LAST: Final = 10  # ours: and ends with
SESSION_ROWS: Final = 12  # ours: files, commits, failures ... that it holds of each
NEAR_WEIGHT: Final = 1.8  # ours, by bench.answers_from_logs: of a record's vector
WORDS_WEIGHT: Final = 0.35  # ours, likewise: of the question's words in a part of it
REPLY_WEIGHT: Final = 0.5  # ours, likewise: of what an agent says, which answers most questions
CALL_WEIGHT: Final = 0.2  # ours, likewise: less of what it called and what came back
ASKED_WEIGHT: Final = 0.1  # ours: less of a prompt, which rarely answers
LAST_WEIGHT: Final = 0.1  # ours, likewise: of the last reply
PART_CHARS: Final = 2_400  # ours: of a record, from which parts without a word of the question come
FILE_WEIGHT: Final = 0.5  # ours, by bench.answers_from_logs: less of a file that was only read
TITLE_WORDS: Final = 12  # ours: a summary of fewer is the title of a session
PROMPT_WORDS: Final = 3  # ours: a prompt of fewer says nothing by itself
SHOWN_POOL: Final = 40  # rows, or four times the limit, that are read and weighed by the relevance
SHOWN_APART: Final = 1.5  # ours: of the limit, so many turns and rows of no turn are among them
SHOWN_EVIDENCE: Final = 3  # pieces of evidence with each hit
FAILURES_TOLD_DAYS: Final = 30  # ours: `doctor` is silent on what went wrong longer ago

COUNTED_CHARS: Final = 1_000  # ours: a longer question is a paste, and asks for no number
COUNTED_BY: Final = (
    "day",
    "week",
    "month",
    "project",
    "object",
    "host",
    "session",
    "subject",
    "predicate",
)
"""What facts are counted by: a time, or a field of theirs."""
TIMELINE_PREDICATES: Final = (
    "rule",
    "decision",
    "identifies_issue",
    "discovery",
    "provides_solution",
    "fixed_by",
    "verified",
    "committed",
    "modified_file",
    "installed_package",
    "connects_to_host",
    "linked_pr",
)  # ours: what a person would tell of a day's work
CLOSING_WORDS: Final = 5  # ours: of a sentence of the last reply; fewer are "All done."
CLOSING_SENTENCES: Final = 6  # ours: of it, among which the one is chosen that is told
TIMELINE_FACTS: Final = 6  # ours: facts that are read for each line, as a line may be of many

ANSWERED_PREDICATES: Final = frozenset(
    {"ran", "verified", "fixed_by", "failed_with", "committed", "installed_package"}
)  # ours: what a call's fact takes from its result
UNRANKED_PREDICATES: Final = frozenset(
    {
        "used_tool",
        "discarded_path",
        "read_file",
        "searched_code",
        "described_as",
        "mentions_path",
        "exited_with",
        "operation_type",
        "requested_in_session",
        "on_branch",
        "targets_system",
    }
)  # ours: pieces of an action that `ran`, `modified_file` and `verified` tell as a whole; they are
# there for SQL and for whoever asks for them by name, and no answer to a question

TOLD_BY_TURNS: Final = frozenset({"ran", "executed_command"})  # ours: a context shows their turns

OPEN_CALLS: Final = 64  # ours: calls that wait for their result; a host runs a handful at once
UNANSWERED_MS: Final = 3600 * 1000  # ours: a call without a result for so long will get none
MENDED_ACTIONS: Final = 60  # ours: actions between a failure and the run that no longer fails

# --- how facts live -------------------------------------------------------------------------------

EVIDENCE_SIMILARITY: Final = 0.75  # origins 001.4: an episode this close to a fact supports it
EVIDENCE_GROWTH: Final = 0.05  # origins 001.4: confidence += 0.05 * (1 - confidence)
CONTRADICTION_FACTOR: Final = 0.5  # origins 001.4: a clear contradiction halves both
CONTRADICTION_SIMILARITY: Final = 0.85  # origins 001.4's, for its embedder; ours comes next
JUDGED_SIMILARITY: Final = 0.55  # ours: with the shipped embedder, contradictions and paraphrases
# of one sentence lie between 0.55 and 0.98; what a pair is, rules decide and never the cosine
JUDGED_PAIRS: Final = 200_000  # ours: pairs that one run looks at, the nearest ones
JUDGED_SAMPLE: Final = 256  # ours: rows that tell how many pairs there are
ENDING_SIMILARITY: Final = 0.35  # ours: for what says that something has ended
CHANGED_MIND_MS: Final = 12 * 3600 * 1000  # ours: words this far apart are not of one conversation
RELATED_SIMILARITY: Final = 0.20  # ours: from here the network is asked how two texts stand
REWORDED_ASKED: Final = 0.4  # ours: cosine from which it is asked whether both say the same
RELATED_NEIGHBOURS: Final = 4  # ours: the nearest statements that it is asked about, for each
RELATED_PAIRS: Final = 4_000  # ours: pairs that it reads in one run, the nearest ones; 10 ms each
RELATED: Final[Mapping[str, float]] = MappingProxyType(
    {
        "merge": 0.6,  # chance from which both say the same
        "end": 0.9,  # chance from which the newer ends the older unasked
        "ask": 0.45,  # chance from which it is asked
    }
)  # ours, by `scripts/train_related.py`, which says what each finds
REWORDED_OF_THINGS: Final = 0.75  # ours: chance from which two texts on a thing are joined
DOUBTS_A_RUN: Final = 5  # ours: questions of the network's that one run adds for an owner
RELATED_ASK_ONE: Final = 0.25  # ours, a chance: one such question a run, if no better ones fill it
WEAK_DOUBTS_A_RUN: Final = 1  # ours: of these so many at most that are unlikely ("ask_one")
FACTS_A_DOUBT: Final = 20  # ours: new facts for each one more
NEAR_PAIR: Final = "near"  # ours: the rule of a pair that only a model is asked about
NEAR_PAIR_SIMILARITY: Final = 0.3  # ours: from here a model is asked, if there is one
TURN_CHANGE: Final = (
    "turn_change"  # ours: the rule of a pair of which a model reads a change in a turn
)
UNSUSPECTED: Final = frozenset({NEAR_PAIR, TURN_CHANGE})  # no rule, no network joined these pairs
NEAR_PAIRS: Final = 200  # ours: such pairs of one run, the nearest ones
MERGE_SIMILARITY: Final = 0.85  # origins 001.5: candidates for a merge
MERGE_WITHIN: Final = 0.3  # CHECKLIST: "similar confidence"
MERGE_MIN_CONFIDENCE: Final = 0.6  # origins 001.5: at least one of the merged is surer than this
DIVERSITY_SIMILARITY: Final = 0.8  # origins 001.3: hits this close are one cluster
LASTING_KINDS: Final = frozenset({"observation", "keyed", "directive", "graph"})
# what happened stays true; a setting, a rule and a decision hold until they are changed; a graph is
# as its agent left it: these do not fade
HELD_MATTERS: Final = frozenset({"identity", "family", "health"})
# Statements of these do not fade either: nobody says every month that they are allergic. By
# `chats.tune` the reader finds 90 % of them, and 56 % of what it finds is of them; what is held by
# mistake stays longer than it might. Plans fade as all else: 3 of the 14 that it finds are plans.
HELD_BUT_TODAY: Final = frozenset({"health"})  # of these, "I'm tired today" is over with its day
HELD_WORDS: Final = frozenset({"birthday", "called", "name", "named", "names"})  # nor what names
HELD_AT: Final = 253_402_300_799_999  # the moment that their confidence is of: the end of 9999
LASTING_MATTERS: Final = frozenset(
    {"belief", "friends", "habit", "home", "money", "pet", "possession", "skill", "study", "taste"}
    | {"work"}
)  # ours: what somebody is, has or does so much of the time that they seldom say it again
LASTING_FLOOR: Final = 0.35  # ours: what silence leaves of it: who asks finds it, by itself it does
# not come; what speaks against it goes below
LASTING_TO: Final = HELD_AT  # the moment until which it is true, where nothing ends it
HELD_PAGE: Final = 2_000  # ours: new facts that are looked through at once
PASSED_PER_DAY: Final = 0.1  # ours: of a statement that says until when it is true, from then on,
# beside the fading of all: "I'm tired today" comes by itself for three days more, in which one may
# ask how it was, and is out of retrieval after eight; at the rate of the rest it would be in 85
HOLD_DAYS: Final[Mapping[str, float]] = MappingProxyType(
    {"user_fact": 30.0, "user_pattern": 14.0, "shared_narrative": 7.0}
)  # origins 002.2: the windows of typed memories
MERGED_KINDS: Final = frozenset({"statement", "typed", "world"})
# what may be merged and judged: an observation is an event of its own, a key has one current row
GROWING_KINDS: Final = MERGED_KINDS | {"directive"}  # said again, they have one more evidence
VERDICTS: Final = ("MERGE", "KEEP_BOTH", "CONTRADICTION")  # origins 001.5: for an ambiguous pair
STATED: Final = (
    KEYWORD  # origins 000.3's band for what a pattern of words shows: a clear statement in
)
# the owner's own words
HEDGED: Final = 0.6  # ours: of what owners say that they are not sure of; passive recall shows it
MARKED: Final = 0.1  # ours: a sentence with less of a chance to hold on is not marked at all
MARK_CLEAR: Final = 0.5  # ours: from here on the words that are tagged are marked, else all of them
DIRECTIVE_LIKELY: Final = 0.3  # ours: from this chance on a rule is kept (scripts/train_standing.py
# prints how many such sentences are rules)
DIRECTIVE_SURE: Final = 0.7  # ours: from here on it is shown; a wrong rule is worse than a lost one
MODEL_RULE_SURE: Final = 0.9  # ours: and of what a language model reads, by its own confidence
DIRECTIVE_KEEP: Final = 0.4  # ours: a permission that is worth keeping from here on is for good
TASTE_LIKELY: Final = 0.2  # ours: chance from which a thing may be liked or disliked at all
TASTE_SURE: Final = 0.55  # ours: and from which it is heard; chosen on `opinions.tune`
TASTE_SIGN_SURE: Final = 0.7  # ours: of which of the two it is
FOREIGN: Final = 0.014  # ours: of a run of words, from this chance on they are taken for others'
DIRECTIVE_FOREIGN: Final = 0.7  # ours: and where it marks a rule as the owner's, from this one on
DIRECTIVE_ASKED: Final = 0.25  # ours: cosine from which one is about what rules are asked for
FOREIGN_CHARS: Final = 500  # ours: what reads as another's for so long is no rule, however unsure
DIRECTIVE_UNSURE: Final = 0.48  # ours: below what comes by itself; said again it is above
DIRECTIVE: Final = PATTERN  # a rule or a decision in the owner's own words, as the reader marks it
DIRECTIVE_NEAR: Final = 0.5  # ours: cosine of two rules of which the network is asked
DIRECTIVE_DOUBT: Final = 0.1  # ours: the chance from which it is asked whether one ends the other
DIRECTIVE_LEFT: Final = 2  # ours: other words of a rule that go with each one that is given up
DIRECTIVE_WORDS: Final = 3  # ours: what the reader marks in fewer says nothing by itself
COPIED_WORDS: Final = 8  # ours: so many in a row, as an agent wrote them, are its own and not typed
RULE_FILE_BYTES: Final = 256 * 1024  # ours: of a file of rules; agents load all of it each time
RULE_FOLDERS: Final = 2_000  # ours: of a project, that are looked into for files of rules
RULE_FOLDER_DEPTH: Final = 6  # ours: and how deep
RULE_IMPORTS: Final = 5  # as Claude Code has it: how deep a file of rules imports others
LINE_CHANGED: Final = 0.4  # ours: of their words that a line and the one in its place share
RULES_SHOWN: Final = 100  # ours: in a file for agents, the newest; they read all of it each time
RULE_CHARS: Final = 400  # ours: of one of them there
DIRECTIVE_CHARS: Final = 8_000  # of a prompt; longer ones are reports and pastes
CHOICE_CHARS: Final = 160  # ours: of an answer that chooses; a longer one says what it means itself
CHOICES_LOOKED_AT: Final = 20  # ours: the newest of a project, for a prompt that may change one
CHOSEN_CHARS: Final = 200  # ours: of what was chosen, and of the question
DIRECTIVE_PAGE: Final = 500  # episodes that are looked through at once; few of them are prompts
DIRECTIVE_PAGES: Final = 4  # behind a turn; the night reads all that is left
AGREED: Final = PATTERN  # ours: the reader and a model find the same in the same words
TOLD: Final = 0.95  # origins 002.2: what its owner says explicitly
TOLD_HOST: Final = "factbook"  # ours: of what an owner says to factbook itself, on purpose
OVERHEARD: Final = "overheard"  # ours: the rule of a pair that only a person may answer
MODEL_SAYS: Final = (
    "model_says"  # ours: the rule of a pair of which a model says what only its owner
)
# may do: retire what they told, or make something of two that nothing else ties together
FOR_A_PERSON: Final = frozenset({OVERHEARD, MODEL_SAYS})  # no model is asked about these
CORRECTION: Final = "correction"  # ours: the rule of a pair whose older one its owner took back
TOLD_NEIGHBOURS: Final = 50  # ours: facts that a new statement is judged against at once
FEEDBACK_RIGHT: Final = 0.9  # ours: how sure a fact is at least once its owner says so

# --- typed memories -------------------------------------------------------------------------------

TYPE_THRESHOLD: Final[Mapping[str, float]] = MappingProxyType(
    {"USER_FACT": 0.80, "USER_PATTERN": 0.75, "SHARED_NARRATIVE": 0.60}
)  # origins 002.2: from where on a memory of that type is stored
PATTERN_APPLIES: Final = (
    0.80  # origins 002.2: from here a pattern is active, below it waits for a yes
)
ANY_TYPE_FLOOR: Final = 0.60  # origins 002.2: under it nothing of any type is let in
PROPOSED_FROM: Final = 0.60  # CHECKLIST: a refused pattern from here on is kept as a proposal
GROUNDING_SIMILARITY: Final = 0.85  # origins 002.3: more than this is similar enough
CLAIM_SUPPORTED: Final = 0.4  # ours, by `python -m bench.ordinary --part tune --sets claims`: the
# chance, by the reader, from which on a summary says what a claim says
CLAIM_SUPPORTED_IN_TALK: Final = 0.5  # ours, by the set `talk`: or talk in the first person
TYPE_BROKEN: Final = 0.47  # ours, by `types.tune`: the chance from which on a claim breaks its type
SIMILAR_ONLY_FACTOR: Final = 1 / 3  # origins 002.2, example 4: 0.70 * 0.10 / 0.30
EXACT_QUOTE_SCORE: Final = 0.30  # origins 002.5: score_confidence, factor 1
KEY_PHRASES_SCORE: Final = 0.20
SIMILAR_SCORE: Final = 0.10
THREE_MENTIONS_SCORE: Final = 0.20  # factor 2
TWO_MENTIONS_SCORE: Final = 0.10
CONSISTENT_SCORE: Final = 0.20  # factor 3
CONTRADICTS_SCORE: Final = -0.25
EXPLICIT_FACT_SCORE: Final = 0.30  # factor 4
REPEATED_PATTERN_SCORE: Final = 0.20
CLUED_NARRATIVE_SCORE: Final = 0.15
CONTEXT_TYPED: Final[Mapping[str, int]] = MappingProxyType(
    {"user_fact": 5, "user_pattern": 3, "shared_narrative": 2}
)  # origins 002.2, later notes: how many of each a context envelope holds at most

# --- keyed facts ----------------------------------------------------------------------------------

PLAN_LIMIT: Final = 25  # origins 004.6: rows that a query plan asks for by default
PAGE_LIMIT: Final = 100  # origins 004.6, later: rows of one page
PAGE_MAX: Final = 1_000
KEY_CHARS: Final = 200  # ours: of a fact key
VALUE_CHARS: Final = 2_000  # ours: of a value
MAX_RANK: Final = 1_000  # ours: of a list
KEY_STEPS: Final = ("set", "unset", "rank", "move", "remove", "append", "clear")
KEY_ACTIONS: Final = ("store", "update", "noop", "clear")  # origins 004.2: action_type, and ours
MAX_OPS: Final = 200  # ours: that one answer of a model may hold

# --- whose words they are (ours) ------------------------------------------------------------------

VOICE_CHARS: Final = 20_000  # of one message; what follows is nobody's own
OVERHEARD_STATEMENTS: Final = 3  # of one message, that are proposed where it may be its owner's own

# --- what a model states of its own accord (ours) -------------------------------------------------

NOTED_IN_SESSION: Final = 50  # a session of work tells a handful of lasting facts; more is a loop,
# or text of others that gives orders
NOTED_IN_DAY: Final = (
    100  # of all sessions of an owner, in 24 hours: who is at the limit of one can
)
# begin another
ASKED_IN_DAY: Final = 20  # of them, that its owner is asked about: nobody answers more in a day
FORGOTTEN_IN_SESSION: Final = 10  # facts that it leaves out of recall: nobody asks for more at once
FORGOTTEN_IN_DAY: Final = 20

# --- the language model ---------------------------------------------------------------------------

LLM_PROVIDER: Final = "ollama"
LLM_MODEL: Final = "qwen2.5:7b-instruct"
LLM_URL: Final = "http://127.0.0.1:11434"
LLM_TIMEOUT_S: Final = 12.0  # origins 004.1: the total deadline of a call; no retries
LLM_ANSWER_BYTES: Final = 2 * 1024 * 1024  # ours: a larger answer is cut off and refused
LLM_ANSWER_TOKENS: Final = 8192  # ours: of one answer at most, told to servers that take a limit
LLM_LEAST_TOKENS: Final = 1024  # ours: of an answer, however much of the window its prompt takes
RETRY_AFTER_S: Final = 3600.0  # ours: for no longer is an endpoint left alone, whatever it asks
NUM_CTX: Final = 8192  # ours: tokens of a prompt and its answer together
KEEP_ALIVE: Final = "30m"  # ours: a model that must be loaded first seldom answers within 12 s
CHAT_TIMEOUT_S: Final = 120.0  # ours: a streamed answer is read while it comes
EMBED_TIMEOUT_S: Final = 30.0  # ours: one request of an embedding endpoint
ENDPOINT_BATCH: Final = 64  # ours: texts in one request of an embedding endpoint
MODEL_ATTEMPTS: Final = 5  # ours: failures after which an input is set aside, visibly
MODEL_PATIENCE_MS: Final = 10 * 60_000  # ours: how long whoever keeps an input may take to ask
TURN_BATCH: Final = 12  # ours: turns of one call at most; of more a small model forgets some
TURN_KNOWN: Final = 12  # ours: known facts that are shown beside them, the nearest
TURN_CALLS_NIGHT: Final = 40  # ours: calls that one night reads turns with, some hundreds of turns
TURN_CALLS_DAY: Final = 200  # ours: of one day, whoever asks
MODEL_BACKOFF_MS: Final = 60_000  # ours: after the first failure; doubles with each

# --- entities and interest ------------------------------------------------------------------------

ENGAGEMENTS: Final[Mapping[str, tuple[float, str]]] = MappingProxyType(
    {
        "LEARN_COMMAND": (1.0, "positive"),
        "LIKE_COMMAND": (0.8, "positive"),
        "DISLIKE_COMMAND": (0.8, "negative"),
        "EXPLICIT_STATEMENT": (0.7, "positive"),
        "SEARCH_INITIATED": (0.6, "positive"),
        "FOLLOW_UP_QUESTION": (0.5, "positive"),
        "PROACTIVE_NEGATIVE_REACTION": (0.8, "negative"),
        "PROACTIVE_POSITIVE_REACTION": (0.5, "positive"),
        "NORMAL_REACTION": (0.3, "positive"),
        "MENTIONED_IN_PASSING": (0.2, "positive"),
    }
)  # origins 003.6: strength, and the valence of each unless what was said points the other way
VALENCE_SIGN: Final[Mapping[str, float]] = MappingProxyType(
    {"positive": 1.0, "negative": -1.0, "neutral": 0.0}
)
INTEREST_HALF_LIFE_DAYS: Final = 30.0  # origins 003.6
POSITIVE_REACTIONS: Final = ("❤️", "👍", "😆")  # origins 003.6, learned
NEGATIVE_REACTIONS: Final = ("😠", "👎", "😢")

NAME_WORDS: Final = 8  # origins 003.3: a longer name is none
NAME_ARTIFACTS: Final = ("{topic}", "{desccription}", "confidence score:", "-brief:")  # sic
NAME_SIMILARITY: Final = (
    0.35  # origins 003.3's, for its embedder; ours is in gate.names, calibrated
)
SAME_NAME_TOKENS: Final = 0.75  # origins 003.3, learned: token containment of duplicates
SAME_NAME_SIMILARITY: Final = 0.85  # and their cosine
LEARN_QUERIES: Final = (3, 5)  # origins 003.4: searches of one `/learn`
ENOUGH_FACTS: Final = 3  # CHECKLIST: so many facts over this relevance answer a question
ENOUGH_RELEVANCE: Final = 0.6
FEW_FACTS: Final = 5  # origins 003.7: fewer are filled by broad queries
MANY_FACTS: Final = 15  # from here on, only news
CLEANER_EVERY_MS: Final = 24 * 3600 * 1000  # origins 003.8
NOTIFY_ON: Final = frozenset({"user_message", "learn_command", "enrichment"})
# origins 003.6's table; a configuration may narrow it
NOTICE_FIRST_MS: Final = 60_000  # origins 003.9: 0, 1, 2, 4, 8 ... minutes
NOTICE_CAP_MS: Final = 3_600_000  # origins 003.9, learned
NOTICE_STALE_MS: Final = 30 * 24 * 3600 * 1000  # ours: "I just learned" is not true for longer
# Ours: log odds of being private below which a text may be sent to a search provider. Chosen by
# leaving authors of `questions.train` out in turn, so that about one in thirty is sent.
LEAVES_PLAIN: Final = -1.1
LEAVES_FIRST: Final = -1.5  # "I", whatever is named, but not "my"
LEAVES_TOLD: Final = -2.0  # it holds a name that only its owner has written
LEAVES_MARKED: Final = -0.3  # it holds a title, a model's number, or "the" before a name
LEAVES_PUBLIC: Final = 0.6  # it names what a page says something of
NAME_TYPE_SURE: Final = 0.5  # ours: a type that is less sure makes no name public
MATTER_SHARE: Final = 0.3  # ours: of the log odds of the network that reads the whole question
MATTER_SHIFT: Final = -2.5  # ours: of these, so that the limits above are right for both
SEARCH_RESULTS: Final = 8  # ours: results of one search that are kept
SEARCH_TIMEOUT_S: Final = 15.0  # ours: total deadline of one search
SEARCH_ATTEMPTS: Final = 4  # ours: failures after which a search is set aside, visibly
SEARCH_BACKOFF_MS: Final = 60_000  # ours: after the first failure; doubles with each
LOOK_ATTEMPTS: Final = 2  # ours: failures after which a result holds up no looking for new things
RESULT_TEXT_CHARS: Final = 6_000  # ours: of one result
ENRICH_DAILY: Final = 24  # ours: searches of our own in a day
EXTERNAL_FACT: Final = INFERENCE  # ours: one page says so; the cap of the external channel
OF_KIND: Final = 0.4  # ours, by the set `discovered`: that a text says that a thing is of a kind
OF_NOUN: Final = (
    0.6  # ours, likewise: that what is called by one noun is by another, "film", "movie"
)

# --- what gives an erased text away (ours; `tests/erased_scenes.py`) ------------------------------
TELL_CHARS: Final = 3  # of a word that may be a name by itself
TELL_DIGITS: Final = 4  # of a number that says something by itself; fewer count something
TELL_WHOLE_WORDS: Final = 12  # a text of so many is also looked for whole
TELL_NAMES: Final = (20, 0.01)
"""A name or a value gives nothing away where more rows have it than this, and more of them than
this share: it is what this memory is about."""
STANDING_SHOWN: Final = 20  # rows that are named after an erasure; the others are counted
TELL_RUNS: Final = (5, 0.002)  # the same of words in a row, and of a small number with its word

# --- the work behind (ours) -----------------------------------------------------------------------

LEASE_MS: Final = 120_000  # how long whoever is silent keeps work from others, at most
CLOCK_SLACK_MS: Final = 60_000  # clocks of two processes differ, or are set back, by so little
LONGEST_WAIT_MS: Final = 3_600_000  # more than any wait after a failure; one longer is no wait
EMBED_PATIENCE_S: Final = 5.0  # how long a night waits for rows that another worker is embedding
EMBED_ATTEMPTS: Final = 5  # failures after which a row is put aside
EMBED_BACKOFF_MS: Final = 2_000  # after the first failure; doubles with each
EMBED_BACKOFF_MAX_MS: Final = 15 * 60 * 1000
CLUSTER_POOL: Final = 4_000  # new and still loose episodes that one run clusters
CLUSTER_LOOSE: Final = 1_500  # of these, episodes that stood alone so far
CLUSTER_DAYS: Final = 60  # how long an episode that stands alone waits for others like it
LEARNED_COMMANDS: Final = 4_000  # the newest commands that learned predicates are looked for in
LEARN_AFTER: Final = 20  # new commands before they are looked at again
REREAD_PAGE: Final = 200  # episodes that are read again at once
UPKEEP_BATCH: Final = 500  # ops that one transaction of the nightly work holds

# --- the store (ours) -----------------------------------------------------------------------------
READERS_EVERY_MS: Final = (
    86_400_000  # so exact is when a redactor was last used; each note is a write
)

BUSY_TIMEOUT_MS: Final = 30_000
RECORD_WAIT_S: Final = 22.0  # for another store, in one write: others wait for the file for 30
SHOWN_WAIT_S: Final = 0.2  # of a search, for the note of what it showed; then that goes on behind
SHOWN_TRIES: Final = 20  # of such a note, each for as long as a writer waits: ten minutes in all
FRESH_WAIT_S: Final = 5.0  # of a search that comes by itself, for vectors of what is new
FORK_WAIT_S: Final = 10.0  # for a write of another thread: longer than a batch of a folder takes
LOOK_AGAIN_S: Final = 600.0  # between two audits that an unexpected error causes
LOOK_BYTES: Final = 64_000_000  # of a file that such an error has audited: that takes 5 seconds
SQL_ROWS: Final = 10_000  # of one query in plain SQL: a list that is still held in memory easily
SQL_SECONDS: Final = 30.0  # that such a query may take: as long as a writer waits for another
EMBED_BATCH: Final = 256  # texts that one embedding transaction covers

# --- who may write what ---------------------------------------------------------------------------

_OBSERVING: Final = frozenset(
    {
        "RecordSource",
        "RecordEpisode",
        "AssertFact",
        "RejectCandidate",
        "RejectLine",
        "AdvanceCursor",
        "NoteReaders",
        "KeepTold",
    }
)

_LIVING: Final = frozenset(
    {
        "HoldFact",
        "SupportFact",
        "ContradictFacts",
        "DoubtFact",
        "SupersedeFact",
        "MergeFacts",
        "UnmergeFact",
        "JudgePair",
        "SettlePair",
        "RevertFact",
        "Propose",
        "MarkProgress",
        "KeepLoose",
        "StartRun",
        "FinishRun",
    }
)
_TELLING: Final = frozenset({"RecordInjection", "RecordUse", "Count"})
_ASKING: Final = frozenset(
    {"QueueTask", "FinishTask", "FailTask", "RetryTasks", "BeginCall", "EndCall"}
)

_DELETING: Final = frozenset({"RetireEntity", "RestoreEntity", "MergeEntities", "UnmergeEntity"})
_DELIVERING: Final = frozenset({"ClaimNotice", "FinishNotice"})
_ERASING: Final = frozenset(
    {
        "EraseFact",
        "EraseEpisode",
        "EraseSource",
        "EraseRejection",
        "EraseEntity",
        "EraseNoted",
        "EraseOwner",
        "AllowAgain",
    }
)  # only a person at the command line or in Python takes anything out for good
# What a search that somebody asked for may lead to: origins 003.7's row of `user_message`.
_CARING: Final = frozenset(
    {
        "CreateEntity",
        "AddAlias",
        "RecordEngagement",
        "SetPreference",
        "QueueSearch",
        "RecordSearch",
        "FailSearch",
        "KeepSeen",
        "MarkDiscovered",
        "MarkResultRead",
        "FailResult",
        "MarkExtracted",
        "MarkHeard",
        "Fence",
        "RunSchedule",
        "Announce",
        "NoteAction",
        "SupportFact",
    }
)

MAY_EMIT: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "session_log": _OBSERVING,
        "user_message": _OBSERVING
        | _TELLING
        | _ASKING
        | _CARING
        | {"ChangeKeys", "Propose", "RetractFact", "RetractNode"}
        | {"MuteEntity"},  # "stop telling me about Coldplay"
        "command": _OBSERVING
        | _LIVING
        | _TELLING
        | _ASKING
        | {"ChangeKeys", "ConfirmFact", "RetractFact", "RetractNode"}
        | {"PinFact", "RateFact", "DecideProposal", "ReplaceVectors", "StoreNextVectors"}
        | {"Restore"}
        | {"WithdrawEvidence"}  # a line is gone from a file of rules
        | _CARING
        | _DELETING
        | _DELIVERING
        | _ERASING
        | {
            "MuteEntity",
            "MuteOwner",
            "DropPreference",
            "SetSchedule",
            "DropSchedule",
            "RetrySearches",
        },
        "learn_command": _CARING | _OBSERVING | _ASKING | {"OpenLearnPrompt", "PlanLearning"},
        # Seed 003: facts about what is known, and never an entity, a preference or an engagement.
        "enrichment": _OBSERVING
        | _ASKING
        | {"SupportFact", "QueueSearch", "RecordSearch", "FailSearch", "Announce", "Fence"}
        | {"MarkResultRead", "FailResult", "MarkExtracted"},
        "upkeep": (_LIVING - {"RevertFact", "UnmergeFact"})  # a person takes back
        | {"NoteReaders", "KeepTold", "WithdrawEvidence"}
        | {"StoreVectors", "StoreNextVectors", "ReplaceVectors", "AssertFact", "RejectCandidate"}
        | {"Count", "Fence"}
        | _ASKING
        | {"MergeEntities", "RetireEntity", "AddAlias"}  # the cleaner
        | _DELIVERING,
    }
)  # the trigger table: a write that is not listed is refused by `apply`

MAY_ASSERT: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "learn_command": frozenset({"world"}),
        "enrichment": frozenset({"world"}),
    }
)  # the kinds of facts that a search may lead to; a trigger that is not listed may assert any

MAY_SUPPORT: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "user_message": frozenset({"world"}),
        "learn_command": frozenset({"world"}),
        "enrichment": frozenset({"world"}),
    }
)  # the kinds of facts that a message or a search may be evidence for, once they are known
