package agentcall

import "testing"

// What an SDK wraps to make it an object is taken for what the tool returned; what the tool
// itself answers is left as it is.
func TestWrappedResults(t *testing.T) {
	for _, c := range []struct{ structured, text, want string }{
		{`{"result":1}`, `1`, `1`},
		{`{"result":"a"}`, `a`, `"a"`},
		{`{"result":[1,2]}`, "1\n2", `[1,2]`},
		{`{"result":null}`, ``, `null`},
		{`{"result":1}`, `{"result": 1}`, `{"result":1}`},
		{`{"result":1,"unit":"s"}`, `1`, `{"result":1,"unit":"s"}`},
		{`{"value":1}`, `1`, `{"value":1}`},
		{`7`, `7`, `7`},
	} {
		if got := string(Unwrapped([]byte(c.structured), []byte(c.text))); got != c.want {
			t.Errorf("%s with text %q: %s, want %s", c.structured, c.text, got, c.want)
		}
	}
}
