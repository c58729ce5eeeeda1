package textop

import (
	"crypto/sha256"
	"encoding/binary"
	"math/big"
	"strconv"

	"github.com/thresh-dev/thresh/engine/pyrand"
)

// Rule is a way to derive the seed of a test case from seed_base and its id.
type Rule string

const (
	// RuleContract is OC-7.3: the first 8 hexadecimal digits of SHA-256 over
	// "{seed_base}:{testcase_id}", that is, 32 bits.
	RuleContract Rule = "contract"
	// RuleWide is the rule of the original engine since its version 0.2: the
	// first 8 bytes, big-endian, of SHA-256 over "{seed_base}::{testcase_id}",
	// that is, 64 bits.
	RuleWide Rule = "wide"
)

// ParseRule reads the name of a rule; "" is RuleContract.
func ParseRule(name string) (Rule, bool) {
	switch r := Rule(name); r {
	case "":
		return RuleContract, true
	case RuleContract, RuleWide:
		return r, true
	}
	return "", false
}

// Deriver derives seeds of test cases from one seed_base. It is an immutable
// value, safe for concurrent use.
type Deriver struct {
	prefix string
	wide   bool
}

// NewDeriver returns the deriver for seedBase, an integer of any size.
func NewDeriver(rule Rule, seedBase *big.Int) Deriver {
	if rule == RuleWide {
		return Deriver{seedBase.String() + "::", true}
	}
	return Deriver{seedBase.String() + ":", false}
}

// Seed returns the derived seed of a test case. According to the contract, its
// generator of mutations is random.Random(seed).
func (d Deriver) Seed(testcaseID string) uint64 {
	var space [128]byte
	text := append(append(space[:0], d.prefix...), testcaseID...)
	sum := sha256.Sum256(text)
	if d.wide {
		return binary.BigEndian.Uint64(sum[:])
	}
	return uint64(binary.BigEndian.Uint32(sum[:]))
}

// SelectSeed returns the seed of the generator that chooses operators for a test
// case: the first 8 hexadecimal digits of SHA-256 over "{derived}:select". The
// contract (OC-7.4) requires two generators from one derived seed without saying
// how; equal seeds would give equal streams.
func SelectSeed(derived uint64) uint64 {
	var space [32]byte
	text := append(strconv.AppendUint(space[:0], derived, 10), ":select"...)
	sum := sha256.Sum256(text)
	return uint64(binary.BigEndian.Uint32(sum[:]))
}

// Pairs is the number of test cases that [Streams] serves at once.
const Pairs = pyrand.Lanes / 2

// Streams makes the two generators of several test cases at once, which is
// several times faster than one by one. The zero Streams is ready for Seed. It
// is large; keep one per worker. It is not safe for concurrent use.
type Streams struct{ group pyrand.Group }

// Seed starts the generators of up to [Pairs] test cases from their derived
// seeds. It restarts generators that were returned before.
func (s *Streams) Seed(derived []uint64) {
	var seeds [pyrand.Lanes]uint64
	for i, d := range derived {
		seeds[2*i], seeds[2*i+1] = d, SelectSeed(d)
	}
	s.group.Seed(&seeds)
}

// Mutate returns the generator for the operators of test case i.
func (s *Streams) Mutate(i int) *pyrand.Rand { return s.group.Rand(2 * i) }

// Select returns the generator for choosing the operators of test case i.
func (s *Streams) Select(i int) *pyrand.Rand { return s.group.Rand(2*i + 1) }
