package agent

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/system/program"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
)

// reader converts an HTTP answer to a reply.
type reader struct {
	answer agentcall.Path
	chat   bool  // the answer must be a chat completion
	most   int64 // most bytes to read
}

// told is how many bytes of a body an error quotes.
const told = 500

func (rd *reader) reply(ctx context.Context, answer *http.Response, began time.Time, limit time.Duration) agentcall.Reply {
	r := agentcall.Reply{End: agentcall.Answered, Status: answer.StatusCode, ContentType: answer.Header.Get("Content-Type")}
	kind, params, err := mime.ParseMediaType(r.ContentType)
	if err != nil {
		kind = strings.TrimSpace(strings.ToLower(strings.Split(r.ContentType, ";")[0]))
	}
	if answer.StatusCode/100 != 2 {
		if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil && seconds > 0 {
			r.Wait = time.Duration(seconds) * time.Second
		}
		r.End = agentcall.Refused
		says := excerpt(answer.Body)
		if to := destination(answer); to != "" {
			says = "it redirects to " + to + ", and redirects are not followed"
		}
		r.Error = strings.TrimSuffix(fmt.Sprintf("HTTP %d: %s", answer.StatusCode, says), ": ")
		return r
	}
	if coding := answer.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return fail(r, agentcall.Malformed, "the reply is encoded as %s, which was not requested", coding)
	}
	switch kind {
	case "text/event-stream":
		return rd.stream(ctx, r, answer.Body, agentcall.Events, began, limit)
	case "application/x-ndjson", "application/ndjson", "application/jsonl", "application/json-lines", "application/stream+json":
		return rd.stream(ctx, r, answer.Body, agentcall.Lines, began, limit)
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, rd.most+1))
	r.First, r.Size = time.Since(began), int64(len(body))
	switch {
	case err != nil:
		f := failure(ctx, err, limit)
		r.End, r.Error, r.Text = f.End, f.Error, strings.ToValidUTF8(string(body), "�")
		return r
	case r.Size > rd.most:
		r.Text = strings.ToValidUTF8(string(body[:rd.most]), "�")
		return fail(r, agentcall.TooLarge, "the reply is larger than %d bytes", rd.most)
	}
	text, err := decode(body, params["charset"])
	if err != nil {
		r.Text = strings.ToValidUTF8(string(body), "�")
		return fail(r, agentcall.Malformed, "%v", err)
	}
	r.Text = text
	object := strings.HasPrefix(strings.TrimSpace(text), "{") && !rd.answer.Empty() // many Go servers send no JSON content type
	if isJSON(kind) || rd.chat || object {
		return rd.document(r)
	}
	if page(kind, text) {
		return fail(r, agentcall.Malformed, "the reply is a page of HTML, not an answer")
	}
	return r
}

// destination returns the target of a redirect, without scheme and host if these do not change; ""
// if the answer is not a redirect.
func destination(answer *http.Response) string {
	to, err := answer.Location()
	if err != nil || answer.StatusCode/100 != 3 {
		return ""
	}
	if to.Host == answer.Request.URL.Host {
		to.Scheme, to.Host = "", ""
	}
	return excerpt(strings.NewReader(to.Redacted()))
}

// isJSON reports whether a media type is JSON.
func isJSON(kind string) bool {
	return kind == "application/json" || kind == "text/json" || strings.HasSuffix(kind, "+json")
}

// page reports whether a reply is a document for a browser. Plain text sent as HTML, as small
// servers do, is not.
func page(kind, text string) bool {
	if kind != "text/html" && kind != "application/xhtml+xml" {
		return false
	}
	head := strings.ToLower(strings.TrimSpace(text[:min(len(text), 1024)]))
	return strings.HasPrefix(head, "<!doctype") || strings.HasPrefix(head, "<html") || strings.HasPrefix(head, "<?xml")
}

// document finds the answer in a JSON reply. A reply that claims to be JSON but is not stays as
// text.
func (rd *reader) document(r agentcall.Reply) agentcall.Reply {
	root, err := agentcall.ParseReply([]byte(r.Text))
	if err != nil {
		if rd.chat {
			return fail(r, agentcall.Malformed, "the reply is not JSON: %v", err)
		}
		return r
	}
	r.Value = agentcall.JSON(root)
	r.Tools, r.Tokens = agentcall.Observe(root)
	if complaint := agentcall.Complaint(root); complaint != "" {
		return fail(r, agentcall.Reported, "%s", complaint)
	}
	if !rd.chat {
		r.Text = agentcall.Extract(root, rd.answer)
		return r
	}
	text, ok := agentcall.ChatText(root)
	if !ok {
		return fail(r, agentcall.Malformed, "the reply is not a chat completion: it has no choices[0].message")
	}
	r.Text = text
	return r
}

