// Package shrink makes an input small and simple while it keeps a property: the
// bytes that crash a program are reduced to the few that matter.
//
// The caller gives the property as a function; it need not be monotone, and
// nothing is known of it but its answers. Answers are dear (each may run a
// program), so the package works from the coarse to the fine: lines, the
// structure that brackets, quotes, tags and commas suggest, tokens, characters,
// bytes; records and bodies that a binary length counts go with their length. What is left is then made plain, so that two inputs with the same cause
// tend to end as the same bytes. The method is delta debugging (Zeller and
// Hildebrandt, 2002) over nested units (Misherghi and Su, 2006); the order of
// plainness is our own and stands in order.go.
//
// One rule carries the rest: a candidate is considered only if it is simpler
// than the best so far, by an order without endless descents. So any pass may
// propose anything, the work ends, and the result is never larger than the input.
//
// What a generator makes from recorded decisions is made small by its decisions
// instead ([Choices]), so that the result is always something that it can make.
//
// The package is pure: it imports the standard library and package choice alone, keeps no clock and
// no random numbers, starts nothing, and knows neither contracts nor targets. A
// budget is the caller's: an error from the test, or the context, ends the work.
// Start reading at Bytes and Choices.
package shrink
