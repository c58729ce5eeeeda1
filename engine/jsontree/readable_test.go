package jsontree

import "testing"

func TestReadable(t *testing.T) {
	for text, want := range map[string]string{
		`{"to":"J\u00fcrgen","n":"\uAC00\ud83d\ude00"}`: `{"to":"Jürgen","n":"가😀"}`,
		"data: {\"t\":\"gek\\u00fcnd":                   "data: {\"t\":\"gekünd",
		// What is no such escape, has no sign of its own, or would change the meaning stays.
		`"a\\u00fcb\\\u00fc"`: `"a\\u00fcb\\ü"`,
		`"\ud83d \ud83d\n\ude00 \u0000\u0022\u200b\u00a0\u00g1\u+0fc"`: `"\ud83d \ud83d\n\ude00 \u0000\u0022\u200b\u00a0\u00g1\u+0fc"`,
		`"\u00f`: `"\u00f`, `\`: `\`, `no escape`: `no escape`,
	} {
		if got := Readable(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
