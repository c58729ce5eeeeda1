package aflserver

import (
	"bytes"
	"encoding/binary"

	"github.com/thresh-dev/thresh/port/process"
)

// The table of comparisons, as c/compare.c of package coverage writes it.
const (
	comparisonsHeader = 8 // begins with the number of comparisons
	comparisonsMost   = 4096
	operandLongest    = 32
	comparisonSize    = 4 + 2*operandLongest
	comparisonsSize   = comparisonsHeader + comparisonsMost*comparisonSize
)

// Comparisons returns the comparisons of the last run whose operands differed.
func (s *Server) Comparisons() []process.Comparison {
	if s.cmplog != nil {
		return readCmplog(s.cmplog.mem, s.layouts)
	}
	if s.comparisons == nil {
		return nil
	}
	mem := s.comparisons.mem
	list := make([]process.Comparison, 0, min(binary.NativeEndian.Uint32(mem), comparisonsMost))
	for i := range cap(list) {
		r := mem[comparisonsHeader+i*comparisonSize:][:comparisonSize]
		operand := func(at int, size byte) []byte { return bytes.Clone(r[at:][:min(size, operandLongest)]) }
		list = append(list, process.Comparison{
			Kind: process.ComparisonKind(r[0]), Constant: r[3] != 0, A: operand(4, r[1]), B: operand(4+operandLongest, r[2]),
		})
	}
	return list
}
