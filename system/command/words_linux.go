package command

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"slices"
)

// Limits on what is extracted from a program.
const (
	wordsMost   = 256
	wordLongest = 16
	readMost    = 32 << 20 // bytes of a section
)

// Words implements process.Glossary: the short texts in the program, shortest first, and the
// constants that its instructions compare with.
func (l *lane) Words() [][]byte {
	if l.program == "" {
		return nil
	}
	f, err := elf.Open(l.program)
	if err != nil {
		return nil // not an ELF program, so no words
	}
	defer f.Close()
	section := func(name string) []byte {
		s := f.Section(name)
		if s == nil || s.Type == elf.SHT_NOBITS || s.Size > readMost {
			return nil
		}
		data, _ := s.Data() // a damaged file yields no words
		return data
	}
	list := texts(section(".rodata"))
	if f.Machine == elf.EM_X86_64 {
		list = append(list, comparedWith(section(".text"))...)
	}
	return list
}

// texts returns the short printable texts between zero bytes, shortest first.
func texts(data []byte) [][]byte {
	var list [][]byte
	seen := map[string]bool{}
	for t := range bytes.SplitSeq(data, []byte{0}) {
		plain := len(t) >= 2 && len(t) <= wordLongest && !seen[string(t)] && !bytes.ContainsAny(t, "%\n") &&
			bytes.Count(t, []byte(" ")) <= 1 && !bytes.ContainsFunc(t, func(r rune) bool { return r < ' ' || r > '~' })
		if plain {
			seen[string(t)] = true
			list = append(list, bytes.Clone(t))
		}
	}
	slices.SortStableFunc(list, func(a, b []byte) int { return cmp.Compare(len(a), len(b)) })
	return list[:min(len(list), wordsMost)]
}

// comparedWith returns the two- and four-byte constants of compare instructions, in the byte order
// of an input. Bytes that only look like such an instruction do no harm.
func comparedWith(code []byte) [][]byte {
	var list [][]byte
	seen := map[string]bool{}
	add := func(b []byte, small uint32) {
		var v [4]byte
		copy(v[:], b)
		if n := binary.LittleEndian.Uint32(v[:]); n <= small || n >= 1<<32-256 || seen[string(b)] || len(list) == wordsMost/2 {
			return
		}
		seen[string(b)] = true
		list = append(list, bytes.Clone(b))
	}
	for i := 0; i+7 < len(code); i++ {
		short, at := code[i] == 0x66, i
		if short {
			at++
		}
		switch {
		case code[at] == 0x3d: // cmp eax, n
			at++
		case code[at] == 0x81 && code[at+1] >= 0xf8: // cmp register, n
			at += 2
		default:
			continue
		}
		if short {
			add(code[at:at+2], 0xff)
			i = at + 1
		} else {
			add(code[at:at+4], 0xffff)
		}
	}
	return list
}
