// Package splitmix is SplitMix64 (Steele, Lea and Flood, 2014): numbers that
// depend only on a seed. Seeds rely on its output, which therefore never
// changes.
package splitmix

// Gamma is what the state grows by with every number.
const Gamma = 0x9e3779b97f4a7c15

// Next advances a state and returns its next number.
func Next(state *uint64) uint64 {
	*state += Gamma
	return Finish(*state)
}

// Finish mixes the bits of a number.
func Finish(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
