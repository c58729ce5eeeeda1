package draft

import (
	"bytes"
	"debug/elf"

	"github.com/thresh-dev/thresh/engine/lazy"
)

// mostConstants limits the bytes read of a program's constants.
const mostConstants = 1 << 20

// compared matches x86 instructions that compare a register or memory with four letters: a compiler
// makes them from memcmp(header, "RIFF", 4).
var compared = lazy.Pattern(`(?s:\x{81}[\x{3d}\x{b8}-\x{bf}].{4}|\x{81}[\x{38}-\x{3f}\x{f8}-\x{ff}]|\x{81}[\x{78}-\x{7f}].|\x{3d})([0-9A-Za-z]{4})`)

// constants returns the words of an ELF binary, each ended by a zero byte: operands of comparisons,
// and constants. Symbols, of which there may be thousands, say nothing about the input.
func constants(program []byte) ([]byte, bool) {
	f, err := elf.NewFile(bytes.NewReader(program))
	if err != nil {
		return nil, false
	}
	var text, list []byte
	if s := f.Section(".text"); s != nil && f.Machine == elf.EM_X86_64 {
		text, _ = s.Data() // nil for a damaged file
	}
	for _, m := range compared().FindAllSubmatch(latin(text[:min(len(text), mostConstants)]), maxTokens/4) {
		list = append(append(list, m[1]...), 0)
	}
	for _, name := range []string{".rodata", ".data"} {
		if s := f.Section(name); s != nil && s.Type != elf.SHT_NOBITS {
			data, _ := s.Data()
			list = append(append(list, data[:min(len(data), mostConstants)]...), 0)
		}
	}
	return list, true
}

// latin converts each byte to a character, for regular expressions, which cannot match bytes.
func latin(data []byte) []byte {
	var b bytes.Buffer
	for _, c := range data {
		b.WriteRune(rune(c))
	}
	return b.Bytes()
}

// Openings returns inputs that begin with the words of a dictionary, for a program that accepts no
// common format: it may look for one of its own words first.
func Openings(words []byte) []Seed {
	var list []Seed
	for line := range bytes.Lines(words) {
		word := bytes.ReplaceAll(bytes.ReplaceAll(bytes.Trim(bytes.TrimSpace(line), `"`), []byte(`\"`), []byte(`"`)), []byte(`\\`), []byte(`\`))
		for _, rest := range []string{"\n", "=1\n", ": 1\n", "=1/2\n", " 1 2 3\n", "\n1,2,3,4\n", "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", "\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01"} {
			list = append(list, Seed{Data: append(bytes.Clone(word), rest...)})
		}
	}
	return list
}
