package xpath

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/antchfx/xpath"
	"golang.org/x/net/html"

	"github.com/thresh-dev/thresh/engine/lazy"
)

// doctypeHTML matches the beginning of a document whose type is HTML.
var doctypeHTML = lazy.Pattern(`(?is)^(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<!doctype\s+html[\s>]`)

// errNoElement refuses text without markup.
var errNoElement = errors.New("it is neither XML nor HTML: it has no element")

// parse reads a document: as HTML if its document type says so; otherwise as XML; if it
// is not well-formed XML, as HTML, unless it declares to be XML.
func parse(document []byte) (*node, error) {
	document = bytes.TrimSpace(bytes.TrimPrefix(document, []byte("\ufeff")))
	if doctypeHTML().Match(document) {
		return parseHTML(document)
	}
	root, err := parseXML(document)
	switch {
	case err == nil, errors.Is(err, errSize), errors.Is(err, errNoElement):
		return root, err
	case bytes.HasPrefix(document, []byte("<?xml")):
		return nil, fmt.Errorf("it is XML that is not well-formed: %w", err)
	}
	return parseHTML(document)
}

var errSize = fmt.Errorf("it has more than %d nodes", maxNodes)

// builder makes a tree from the parts of a document as they come.
type builder struct {
	root, at *node
	count    int
	elements bool
}

func newBuilder() *builder {
	root := &node{kind: xpath.RootNode}
	return &builder{root: root, at: root}
}

func (b *builder) add(n *node) error {
	if b.count++; b.count > maxNodes {
		return errSize
	}
	b.elements = b.elements || n.kind == xpath.ElementNode
	b.at.add(n)
	return nil
}

// whole returns the tree, which must have an element.
func (b *builder) whole() (*node, error) {
	if !b.elements {
		return nil, errNoElement
	}
	return b.root, nil
}

func parseXML(document []byte) (*node, error) {
	d := xml.NewDecoder(bytes.NewReader(document))
	d.Entity = xml.HTMLEntity
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // bodies are UTF-8 already
	b := newBuilder()
	for {
		t, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		switch t := t.(type) {
		case xml.StartElement:
			n := &node{kind: xpath.ElementNode, prefix: t.Name.Space, name: t.Name.Local, attrs: t.Attr}
			err = b.add(n)
			b.at = n
		case xml.EndElement:
			if b.at.name != t.Name.Local || b.at.prefix != t.Name.Space || b.at == b.root {
				line, _ := d.InputPos()
				return nil, fmt.Errorf("line %d: </%s> ends no element that is open", line, t.Name.Local)
			}
			b.at = b.at.parent
		case xml.CharData:
			err = b.add(&node{kind: xpath.TextNode, text: string(t)})
		case xml.Comment:
			err = b.add(&node{kind: xpath.CommentNode, text: string(t)})
		}
		if err != nil {
			return nil, err
		}
	}
	if b.at != b.root {
		return nil, fmt.Errorf("<%s> is never closed", b.at.name)
	}
	return b.whole()
}

// void are HTML's elements without content.
var void = []string{"area", "base", "basefont", "br", "col", "embed", "frame", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"}

// endedBy maps elements that may lack an end tag to the elements whose start ends them.
var endedBy = func() map[string][]string {
	items, section := []string{"dt", "dd"}, []string{"tbody", "thead", "tfoot"}
	row := append([]string{"tr"}, section...)
	cell := append([]string{"td", "th"}, row...)
	return map[string][]string{
		"head": {"body"}, "li": {"li"}, "dt": items, "dd": items, "option": {"option", "optgroup"}, "optgroup": {"optgroup"},
		"td": cell, "th": cell, "tr": row, "tbody": section, "thead": section, "tfoot": section, "caption": row, "colgroup": row,
		"p": {"address", "article", "aside", "blockquote", "details", "div", "dl", "fieldset", "figure", "footer", "form", "h1", "h2", "h3", "h4",
			"h5", "h6", "header", "hr", "main", "menu", "nav", "ol", "p", "pre", "section", "table", "ul"},
	}
}()

// inside are the elements within which nothing ends the elements around them.
var inside = []string{"table", "ul", "ol", "menu", "dl", "select", "datalist", "button", "template", "object", "svg", "math"}

// end ends the open elements that an element cannot be in.
func (b *builder) end(name string) {
	for up := b.at; up != b.root && !slices.Contains(inside, up.name); up = up.parent {
		if slices.Contains(endedBy[up.name], name) {
			b.at = up.parent
		}
	}
}

// parseHTML reads tags as they are written: it adds no missing html, body or tbody.
// Names are in lower case.
func parseHTML(document []byte) (*node, error) {
	z := html.NewTokenizer(bytes.NewReader(document))
	b := newBuilder()
	for {
		var err error
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			if !errors.Is(z.Err(), io.EOF) {
				return nil, fmt.Errorf("it is neither XML nor HTML: %w", z.Err())
			}
			return b.whole()
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			b.end(t.Data)
			n := &node{kind: xpath.ElementNode}
			n.prefix, n.name = split(t.Data)
			for _, a := range t.Attr {
				prefix, name := split(a.Key)
				n.attrs = append(n.attrs, xml.Attr{Name: xml.Name{Space: prefix, Local: name}, Value: a.Val})
			}
			if err = b.add(n); kind == html.StartTagToken && !slices.Contains(void, t.Data) {
				b.at = n
			}
		case html.EndTagToken:
			prefix, name := split(z.Token().Data)
			for up := b.at; up != b.root; up = up.parent { // everything that is open within it ends with it
				if up.name == name && up.prefix == prefix {
					b.at = up.parent
					break
				}
			}
		case html.TextToken:
			err = b.add(&node{kind: xpath.TextNode, text: z.Token().Data})
		case html.CommentToken:
			err = b.add(&node{kind: xpath.CommentNode, text: z.Token().Data})
		}
		if err != nil {
			return nil, err
		}
	}
}

// split splits the prefix off a name.
func split(name string) (prefix, local string) {
	if prefix, local, ok := strings.Cut(name, ":"); ok {
		return prefix, local
	}
	return "", name
}
