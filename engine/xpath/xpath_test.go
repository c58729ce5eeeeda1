package xpath

import "testing"

func TestIn(t *testing.T) {
	const page = `<!DOCTYPE html><html><head><title>Shop &amp; Co</title><meta charset=utf-8></head><body>
<ul id=list><li class="a">one</li><li>two<br>lines</li></ul><p>&nbsp;x<p>open</body></html>`
	const feed = `<?xml version="1.0" encoding="iso-8859-1"?><f:feed xmlns:f="urn:f"><f:entry n="1.5">a<!-- c --></f:entry><f:entry n="2"/></f:feed>`
	const news = "\ufeff" + `<?xml version="1.0"?><rss><channel><link>https://x.org/</link><meta>m</meta><col/><item><description><![CDATA[<!doctype html><p>]]></description></item></channel></rss>`
	const loose = `<!-- c --> <!DOCTYPE HTML><HTML><HEAD><TITLE>Shop</TITLE><script>if (a<b && c>d) x("</p>")</script><BODY><ul><li>1<ul><li>a<li>b</ul><li>2</ul>
<table><tr><td>1<td><p>x<p>y<tr><td>2<table><tr><th>in</table><tr><td>3</table><select><option>a<option selected>b</select><dl><dt>k<dd>v<dt>l<dd>w</dl><a xlink:href=u>&eacute;</a><button><p>q<p>r</button>`
	for _, c := range []struct{ doc, expr, want string }{
		{news, "//link", `"https://x.org/"`}, {news, "//meta", `"m"`}, {news, "//description", `"<!doctype html><p>"`}, {news, "count(//channel/*)", "4"},
		{loose, "//title", `"Shop"`}, {loose, "//body/ul/li/text()", `["1","2"]`}, {loose, "//li/ul/li", `["a","b"]`}, {loose, "//script", `"if (a<b && c>d) x(\"</p>\")"`},
		{loose, "count(//body/table/tr)", "3"}, {loose, "//body/table/tr[1]/td", `["1","xy"]`}, {loose, "//td/p", `["x","y"]`}, {loose, "//th", `"in"`},
		{loose, "//option[@selected]", `"b"`}, {loose, "//dd", `["v","w"]`}, {loose, "//a[@xlink:href='u']", `"é"`}, {loose, "count(//button/p)", "2"},
		{"<ul><li>1<li>2</ul>", "//li", `["1","2"]`}, {"<b>1</b><b>2</b>", "//b", `["1","2"]`},
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
	for _, doc := range []string{"", "text", `{"a": 1}`, "<a", "<?xml version='1.0'?><a><b></a>", "<?xml version='1.0'?><a>", "<?xml version='1.0'?></a>"} {
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
