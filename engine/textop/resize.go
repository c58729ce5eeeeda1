package textop

// fillers are sentences without any particular meaning.
var fillers = []string{
	"The library opens at nine on weekdays.", "Most of the trees along the river are willows.", "A timetable hangs beside the door.", "The recipe asks for two cups of flour.",
	"Several visitors asked about the old clock.", "The report was printed on both sides.", "Rain is expected towards the evening.", "The train to the coast leaves every hour.",
	"Her notebook has a green cover.", "The museum moved to a larger building last year.", "There are three chairs in the corridor.", "Bread keeps longer in a cool place.",
	"The meeting room is on the second floor.", "A small garden lies behind the house.", "He prefers tea without sugar.", "The map shows all the footpaths.",
	"Every shelf has a label.", "The concert lasted about two hours.", "Paint dries more slowly in winter.", "The ferry was delayed by fog.",
	"They planted beans along the fence.", "The lamp needs a new bulb.", "A bicycle stood against the wall.", "The letter arrived on Tuesday.",
}

func resizing() []builtin {
	op := func(id, purpose, strength, origin, grows string, apply func(d *draft) string) builtin {
		return builtin{meta: Meta{
			ID: "op_res_" + id, BucketTags: tags(InputRobustness, PromptInjection), SurfaceTags: prose(), Risk: Low,
			Purpose: purpose, StrengthDoc: strength, Origin: origin, Grows: grows,
		}, apply: apply}
	}
	return []builtin{
		op("shorten", "Drop sentences; at least one stays.", "1 to 5 sentences.", "GPTFuzzer shorten (arXiv 2309.10253), without a model", "", func(d *draft) string {
			parts := sentences(d.text)
			if len(parts) < 2 {
				return d.skip("one_sentence")
			}
			drop := min(d.strength, len(parts)-1)
			d.note("dropped", drop)
			return d.done(d.without(parts, drop))
		}),
		op("drop_words", "Drop words, all but the first at most.", "5, 15, 35, 65 or 100 percent of the words after the first.", "TextAttack WordDeletion; EDA (arXiv 1901.11196)", "percent", func(d *draft) string {
			c, out := d.coin(d.share()), d.out()
			first := true
			words(d.text, func(blanks, word string) {
				if !first && word != "" && c.flip() {
					return
				}
				first = first && word == ""
				out = append(append(out, blanks...), word...)
			})
			return d.done(out)
		}),
		op("truncate", "Truncate the text, as a transport or a context window does.", "keep at most 90, 75, 60, 45 or 30 percent, at random a little less.", "context truncation", "", func(d *draft) string {
			most := len(d.text) * [...]int{90, 75, 60, 45, 30}[d.strength-1] / 100
			at := clusterStart(d.text, most-d.rng.Index(most/4+1))
			side := d.choice("side", []string{"end", "beginning"})
			if at <= 0 {
				return d.skip("too_short")
			}
			if side == "end" {
				return d.text[:at]
			}
			return d.text[clusterStart(d.text, len(d.text)-at):]
		}),
		op("shuffle_sentences", "Reorder sentences.", "1 to 5 swaps.", "EDA (arXiv 1901.11196); GPTFuzzer rephrase, without a model", "", func(d *draft) string {
			parts := sentences(d.text)
			if len(parts) < 2 {
				return d.skip("one_sentence")
			}
			for range d.strength {
				i, j := d.rng.Index(len(parts)), d.rng.Index(len(parts))
				parts[i], parts[j] = parts[j], parts[i]
			}
			return d.done(joinSentences(d.out(), parts))
		}),
		op("swap_words", "Swap words anywhere in the text.", "1, 2, 4, 8 or 16 swaps.", "EDA (arXiv 1901.11196)", "", func(d *draft) string {
			list := make([]string, 0, len(d.text)/4)
			words(d.text, func(_, word string) {
				if word != "" {
					list = append(list, word)
				}
			})
			if len(list) < 2 {
				return d.skip("one_word")
			}
			for range d.edits() {
				i, j := d.rng.Index(len(list)), d.rng.Index(len(list))
				list[i], list[j] = list[j], list[i]
			}
			out, n := d.out(), 0
			words(d.text, func(blanks, word string) {
				out = append(out, blanks...)
				if word != "" {
					out = append(out, list[n]...)
					n++
				}
			})
			return d.done(out)
		}),
		op("expand", "Insert filler sentences between those of the text.", "1, 2, 4, 8 or 16 sentences.", "GPTFuzzer expand (arXiv 2309.10253), without a model", "sentences", func(d *draft) string {
			n := d.edits()
			d.note("sentences", n)
			parts := sentences(d.text)
			out := d.out()
			at := d.rng.Index(len(parts) + 1)
			for i, p := range parts {
				if i == at {
					out = d.fill(out, n)
				}
				out = append(out, p...)
			}
			if at == len(parts) {
				out = d.fill(append(out, ' '), n)
			}
			return d.done(out)
		}),
		op("repeat", "Repeat sentences of the text.", "1, 2, 4, 8 or 16 times.", "repetition bias; EDA (arXiv 1901.11196)", "times", func(d *draft) string {
			n := d.edits()
			d.note("times", n)
			parts := sentences(d.text)
			again := d.rng.Index(len(parts))
			out := d.out()
			for i, p := range parts {
				out = append(out, p...)
				if i == again {
					for range n {
						if !isBlank(out[len(out)-1]) {
							out = append(out, ' ')
						}
						out = append(out, p...)
					}
				}
			}
			return d.done(out)
		}),
	}
}

// without appends all parts except some random ones.
func (d *draft) without(parts []string, drop int) []byte {
	out, left := d.out(), len(parts)
	for _, p := range parts {
		if drop > 0 && d.rng.Index(left) < drop {
			drop--
		} else {
			out = append(out, p...)
		}
		left--
	}
	return out
}

func joinSentences(out []byte, parts []string) []byte {
	for i, p := range parts {
		out = append(out, p...)
		if i+1 < len(parts) && !isBlank(p[len(p)-1]) {
			out = append(out, ' ')
		}
	}
	return out
}

// fill appends n meaningless sentences.
func (d *draft) fill(out []byte, n int) []byte {
	for range n {
		out = append(append(out, d.oneOf(fillers)...), ' ')
	}
	return out
}
