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

// valueAt is what a path leads to in an answer. An answer without it is a way to say no:
// null, or an error in words.
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

// canonical is one spelling of equal JSON.
func canonical(text json.RawMessage) string {
	from := json.NewDecoder(bytes.NewReader(text))
	from.UseNumber() // as it is written, whatever a float would make of it
	var v any
	var to bytes.Buffer
	enc := json.NewEncoder(&to)
	enc.SetEscapeHTML(false)
	if from.Decode(&v) != nil || enc.Encode(v) != nil { // what is not JSON has ended the call
		return string(text)
	}
	return strings.TrimSuffix(to.String(), "\n")
}

// names are handles that are not numbers, as JSON, in the order in which a system gave
// them.
type names struct {
	mu   sync.Mutex
	list []string
}

// firstID is the number of the first handle that is not a number.
const firstID = 1 << 40

func (n *names) clear() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = n.list[:0]
}

// number is that of a handle.
func (n *names) number(text string) int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	i := slices.Index(n.list, text)
	if i < 0 {
		i, n.list = len(n.list), append(n.list, text)
	}
	return firstID + int64(i)
}

// of is the handle of a number.
func (n *names) of(number int64) (string, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if i := number - firstID; i >= 0 && i < int64(len(n.list)) {
		return n.list[i], true
	}
	return "", false
}
