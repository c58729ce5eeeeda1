package triage

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/campaign"
)

// varies stands for what differs between two runs of the same case: process
// ids, clocks, addresses. With it in their place, the evidence of equal runs is
// equal.
const varies = "<varies>"

// mergeStable merges the evidence of two occurrences of a finding: words that
// differ are masked, but in what is there to be replayed. Texts whose words do not match up stay as the first has
// them.
func mergeStable(first, again []campaign.Attachment) []campaign.Attachment {
	out := make([]campaign.Attachment, len(first))
	for i, a := range first {
		out[i] = a
		for _, b := range again {
			if a.Name != campaign.RecordedAttachment && b.Name == a.Name && !bytes.Equal(a.Data, b.Data) {
				out[i].Data = mergeWords(a.Data, b.Data)
			}
		}
	}
	return out
}

func mergeWords(a, b []byte) []byte {
	var out []byte
	whole := a
	for len(a) > 0 && len(b) > 0 {
		wa, wb := word(a), word(b)
		isWord := isWordByte(a)
		if isWord != isWordByte(b) || !isWord && !bytes.Equal(a[:wa], b[:wb]) {
			return whole
		}
		if bytes.Equal(a[:wa], b[:wb]) {
			out = append(out, a[:wa]...)
		} else {
			out = append(out, varies...)
		}
		a, b = a[wa:], b[wb:]
	}
	if len(a) > 0 || len(b) > 0 {
		return whole
	}
	return out
}

// word is the length of the run of word or of other characters that b begins with.
func word(b []byte) int {
	first := isWordByte(b)
	n := 0
	for n < len(b) && isWordByte(b[n:]) == first {
		_, size := utf8.DecodeRune(b[n:])
		n += size
	}
	return n
}

func isWordByte(b []byte) bool {
	r, _ := utf8.DecodeRune(b)
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || r == utf8.RuneError
}
