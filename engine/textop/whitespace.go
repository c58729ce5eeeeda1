package textop

import (
	"strings"
	"unicode/utf8"
)

// blankKinds are blanks other than the space, by name.
var blankKinds = []struct{ name, text string }{
	{"no_break", "\u00a0"}, {"en_quad", "\u2000"}, {"em_space", "\u2003"}, {"thin", "\u2009"}, {"hair", "\u200a"}, {"narrow_no_break", "\u202f"},
	{"mathematical", "\u205f"}, {"ideographic", "\u3000"}, {"tab", "\t"}, {"ogham", "\u1680"},
}

func whitespace() []builtin {
	op := func(id, purpose, strength, origin, grows string, apply func(d *draft) string) builtin {
		return builtin{meta: Meta{
			ID: id, BucketTags: tags(InputRobustness), SurfaceTags: anywhere(), Risk: Low,
			Purpose: purpose, StrengthDoc: strength, Origin: origin, Grows: grows,
		}, apply: apply}
	}
	share := "5, 15, 35, 65 or 100 percent of the spaces."
	perturb := op("op_lex_whitespace_perturb", "Insert single spaces anywhere in the text.", "as many spaces as the strength.", "the example of the contract; here characters stay whole", "edits", func(d *draft) string {
		d.note("edits", d.strength)
		text := d.text
		for i := range d.strength {
			at := offset(text, int(d.rng.Range(1, int64(d.points+i)+1)))
			at = clusterStart(text, at)
			text = text[:at] + " " + text[at:]
		}
		return text
	})
	perturb.meta.BucketTags = tags(InputRobustness, PromptInjection)
	return []builtin{
		perturb,
		op("op_ws_double", "Repeat the spaces between words.", share, "whitespace robustness; PyRIT converters", "percent", func(d *draft) string {
			return d.eachBlank(func(out []byte) []byte {
				for range 2 + d.rng.Index(3) {
					out = append(out, ' ')
				}
				return out
			})
		}),
		op("op_ws_unicode", "Replace spaces with other Unicode spaces.", share, "garak badchars; PyRIT converters", "percent", func(d *draft) string {
			return d.eachBlank(func(out []byte) []byte { return append(out, blankKinds[d.rng.Index(len(blankKinds))].text...) })
		}),
		op("op_ws_newlines", "Replace spaces with newlines.", share, "whitespace robustness", "percent", func(d *draft) string {
			return d.eachBlank(func(out []byte) []byte {
				for range 1 + d.rng.Index(2) {
					out = append(out, '\n')
				}
				return out
			})
		}),
		op("op_ws_trailing", "Append spaces and tabs to lines and to the text.", "1, 2, 4, 8 or 16 spaces after each line.", "contract section 6.2: trailing spaces are kept", "blanks", func(d *draft) string {
			n := d.edits()
			d.note("blanks", n)
			out := d.out()
			for line := range strings.Lines(d.text) {
				body, cut := strings.CutSuffix(line, "\n")
				out = append(out, body...)
				w := d.rng.Uint32()
				for i := range n {
					out = append(out, " \t"[w>>i&1])
				}
				if cut {
					out = append(out, '\n')
				}
			}
			return d.done(out)
		}),
		op("op_ws_indent", "Indent lines like code or quotations.", "1 to 5 levels of random depth.", "whitespace robustness; Markdown", "levels", func(d *draft) string {
			d.note("levels", d.strength)
			unit := d.choice("unit", []string{" ", "  ", "    ", "\t", "> ", "| ", "* ", "# "})
			out := d.out()
			for line := range strings.Lines(d.text) {
				for range d.strength {
					out = append(out, unit...)
				}
				out = append(out, line...)
			}
			return d.done(out)
		}),
		op("op_ws_far_away", "Push the text far down or right, away from where a reader looks.", "16, 64, 256, 1024 or 4096 spaces or newlines before it.", "context padding; garak latentinjection", "blanks", func(d *draft) string {
			n := 4 << (2 * d.strength)
			d.note("blanks", n)
			unit := d.choice("unit", []string{"\n", " ", "\t", " \n", "\u3000", "\n\n\n "})
			out := d.out()
			for m := 0; m < n; m += utf8.RuneCountInString(unit) {
				out = append(out, unit...)
			}
			return d.done(append(out, d.text...))
		}),
	}
}

// eachBlank calls f instead of a share of the single spaces.
func (d *draft) eachBlank(f func(out []byte) []byte) string {
	c, out := d.coin(d.share()), d.out()
	for i := range len(d.text) {
		if d.text[i] == ' ' && boundary(d.text, i+1) && c.flip() {
			out = f(out)
			continue
		}
		out = append(out, d.text[i])
	}
	return d.done(out)
}
