package record

import (
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/thresh-dev/thresh/engine/jsontree"
)

// asYAML is JSON as YAML that is read as the same: an integer stays one, and a
// number with a fraction of zero as well. Text that is no JSON is a string.
func asYAML(text string) *yaml.Node {
	d, err := jsontree.Parse([]byte(text), jsontree.Options{LoneSurrogates: true})
	if err != nil {
		return quoted(text)
	}
	return node(&d.Root)
}

func node(n *jsontree.Node) *yaml.Node {
	scalar := func(tag, text string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: text} }
	switch n.Kind {
	case jsontree.Null:
		return scalar("!!null", "null")
	case jsontree.Bool:
		if n.Bool {
			return scalar("!!bool", "true")
		}
		return scalar("!!bool", "false")
	case jsontree.Int:
		return scalar("!!int", n.Text)
	case jsontree.Float:
		text := n.Text
		if mantissa, exponent, ok := strings.Cut(text, "e"); ok && !strings.Contains(mantissa, ".") {
			text = mantissa + ".0e" + exponent // no number in YAML 1.1 without the point
		}
		return scalar("!!float", text)
	case jsontree.Array:
		list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		if len(n.Items) == 0 {
			list.Style = yaml.FlowStyle
		}
		for i := range n.Items {
			list.Content = append(list.Content, node(&n.Items[i]))
		}
		return list
	case jsontree.Object:
		m := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		if len(n.Members) == 0 {
			m.Style = yaml.FlowStyle
		}
		for i := range n.Members {
			m.Content = append(m.Content, quoted(n.Members[i].Key), node(&n.Members[i].Value))
		}
		return m
	}
	return quoted(n.Text)
}

// plainText is what every version of YAML takes for a string without quotes;
// words for true, false and null are none.
var (
	plainText = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_./-]*( [A-Za-z0-9_./-]+)*$`)
	otherWord = regexp.MustCompile(`^(?i:y|n|yes|no|on|off|true|false|null)$`)
)

func quoted(text string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(text) // in lines, if it has some
	if n.Style == 0 && n.Tag == "!!str" && (!plainText.MatchString(text) || otherWord.MatchString(text)) {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}
