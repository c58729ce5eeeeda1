// Package redteam searches for chains of operators that get a prompt past a
// system. A [Search] is a value: it proposes chains for a round of independent
// cases, and what came of them makes the next value. Equal results make equal
// searches, however many workers there were.
//
// Parents are chosen as in a Monte Carlo tree search with upper confidence
// bounds (GPTFuzzer, arXiv 2309.10253, chooses templates that way), among cells
// as in MAP-Elites (Mouret and Clune 2015). A cell holds the chains whose replies
// have one shape, by how much of the seed can still be read in the prompt. Few
// prompts that hide their text are answered as if they were read: such cells are
// rare, and what is rare is where a search goes on before any attack succeeds.
// Once one has, chains that succeeded are varied, crossed and extended by what
// was found to leave a success one.
//
// The package knows neither documents nor systems; it must not import contracts.
package redteam
