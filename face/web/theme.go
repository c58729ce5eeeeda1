package web

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// themes lists the colour themes of pages; auto follows the system.
var themes = []string{"auto", "light", "dark"}

// themeCookie keeps a browser's choice. Unlike what scripts can store, a cookie is available before
// the page is drawn, so that nothing flashes, and holds for every port that pages are served on.
const themeCookie = "thresh-theme"

func themeOf(r *http.Request) string {
	if c, err := r.Cookie(themeCookie); err == nil && slices.Contains(themes, c.Value) {
		return c.Value
	}
	return themes[0]
}

// chooseTheme stores a choice and returns to the page where it was made.
func (s *Server) chooseTheme(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, 16<<10)
	theme := r.PostFormValue("theme")
	if err := oneOf("theme", theme, themes...); err != nil {
		return err
	}
	http.SetCookie(w, &http.Cookie{
		Name: themeCookie, Value: theme, Path: "/", MaxAge: int((365 * 24 * time.Hour).Seconds()),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil,
	})
	back, err := url.Parse(r.PostFormValue("back"))
	if err != nil {
		back = &url.URL{}
	}
	http.Redirect(w, r, localPath(back.Path, back.RawQuery), http.StatusSeeOther)
	return nil
}

// localPath returns an address on this server. It begins with exactly one slash, so that it cannot
// name another host.
func localPath(path, query string) string {
	to := url.URL{Path: "/" + strings.TrimLeft(path, "/\\"), RawQuery: query}
	return to.String()
}
