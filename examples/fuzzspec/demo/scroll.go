package demo

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// scroll is a decoded file.
type scroll struct {
	titles []string
	date   string
	order  []string       // titles in the order of the index
	meta   map[string]int // facts about the authors
	groups map[byte]*group
	links  []byte
	depth  int
	buffer int
	pad    int
	log    io.Writer
}

// group is a chapter; parent is 0 if it has none.
type group struct {
	id, parent byte
	name       string
}

// errDamaged reports that the bytes are not a scroll, which is an expected answer.
var errDamaged = errors.New("damaged")

// refused is a complaint that ends the program with an exit code.
type refused struct {
	code int
	text string
}

func (r *refused) Error() string { return r.text }

// decode reads a scroll.
func decode(b []byte, log io.Writer) (*scroll, error) {
	if len(b) < 5 || string(b[:4]) != "SCRL" {
		return nil, errDamaged
	}
	s := &scroll{groups: map[byte]*group{}, log: log}
	for b = b[5:]; len(b) >= 2; {
		tag, n := b[0], int(b[1])
		if b = b[2:]; n > len(b) {
			return nil, errDamaged
		}
		if err := s.record(tag, b[:n]); err != nil {
			return nil, err
		}
		b = b[n:]
	}
	for _, g := range s.groups {
		s.depth = max(s.depth, s.nesting(g))
	}
	for _, id := range s.links {
		s.follow(id)
	}
	return s, nil
}

// record reads one record. It skips unknown tags, so that files of later formats
// stay readable.
func (s *scroll) record(tag byte, v []byte) error {
	if len(v) == 0 {
		return nil
	}
	switch tag {
	case 'T':
		s.titles = append(s.titles, string(v))
	case 'A':
		s.meta = map[string]int{}
	case 'M':
		s.setMeta(string(v))
	case 'D':
		return s.setDate(string(v))
	case 'I':
		s.setOrder(v)
	case 'G':
		if len(v) >= 2 {
			s.groups[v[0]] = &group{id: v[0], parent: v[1], name: string(v[2:])}
		}
	case 'L':
		s.links = append(s.links, v[0])
	case 'P':
		if len(v) >= 2 {
			s.pad += padding(v[0], v[1])
		}
	case 'B':
		s.reserve(v[0])
	case 'W':
		s.wrap(int(v[0]), string(v[1:]))
	case 'K':
		codec(v[0])
	}
	return nil
}

// BUG (nil map): the map exists only after an author's record.
func (s *scroll) setMeta(key string) { s.meta[key] = len(key) }

// BUG (exit code): a month above 12 ends the program with an error, where all other
// damage is an expected answer.
func (s *scroll) setDate(v string) error {
	var year, month, day int
	if n, _ := fmt.Sscanf(v, "%4d-%2d-%2d", &year, &month, &day); n != 3 {
		return nil
	}
	if month > 12 {
		return &refused{3, fmt.Sprintf("scroll: record %q: no month %d", v, month)}
	}
	s.date = v
	return nil
}

// BUG (index out of range): the index right after the last title passes the check.
func (s *scroll) setOrder(v []byte) {
	for _, i := range v {
		if int(i) <= len(s.titles) {
			s.order = append(s.order, s.titles[i])
		}
	}
}

// nesting counts the groups around g.
//
// BUG (stack overflow): groups that contain each other have no outermost group.
func (s *scroll) nesting(g *group) int {
	if p, ok := s.groups[g.parent]; ok {
		return 1 + s.nesting(p)
	}
	return 0
}

// BUG (nil dereference): a link to a group that does not exist.
func (s *scroll) follow(id byte) int { return len(s.groups[id].name) }

// padding counts the steps of an alignment.
//
// BUG (endless loop): a width that is not a multiple of the step never reaches 0.
func padding(width, step byte) int {
	n := 0
	for left := int64(width); left != 0; left -= int64(step) {
		n++
	}
	return n
}

// reserve makes room for 2^bits bytes.
//
// BUG (memory): the size is trusted, even one that exceeds the address
// space.
func (s *scroll) reserve(bits byte) {
	if bits <= 16 || bits == 47 {
		s.buffer += cap(make([]byte, 0, 1<<bits))
	}
}

// wrap prints text in lines of a width.
//
// BUG (endless output): lines of width zero consume nothing.
func (s *scroll) wrap(width int, text string) {
	w := bufio.NewWriterSize(s.log, 1<<16)
	defer w.Flush()
	for len(text) > 0 {
		n := min(width, len(text))
		fmt.Fprintf(w, "| %-40s |\n", text[:n])
		text = text[n:]
	}
}

// BUG (abort): like a C codec library that meets a codec that can "never" occur, it
// aborts without a message.
func codec(id byte) {
	if id >= 0x40 {
		abort()
	}
}
