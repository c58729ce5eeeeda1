package fresnelfir

import (
	"slices"
	"sync"
)

// names are handles that are no numbers, as JSON, in the order in which a system gave
// them.
type names struct {
	mu   sync.Mutex
	list []string
}

// firstID is the number of the first handle that is no number.
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
