package agentcall

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/thresh-dev/thresh/engine/jsontree"
)

// Framing is how the parts of a streamed reply are separated.
type Framing uint8

// The framings.
const (
	Events Framing = iota // server-sent events
	Lines                 // one JSON value per line
)

// Stream assembles the parts of a streamed reply. It knows parts in the forms of
// OpenAI (chat completions and responses), Anthropic and Ollama; of other JSON
// it appends the value at the path, or what [Extract] would take, and parts that
// are not JSON are text themselves. Its memory is bounded by what is written to
// it.
type Stream struct {
	framing Framing
	path    Path

	pending []byte // of an unfinished line
	cr      bool   // the last line ended in a CR, which an LF may follow
	data    []byte // of an unfinished event
	hasData bool
	event   string

	text      strings.Builder
	tools     []*streamedTool
	tokens    Tokens
	complaint string
	chunks    int
	marked    bool // an end mark must follow
	finished  bool // a finish reason has arrived
	done      bool
}

// streamedTool is a call that arrives in pieces.
type streamedTool struct {
	name string
	args strings.Builder
}

// NewStream returns a stream whose parts have text at the path, unless that is
// empty.
func NewStream(f Framing, p Path) *Stream { return &Stream{framing: f, path: p} }

// Write takes a piece of the reply. It never fails, and ignores everything after
// the end mark.
func (s *Stream) Write(piece []byte) (int, error) {
	n := len(piece)
	for !s.done && len(piece) > 0 {
		if s.cr && piece[0] == '\n' { // the second half of a CR LF
			piece = piece[1:]
		}
		s.cr = false
		i := bytes.IndexAny(piece, "\r\n")
		if i < 0 {
			s.pending = append(s.pending, piece...)
			break
		}
		s.pending = append(s.pending, piece[:i]...)
		s.cr = piece[i] == '\r'
		piece = piece[i+1:]
		s.line(s.pending)
		s.pending = s.pending[:0]
	}
	return n, nil
}

// Close ends an unfinished line, and its event.
func (s *Stream) Close() {
	if !s.done && len(s.pending) > 0 {
		s.line(s.pending)
		s.pending = nil
	}
	if !s.done {
		s.dispatch()
	}
}

// Done reports whether the end mark of the reply has arrived.
func (s *Stream) Done() bool { return s.done }

// Cut reports whether the reply is of a kind that marks its end, but has not
// done so.
func (s *Stream) Cut() bool { return s.marked && !s.done }

// Chunks returns how many parts had text or a tool's call.
func (s *Stream) Chunks() int { return s.chunks }

// Text returns the text so far.
func (s *Stream) Text() string { return strings.ToValidUTF8(s.text.String(), "�") }

// Complaint returns the error that the stream reports, or "".
func (s *Stream) Complaint() string { return s.complaint }

// Tokens returns the tokens that the model used, according to the stream.
func (s *Stream) Tokens() Tokens { return s.tokens }

// Tools returns the calls so far.
func (s *Stream) Tools() []ToolCall {
	var calls []ToolCall
	for i := range s.tools {
		call := ToolCall{Tool: s.tools[i].name}
		if args := s.tools[i].args.String(); json.Valid([]byte(args)) {
			call.Args = json.RawMessage(args)
		}
		if call.Tool != "" {
			calls = append(calls, call)
		}
	}
	return calls
}

func (s *Stream) line(line []byte) {
	if s.framing == Lines {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			s.part(line)
		}
		return
	}
	if len(line) == 0 {
		s.dispatch()
		return
	}
	field, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(field) {
	case "data":
		if s.hasData {
			s.data = append(s.data, '\n')
		}
		s.data, s.hasData = append(s.data, value...), true
	case "event":
		s.event = string(value)
	}
}

// dispatch processes the event that an empty line ends.
func (s *Stream) dispatch() {
	event := s.event
	s.event = ""
	if !s.hasData {
		return
	}
	data := s.data
	s.data, s.hasData = s.data[:0], false
	if event == "error" && s.complaint == "" {
		s.complaint = "Agent error: " + strings.ToValidUTF8(string(data), "�")
		if n, err := ParseReply(data); err == nil && Complaint(n) != "" {
			s.complaint = Complaint(n)
		}
		return
	}
	s.part(data)
}

// part processes one part of the reply.
func (s *Stream) part(data []byte) {
	if string(bytes.TrimSpace(data)) == "[DONE]" {
		s.marked, s.done = true, true
		return
	}
	n, err := ParseReply(data)
	if err != nil || n.Kind == jsontree.Int || n.Kind == jsontree.Float {
		s.add(string(data))
		return
	}
	if c := Complaint(n); c != "" {
		if s.complaint == "" {
			s.complaint = c
		}
		return
	}
	s.use(tokens(n))
	switch {
	case n.Kind != jsontree.Object:
		s.add(Text(n))
	case !s.path.Empty() && s.path.In(n) != nil:
		s.add(Text(s.path.In(n)))
	case s.chat(n), s.typed(n), s.ollama(n):
	case !s.path.Empty(): // a part without the answer
	default:
		s.takeUnknown(n)
	}
}

func (s *Stream) add(text string) {
	if text != "" {
		s.chunks++
		s.text.WriteString(text)
	}
}

// use takes the larger of two counts: streams repeat and complete them.
func (s *Stream) use(t Tokens) {
	if !t.Known {
		return
	}
	s.tokens = Tokens{Prompt: max(s.tokens.Prompt, t.Prompt), Completion: max(s.tokens.Completion, t.Completion), Known: true}
}

// takeUnknown processes a part of no known form.
func (s *Stream) takeUnknown(n *jsontree.Node) {
	for _, key := range [...]string{"delta", "token", "chunk"} {
		if v := n.Get(key); v != nil && v.Kind == jsontree.String {
			s.add(v.Text)
			return
		}
	}
	for _, key := range answerKeys {
		if v := n.Get(key); v != nil && v.Kind != jsontree.Null {
			s.add(Text(v))
			return
		}
	}
}
