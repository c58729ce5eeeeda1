package xpath

import "testing"

func TestIn(t *testing.T) {
	const page = `<!DOCTYPE html><html><head><title>Shop &amp; Co</title><meta charset=utf-8></head><body>
<ul id=list><li class="a">one</li><li>two<br>lines</li></ul><p>&nbsp;x<p>open</body></html>`
	const feed = `<?xml version="1.0" encoding="iso-8859-1"?><f:feed xmlns:f="urn:f"><f:entry n="1.5">a<!-- c --></f:entry><f:entry n="2"/></f:feed>`
	for _, c := range []struct{ doc, expr, want string }{
		{page, "//title", `"Shop & Co"`}, {page, "string(//title)", `"Shop & Co"`}, {page, "count(//li)", "2"},
		{page, "//li", `["one","twolines"]`}, {page, "//li[@class='a']/text()", `"one"`}, {page, "//ul/@id", `"list"`},
		{page, "//h1", "null"}, {page, "boolean(//h1)", "false"}, {page, "//li[2]/preceding-sibling::li", `"one"`},
		{page, "contains(//title, 'Co')", "true"}, {page, "count(//meta/..)", "1"},
		{feed, "//f:entry[1]", `"a"`}, {feed, "sum(//f:entry/@n)", "3.5"}, {feed, "//comment()", `" c "`},
	} {
		e, err := Compile(c.expr)
		if err != nil {
			t.Fatal(err)
		}
		v, err := e.In([]byte(c.doc))
		if err != nil || v.JSON() != c.want {
			t.Errorf("%s: %s %v, want %s", c.expr, v.JSON(), err, c.want)
		}
	}
	if _, err := Compile("//a["); err == nil {
		t.Error("a malformed expression is taken")
	}
	e, err := Compile("//a")
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range []string{"", "text", `{"a": 1}`, "<a"} {
		if v, err := e.In([]byte(doc)); err == nil {
			t.Errorf("%q gives %s", doc, v.JSON())
		}
	}
}

func FuzzIn(f *testing.F) {
	f.Add("<a><b c=d>e</b></a>", "//b[@c='d']/text()")
	f.Add("<p>x<p>y", "count(//p)")
	f.Fuzz(func(t *testing.T, doc, expr string) {
		if e, err := Compile(expr); err == nil {
			_, _ = e.In([]byte(doc)) // it does not panic
		}
	})
}
