package secret

import (
	"strings"
	"testing"
)

// A value with characters that languages escape is found however they do.
func TestEscapedInAnyWay(t *testing.T) {
	const value = `sk+Se/c"r'et&<x>%45\9é`
	r := New([]Secret{{Name: "K", Value: value}})
	for where, text := range map[string]string{
		"JSON of PHP":        `sk+Se\/c\"r'et&<x>%45\\9\u00e9`,
		"JSON of Go":         `sk+Se/c\"r'et\u0026\u003cx\u003e%45\\9é`,
		"JSON in JSON":       `sk+Se\\\/c\\\"r'et&<x>%45\\\\9\\u00E9`,
		"URL of Python":      `sk%2BSe/c%22r%27et%26%3Cx%3E%2545%5C9%C3%A9`,
		"URL of JavaScript":  `sk%2BSe%2Fc%22r'et%26%3Cx%3E%2545%5C9%c3%a9`,
		"URL in a URL":       `sk%252BSe%252Fc%2522r'et%2526%253Cx%253E%2545%255C9%25C3%25A9`,
		"HTML of Python":     `sk+Se/c&quot;r&#x27;et&amp;&lt;x&gt;%45\9é`,
		"HTML of Go":         `sk+Se/c&#34;r&#39;et&amp;&lt;x&gt;%45\9é`,
		"HTML of JavaScript": `sk+Se/c"r'et&amp;&lt;x>%45\9&eacute;`,
		"HTML in HTML":       `sk+Se/c&amp;quot;r&amp;#x27;et&amp;amp;&amp;lt;x&amp;gt;%45\9é`,
		"HTML in JSON of Go": `sk+Se/c\u0026quot;r\u0026#x27;et\u0026amp;\u0026lt;x\u003e%45\\9é`,
		"numbers of JSON":    `\u0073\u006b\u002b\u0053\u0065\u002f\u0063\u0022\u0072\u0027\u0065\u0074\u0026\u003c\u0078\u003e\u0025\u0034\u0035\u005c\u0039\u00e9`,
		"header in Latin-1":  "sk+Se/c\"r'et&<x>%45\\9\u00c3\u00a9",
		"its JSON":           `sk+Se/c\"r'et&<x>%45\\9\u00c3\u00a9`,
		"Python's repr":      `sk+Se/c"r\'et&<x>%45\\9\xe9`,
	} {
		if got := r.String("a=" + text + "; b"); got != "a=[secret K]; b" {
			t.Errorf("%s: %s", where, got)
		}
		// Where lengths count, what stands for it is as long.
		if got := string(r.Fixed([]byte("a=" + text + "; b"))); len(got) != len(text)+5 || !strings.HasPrefix(got, "a=[secret K]*") || !strings.HasSuffix(got, "*; b") {
			t.Errorf("%s, of its length: %s", where, got)
		}
	}
	plain := New([]Secret{{Name: "K", Value: "sk-Abc123"}})
	for _, text := range []string{
		`\u0073\u006b\u002d\u0041\u0062\u0063\u0031\u0032\u0033`, `&#115;&#107;&#45;&#65;&#98;&#99;&#49;&#50;&#51;`, `sk-Abc12\x33`, `%73k-Abc123`,
	} {
		if got := plain.String("a=" + text + "; b"); got != "a=[secret K]; b" {
			t.Errorf("%s became %s", text, got)
		}
	}
	for _, text := range []string{`sk+Se/c"r'et`, `&`, `%`, `\`, `%2`, `&;`, `sk%2`} {
		if got := r.String(text); got != text {
			t.Errorf("%s became %s", text, got)
		}
	}
}
