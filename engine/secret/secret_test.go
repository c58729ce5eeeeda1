package secret_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/engine/curl"
	"github.com/thresh-dev/thresh/engine/secret"
)

func TestScan(t *testing.T) {
	for _, c := range []struct {
		text      string
		variables string
		literals  string
	}{
		{`headers: {Authorization: "Bearer ${SHOP_KEY}"}`, "SHOP_KEY", ""},
		{"headers:\n  Authorization: Bearer $SHOP_KEY\n", "SHOP_KEY", ""},
		{`{"headers": {"Authorization": "Basic ${USER_PASS}", "X-Api-Key": "abcd\"efgh"}}`, "USER_PASS", `abcd"efgh`},
		{`api_key: ${OPENAI_API_KEY}`, "OPENAI_API_KEY", ""},
		{`Authorization: Bearer sk-live-12345678  # of the shop`, "", "sk-live-12345678"},
		{"Authorization: Bearer sk-live-12345678\n", "", "sk-live-12345678"},
		{"endpoint: https://anna:${PASS}@host/x\n", "PASS", ""},
		{"endpoint: https://anna:hunter22hunter22@host/x\n", "", "hunter22hunter22"},
		{"url: http://host/x?page=12345678&access_token=abcdefgh12\n", "", "abcdefgh12"},
		{"url: http://host/x?key=${K}&q=${Q}\n", "K", ""},
		{"a: {value: abcdefgh1, secret: true}\n", "", "abcdefgh1"},
		{"a:\n  value: ${V}\n  secret: true\n", "V", ""},
		{"env: {DB_PASSWORD: '${DB}'}\n", "DB", ""},
		{"run: [env, API_KEY=${K}, x]\n", "K", ""},
		{"```console run env=A=abcdefgh0,API_KEY=abcdefgh1,DB_PASSWORD=abcdefgh2\n$ true\n```\n", "", "abcdefgh1 abcdefgh2"},
		{"```console run id=x env=\"B=a b,API_KEY=abcdefgh1\"\n$ true\n```\n```console env=API_KEY=abcdefgh3\n```\n", "", "abcdefgh1 abcdefgh3"},
		{"Authorization: Bearer short12\n", "", ""},
		// Quotes over several lines are folded.
		{"headers:\n  Authorization: \"Bearer abcd\n\n    efgh1\\\n    ij\"\n  X: y\n", "", "abcd\nefgh1ij"},
		{"- api_key: 'abcd\n    efgh2'\n  b: 'c'\n", "", "abcd efgh2"},
		{"headers:\n  Authorization: \"Bearer ${A}\n    ${B}\"\n", "A B", ""},
		{"- Authorization: \"no\nsuch key: \"\n", "", ""},
		{"Authorization: Bearer {token}\napi_key: <your key>\nX-Api-Key: '{user}-{key}'\n", "", ""},
		{"Authorization: 'Bearer pa\"ss {x} word'\n", "", "pa\"ss {x} word"},
		{"h: {X-Api-Key: \"lit<5>&8z'q\", Authorization: 'it''s a pass $1 {x'}\n", "", "lit<5>&8z'q it's a pass $1 {x"},
		{"X-Api-Key: ab,cd}ef]gh\"ij\nh: {Authorization: abcdefgh,b: 1,\"x\": 2}\n", "", `ab,cd}ef]gh"ij abcdefgh`},
		{`h: ["Authorization: Bearer abcdefgh1", "X-Api-Key: abcdefgh2"], {"h":{"api_key":"abcdefgh3"}}`, "", "abcdefgh1 abcdefgh2 abcdefgh3"},
		{"api_key: $SHOP_KEY\napi-key: pa$word12\n", "SHOP_KEY word12", "pa$word12"},
		// Several words: the key behind the name of a scheme, or parameters.
		{"Authorization: SSWS abcdefgh1\nX-Api-Key: not in prose like this\n", "", "abcdefgh1"},
		{"h:\n  Authorization: Digest username=\"annalena\", response=\"abcdefgh2\"\n", "", "annalena abcdefgh2"},
		{"Authorization: AWS4-HMAC-SHA256 Credential=AKIA/2020, Signature=abcdefgh3\n", "", "AKIA/2020 abcdefgh3"},
		{"Authorization: Token token=abcdefgh4\n", "", "abcdefgh4"},
		// Names that are likely those of secrets, where they are sent or given.
		{"query_params:\n  q: abcdefgh0\n  token: abcdefgh5\nelse:\n  token: abcdefgh6\n", "", "abcdefgh5"},
		{`{"url": "x", "env": {"A": "abcdefgh0", "DB_PASSWORD": "abcdefgh7"}, "key": "abcdefgh8"}`, "", "abcdefgh7"},
		{"{\n  \"headers\": {\n    \"Shop-Token\": \"abcdefgh9\"\n  }, \"token\": \"abcdefgh0\"\n}\n", "", "abcdefgh9"},
		{"basic: {user: anna, password: abcdefgh1}\nbearer: abcdefgh2\n", "", "abcdefgh1 abcdefgh2"},
		{"- {method: GET, headers: {Cookie: \"sid=abcdefgh3; a=b\"}}\n- capture: {cookie: sessionid}\n", "", "sid=abcdefgh3; a=b"},
		{"entrypoint: tool --api-key=abcdefgh4 --key=abcdefgh0\n", "", "abcdefgh4"},
		// In quotes of a text that stands in quotes, and in what JSON escapes.
		{`body: "{\"api_key\": \"ab\\\"cdefgh\"}"` + "\nbody: '{\"api_key\": \"it''s\\\"abcd\"}'\n", "", `ab"cdefgh it's"abcd`},
		{`{"url": "http:\/\/anna:abcdefgh5@h\/?a=b\u0026token=ab\/cdefg", "curl": "\"http://h/?key=abcdefgh6\""}`, "", "abcdefgh5 ab/cdefg abcdefgh6"},
		// Texts on lines of their own, behind anchors and tags, and by aliases.
		{"h:\n  Authorization: |\n    Bearer abcdefgh1\n  x: abcdefgh0\n  X-Api-Key: >-  # folded\n    ${K}\n", "K", "abcdefgh1"},
		{"- Authorization: >-\n    Bearer\n\n    abcdefgh2\n- x: |\n  abcdefgh0\n", "", "abcdefgh2"},
		{"- a: 1\n  value: |\n    abcdefgh3\n    abcdefgh4\n  secret: true\n", "", "abcdefgh3 abcdefgh4"},
		{"x: &k !!str 'abcdefgh5'\ny: &kk abcdefgh0\nAuthorization: *k\nh: {X-Api-Key: &b abcdefgh6, Authorization: *b}\n", "", "abcdefgh5 abcdefgh6"},
		{"api_key: !!str abcdefgh7\nAuthorization: &a Bearer abcdefgh8\n", "", "abcdefgh7 abcdefgh8"},
		{"keyword: abcdefghijkl\nmonkey: ${PATH}\n", "", ""},
		{"Prose: `Authorization: Bearer abcdefgh9`\n\n```yaml\napi_key: abcdefgh9\n```\n\n```yaml spec-test\napi_key: abcdefgh8\n```\n", "", "abcdefgh8"},
	} {
		d := secret.Scan([]byte(c.text))
		var values []string
		for _, l := range d.Literals {
			values = append(values, l.Value)
		}
		if strings.Join(d.Variables, " ") != c.variables || strings.Join(values, " ") != c.literals {
			t.Errorf("%q: variables %q, literals %q", c.text, d.Variables, values)
		}
	}
}

