// Package assist completes and explains a document that is being typed: the
// keys and words that its JSON Schema allows at a position, their meaning, and
// the span of text that a diagnostic marks. It reads incomplete YAML and JSON
// ([Read]), where doctree and jsontree rightly stop at the first error, and
// knows only the schema of a format. Start at [Text.Complete].
package assist

import "strings"

// Text is a document in an editor: one part or, in Markdown, the fenced blocks
// with a word in their info strings.
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

// Read reads a document. With a fence, it reads the blocks of Markdown.
func Read(text, fence string) *Text {
	t := &Text{text: text}
	for _, span := range spans(text, fence) {
		t.parts = append(t.parts, part{span[0], span[1], read(text, span[0], span[1])})
	}
	return t
}

// spans returns the parts of the text with YAML or JSON.
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
