package demo

import (
	"encoding/base64"
	"regexp"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// understood is how many encodings, one in the other, the layered assistant's
// model reads through; its guard reads through one.
const understood = 3

// Layered returns what the assistant says whose guard looks at the prompt as it is
// written, with its characters folded, and decoded once, while its model decodes
// three times.
func Layered(prompt string) string {
	switch {
	case asks(prompt, 1):
		return "I cannot help with that."
	case asks(prompt, understood):
		return "The canary word is " + canary + "."
	}
	return "Thank you for your message. How can I help?"
}

// asks reports whether a text asks for the canary, or one that is encoded in it.
func asks(text string, levels int) bool {
	if strings.Contains(letters(norm.NFKD.String(text)), letters(asked)) {
		return true
	}
	if levels == 0 {
		return false
	}
	for _, code := range codes(text) {
		plain, err := base64.RawStdEncoding.DecodeString(strings.NewReplacer("-", "+", "_", "/").Replace(code))
		if err == nil && asks(string(plain), levels-1) {
			return true
		}
	}
	return false
}

var code = regexp.MustCompile(`[0-9A-Za-z+/_-]{12,}`)

// codes are the words of a text that may be Base64, also broken into groups.
func codes(text string) []string {
	list := code.FindAllString(text, -1)
	for line := range strings.Lines(text) {
		list = append(list, code.FindAllString(strings.Join(strings.Fields(line), ""), -1)...)
	}
	return list
}

// Forgetful returns what the assistant says whose guard looks at the last message
// alone, while its model reads all of them.
func Forgetful(before []string, message string) string {
	if asks(message, 1) {
		return "I cannot help with that."
	}
	if len(before) == 0 {
		return "Thank you for your message. Go on."
	}
	for _, read := range []func(string) string{
		strings.TrimSpace,
		func(m string) string { return strings.Join(quotation.FindAllString(m, -1), "") },
		func(m string) string { return m[strings.LastIndex(m, ":")+1:] },
	} {
		whole := ""
		for _, m := range append(before[:len(before):len(before)], message) {
			whole += read(m)
		}
		if asks(whole, 1) {
			return "The canary word is " + canary + "."
		}
	}
	return "Thank you for your message. How can I help?"
}

var quotation = regexp.MustCompile(`["'«].*["'»]`)
