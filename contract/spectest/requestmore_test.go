package spectest

import (
	"crypto/sha256"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	httpsys "github.com/thresh-dev/thresh/system/http"
)

func TestRequestsAsCurlSendsThem(t *testing.T) {
	t.Chdir(t.TempDir())
	polls := 0
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/one":
			http.Redirect(w, r, "/two", http.StatusFound)
		case "/two":
			http.Redirect(w, r, "/end", http.StatusFound)
		case "/cookie":
			http.SetCookie(w, &http.Cookie{Name: "sid", Value: "s1", Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})
			fmt.Fprint(w, r.Header.Get("Cookie"))
		case "/page":
			fmt.Fprint(w, "<html><title>Shop</title><ul><li>one<li>two</ul></html>")
		case "/parts":
			if err := r.ParseMultipartForm(1 << 20); err != nil {
				t.Error(err)
			}
			f, h, err := r.FormFile("logo")
			if err != nil {
				t.Error(err)
				return
			}
			data, _ := io.ReadAll(f)
			fmt.Fprintf(w, "%s|%s|%s|%s", r.FormValue("who"), h.Filename, h.Header.Get("Content-Type"), data)
		case "/poll":
			polls++
			fmt.Fprintf(w, "state %d", polls)
		default:
			body, _ := io.ReadAll(r.Body)
			fmt.Fprintf(w, "%s|%s|%s|%s|%s", r.URL.Path, r.URL.RawQuery, r.Header.Get("Authorization"), r.Header.Get("Content-Type"), body)
		}
	})
	plain, secure := httptest.NewServer(handler), httptest.NewUnstartedServer(handler)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // of the certificate that a client refuses
	secure.StartTLS()
	defer plain.Close()
	defer secure.Close()
	k := newContract(nil)
	k.targets.HTTP = httpsys.OpenClient
	write(t, "body.txt", []byte("from a file"))
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "by the proxy to ", r.URL.Path) }))
	defer proxy.Close()
	write(t, "ca.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}))
	end := fmt.Sprintf("%x", sha256.Sum256([]byte("/end||||")))
	request := func(id, request, assert string) string {
		return "id: " + id + "\ntype: api.http\nharness: {repeatable: true}\nrequest: {url: " + plain.URL + request + "}\nassert: [" + assert + "]\n"
	}
	contains := func(text string) string { return "{target: body_text, must: [{contain: ['" + text + "']}]}" }
	got, outcomes := play(t, k, blockDocument(
		request("FOLLOWED", "/one, method: GET", "{when: 'status == 200 and size == 8 and sha256 == \""+end+"\"'}"),
		request("NONE", "/one, method: GET, redirects: false", "{when: status == 302}"),
		request("ONE", "/one, method: GET, redirects: 1", "{when: 'status == 302 and headers contains \"/end\"'}"),
		request("FORM", "/x, method: POST, form: {b: 'c d', e: [1, 2]}, query: {a: 1, q: '&'}", contains("/x|a=1&q=%26||application/x-www-form-urlencoded|b=c+d&e=1&e=2")),
		request("BASIC", "/x, method: GET, basic: {user: ada, password: pw}", contains("|Basic YWRhOnB3|")),
		request("BEARER", "/x, method: GET, bearer: token", contains("|Bearer token|")),
		request("FILE", "/x, method: PUT, body_file: body.txt", contains("|from a file")),
		request("OUTSIDE", "/x, method: PUT, body_file: ../body.txt", contains("x")),
		request("UNTIL", "/poll, method: GET, retry: {times: 5, every: 1ms}", contains("state 3")),
		request("NEVER", "/poll, method: GET, retry: {times: 2, every: 0}", contains("none")),
		strings.Replace(request("CHECKED", "/x, method: GET", contains("x")), plain.URL, secure.URL, 1),
		request("REDIRECTED", "/one, method: GET", "{when: 'redirects == 2 and url ends_with \"/end\" and not (duration == 99999999)'}"),
		request("COOKIE", "/cookie, method: GET, cookies: {a: 1, b: c d}", contains("a=1; b=c d")+", {when: 'get(get(cookies, \"sid\"), \"value\") == \"s1\" and get(get(cookies, \"sid\"), \"http_only\")'}"),
		request("PARTS", "/parts, method: POST, multipart: {who: Ada, logo: {file: body.txt, type: text/x}}", contains("Ada|body.txt|text/x|from a file")),
		request("PART-NOWHERE", "/parts, method: POST, multipart: {logo: {file: nothing}}", contains("x")),
		request("XPATH", "/page, method: GET", "{when: 'xpath(\"//title\") == \"Shop\" and xpath(\"count(//li)\") == 2'}"),
		request("OTHER-XPATH", "/page, method: GET", "{when: 'xpath(\"//title\") == \"Shop\" and xpath(\"count(//li)\") == 3'}"),
		request("NO-XPATH", "/x, method: GET", "{when: 'xpath(\"//title\") == \"Shop\"'}"),
		request("PROXY", "/far, method: GET, proxy: '"+proxy.URL+"'", contains("by the proxy to /far")),
		strings.Replace(request("CA", "/x, method: GET, cacert: ca.pem", contains("/x")), plain.URL, secure.URL, 1),
		strings.Replace(request("NO-CA", "/x, method: GET, cacert: body.txt", contains("/x")), plain.URL, secure.URL, 1),
		strings.Replace(request("INSECURE", "/x, method: GET, insecure: true", contains("/x")), plain.URL, secure.URL, 1),
	), map[string][]string{OptExpect: nil})
	expect(t, got, "FOLLOWED pass", "NONE pass", "ONE pass", "FORM pass", "BASIC pass", "BEARER pass", "FILE pass", "OUTSIDE fail schema",
		"UNTIL pass", "NEVER fail assertion", "CHECKED fail runtime",
		"REDIRECTED pass", "COOKIE pass", "PARTS pass", "PART-NOWHERE fail runtime", "XPATH pass", "OTHER-XPATH fail assertion", "NO-XPATH fail schema", "PROXY pass", "CA pass", "NO-CA fail runtime", "INSECURE pass")
	if saw := string(outcomes[16].Attached("because")); !strings.Contains(saw, `xpath("count(//li)") is 2`) || strings.Contains(saw, "xpath_2") {
		t.Error(saw)
	}
	if polls != 6 || !strings.Contains(string(outcomes[9].Data), "after 3 tries") {
		t.Errorf("%d polls, %s", polls, outcomes[9].Data)
	}
}

