package fresnelfir

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/engine/jsontree"
)

// valueAt returns the part of an answer that a path leads to. It returns false for an answer that
// lacks the part, such as null or an error message, because that is how some systems refuse.
func valueAt(path string, answer json.RawMessage) (json.RawMessage, bool) {
	if path == "" {
		return answer, true
	}
	p, err := agentcall.ParsePath(path)
	if err != nil {
		return nil, false // refused when the document was read
	}
	root, err := agentcall.ParseReply(answer)
	if err != nil {
		return nil, false
	}
	n := p.In(root)
	if n == nil || n.Kind == jsontree.Null {
		return nil, false
	}
	return agentcall.JSON(n), true
}

// canonical returns the same text for equal JSON.
func canonical(text json.RawMessage) string {
	from := json.NewDecoder(bytes.NewReader(text))
	from.UseNumber() // keep numbers as written; a float might change them
	var v any
	var to bytes.Buffer
	enc := json.NewEncoder(&to)
	enc.SetEscapeHTML(false)
	if from.Decode(&v) != nil || enc.Encode(v) != nil { // invalid JSON ended the call earlier
		return string(text)
	}
	return strings.TrimSuffix(to.String(), "\n")
}

// names holds handles that are not numbers, as JSON, in the order in which a system returned them.
type names struct {
	mu   sync.Mutex
	list []string
}

// firstID is the number of the first such handle.
const firstID = 1 << 40

func (n *names) clear() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = n.list[:0]
}

// number returns the number of a handle.
func (n *names) number(text string) int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	i := slices.Index(n.list, text)
	if i < 0 {
		i, n.list = len(n.list), append(n.list, text)
	}
	return firstID + int64(i)
}

// of returns the handle with a number.
func (n *names) of(number int64) (string, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if i := number - firstID; i >= 0 && i < int64(len(n.list)) {
		return n.list[i], true
	}
	return "", false
}
