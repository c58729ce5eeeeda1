package textop

import "strings"

func exhaustions() []builtin {
	const size = "256, 1024, 4096, 16384 or 65536 code points, or less if max_chars asks for less."
	op := func(id, purpose, strength, origin string, apply func(d *draft, size int) string) builtin {
		return builtin{meta: Meta{
			ID: "op_load_" + id, BucketTags: tags(Consumption, InputRobustness), SurfaceTags: anywhere(), Risk: Medium,
			Purpose: purpose, StrengthDoc: strength, Origin: origin, Grows: "added",
		}, apply: func(d *draft) string {
			n := 64 << (2 * d.strength)
			if most := d.ctx.Constraints.MaxChars; most > 0 {
				n = min(n, most-d.points)
			}
			if n < 16 {
				return d.skip(ReasonLength)
			}
			d.note("added", n)
			return apply(d, n)
		}}
	}
	const divergence = "Scalable extraction by divergence (arXiv 2311.17035); garak divergence"
	return []builtin{
		op("repeat_token", "Append one word many times.", size, divergence, func(d *draft, n int) string {
			return d.pad(n, d.choice("token", []string{"poem ", "the ", "a ", "word ", "🙂", "가", "0", "\n", "{}", "… ", "? ", "yes "}))
		}),
		op("filler", "Append filler sentences.", size, "context-length tests; LongBench (arXiv 2308.14508)", func(d *draft, n int) string {
			return d.padWith(n, func(out []byte) []byte { return append(append(out, d.oneOf(fillers)...), ' ') })
		}),
		op("random_text", "Append random letters, which compress badly and take many tokens.", size, "sponge examples (arXiv 2006.03463)", func(d *draft, n int) string {
			var bits uint32
			return d.padWith(n, func(out []byte) []byte {
				if bits < 64 {
					bits = d.rng.Uint32() | 1<<31
				}
				out = append(out, "abcdefghijklmnopqrstuvwxyz,;./-+*#=?!()[]{}0123456789ABCDEFGHIJ "[bits&63])
				bits >>= 6
				return out
			})
		}),
		op("deep_nesting", "Append deeply nested brackets.", size, "CWE-674; parser exhaustion", func(d *draft, n int) string {
			pair := d.choice("pair", []string{"[]", "{}", "()", "<>", "«»", "**", `""`, "「」"})
			half := len(pair) / 2
			out := append(append(d.out(), d.text...), strings.Repeat(pair[:half], n/2)...)
			return d.done(append(append(out, strings.Repeat(pair[half:], n/2)...), "\n"[:n%2]...))
		}),
		op("long_line", "Append one very long word.", size, "tokenizer stress; sponge examples (arXiv 2006.03463)", func(d *draft, n int) string {
			return d.pad(n, d.choice("unit", []string{"a", "ab", "Aa", "=", "_", "0123456789", "ㅋ", "あ", "é", "ـ"}))
		}),
		op("mark_pile", "Append one letter with a very long run of combining marks.", size, "Zalgo; rendering and tokenizer stress", func(d *draft, n int) string {
			mark := d.choice("mark", []string{"\u0301", "\u0338", "\u20dd", "\u0e47", "\u064b", "\ufe0f", "\u0489"})
			out := append(append(d.out(), d.text...), " a"...)
			for range n - 2 {
				out = append(out, mark...)
			}
			return d.done(out)
		}),
	}
}

// pad adds copies of a unit before or after the text, n code points in all.
func (d *draft) pad(n int, unit string) string {
	size := len([]rune(unit))
	body := strings.Repeat(unit, n/size) + unit[:offset(unit, n%size)]
	if d.choice("side", []string{"end", "beginning"}) == "end" {
		return d.done(append(append(d.out(), d.text...), body...))
	}
	return d.done(append(append(d.out(), body...), d.text...))
}

// padWith adds n code points of what f appends, which is ASCII.
func (d *draft) padWith(n int, f func(out []byte) []byte) string {
	out := append(d.out(), d.text...)
	end := len(out) + n
	for len(out) < end {
		out = f(out)
	}
	return d.done(out[:end])
}
