package textop

import (
	"unicode/utf8"
)

// rot47 rotates the 94 printable ASCII characters by half.
func rot47(r rune) rune {
	if r > ' ' && r <= '~' {
		return '!' + (r-'!'+47)%94
	}
	return turn(r, 13)
}

// cipherText writes f of every character into the buffer, with a fast path for ASCII.
func cipherText(dst []byte, text string, f func(rune) rune) []byte {
	for i := 0; i < len(text); {
		if b := text[i]; b < utf8.RuneSelf {
			dst = append(dst, byte(f(rune(b))))
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		dst = utf8.AppendRune(dst, f(r))
		i += n
	}
	return dst
}

func ciphers() []builtin {
	strength := "1 and 2: the cipher alone; 3: with a line that names it; 4 and 5: with a line that asks to read and answer."
	cipher := func(id, name, purpose, origin string, reads bool, apply func(d *draft, out []byte) []byte) builtin {
		b := builtin{
			meta: Meta{
				ID: "op_" + id, BucketTags: tags(PromptInjection, InputRobustness), SurfaceTags: anywhere(), Risk: Medium,
				Purpose: purpose, StrengthDoc: strength, Origin: origin,
				Params: []ParamSpec{{Name: "frame", Kind: "int", Doc: "which of the lines before the text to use, at strength 3 and more"}},
			},
			apply: func(d *draft) string {
				out := d.out()
				if d.strength >= 3 {
					i := d.index("frame", len(naming))
					out = append(out, frame(d.strength, i, name)...)
				}
				start := len(out)
				out = apply(d, out)
				if d.reason == "" && string(out[start:]) == d.text {
					return d.skip(ReasonNoChange) // nothing to hide, so no line about it either
				}
				return d.done(out)
			},
		}
		if reads {
			b.meta.Inverse = "decipher, given the frame and the key of the trace"
		}
		return b
	}
	const pyrit = "PyRIT converters"
	return []builtin{
		cipher("cipher_rot13", "ROT13", "Rotate every letter by half its alphabet, in any script, and every digit by five (known as ROT18).", "garak probes.encoding ROT13; promptfoo rot13", true,
			func(d *draft, out []byte) []byte {
				return cipherText(out, d.text, func(r rune) rune { return turn(r, 13) })
			}),
		cipher("cipher_rot47", "ROT47", "Rotate every printable ASCII character by half the range, digits and punctuation included (ROT47).", pyrit, true,
			func(d *draft, out []byte) []byte { return cipherText(out, d.text, rot47) }),
		cipher("cipher_caesar", "a Caesar cipher", "Shift every letter by a random number of places, and digits in proportion.", "PyRIT CaesarConverter", true,
			func(d *draft, out []byte) []byte {
				shift := 1 + d.index("shift", 25)
				return cipherText(out, d.text, func(r rune) rune { return turn(r, shift) })
			}),
		cipher("cipher_atbash", "the Atbash cipher", "Mirror the alphabet: the last letter for the first, and 9 for 0 (Atbash).", "PyRIT AtbashConverter; garak probes.encoding Atbash", true,
			func(d *draft, out []byte) []byte { return cipherText(out, d.text, atbash) }),
		cipher("cipher_vigenere", "a Vigenère cipher", "Shift letters and digits by the letters of a random keyword (Vigenère).", "PyRIT converters; classic", true,
			func(d *draft, out []byte) []byte {
				key := d.choice("key", keys)
				d.note("key_length", len(key))
				n := 0
				return cipherText(out, d.text, func(r rune) rune { return turn(r, keyStep(key, &n)) })
			}),
		cipher("cipher_reverse", "text written backwards", "Reverse the text character by character, keeping grapheme clusters whole.", "FlipAttack (arXiv 2410.02832); PyRIT FlipConverter", true,
			reversed(appendReversed)),
		cipher("cipher_reverse_words", "text with every word backwards", "Reverse every word and keep the order of the words.", "FlipAttack (arXiv 2410.02832)", true,
			reversed(appendEachReversed)),
		cipher("struct_word_order", "text with its words in reverse order", "Reverse the order of the words: this hides the sentence, but no single word.", "FlipAttack (arXiv 2410.02832)", true,
			func(d *draft, out []byte) []byte { return appendWordsReversed(out, d.text) }),
		cipher("cipher_rail_fence", "a rail fence cipher", "Write the characters along the rails of a rail fence and read the rails in order.", "classic; PyRIT converters hold others of its kind", false,
			func(d *draft, out []byte) []byte {
				rails := 2 + d.index("rails", 4)
				return appendRails(out, d.text, rails)
			}),
	}
}

// keys are key words for the Vigenère cipher.
var keys = []string{"lemon", "orbit", "harbor", "granite", "willow", "cobalt", "meadow", "lantern", "quartz", "saffron", "juniper", "velvet", "marble", "summit", "canyon", "beacon"}

// keyStep returns the shift for the next character.
func keyStep(key string, n *int) int {
	k := int(key[*n%len(key)] - 'a')
	*n++
	return k
}

// appendReversed appends text backwards, by characters as readers see them.
func appendReversed(dst []byte, text string) []byte {
	for i := len(text); i > 0; {
		j := clusterStart(text, i-1)
		if j == i-1 {
			dst = append(dst, text[j])
		} else {
			dst = append(dst, text[j:i]...)
		}
		i = j
	}
	return dst
}

// appendEachReversed appends text with every word reversed.
func appendEachReversed(dst []byte, text string) []byte {
	words(text, func(blanks, word string) { dst = appendReversed(append(dst, blanks...), word) })
	return dst
}

// reversed is a cipher that is its own inverse. It skips texts with a mark that has no
// base: in the reversed text it would have one, and could no longer be distinguished.
func reversed(f func(dst []byte, text string) []byte) func(*draft, []byte) []byte {
	return func(d *draft, out []byte) []byte {
		start := len(out)
		out = f(out, d.text)
		if d.points != len(d.text) && string(f(nil, string(out[start:]))) != d.text {
			d.skip("orphan_marks")
		}
		return out
	}
}

func appendWordsReversed(dst []byte, text string) []byte {
	for end := len(text); end > 0; {
		start, blank := end-1, isBlank(text[end-1])
		for start > 0 && isBlank(text[start-1]) == blank {
			start--
		}
		dst = append(dst, text[start:end]...)
		end = start
	}
	return dst
}

func appendRails(dst []byte, text string, rails int) []byte {
	for rail := range rails {
		for i, n := 0, 0; i < len(text); n++ {
			j := clusterEnd(text, i)
			at := n % (2*rails - 2)
			if at >= rails {
				at = 2*rails - 2 - at
			}
			if at == rail {
				dst = append(dst, text[i:j]...)
			}
			i = j
		}
	}
	return dst
}
