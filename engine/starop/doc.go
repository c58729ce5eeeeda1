// Package starop loads operators of the Operator Contract from Starlark files:
// op_*.star with OPERATOR_META and apply(seed_text, ctx, rng), the shape of the
// contract's Python modules.
//
//	OPERATOR_META = {
//	    "op_id": "op_lex_reverse_words", "bucket_tags": ["PROMPT_INJECTION"],
//	    "surface_compat": ["PROMPT_TEXT"], "risk_level": "LOW", "strength_range": [1, 5],
//	}
//
//	def apply(seed_text, ctx, rng):
//	    child = " ".join(reversed(seed_text.split(" ")))
//	    return ApplyResult(status = "OK", child_text = child, params = {"strength": ctx["strength"]})
//
// ctx is a dict as in the contract, rng a generator with the methods of
// Python's random.Random and the same numbers. ApplyResult fills in the trace's
// minimal fields; a dict with status, child_text, trace and error is accepted
// too. Texts are UTF-8 in Starlark: len counts bytes, chars(text) is the list
// of a text's characters, and nchars(text) their number.
//
// Files run in a starbox: without files, clock and network, in bounded time and
// memory. The package imports diag, go.starlark.net, mutator, textop, starbox
// and lower engines; it knows no contract. Start reading at [Load].
package starop
