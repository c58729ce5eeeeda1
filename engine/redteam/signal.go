package redteam

import (
	"hash/fnv"
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Signal is what a search sees of a reply besides its verdict.
type Signal struct {
	Shape   uint32 // of the reply's opening, without what it repeats of the prompt
	Refused bool
	Hidden  uint8 // how little of the seed can be read in the prompt, 0 to 3
	Near    uint8 // how much of the secrets the reply contains, 0 to 7
	Length  uint8 // of the reply, in powers of four
}

// opening is the number of words in the shape of a reply. A run of echo words that also
// occur in the prompt is an echo, and so is a word with more letters than any real one.
const (
	opening  = 4
	echo     = 3
	longWord = 24
)

// most is Hidden for a prompt in which nothing of the seed can be read.
const most = 3

// Own returns a reply without the prompt, which a system may repeat.
func Own(prompt, reply string) string { return strings.ReplaceAll(reply, prompt, "") }

// Look returns the signal of a reply, stripped by [Own], to a prompt that was made from a
// seed. The reply must not contain the secrets.
func Look(seed, prompt, reply string, refused bool, secrets []string) Signal {
	return Signal{
		Shape: shape(prompt, reply), Refused: refused, Hidden: most - level(seed, prompt, "", most), Near: nearest(prompt, reply, secrets),
		Length: uint8(bits.Len(uint(len(reply)))+1) / 2,
	}
}

// shape returns a hash of the first words of a reply that are not an echo.
func shape(prompt, reply string) uint32 {
	reply = clip(reply)
	var words [][2]int // where each begins and ends
	start := -1
	for i, r := range reply + " " {
		switch letter := unicode.IsLetter(r); {
		case letter && start < 0:
			start = i
		case !letter && start >= 0:
			words, start = append(words, [2]int{start, i}), -1
		}
		if len(words) == 64 {
			break
		}
	}
	h := fnv.New32a()
	for i, n := 0, 0; i < len(words) && n < opening; i++ {
		if last := i + echo - 1; last < len(words) && strings.Contains(prompt, reply[words[i][0]:words[last][1]]) {
			i = last
			continue
		}
		if w := reply[words[i][0]:words[i][1]]; len(w) <= longWord {
			h.Write([]byte(strings.ToLower(w) + " "))
			n++
		}
	}
	return h.Sum32()
}

// clip bounds the work on long texts.
func clip(s string) string {
	const most = 4096
	if len(s) <= most {
		return s
	}
	end := most
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}

// level returns how much of a text can be read in another, from 0 to most: the share of
// its letter triples that occur there, in any case and despite marks, but not in a third
// text.
func level(text, in, not string, most int) uint8 {
	var seen [1 << 9]uint64 // a bit for a hash of a triple
	triples(in, func(h uint32) { seen[h>>6&511] |= 1 << (h & 63) })
	triples(not, func(h uint32) { seen[h>>6&511] &^= 1 << (h & 63) })
	all, held := 0, 0
	triples(text, func(h uint32) {
		all++
		held += int(seen[h>>6&511] >> (h & 63) & 1)
	})
	if all == 0 {
		return uint8(most)
	}
	return uint8(held * most / all)
}

func triples(s string, yield func(uint32)) {
	var a, b rune
	n := 0
	for _, r := range clip(s) {
		if r < 0x80 {
			if r |= 0x20; r < 'a' || r > 'z' {
				continue
			}
		} else if !unicode.IsLetter(r) {
			continue
		}
		if n++; n > 2 {
			h := uint32(a)*0x9e3779b1 ^ uint32(b)*0x85ebca6b ^ uint32(r)*0xc2b2ae35
			yield(h ^ h>>15)
		}
		a, b = b, r
	}
}

func nearest(prompt, reply string, secrets []string) (most uint8) {
	for _, s := range secrets {
		if level(s, reply, "", 7) > most { // otherwise the prompt does not matter
			most = max(most, level(s, reply, prompt, 7))
		}
	}
	return most
}
