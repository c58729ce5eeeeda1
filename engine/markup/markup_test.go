package markup_test

import (
	"html/template"
	"strings"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/engine/markup"
)

type row struct {
	Name  string
	Count int64
	On    bool
}

type page struct {
	*row
	Rows  []row
	Index map[string]int
}

const whole = `<!DOCTYPE html>{{define "cell"}}<td{{if .On}} class="on {{.Name}}"{{end}}>{{.Name}}</td>{{end}}
<title>{{.Name}}</title><a href="{{.Name}}">x</a><a href="/runs/{{.Name}}?q={{.Name}}&amp;r={{.Count}}#{{.Name}}" title='{{.Name}}'>y</a>
{{$p := .}}{{range $i, $r := .Rows}}{{if $i}}, {{end}}{{template "cell" $r}}{{if and $p.On (eq $i 1)}}one{{else if gt (len $p.Rows) 2}}many{{else}}{{.Count}}{{end}}{{else}}none{{end}}
{{with .Name}}[{{.}} {{$.Count}}]{{else}}nameless{{end}}{{if not .On}}off{{end}}{{index .Rows 0}}{{twice .Count 2}}{{.Index.a}}{{if or .On (ne .Name "x") (lt .Count 3)}}!{{end}}`

func funcs() map[string]any {
	return map[string]any{"twice": func(a int64, b int) int64 { return a * int64(b) }}
}

func render(t testing.TB, text string, data any) (string, error) {
	s, err := markup.New(funcs()).ParseFS(fstest.MapFS{"t.tmpl": {Data: []byte(text)}}, "*.tmpl")
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = s.ExecuteTemplate(&b, "t.tmpl", data)
	return b.String(), err
}

// What html/template writes of the same template and data is what a page holds.
func TestSameAsHTMLTemplate(t *testing.T) {
	theirs := template.Must(template.New("t.tmpl").Funcs(funcs()).Parse(whole))
	text := rapid.OneOf(rapid.String(),
		rapid.StringMatching(`[a-z/:?#&%+<>"' \x00]{0,12}`),
		rapid.SampledFrom([]string{"", "javascript:alert(1)", "JavaScript:x", "https://a/b?c=d", "/a:b", "mailto:x", "<script>", `" onclick="x`}))
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) row {
			return row{text.Draw(t, "name"), rapid.Int64().Draw(t, "count"), rapid.Bool().Draw(t, "on")}
		}), 1, 4).Draw(t, "rows")
		data := page{row: &rows[0], Rows: rows, Index: map[string]int{"a": len(rows)}}
		var want strings.Builder
		if err := theirs.Execute(&want, data); err != nil {
			t.Fatal(err)
		}
		got, err := render(nil, whole, data)
		if err != nil {
			t.Fatal(err)
		}
		if want := strings.ReplaceAll(want.String(), "#ZgotmplZ", "#unsafe-address"); got != want {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	})
}

func TestRefused(t *testing.T) {
	for _, c := range []struct{ template, want string }{
		{`<a href={{.Name}}>`, "nothing can be filled in here"},
		{`<a {{.Name}}="x">`, "nothing can be filled in here"},
		{`<p style="color: {{.Name}}">`, "nothing can be filled in here"},
		{`<p onclick="{{.Name}}">`, "nothing can be filled in here"},
		{`<p class="{{.Name}}>`, "ends inside a tag"},
		{`<script>{{.Name}}</script>`, "only a value of type Raw"},
		{`<style>{{.Name}}</style>`, "only a value of type Raw"},
		{`{{if .On}}<p{{end}}>`, "branches end in different places"},
		{`{{range .Rows}}<p{{else}}<p{{end}}>`, "branches end in different places"},
		{`{{define "x"}}{{end}}<p {{template "x" .}}>`, "stands in text alone"},
		{`<p>{{.Name | print}}</p>`, "pipes are not supported"},
		{`<p>{{.Missing}}</p>`, "has no field Missing"},
		{`<p>{{.Name.Missing}}</p>`, "has no field Missing"},
		{`<p>{{twice 1}}</p>`, "takes 2 arguments, not 1"},
		{`<p>{{twice "a" 1}}</p>`, `takes a int64, not "a"`},
		{`<p>{{template "gone" .}}</p>`, `there is no template "gone"`},
		{`{{range .Count}}{{end}}`, "range over a int64"},
		{`<p>{{break}}</p>`, "outside"},
	} {
		_, err := render(t, c.template, page{row: &row{}, Rows: []row{{}}})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.template, err, c.want)
		}
	}
}

func TestTypedValues(t *testing.T) {
	type typed struct {
		Prose markup.HTML
		Code  markup.Raw
		None  *row
	}
	got, err := render(t, `<p title="{{.Prose}}">{{.Prose}}{{.Code}}{{.None}}</p><script>{{.Code}}</script>`, typed{"<b>x</b>", "a < b", nil})
	want := `<p title="&lt;b&gt;x&lt;/b&gt;"><b>x</b>a &lt; b</p><script>a < b</script>`
	if err != nil || got != want {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
}
