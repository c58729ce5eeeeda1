package main

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// What the fixed agent does instead.

const (
	toolPatience  = 700 * time.Millisecond
	modelPatience = 2 * time.Second
	// mostRest is the longest it waits for a busy model.
	mostRest = time.Second
	apology  = "I am sorry, I could not get an answer right now. Please try again later."
)

// careful returns the usable part of a tool's result: an answer with the tool's fields only, or a
// plain statement that there is none.
func careful(name string, status int, text []byte, err error) string {
	unavailable := "the service " + name + " is not available right now."
	if err != nil || status != http.StatusOK {
		return unavailable
	}
	var known struct {
		City    string `json:"city,omitempty"`
		Sky     string `json:"sky,omitempty"`
		Degrees *int   `json:"degrees,omitempty"`
		Results []struct {
			Title string `json:"title"`
		} `json:"results,omitempty"`
	}
	if json.Unmarshal(text, &known) != nil || known.Degrees == nil && known.Results == nil {
		return unavailable
	}
	clean, err := json.Marshal(known) // drops everything else
	if err != nil {
		return unavailable
	}
	return string(clean)
}

// rest waits as long as a busy server requests, if that is not long; false means not to try again.
func rest(ctx context.Context, h http.Header) bool {
	wait := 100 * time.Millisecond
	if seconds, err := strconv.Atoi(h.Get("Retry-After")); err == nil {
		wait = time.Duration(seconds) * time.Second
	}
	if wait > mostRest {
		return false
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// presentable returns a model's answer, or an apology if it is unusable.
func presentable(text, reason string) string {
	strange := strings.ContainsFunc(text, func(r rune) bool {
		return r == unicode.ReplacementChar || unicode.IsControl(r) && r != '\n' && r != '\t'
	})
	if strings.TrimSpace(text) == "" || strange || reason == "length" {
		return apology
	}
	return text
}
