package agent

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// What a server sends is looked at line by line, in whatever parts it comes: lines that
// are no messages, and results of tools without contents.
func TestMessagesThatAreNone(t *testing.T) {
	const good = `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}` + "\n"
	for _, x := range []struct {
		text            string
		http            bool
		strange, hollow string
	}{
		{text: good + "\n" + good},
		{text: `{"jsonrpc":"2.0","method":"notifications/progress","params":{}}` + "\n" + good},
		{text: `{"jsonrpc":"2.0","id":1,"error":{"code":-32603}}` + "\n"},
		{text: good + "all is well\n", strange: "all is well"},
		{text: `{"jsonrpc":"2.0","id":1,"result":{"structuredContent":{"area":Infinity},"content":[]}}` + "\n", strange: "\u2026{\"structuredContent\":{\"area\":Infinity},\"content\":[]}}"},
		{text: `{"jsonrpc":"2.0","id":1,"result":null}` + "\n", hollow: "null"},
		{text: `{"jsonrpc":"2.0","id":1,"result":{}}` + "\n", hollow: "{}"},
		{text: `{"jsonrpc":"2.0","id":1,"result":{"content":"a"}}` + "\n", hollow: `{"content":"a"}`},
		{text: `{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required"}}` + "\n"},
		{text: `{"jsonrpc":"2.0","id":1,"result":{"value":"` + strings.Repeat("a", inspected) + `"}}` + "\n"},
		{text: "event: message\ndata: " + `{"jsonrpc":"2.0","id":1,"result":{}}` + "\n\n", http: true, hollow: "{}"},
		{text: `{"jsonrpc":"2.0","id":1,"result":{}}`, http: true, hollow: "{}"}, // a body without a last line end
	} {
		m := &meter{most: 8 << 20}
		m.begin()
		g := &gauge{ReadCloser: io.NopCloser(iotest.HalfReader(strings.NewReader(x.text))), meter: m, lines: !x.http}
		if _, err := io.Copy(io.Discard, g); err != nil {
			t.Fatal(err)
		}
		for name, seen := range map[string][2]string{"strange": {x.strange, said(m.strange.Load())}, "hollow": {x.hollow, said(m.hollow.Load())}} {
			if seen[0] != seen[1] {
				t.Errorf("%.90s: %s is %q, want %q", x.text, name, seen[1], seen[0])
			}
		}
	}
	m := &meter{most: 8 << 20} // a client ends at the first part of a line that cannot be a message
	if _, err := m.lines(io.NopCloser(strings.NewReader("hello"))).Read(make([]byte, 5)); err != nil || said(m.strange.Load()) != "hello" {
		t.Errorf("%v, %q", err, said(m.strange.Load()))
	}
	m = &meter{most: 8 << 20} // before a call, an answer may be that of another request
	g := m.lines(io.NopCloser(strings.NewReader(`{"jsonrpc":"2.0","id":1,"result":{}}` + "\n")))
	if _, err := io.Copy(io.Discard, g); err != nil || m.hollow.Load() != nil {
		t.Errorf("%v, %q", err, said(m.hollow.Load()))
	}
}

// An answer is there before the end of its line, which may come while the next tool is
// called.
func TestEndsOfLinesThatComeLate(t *testing.T) {
	m := &meter{most: 8 << 20}
	r, w := io.Pipe()
	defer w.Close()
	g := m.lines(r)
	send := func(text string) {
		t.Helper()
		go func() { _, _ = io.WriteString(w, text) }()
		if _, err := io.ReadFull(g, make([]byte, len(text))); err != nil {
			t.Fatal(err)
		}
	}
	send(`{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}`)
	m.begin()
	if send("\n"); m.hollow.Load() != nil {
		t.Errorf("the list of tools is taken for the answer of one: %s", said(m.hollow.Load()))
	}
	if send(`{"jsonrpc":"2.0","id":2,"result":{}}`); said(m.hollow.Load()) != "{}" {
		t.Error("an answer is not seen before the end of its line")
	}
}

func said(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}
