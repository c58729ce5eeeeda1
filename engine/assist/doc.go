// Package assist completes and explains a document that is being typed: the
// keys and words that its JSON Schema allows at a place, what they mean, and
// the span of text that a diagnostic marks. It reads YAML and JSON that are not
// whole yet ([Read]), where doctree and jsontree rightly stop at the first
// fault, and knows of a format its schema alone. Start at [Text.Complete].
package assist

import "strings"

// Text is a document as an editor has it: one part, or, of Markdown, the fenced
// blocks whose info strings hold a word.
type Text struct {
	text  string
	parts []part
}

type part struct {
	from, to int
	root     *node
}

// Plain returns a text that is neither YAML nor JSON.
func Plain(text string) *Text { return &Text{text: text} }

// Read reads a document. With a fence, it is Markdown whose blocks are meant.
func Read(text, fence string) *Text {
	t := &Text{text: text}
	for _, span := range spans(text, fence) {
		t.parts = append(t.parts, part{span[0], span[1], read(text, span[0], span[1])})
	}
	return t
}

// spans are the places of the text that hold YAML or JSON.
func spans(text, fence string) [][2]int {
	if fence == "" {
		return [][2]int{{0, len(text)}}
	}
	var list [][2]int
	mark, from := "", -1
	for at := 0; at < len(text); {
		end := lineEnd(text, at)
		line := strings.TrimSpace(text[at:end])
		switch {
		case mark == "" && (strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~")):
			info := strings.TrimLeft(line, line[:1])
			mark = line[:len(line)-len(info)]
			if strings.Contains(" "+info+" ", " "+fence+" ") {
				from = min(end+1, len(text))
			}
		case mark != "" && strings.HasPrefix(line, mark) && strings.Trim(line, mark[:1]) == "":
			if from >= 0 {
				list = append(list, [2]int{from, at})
			}
			mark, from = "", -1
		}
		at = end + 1
	}
	if from >= 0 {
		list = append(list, [2]int{from, len(text)})
	}
	return list
}

func lineEnd(text string, at int) int {
	if n := strings.IndexByte(text[at:], '\n'); n >= 0 {
		return at + n
	}
	return len(text)
}
