package textop

import "strings"

func crossovers() []builtin {
	op := func(id, purpose, strength, origin string, apply func(d *draft, partner string) string) builtin {
		return builtin{meta: Meta{
			ID: "op_cross_" + id, BucketTags: tags(PromptInjection, InputRobustness), SurfaceTags: anywhere(), Risk: Medium,
			Purpose: purpose, StrengthDoc: strength, Origin: origin,
			Params: []ParamSpec{{Name: "partner_text", Kind: "string", Doc: "the second text; the context field of that name"}},
		}, apply: func(d *draft) string {
			partner := d.ctx.Partner
			if partner == "" || partner == d.text {
				return d.skip("no_partner")
			}
			d.note("partner_chars", len([]rune(partner)))
			return apply(d, partner)
		}}
	}
	return []builtin{
		op("one_point", "Begin with one text and switch to the other between two words.", "the first text's share is roughly 83, 67, 50, 33 or 17 percent.", "GPTFuzzer crossover (arXiv 2309.10253), without a model", func(d *draft, partner string) string {
			a, b := wordPieces(d.text), wordPieces(partner)
			at := func(n int) int { // where the share ends, plus or minus a twelfth
				return (n*(6-d.strength) + d.rng.Index(n+1) - n/2) / 6
			}
			head := max(1, min(len(a), at(len(a))))
			tail := max(0, min(len(b)-1, at(len(b))))
			out := spaced(append(d.out(), strings.Join(a[:head], "")...))
			return d.done(append(out, strings.TrimLeft(strings.Join(b[tail:], ""), " ")...))
		}),
		op("splice", "Insert a piece of the other text into the middle of the first.", "20, 40, 60, 80 or 100 percent of the other text.", "splicing of coverage-guided fuzzers", func(d *draft, partner string) string {
			b := pieces(partner)
			n := max(1, len(b)*d.strength/5)
			from := d.rng.Index(len(b) - n + 1)
			a := pieces(d.text)
			at := d.rng.Index(len(a) + 1)
			out := joinSentences(d.out(), a[:at])
			out = append(spaced(out), strings.Join(b[from:from+n], "")...)
			return d.done(joinSentences(spaced(out), a[at:]))
		}),
		op("interleave", "Alternate words of both texts.", "at most 1 to 5 words at a time.", "GPTFuzzer crossover; payload splitting", func(d *draft, partner string) string {
			a, b := strings.Fields(d.text), strings.Fields(partner)
			out := d.out()
			for len(a) > 0 || len(b) > 0 {
				for _, side := range []*[]string{&a, &b} {
					n := min(len(*side), 1+d.rng.Index(d.strength))
					for _, w := range (*side)[:n] {
						out = append(append(out, w...), ' ')
					}
					*side = (*side)[n:]
				}
			}
			return d.done(out[:max(0, len(out)-1)])
		}),
		op("sandwich", "Put the text between two pieces of the other, like a sentence hidden in a document.", "1 to 5 sentences of the other text on each side.", "indirect prompt injection (arXiv 2302.12173)", func(d *draft, partner string) string {
			b := pieces(partner)
			mid := d.rng.Index(len(b) + 1)
			out := joinSentences(d.out(), b[max(0, mid-d.strength):mid])
			out = append(spaced(out), d.text...)
			return d.done(joinSentences(spaced(out), b[mid:min(len(b), mid+d.strength)]))
		}),
	}
}

// pieces returns the sentences of a text, or its words if it is one sentence.
func pieces(text string) []string {
	parts := sentences(text)
	if len(parts) > 1 {
		return parts
	}
	return wordPieces(text)
}

// wordPieces returns the words of a text, each with the blanks before it.
func wordPieces(text string) []string {
	parts := make([]string, 0, len(text)/4+1)
	words(text, func(blanks, word string) {
		parts = append(parts, text[:len(blanks)+len(word)])
		text = text[len(blanks)+len(word):]
	})
	return parts
}

// spaced ensures that the text ends with a blank.
func spaced(out []byte) []byte {
	if n := len(out); n > 0 && !isBlank(out[n-1]) {
		return append(out, ' ')
	}
	return out
}
