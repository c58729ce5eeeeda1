// Package shrink makes an input small and simple while it keeps a property: of the bytes that crash
// a program, only the few that matter are left.
//
// The caller gives the property as a function. It need not be monotone, and only its answers are
// known. Answers are expensive (each may run a program), so the package works from coarse to fine:
// lines, the structure that brackets, quotes, tags and commas suggest, tokens, characters, bytes.
// Records and bodies that a binary length counts are deleted together with their length. Then the
// rest is made plain, so that two inputs with the same cause tend to end as the same bytes. The
// method is delta debugging (Zeller and Hildebrandt, 2002) over nested units (Misherghi and Su,
// 2006); the order of plainness is our own and defined in order.go.
//
// One rule is the basis of all others: a candidate is considered only if it is simpler than the
// best so far, by an order without infinite descents. So any pass may propose anything, the work
// ends, and the result is never larger than the input.
//
// What a generator makes from recorded decisions is minimized by its decisions instead ([Choices]),
// so that the result is always something that the generator can make.
//
// The package is pure: it imports the standard library and small pure packages of engine alone,
// keeps no clock and no random numbers, starts nothing, and knows neither contracts nor targets.
// The budget is up to the caller: an error from the test, or the context, ends the work. Start
// reading at Bytes and Choices.
package shrink
