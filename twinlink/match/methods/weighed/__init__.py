"""Method ``weighed``, the default: evidence with weights learned on the site, in rounds.

Start with `method.match_weighed`. `first_state` is what `rounds` begin with; each `round` learns from some pairs
(`pairs_to_learn`) and leads to the `next_state`. `starting_again` runs the rounds from other starts, which `restarts`,
`word_parts` and `consensus` make.
"""

from twinlink.match.methods.weighed.method import match_weighed

__all__ = ["match_weighed"]
