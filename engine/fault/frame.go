package fault

import (
	"bytes"
	"strings"

	"github.com/thresh-dev/thresh/engine/jsontree"
)

// frame is one JSON value of an answer with its surrounding text: a whole
// answer, an event of an event stream, or a line of a stream of lines.
type frame struct {
	raw  []byte         // as received, line ends included
	data []byte         // the JSON in it
	root *jsontree.Node // nil: no JSON, as in "[DONE]" and comments
	sse  bool
}

// IsStream reports whether an answer of that type is a stream of events or
// lines.
func IsStream(contentType string) bool {
	t := mediaType(contentType)
	return t == typeSSE || t == typeNDJSON || t == "application/jsonl" || t == "application/x-jsonlines" || t == "application/stream+json"
}

func mediaType(contentType string) string {
	t, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(t))
}

// frames splits an answer.
func frames(contentType string, body []byte) []frame {
	if !IsStream(contentType) {
		return []frame{{raw: body, data: body, root: parsed(body)}}
	}
	sse := mediaType(contentType) == typeSSE
	var list []frame
	for len(body) > 0 {
		n := frameEnd(body, sse)
		f := frame{raw: body[:n], sse: sse}
		body = body[n:]
		f.data = f.raw
		if sse {
			f.data = eventData(f.raw)
		}
		f.root = parsed(f.data)
		list = append(list, f)
	}
	return list
}

// frameEnd returns where the first frame of a stream ends: after a line or,
// with events, after an empty line.
func frameEnd(body []byte, sse bool) int {
	for at := 0; ; {
		i := bytes.IndexByte(body[at:], '\n')
		if i < 0 {
			return len(body)
		}
		line := bytes.TrimSuffix(body[at:at+i], []byte{'\r'})
		at += i + 1
		if !sse || len(line) == 0 {
			return at
		}
	}
}

// eventData joins the data lines of an event.
func eventData(raw []byte) []byte {
	var data [][]byte
	for line := range bytes.Lines(raw) {
		if d, ok := bytes.CutPrefix(bytes.TrimRight(line, "\r\n"), []byte("data:")); ok {
			data = append(data, bytes.TrimPrefix(d, []byte{' '}))
		}
	}
	return bytes.Join(data, []byte{'\n'})
}

// with returns the frame with other JSON in it.
func (f *frame) with(data []byte) []byte {
	if !f.sse {
		return data // the line end is part of it
	}
	var out []byte
	done := false
	for line := range bytes.Lines(f.raw) {
		switch {
		case !bytes.HasPrefix(line, []byte("data:")):
			out = append(out, line...)
		case !done:
			done = true
			for part := range bytes.SplitSeq(data, []byte{'\n'}) {
				out = append(append(append(out, "data: "...), part...), '\n')
			}
		}
	}
	return out
}

// parsed returns the tree of a JSON object or array, nil for anything else. Its
// offsets are those in data.
func parsed(data []byte) *jsontree.Node {
	if text := bytes.TrimLeft(data, " \t\r\n"); len(text) == 0 || text[0] != '{' && text[0] != '[' {
		return nil
	}
	d, err := jsontree.Parse(data, lenient)
	if err != nil {
		return nil
	}
	return &d.Root
}
