package agentcall

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestTemplates(t *testing.T) {
	const nasty = "say \"hi\"\\\n{industry} <b>&"
	for _, tc := range []struct {
		name, template string
		v              Values
		form           Form
		want           string
	}{
		{"object", `{"message": "{prompt}"}`, Values{Prompt: "Book a flight"}, FormJSON, `{"message": "Book a flight"}`},
		{"nested", `{"messages": [{"role": "user", "content": "{prompt}"}]}`, Values{Prompt: "x"}, FormJSON, `{"messages": [{"role": "user", "content": "x"}]}`},
		{"escaped", `{"m": "{prompt}"}`, Values{Prompt: nasty}, FormJSON, `{"m": "say \"hi\"\\\n{industry} <b>&"}`},
		{"one pass", `{"m": "{prompt}", "i": "{industry}"}`, Values{Prompt: "{industry}", Fields: map[string]string{"industry": "{prompt}"}}, FormJSON, `{"m": "{industry}", "i": "{prompt}"}`},
		{"names in any form", `{"p": "{productName}"}`, Values{Fields: map[string]string{"productname": "tea"}}, FormJSON, `{"p": "tea"}`},
		{"a place without a value", `{"p": "{product}"}`, Values{}, FormJSON, `{"p": "{product}"}`},
		{"outside of strings", `{"p": {prompt}, "n": {count}, "o": {other}}`, Values{Prompt: "x", Fields: map[string]string{"count": "3"}}, FormJSON, `{"p": "x", "n": 3, "o": null}`},
		{"session and history", `{"s": "{session}", "h": {history}}`, Values{Session: "a", History: []Message{{"user", "hi"}}}, FormJSON, `{"s": "a", "h": [{"role":"user","content":"hi"}]}`},
		{"no history", `{"h": {history}}`, Values{}, FormJSON, `{"h": []}`},
		{"pairs", `q={prompt}&format=json`, Values{Prompt: "hey you&a=b"}, FormPairs, `q=hey you&a=b;format=json`},
		{"text", `Question: {prompt}`, Values{Prompt: nasty}, FormText, "Question: " + nasty},
		{"the prompt alone", `{prompt}`, Values{Prompt: "a=b"}, FormText, "a=b"},
		{"not quite JSON", `{"m": "{prompt}",}`, Values{Prompt: "x"}, FormText, `{"m": "x",}`},
	} {
		template := ParseTemplate(tc.template)
		got := ""
		switch template.Form() {
		case FormJSON:
			if got = template.JSON(tc.v); !json.Valid([]byte(got)) {
				t.Errorf("%s: %s is not JSON", tc.name, got)
			}
		case FormPairs:
			var list []string
			for _, p := range template.Pairs(tc.v) {
				list = append(list, p[0]+"="+p[1])
			}
			got = strings.Join(list, ";")
		default:
			got = template.Text(tc.v, EscapeNone)
		}
		if template.Form() != tc.form || got != tc.want {
			t.Errorf("%s: form %d\n%s\nwant\n%s", tc.name, template.Form(), got, tc.want)
		}
		if (template.Problem != "") != (tc.name == "not quite JSON") {
			t.Errorf("%s: problem %q", tc.name, template.Problem)
		}
	}
	xml := ParseTemplate(`<q>{prompt}</q>`)
	if got := xml.Text(Values{Prompt: "<&>"}, EscapeXML); got != "<q>&lt;&amp;&gt;</q>" {
		t.Error(got)
	}
}

// Whatever the prompt is, it arrives as it is.
func TestTemplatesLoseNothing(t *testing.T) {
	template := ParseTemplate(`{"a": ["{prompt}"], "b": {"c": "x{prompt}y"}}`)
	rapid.Check(t, func(t *rapid.T) {
		prompt := rapid.String().Draw(t, "prompt")
		var got struct {
			A []string
			B struct{ C string }
		}
		if err := json.Unmarshal([]byte(template.JSON(Values{Prompt: prompt})), &got); err != nil {
			t.Fatal(err)
		}
		if got.A[0] != prompt || got.B.C != "x"+prompt+"y" {
			t.Fatalf("%q became %q", prompt, got)
		}
	})
}

func TestFields(t *testing.T) {
	for _, tc := range []struct {
		prompt string
		want   map[string]string
	}{
		{"Industry: Fitness tech\nProduct: AI trainer", map[string]string{"industry": "Fitness tech", "product": "AI trainer"}},
		{"Industry= x\r\nProduct - y", map[string]string{"industry": "x", "product": "y"}},
		{"Product/Service: a\nBusiness-Model = b", map[string]string{"productservice": "a", "businessmodel": "b"}},
		{"see http://x.y/z", map[string]string{"seehttp": "//x.y/z"}},
		{"a: 1\n\n  A: 2  \n: none\nno field", map[string]string{"a": "2"}},
		{"", map[string]string{}},
	} {
		if got := Fields(tc.prompt); !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%q: %v, want %v", tc.prompt, got, tc.want)
		}
	}
}

func FuzzParseTemplate(f *testing.F) {
	for _, seed := range []string{`{"m": "{prompt}"}`, `q={prompt}&x`, `{prompt}`, `{"a": {x}, "\"{y}"`, `[{a}]`, "{\"\":\"{\x000}\"}", `{"":"{a\q}"}`, "{\"\":\"{\xff0}\"}"} {
		f.Add(seed, "x\"\\")
	}
	f.Fuzz(func(t *testing.T, text, prompt string) {
		template := ParseTemplate(text)
		v := Values{Prompt: prompt, Session: "s"}
		switch template.Form() {
		case FormJSON:
			if _, err := ParseReply([]byte(template.JSON(v))); err != nil {
				t.Fatalf("%q with %q gives no JSON: %v", text, prompt, err)
			}
		case FormPairs:
			template.Pairs(v)
		default:
			template.Text(v, EscapeNone)
		}
	})
}