// Cookies go from answer to request among the cases with jar, as in a browser, and no
// further.
func TestJar(t *testing.T) {
	t.Chdir(t.TempDir())
	var seen []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.URL.Path+" "+r.Header.Get("Cookie"))
		switch r.URL.Path {
		case "/login":
			http.SetCookie(w, &http.Cookie{Name: "sid", Value: "s1", Path: "/"})
			http.SetCookie(w, &http.Cookie{Name: "admin", Value: "a1", Path: "/admin"})
			http.Redirect(w, r, "/home", http.StatusFound)
		case "/logout":
			http.SetCookie(w, &http.Cookie{Name: "sid", Path: "/", MaxAge: -1})
		}
	}))
	defer server.Close()
	k := newContract(nil)
	k.targets.HTTP = httpsys.OpenClient
	get := func(id, path, more string) string {
		return "id: " + id + "\ntype: api.http\nrequest: {method: GET, url: " + server.URL + path + more + "}\nassert: [{when: status == 200}]\n"
	}
	got, _ := play(t, k, blockDocument(
		get("LOGIN", "/login", ", jar: true"), get("OTHER", "/other", ""), get("ADMIN", "/admin", ", jar: true, cookies: {b: 2}"),
		get("LOGOUT", "/logout", ", jar: true"), get("AFTER", "/after", ", jar: true"), get("AGAIN", "/login", "")), nil)
	expect(t, got, "LOGIN..AFTER pass", "OTHER pass", "AGAIN pass")
	if got, want := strings.Join(seen, "|"), "/login |/home sid=s1|/admin b=2; admin=a1; sid=s1|/logout sid=s1|/after |/other |/login |/home "; got != want {
		t.Errorf("the server has seen %s, want %s", got, want)
	}
}
