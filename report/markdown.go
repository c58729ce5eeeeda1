package report

import (
	"html"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/engine/markup"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// prose renders Markdown with a closed set of elements, none of which makes a request. HTML in the
// source appears as text, an image as its description and address, and only web links can be
// followed. All text goes through [pieces].
func prose(source string) markup.HTML {
	src := []byte(source)
	md := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList, extension.Linkify))
	p := proseWriter{src: src}
	// The walk returns no error because node never does.
	_ = ast.Walk(md.Parser().Parse(text.NewReader(src)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		return p.node(n, entering), nil
	})
	return markup.HTML(p.String())
}

type proseWriter struct {
	strings.Builder
	src []byte
}

// said writes text of the document.
func (p *proseWriter) said(s string) {
	for _, x := range pieces(s, true) {
		if x.Hidden {
			p.WriteString(`<span class="hidden">` + html.EscapeString(x.Text) + `</span>`)
		} else {
			p.WriteString(html.EscapeString(x.Text))
		}
	}
}

// plainTags returns the element of a node that needs no attributes.
func plainTags(n ast.Node) string {
	switch n := n.(type) {
	case *ast.Paragraph:
		return "p"
	case *ast.List:
		if n.IsOrdered() {
			return "ol"
		}
		return "ul"
	case *ast.ListItem:
		return "li"
	case *ast.Blockquote:
		return "blockquote"
	case *ast.CodeSpan:
		return "code"
	case *ast.Emphasis:
		if n.Level > 1 {
			return "strong"
		}
		return "em"
	case *extast.Strikethrough:
		return "s"
	case *extast.Table:
		return "table"
	case *extast.TableHeader, *extast.TableRow:
		return "tr"
	case *extast.TableCell:
		if _, head := n.Parent().(*extast.TableHeader); head {
			return "th"
		}
		return "td"
	}
	return ""
}

func (p *proseWriter) node(n ast.Node, entering bool) ast.WalkStatus {
	if tag := plainTags(n); tag != "" {
		p.tag(tag, entering)
		return ast.WalkContinue
	}
	switch n := n.(type) {
	case *ast.Heading:
		if !entering {
			p.WriteString("</p>\n")
			return ast.WalkContinue
		}
		level := strconv.Itoa(n.Level)
		// A heading of the document is not a heading of the page.
		p.WriteString(`<p class="heading level` + level + `">`)
	case *ast.FencedCodeBlock, *ast.CodeBlock, *ast.HTMLBlock:
		if entering {
			p.block(n)
		}
		return ast.WalkSkipChildren
	case *ast.ThematicBreak:
		if entering {
			p.WriteString("<hr>\n")
		}
	case *ast.Link:
		p.link(string(n.Destination), entering)
	case *ast.AutoLink:
		if entering {
			p.link(string(n.URL(p.src)), true)
			p.said(string(n.Label(p.src)))
			p.link(string(n.URL(p.src)), false)
		}
	case *ast.Image:
		if entering {
			p.WriteString(`<span class="picture">picture: `)
			return ast.WalkContinue
		}
		p.said(" (" + string(n.Destination) + ")")
		p.WriteString("</span>")
	case *ast.RawHTML:
		if entering {
			p.WriteString("<code>")
			for i := range n.Segments.Len() {
				s := n.Segments.At(i)
				p.said(string(s.Value(p.src)))
			}
			p.WriteString("</code>")
		}
		return ast.WalkSkipChildren
	case *ast.Text:
		if entering {
			p.said(plainText(n, p.src))
			if n.HardLineBreak() {
				p.WriteString("<br>")
			}
			if n.HardLineBreak() || n.SoftLineBreak() {
				p.WriteByte('\n')
			}
		}
	case *ast.String:
		if entering {
			p.said(string(n.Value))
		}
	case *extast.TaskCheckBox:
		if entering {
			p.WriteString(map[bool]string{true: "☑ ", false: "☐ "}[n.IsChecked])
		}
	}
	return ast.WalkContinue
}

// plainText resolves escapes in text: \* is an asterisk and &amp; an ampersand, except in code.
func plainText(n *ast.Text, src []byte) string {
	b := n.Value(src)
	if _, code := n.Parent().(*ast.CodeSpan); !code && !n.IsRaw() {
		b = util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(b)))
	}
	return string(b)
}

func (p *proseWriter) tag(name string, open bool) {
	if open {
		p.WriteString("<" + name + ">")
		return
	}
	p.WriteString("</" + name + ">")
	if name != "em" && name != "strong" && name != "code" && name != "s" {
		p.WriteByte('\n')
	}
}

// block writes source unchanged.
func (p *proseWriter) block(n ast.Node) {
	p.WriteString(`<pre dir="auto">`)
	lines := n.Lines()
	for i := range lines.Len() {
		s := lines.At(i)
		p.said(string(s.Value(p.src)))
	}
	if h, ok := n.(*ast.HTMLBlock); ok && h.HasClosure() {
		p.said(string(h.ClosureLine.Value(p.src)))
	}
	p.WriteString("</pre>\n")
}

func (p *proseWriter) link(to string, open bool) {
	web := strings.HasPrefix(to, "https://") || strings.HasPrefix(to, "http://")
	switch {
	case !web && open:
		p.WriteString(`<span class="link">`)
	case !web:
		p.WriteString("</span>")
	case open:
		p.WriteString(`<a rel="noreferrer noopener" href="` + html.EscapeString(visible(to)) + `">`)
	default:
		p.WriteString("</a>")
	}
}
