// Package redteam searches for chains of operators that get a prompt past a
// system. A [Search] is a value: it proposes chains for a round of independent
// cases, and their results make the next value. Equal results make equal
// searches, whatever the number of workers.
//
// Parents are chosen as in a Monte Carlo tree search with upper confidence bounds
// (GPTFuzzer, arXiv 2309.10253, chooses templates that way), among cells as in
// MAP-Elites (Mouret and Clune 2015). A cell holds the chains whose replies have
// one shape, by how much of the seed can still be read in the prompt. Few prompts
// that hide their text get the reply of a readable one, so such cells are rare,
// and before any attack succeeds, the search continues from what is rare. After a
// success, it varies, crosses and extends the chains that succeeded, with
// operators that have been found to keep a success one.
//
// The package knows neither documents nor systems; it must not import contracts.
package redteam
