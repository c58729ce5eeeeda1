package flakestorm

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/engine/shrink"
	"github.com/thresh-dev/thresh/engine/textdiff"
)

// gauge counts the characters of a mutated prompt.
func gauge(_ context.Context, data []byte) (size int64, unit string) {
	var p payload
	if json.Unmarshal(data, &p) != nil || p.Mutation == nil || p.Mutation.Text == "" {
		return 0, ""
	}
	return int64(utf8.RuneCountInString(p.Mutation.Text)), "character"
}

// Reduce implements [campaign.Reducer]. It reduces a mutated prompt to the smallest prompt that
// still makes the agent fail. If any text makes it fail, the reason is that something is missing;
// then it restores what the mutation changed, as far as the agent still fails. Other cases are
// fixed by the document, and a changed request is not reduced.
func (c *Campaign) Reduce(ctx context.Context, data []byte, test func([]byte) (bool, error)) (smallest []byte, parts string) {
	var p payload
	if json.Unmarshal(data, &p) != nil || p.Mutation == nil || p.Mutation.Wire != nil || p.Mutation.Text == "" {
		return data, ""
	}
	with := func(text []byte) []byte {
		m := *p.Mutation
		m.Text = string(text)
		q := p
		q.Mutation = &m
		return q.encode()
	}
	if idle, err := test(with([]byte("a"))); idle || err != nil {
		if text := closest(p.Mutation.Original, p.Mutation.Text, func(s string) bool { ok, err := test(with([]byte(s))); return ok && err == nil }); text != p.Mutation.Text {
			return with([]byte(text)), ""
		}
		return data, ""
	}
	small, _ := shrink.Bytes(ctx, []byte(p.Mutation.Text), func(text []byte) (bool, error) {
		if !utf8.Valid(text) || len(bytes.TrimSpace(text)) == 0 {
			return false, nil
		}
		smaller := with(text)
		if len(smaller) > len(data) { // simpler, but longer as JSON
			return false, nil
		}
		return test(smaller)
	})
	if string(small) == p.Mutation.Text {
		return data, ""
	}
	return with(small), ""
}

// mostEdits is the largest number of changes of a prompt that are undone one by one.
const mostEdits = 60

// closest undoes the changes between an original and a text, one by one, as long as the rest still
// fails.
func closest(original, text string, fails func(string) bool) string {
	type edit struct{ kept, was, is string } // in this order
	list := []edit{{}}
	textdiff.Words(original, text, func(op, s string) {
		last := &list[len(list)-1]
		switch {
		case op == "equal":
			list = append(list, edit{kept: s})
		case op == "delete":
			last.was += s
		default:
			last.is += s
		}
	})
	if len(list) > mostEdits {
		return text
	}
	join := func() string {
		var b strings.Builder
		for _, e := range list {
			b.WriteString(e.kept + e.is)
		}
		return b.String()
	}
	for i := range list {
		e := &list[i]
		if is := e.is; is != e.was {
			if e.is = e.was; join() == original || !fails(join()) {
				e.is = is
			}
		}
	}
	return join()
}