// What is declared far into a text, or across the steps in which it is read, is found.
func TestScanLongTexts(t *testing.T) {
	for _, fill := range []int{0, 1000, 4080, 4090, 4100, 5000, 70_000, 300_000} {
		for _, tail := range []int{0, 5000, 100_000} {
			text := strings.Repeat("1, \n", fill/4) + "Authorization: Bearer abcdefgh1\n" + strings.Repeat("a, \n", tail/4) +
				"url: https://anna:" + strings.Repeat("x", 300) + "@host/\nA_PASSWORD: ${K}\n" + strings.Repeat("1, \n", tail/4)
			if d := secret.Scan([]byte(text)); len(d.Literals) != 2 || d.Literals[0].Value != "abcdefgh1" || len(d.Literals[1].Value) != 300 || !slices.Equal(d.Variables, []string{"K"}) {
				t.Errorf("behind %d, before %d bytes: %v", fill, tail, d)
			}
		}
	}
}

// Of a file of variables, the values of credentials are secrets as well.
func TestScanVariables(t *testing.T) {
	const text = "# of the shop\nbase: http://127.0.0.1\ntok: two words of it # the key\nshort: abc\nk.2: \"quo\\\"ted-key\"\nother: not-a-credential\n"
	for text, want := range map[string]string{
		text: "two words of it, quo\"ted-key",
		`{"base": "x", "tok": "abcdefgh1", "k.2": "abcdefgh2", "mytok": "abcdefgh3"}`: "abcdefgh1, abcdefgh2",
		"export tok=abcdefgh1}x y\nTOK=abcdefgh2\nk.2='abcdefgh3'\n":                  "abcdefgh1}x y, abcdefgh3",
		"tok: |\n  abcdefgh1\nk.2: >-\n  abcdefgh2\n":                                 "abcdefgh1, abcdefgh2",
		"tok: {env: SHOP_TOKEN}\nk.2: { \"env\": \"SHOP_KEY\"}\n":                     "",
	} {
		d := secret.ScanVariables([]byte(text), []string{"tok", "k.2", "short"})
		var got []string
		for _, l := range d.Literals {
			got = append(got, l.Value)
		}
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("%q: %q, want %q", text, s, want)
		}
	}
	options := map[string][]string{"var": {"tok=abcdefgh1", "base=abcdefgh1", "short=abc", "k.2"}, "filter": {"tok=abcdefgh1"}}
	got := fmt.Sprint(secret.Unvalued(options, "var", []string{"tok", "short", "k.2"}))
	if want := "map[filter:[tok=abcdefgh1] var:[tok=${secret:tok} base=abcdefgh1 short=abc k.2]]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for text, want := range map[string]string{"tok=${secret:tok}": "tok", "tok=${secret:other}": "", "tok=x${secret:tok}": "", "tok": ""} {
		if name, _ := secret.Held(text); name != want {
			t.Errorf("%s: %q, want %q", text, name, want)
		}
	}
}

