package world

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
)

// or starts the parts without an address and fills in their addresses.
func (a Addresses) or(start func() (Addresses, func(), error)) (Addresses, error) {
	if a.LLM != "" && a.Weather != "" && a.Search != "" && a.Warehouse != "" {
		return a, nil
	}
	own, _, err := start()
	if err != nil {
		return a, err
	}
	for _, f := range []struct{ given, own *string }{{&a.LLM, &own.LLM}, {&a.Weather, &own.Weather}, {&a.Search, &own.Search}, {&a.Warehouse, &own.Warehouse}} {
		if *f.given == "" {
			*f.given = *f.own
		}
	}
	return a, nil
}

// Environ returns the addresses in LLM_URL, WEATHER_URL, SEARCH_URL and WAREHOUSE_URL; it starts
// the missing parts in this process.
func Environ() (Addresses, error) {
	return Addresses{os.Getenv("LLM_URL"), os.Getenv("WEATHER_URL"), os.Getenv("SEARCH_URL"), os.Getenv("WAREHOUSE_URL")}.or(Start)
}

// Transport returns a transport that uses the proxy in HTTP_PROXY or HTTPS_PROXY even for servers
// on this machine, which Go exempts by default.
func Transport() *http.Transport {
	return &http.Transport{Proxy: func(r *http.Request) (*url.URL, error) {
		proxy := os.Getenv("HTTP_PROXY")
		if r.URL.Scheme == "https" {
			proxy = os.Getenv("HTTPS_PROXY")
		}
		if proxy == "" {
			return nil, nil
		}
		return url.Parse(proxy)
	}}
}

// Serve runs an agent on the port in PORT, or on a free one.
func Serve(h http.Handler) error {
	port := os.Getenv("PORT")
	if port == "" {
		port = "0"
	}
	l, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		return fmt.Errorf("start the agent: %w", err)
	}
	fmt.Println("listening on http://" + l.Addr().String())
	return http.Serve(l, h)
}
