package flakestorm

import (
	"bytes"
	"context"
	"encoding/json"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/engine/shrink"
)

// Gauge implements [campaign.Gauger]: a mutated prompt has so many characters.
func (c *Campaign) Gauge(_ context.Context, data []byte) (size int64, unit string) {
	var p payload
	if json.Unmarshal(data, &p) != nil || p.Mutation == nil || p.Mutation.Text == "" {
		return 0, ""
	}
	return int64(utf8.RuneCountInString(p.Mutation.Text)), "character"
}

// Reduce implements [campaign.Reducer]: a mutated prompt is cut down to what
// still makes the agent fail, and is a prompt. Other cases are what the document says, and a
// changed request is one as it is.
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
	small, _ := shrink.Bytes(ctx, []byte(p.Mutation.Text), func(text []byte) (bool, error) {
		if !utf8.Valid(text) || len(bytes.TrimSpace(text)) == 0 {
			return false, nil
		}
		smaller := with(text)
		if len(smaller) > len(data) { // plainer, but longer as JSON
			return false, nil
		}
		return test(smaller)
	})
	if string(small) == p.Mutation.Text {
		return data, ""
	}
	return with(small), ""
}