func TestSealAndReveal(t *testing.T) {
	text := []byte("Authorization: Bearer sk-live-12345678\nurl: http://h/?token=abcdefgh\n")
	d := secret.Scan(text)
	sealed := secret.Seal(text, d)
	if want := "Authorization: Bearer ${secret:1}\nurl: http://h/?token=${secret:2}\n"; string(sealed) != want || !secret.Sealed(sealed) {
		t.Fatalf("%s", sealed)
	}
	again, err := secret.Reveal(sealed, func(n int) (string, bool) { return d.Literals[n-1].Value, true })
	if err != nil || string(again) != string(text) {
		t.Errorf("%s, %v", again, err)
	}
	if _, err := secret.Reveal(sealed, func(n int) (string, bool) { return "x", n == 1 }); err == nil || !strings.Contains(err.Error(), "${secret:2}") {
		t.Errorf("a value that is missing: %v", err)
	}
}

// A placeholder becomes the value again whatever quotes it is in, and the numbers of
// placeholders that a text has stay theirs.
func TestRevealInQuotes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.StringMatching(`[ -%'-;=?-~é]{8,20}`).Draw(t, "value")
		inner, _ := json.Marshal(map[string]string{"api_key": value})
		outer, _ := json.Marshal(string(inner))
		quoted := func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
		text := []byte("a: ${secret:7}\nX-Api-Key: " + quoted(value) + "\nb: " + string(inner) + "\nc: " + string(outer) + "\nd: " + quoted(string(inner)) + "\n")
		d := secret.Scan(text)
		if len(d.Literals) != 4 {
			t.Skip("a template")
		}
		for _, l := range d.Literals {
			if scheme, rest, _ := strings.Cut(value, " "); l.Value != value && l.Value != rest {
				t.Fatalf("%q of %q (%s)", l.Value, value, scheme)
			}
		}
		sealed := secret.Seal(text, d)
		if !strings.Contains(string(sealed), "a: ${secret:7}\n") || !strings.Contains(string(sealed), "${secret:8}") {
			t.Fatalf("%s", sealed)
		}
		again, err := secret.Reveal(sealed, func(n int) (string, bool) {
			if n == 7 {
				return "${secret:7}", true
			}
			return d.Literals[n-8].Value, true
		})
		if err != nil || string(again) != string(text) {
			t.Fatalf("%s\nis not\n%s%v", again, text, err)
		}
	})
}