// stream assembles as much of a streamed reply as arrives.
func (rd *reader) stream(ctx context.Context, r agentcall.Reply, body io.Reader, f agentcall.Framing, began time.Time, limit time.Duration) agentcall.Reply {
	path := rd.answer
	if rd.chat {
		path = agentcall.Path{}
	}
	s := agentcall.NewStream(f, path)
	var err error
	buf := make([]byte, 16<<10)
	for err == nil && !s.Done() && r.Size <= rd.most {
		var n int
		n, err = body.Read(buf)
		r.Size += int64(n)
		s.Write(buf[:n])
		if r.First == 0 && s.Chunks() > 0 {
			r.First = time.Since(began)
		}
	}
	if err == io.EOF {
		s.Close()
	}
	r.Text, r.Tools, r.Tokens, r.Chunks = s.Text(), s.Tools(), s.Tokens(), s.Chunks()
	switch {
	case s.Complaint() != "":
		return fail(r, agentcall.Reported, "%s", s.Complaint())
	case s.Done():
	case r.Size > rd.most:
		return fail(r, agentcall.TooLarge, "the reply is larger than %d bytes", rd.most)
	case err != io.EOF:
		e := failure(ctx, err, limit)
		return fail(r, e.End, "%s", e.Error)
	case s.Cut():
		return fail(r, agentcall.Cut, "the stream ended before its end marker")
	}
	return r
}

func fail(r agentcall.Reply, end agentcall.End, format string, args ...any) agentcall.Reply {
	r.End, r.Error = end, fmt.Sprintf(format, args...)
	return r
}

// decode decodes text in a charset; without one, as UTF-8 or what a byte order mark or the start of
// a JSON text indicates.
func decode(body []byte, charset string) (string, error) {
	if charset == "" || strings.EqualFold(charset, "utf-8") || strings.EqualFold(charset, "utf8") {
		switch {
		case bytes.HasPrefix(body, []byte{0xff, 0xfe}) || bytes.HasPrefix(body, []byte{0xfe, 0xff}):
			charset = "utf-16"
		case bytes.HasPrefix(body, []byte("{\x00")) || bytes.HasPrefix(body, []byte("[\x00")): // JSON reveals its encoding
			charset = "utf-16le"
		case bytes.HasPrefix(body, []byte("\x00{")) || bytes.HasPrefix(body, []byte("\x00[")):
			charset = "utf-16be"
		default:
			body = bytes.TrimPrefix(body, []byte("\ufeff"))
			if !utf8.Valid(body) {
				return "", errors.New("the reply is not UTF-8 and declares no other charset")
			}
			return string(body), nil
		}
	}
	if strings.EqualFold(charset, "utf-16") {
		text, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder().Bytes(body)
		return string(text), err
	}
	enc, err := htmlindex.Get(charset)
	if err != nil {
		return "", fmt.Errorf("the reply is in the unknown charset %q", charset)
	}
	text, err := enc.NewDecoder().Bytes(body)
	if err != nil {
		return "", fmt.Errorf("the reply is no %s: %w", charset, err)
	}
	return string(text), nil
}

// excerpt returns the beginning of a body for an error.
func excerpt(body io.Reader) string {
	// Whatever cannot be read is left out.
	head, _ := io.ReadAll(io.LimitReader(body, told))
	return strings.TrimSpace(strings.ToValidUTF8(string(head), "�"))
}

// failure returns the reply for a request without a complete answer. Its words do not depend on the
// machine or the moment.
func failure(ctx context.Context, err error, limit time.Duration) agentcall.Reply {
	var r agentcall.Reply
	var dns *net.DNSError
	var op *net.OpError
	var cert *tls.CertificateVerificationError
	var corrupt flate.CorruptInputError
	switch {
	case ctx.Err() != nil, errors.Is(err, context.DeadlineExceeded):
		return fail(r, agentcall.TimedOut, "no whole reply within %s", limit)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fail(r, agentcall.Unreachable, "the connection was refused")
	case errors.As(err, &dns):
		return fail(r, agentcall.Unreachable, "the host %s cannot be resolved", dns.Name)
	case errors.As(err, &cert):
		return fail(r, agentcall.Unreachable, "the certificate is not trusted: %v", cert.Err)
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fail(r, agentcall.Cut, "the connection ended before the reply did")
	case errors.As(err, &op) && op.Op != "dial" && op.Op != "proxyconnect":
		return fail(r, agentcall.Cut, "the connection failed: %v", op.Err)
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.As(err, &corrupt):
		return fail(r, agentcall.Malformed, "the reply is declared as gzip but is not")
	case strings.Contains(err.Error(), "response header"): // the only sign that the headers are too large
		return fail(r, agentcall.TooLarge, "the headers of the reply are larger than %d bytes", maxHeaders)
	case strings.Contains(err.Error(), "malformed") || strings.Contains(err.Error(), "invalid header"):
		return fail(r, agentcall.Malformed, "the reply is not HTTP: %v", program.Plain(err))
	}
	return fail(r, agentcall.Unreachable, "%v", program.Plain(err))
}
