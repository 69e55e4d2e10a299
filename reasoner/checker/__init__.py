"""The independent checker, in the order in which to read it; it needs the standard library only.

What it computes with:

format      what a certificate looks like, and the classes of rejection
values      terms, and how values compare
units       exact conversions
arithmetic  exact functions
language    parser and writer of policies, facts and goals
rules       atoms, rules, and the order in which a body is walked
policy      policies from their text
walk        the one walk over rule bodies
sources     texts, facts files, tables, a folder of originals

What it decides, in the order in which `report` has it done:

case        what is known of a certificate; its policies, rules and goal
calls       calls with complete answers, and the built-in rules that are in force for them
witness     absence and aggregates, from these calls
lookups     the answers to calls of stored predicates, read again
proof       statements, quotes, steps
conclusion  verdict, conflicts, use
openness    what is open, and what its rule refuses
minimal     no answer has a leaf to spare
validity    the days on which a proof holds
report      what was checked, what is trusted, what was not given
"""
