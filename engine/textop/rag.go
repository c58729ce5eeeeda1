package textop

func retrievals() []builtin {
	return []builtin{
		{meta: Meta{
			ID: "op_rag_keyword_stuffing", BucketTags: tags(VectorWeakness, Poisoning), SurfaceTags: on(RAGContext), Risk: Medium,
			Purpose:     "Repeat words of the text many times, so that a search ranks it first.",
			StrengthDoc: "4, 8, 16, 32 or 64 repeated words.",
			Grows:       "keywords", Origin: "PoisonedRAG (arXiv 2402.07867); search-engine spam",
		}, apply: func(d *draft) string {
			n := 2 << d.strength
			d.note("keywords", n)
			var list []string
			words(d.text, func(_, word string) {
				if len(word) > 3 && len(list) < 256 {
					list = append(list, word)
				}
			})
			if len(list) == 0 {
				return d.skip("no_keywords")
			}
			sep := d.oneOf([]string{" ", ", ", "; ", " | ", "\n"})
			out := d.out()
			front := d.rng.Index(2) == 0
			if !front {
				out = append(append(out, d.text...), '\n')
			}
			for range n {
				out = append(append(out, d.oneOf(list)...), sep...)
			}
			if front {
				out = append(append(out, '\n'), d.text...)
			}
			return d.done(out)
		}},
	}
}
