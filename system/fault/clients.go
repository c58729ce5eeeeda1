package fault

import (
	"crypto/sha1"
	"embed"
	"encoding/binary"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf16"
)

// Clients that ignore HTTP_PROXY or SSL_CERT_FILE are redirected by code that their runtime loads
// into every program: a script for Node, a module for Python's aiohttp, properties and a key store
// for Java. The first two also put shims around the MCP servers that their SDKs start.
//
//go:embed client
var clients embed.FS

const (
	authorityFile = "ca.pem"
	nodeFile      = "node.cjs"
	javaFile      = "ca.jks"
	pythonDir     = "python"
	javaPassword  = "changeit" // Java's default; the store holds no secret
)

// writeClients writes the certificates to trust and the clients' files into a folder.
func writeClients(dir string, bundle []byte) error {
	files := map[string][]byte{authorityFile: bundle, javaFile: keyStore(bundle)}
	for _, name := range []string{nodeFile, "sitecustomize.py", "thresh_clients.py"} {
		text, err := clients.ReadFile("client/" + name)
		if err != nil {
			return fmt.Errorf("read what clients load: %w", err)
		}
		if filepath.Ext(name) == ".py" {
			name = filepath.Join(pythonDir, name)
		}
		files[name] = text
	}
	if err := os.Mkdir(filepath.Join(dir, pythonDir), 0o755); err != nil {
		return fmt.Errorf("make a folder for what Python loads: %w", err)
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return fmt.Errorf("write what clients load: %w", err)
		}
	}
	return nil
}

// environment returns the variables that a process needs to call through a proxy. given are its
// variables beyond those of Thresh; what it is already configured to load is kept. token names the
// cell.
func (d *agentPort) environment(proxy, token string, given []string) []string {
	dir := d.proxy.dir.Path
	var env []string
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		env = append(env, name+"="+proxy, strings.ToLower(name)+"="+proxy)
	}
	env = append(env, "NO_PROXY=", "no_proxy=", "NODE_USE_ENV_PROXY=1", "GLOBAL_AGENT_HTTP_PROXY="+proxy, "GLOBAL_AGENT_HTTPS_PROXY="+proxy)
	for _, name := range []string{
		"SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "DENO_CERT", "GIT_SSL_CAINFO",
		"AWS_CA_BUNDLE", "PIP_CERT", "HTTPLIB2_CA_CERTS", "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
	} {
		env = append(env, name+"="+filepath.Join(dir, authorityFile))
	}
	first := func(name, value, sep string) {
		if old := lookup(given, name); old != "" {
			value += sep + old
		}
		env = append(env, name+"="+value)
	}
	first("NODE_OPTIONS", `--require="`+filepath.Join(dir, nodeFile)+`"`, " ")
	first("PYTHONPATH", filepath.Join(dir, pythonDir), string(filepath.ListSeparator))
	first("JAVA_TOOL_OPTIONS", javaOptions(proxy, dir), " ")
	if len(d.proxy.shim) > 0 {
		argv, _ := json.Marshal(d.before("mcp", token)) // a list of strings cannot fail
		env = append(env, "THRESH_MCP_SHIM="+string(argv))
	}
	return env
}

// lookup returns a variable of a process that also inherits Thresh's environment.
func lookup(given []string, name string) string {
	for i := len(given) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(given[i], name+"="); ok {
			return value
		}
	}
	return os.Getenv(name)
}

// javaOptions returns the properties that make Java use the proxy for every host, including this
// machine's own addresses. Java has no property for the proxy's user, so a call belongs to the only
// open cell.
func javaOptions(proxy, dir string) string {
	u, err := url.Parse(proxy)
	if err != nil {
		return ""
	}
	var list []string
	for _, scheme := range []string{"http", "https"} {
		list = append(list, "-D"+scheme+".proxyHost="+u.Hostname(), "-D"+scheme+".proxyPort="+u.Port())
	}
	return strings.Join(append(list, "-Dhttp.nonProxyHosts=", "-Djavax.net.ssl.trustStore="+filepath.Join(dir, javaFile),
		"-Djavax.net.ssl.trustStorePassword="+javaPassword), " ")
}

// keyStore converts a bundle of PEM certificates to Java's own format, JKS: the number of entries,
// an entry for each trusted certificate, and a digest of everything.
func keyStore(bundle []byte) []byte {
	order := binary.BigEndian
	text := func(b []byte, s string) []byte { return append(order.AppendUint16(b, uint16(len(s))), s...) }
	var entries []byte
	n := uint32(0)
	for block, rest := pem.Decode(bundle); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		n++
		entries = order.AppendUint32(entries, 2) // a trusted certificate
		entries = text(entries, fmt.Sprintf("ca%d", n))
		entries = order.AppendUint64(entries, 0) // creation time
		entries = text(entries, "X.509")
		entries = append(order.AppendUint32(entries, uint32(len(block.Bytes))), block.Bytes...)
	}
	store := order.AppendUint32(nil, 0xfeedfeed)
	store = order.AppendUint32(store, 2) // version
	store = append(order.AppendUint32(store, n), entries...)
	digest := sha1.New()
	for _, c := range utf16.Encode([]rune(javaPassword)) {
		digest.Write(order.AppendUint16(nil, c))
	}
	digest.Write([]byte("Mighty Aphrodite")) // required by the format
	digest.Write(store)
	return digest.Sum(store)
}