// What of a value lets somebody in by itself is taken out by itself.
func TestPartsOfCredentials(t *testing.T) {
	for value, echo := range map[string]string{
		"SSWS abcdefgh1": "abcdefgh1", "sid=abcdefgh2; theme=dark": "abcdefgh2",
		`Digest username="anna", response="abcdefgh3"`: "abcdefgh3", "it's-a-secret": "it''s-a-secret",
	} {
		if got := secret.New([]secret.Secret{{Name: "1", Value: value}}).String("you sent " + echo + "."); got != "you sent [secret 1]." {
			t.Errorf("%s: %s", value, got)
		}
	}
}

// encodings are the ways in which an agent may give a key back.
func encodings(key string) map[string]string {
	text, _ := json.Marshal("a" + key + "b")
	twice, _ := json.Marshal(string(text))
	var stream strings.Builder
	for i := 0; i < len(key); i += 3 {
		part, _ := json.Marshal(key[i:min(i+3, len(key))])
		fmt.Fprintf(&stream, "data: {\"choices\":[{\"delta\":{\"content\":%s}}]}\n\n", part)
	}
	h := hex.EncodeToString([]byte(key))
	return map[string]string{
		"raw": key, "json": string(text), "json twice": string(twice), "query": url.QueryEscape(key), "path": "/" + url.PathEscape(key), "address": curl.Address("http://a/" + key),
		"base64": base64.StdEncoding.EncodeToString([]byte(key)), "basic": base64.StdEncoding.EncodeToString([]byte("anna:" + key + "x")),
		"base64 url": base64.RawURLEncoding.EncodeToString([]byte("you sent " + key + " to me")),
		"hex":        h, "hex upper": strings.ToUpper("00" + h), "stream": stream.String(), "hex stream": h[:7] + "\n" + h[7:], "lines": key[:5] + "\n" + key[5:],
	}
}

func TestBytes(t *testing.T) {
	const key = `sk-live/7f+3a"9 c&`
	r := secret.New([]secret.Secret{{Name: "KEY", Value: key}, {Name: "SHORT", Value: "abc"}})
	for name, text := range encodings(key) {
		got := string(r.Bytes([]byte("begin " + text + " end abc")))
		if !strings.HasPrefix(got, "begin ") || !strings.HasSuffix(got, " end abc") || leaks(got, key) {
			t.Errorf("%s: %q", name, got)
		}
		if strings.HasPrefix(name, "base64") || name == "basic" || strings.HasPrefix(name, "hex") && name != "hex stream" {
			continue // what is encoded stays so
		}
		if !strings.Contains(got, "[secret KEY]") {
			t.Errorf("%s: %q does not say which", name, got)
		}
	}
	if got := string(r.Bytes([]byte(`{"reply":"` + base64.StdEncoding.EncodeToString([]byte("x"+key)) + `"}`))); !strings.Contains(got, base64.StdEncoding.EncodeToString([]byte("x[secret KEY]"))) {
		t.Errorf("an encoding that is read back: %s", got)
	}
	if got := string(r.Template([]byte("Bearer " + key))); got != "Bearer ${KEY}" {
		t.Error(got)
	}
	if got := r.Fixed([]byte("x" + key + "y")); len(got) != len(key)+2 || leaks(string(got), key) {
		t.Errorf("%q", got)
	}
	if secret.New([]secret.Secret{{Name: "SHORT", Value: "abc"}}) != nil {
		t.Error("a short value is none")
	}
}

// leaks reports whether a text has the key in one of its encodings.
func leaks(text, key string) bool {
	for _, form := range []string{
		key, url.QueryEscape(key), hex.EncodeToString([]byte(key)), strings.ToUpper(hex.EncodeToString([]byte(key))),
		strings.TrimRight(base64.StdEncoding.EncodeToString([]byte(key)), "="),
	} {
		if strings.Contains(text, form) {
			return true
		}
	}
	joined := strings.NewReplacer(`data: {"choices":[{"delta":{"content":"`, "", `"}}]}`, "", "\n", "").Replace(text)
	return strings.Contains(joined, key) || strings.Contains(joined, hex.EncodeToString([]byte(key)))
}

