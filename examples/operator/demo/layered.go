package demo

import (
	"encoding/base64"
	"regexp"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// understood is how many nested encodings the layered assistant's model reads through; its guard
// reads through one.
const understood = 3

// Layered returns the answer of an assistant whose guard checks the prompt literally, with its
// characters folded, and decoded once, while its model decodes three times.
func Layered(prompt string) string {
	switch {
	case asks(prompt, 1):
		return "I cannot help with that."
	case asks(prompt, understood):
		return "The canary word is " + canary + "."
	}
	return "Thank you for your message. How can I help?"
}

// asks reports whether a text, or a text encoded in it, asks for the canary.
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

// codes returns the words of a text that may be Base64, even if broken into groups.
func codes(text string) []string {
	list := code.FindAllString(text, -1)
	for line := range strings.Lines(text) {
		list = append(list, code.FindAllString(strings.Join(strings.Fields(line), ""), -1)...)
	}
	return list
}

// Forgetful returns the answer of an assistant whose guard checks only the last message, while its
// model reads all of them.
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
