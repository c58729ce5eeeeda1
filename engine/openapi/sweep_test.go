package openapi

import (
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/golden"
)

// What is read of descriptions, with every character missing or another one, and in what
// words they are refused.
func TestEverySmallChange(t *testing.T) {
	texts := []string{
		`{"swagger": "2.0", "host": "h.example", "basePath": "/v1", "schemes": ["https"], "consumes": ["application/json"], "securityDefinitions": {"k": {"type": "apiKey", "in": "query", "name": "key"}}, "paths": {"/a/{id}": {"get": {"operationId": "a", "parameters": [{"name": "id", "in": "path", "type": "string", "required": true}, {"name": "b", "in": "body", "schema": {"type": "object", "properties": {"x": {"type": "integer"}}}}]}}}}`,
		"openapi: 3.1.0\nsecurity: [{t: []}]\ncomponents:\n  securitySchemes: {t: {type: http, scheme: bearer}, b: {type: http, scheme: basic}, k: {type: apiKey, in: header, name: X-Key}, c: {type: apiKey, in: cookie, name: sid}, o: {type: oauth2}}\npaths:\n  /x: {delete: {security: [{k: []}, {}], responses: {}}, head: {}, patch: {requestBody: {content: {multipart/form-data: {schema: {type: object}}}}}}\n",
	}
	golden.Sweep(t, "descriptions", golden.Changed("", texts...), func(text string) string {
		var b strings.Builder
		list, err := Operations([]byte(text), nil)
		fmt.Fprint(&b, err)
		for _, o := range list {
			fmt.Fprintf(&b, "%+v", o)
		}
		headers, query := Credentials([]byte(text), "P_")
		fmt.Fprint(&b, headers, query)
		return b.String()
	})
}