// Whatever the key and wherever it is cut, nothing of its length is left of it.
func TestPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.StringMatching(`[a-zA-Z0-9_-]{8,40}`).Draw(t, "key")
		var text strings.Builder
		for rest := key; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			fmt.Fprintf(&text, "{\"text\":%q}\n", rest[:n])
			rest = rest[n:]
		}
		r := secret.New([]secret.Secret{{Name: "KEY", Value: key}})
		fixed := string(r.Fixed([]byte(text.String())))
		if len(fixed) != text.Len() || strings.Contains(strings.NewReplacer(`{"text":"`, "", "\"}\n", "").Replace(fixed), key) {
			t.Fatalf("of its length: %q of %q", fixed, text.String())
		}
		got := string(r.Bytes([]byte(text.String())))
		if !strings.Contains(got, "[secret KEY]") {
			t.Fatalf("%q of %q", got, text.String())
		}
		lines := strings.Split(got, "\n")
		if slices.Contains(lines, "") && len(lines) != strings.Count(text.String(), "\n")+1 {
			t.Fatalf("what is around pieces changed: %q", got)
		}
	})
}

// What a URL holds escaped is a secret as its server reads it, too.
func TestEscapedInTheDocument(t *testing.T) {
	r := secret.New([]secret.Secret{{Name: "K", Value: "ab%2Fcd+%22ef"}})
	for _, text := range []string{`ab%2Fcd+%22ef`, `ab/cd "ef`, `ab/cd+"ef`, `ab%2fcd%20%22ef`, `ab\/cd \"ef`} {
		if got := r.String("a=" + text + ";"); got != "a=[secret K];" {
			t.Errorf("%s became %s", text, got)
		}
	}
}

// Who reads a header of the scheme Basic echoes the user and the password in it.
func TestBasic(t *testing.T) {
	for _, c := range []struct{ pair, echo, want string }{
		{"anna:hunter2hunter2", "you are anna:hunter2hunter2.", "you are [secret 1]."},
		{"anna:hunter2hunter2", "anna, by hunter2hunter2", "anna, by [secret 1]"},
		{"sk_live_12345678:", "the key sk_live_12345678", "the key [secret 1]"},
		{"anna:short", "short, of anna:short", "short, of [secret 1]"},
		{"no pair in here", "no pair in here", "no pair in here"},
	} {
		coded := base64.StdEncoding.EncodeToString([]byte(c.pair))
		found := secret.Scan([]byte("headers:\n  Authorization: Basic " + coded + "\n")).Literals
		if len(found) != 1 || found[0].Value != coded {
			t.Fatalf("%v is found in %s", found, coded)
		}
		r := secret.New([]secret.Secret{{Name: "1", Value: coded}})
		if got := r.String(c.echo); got != c.want {
			t.Errorf("%s: %q, want %q", c.pair, got, c.want)
		}
		if got := string(r.Restore([]byte("Basic [secret 1]"))); got != "Basic "+coded {
			t.Errorf("%s: restored to %s", c.pair, got)
		}
	}
	plain := secret.New([]secret.Secret{{Name: "LOGIN", Value: "anna:hunter2hunter2"}}) // a variable may have the pair itself
	if got := plain.String("anna, by hunter2hunter2, " + base64.StdEncoding.EncodeToString([]byte("anna:hunter2hunter2"))); got != "anna, by [secret LOGIN], "+base64.StdEncoding.EncodeToString([]byte("[secret LOGIN]")) {
		t.Errorf("%q", got)
	}
}

// Of a value within which a text was cut, nothing is left.
func TestCut(t *testing.T) {
	cut := func(shift int) string {
		return base64.StdEncoding.EncodeToString([]byte("xxx"[:shift] + "sk-live-7f3a9c0011"))[:20]
	}
	r := secret.New([]secret.Secret{{Name: "K", Value: "sk-live-7f3a9c0011"}})
	for text, want := range map[string]string{
		`got "sk-live-7f3a9c…"`:        `got "[secret K]…"`,
		`sk-live-… and sk-live-7f…`:    `[secret K]… and [secret K]…`,
		`sk-live… is short, sk-live-7`: `sk-live… is short, sk-live-7`,
		"…":                            "…",
		"it is sk-live-7f3a9":          "it is [secret K]",
		"in base64 " + cut(0):          "in base64 [secret K]",
		"as a part " + cut(1) + "…":    "as a part eH[secret K]…",
		"in hex 736b2d6c6976652d3766…": "in hex [secret K]…",
	} {
		if got := r.String(text); got != want {
			t.Errorf("%s became %s", text, got)
		}
	}
	if got := r.Fixed([]byte("x sk-live-7f…")); len(got) != len("x sk-live-7f…") || bytes.Contains(got, []byte("live")) {
		t.Errorf("of its length: %s", got)
	}
}
