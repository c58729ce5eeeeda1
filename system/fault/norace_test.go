//go:build !race

package fault

const hugeAnswer = 1 << 30
