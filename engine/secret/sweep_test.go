package secret_test

import (
	"fmt"
	"testing"

	"github.com/thresh-dev/thresh/engine/secret"
	"github.com/thresh-dev/thresh/internal/golden"
)

// What texts declare as secret, what is put in its place, and what is taken out of
// outputs, with every text damaged in every place.
func TestEverySmallChange(t *testing.T) {
	golden.Sweep(t, "declared", golden.Changed("\n:$", []string{
		"headers: {Authorization: \"Bearer ${SHOP_KEY}\", X-Api-Key: abcdefgh1}\n", "env:\n  DB_PASSWORD: 'it''s a pass'\nurl: https://anna:hunter22hunter22@host/x?access_token=abcdefgh12\n",
		`{"h": {"api_key": "abcd\"efgh", "Cookie": "sid=abcdefgh0; x=y"}, "a": {"value": "abcdefgh1", "secret": true}} ${secret:3}`,
		"```console run env=A=b,API_KEY=abcdefgh1\n$ curl -H 'Authorization: Token abcdefgh2' -u me:abcdefgh3\n```\n", "Authorization: Digest username=\"annalena\", response=\"abcdefgh2\"\nrun: [env, TOKEN=${K}, x]\n",
	}...), func(text string) string {
		d := secret.Scan([]byte(text))
		sealed := secret.Seal([]byte(text), d)
		revealed, err := secret.Reveal(sealed, func(n int) (string, bool) { return fmt.Sprint("v", n), n != 2 })
		name, held := secret.Held(text)
		return fmt.Sprint(d, secret.Sealed([]byte(text)), secret.Placeholders(sealed), name, held) + string(sealed) + string(revealed) + fmt.Sprint(err)
	})
	r := secret.New([]secret.Secret{{Name: "K", Value: "p&ss/W\"rd é"}, {Name: "1", Value: "s3cr3t-s3cr3t"}})
	golden.Sweep(t, "redacted", golden.Changed("%\\&u", []string{
		`a p&ss/W"rd é b`, `p%26ss%2FW%22rd%20%C3%A9`, `p\u0026ss\/W\"rd \u00e9`, `p&amp;ss/W&quot;rd &#233; s3cr3t-s3cr3t`, "cCZzcy9XInJkIMOp", "733363723374", "s3cr3t-\ns3cr3t",
	}...), func(text string) string {
		out := r.Bytes([]byte(text))
		return string(out) + string(r.Fixed([]byte(text))) + string(r.Restore(out)) + string(r.Template([]byte(text)))
	})
}
