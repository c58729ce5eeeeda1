//go:build race

package fault

// hugeAnswer is smaller here, as the race detector takes ten times as long to
// move it.
const hugeAnswer = 192 << 20
