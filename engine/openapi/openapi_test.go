package openapi

import (
	"fmt"
	"strings"
	"testing"
)

const shop = `
openapi: 3.0.3
servers: [{url: "https://shop.example/api/"}]
paths:
  /orders/{order}:
    parameters:
      - {$ref: "#/components/parameters/Order"}
    get:
      summary: Look at an order
      parameters: [{name: verbose, in: query, schema: {type: boolean}}, {name: X-Who, in: header, schema: {type: string}}, {name: c, in: cookie}]
    put:
      operationId: change
      requestBody:
        required: true
        content:
          text/plain: {}
          application/json: {schema: {$ref: "#/components/schemas/Order"}}
  /bulk:
    post:
      operationId: bulk
      requestBody: {content: {application/json: {schema: {type: array}}}}
  /sign:
    post:
      operationId: sign
      requestBody: {content: {application/x-www-form-urlencoded: {schema: {type: object, required: [name], properties: {name: {type: string, maxLength: 9}, tags: {type: array}}}}}}
components:
  parameters:
    Order: {name: order, in: path, required: true, schema: {type: [integer, "null"]}}
  schemas:
    Order: {type: object, required: [amount], properties: {amount: {type: integer}, note: {$ref: "#/components/schemas/Text"}}}
    Text: {type: string}
`

func TestOperations(t *testing.T) {
	list, err := Operations([]byte(shop))
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, o := range list {
		fmt.Fprintf(&got, "%s: %s %s %s", o.Name, o.Method, o.Path, o.JSON)
		for _, h := range o.Headers {
			if h[0] == "Content-Type" {
				fmt.Fprintf(&got, " %s", h)
			}
		}
		for _, a := range o.Arguments {
			fmt.Fprintf(&got, " %s:%s:%s:%t", a.Name, a.In, a.Type, a.Required)
		}
		fmt.Fprintln(&got)
	}
	want := `bulk: POST /api/bulk "{body}" body:body:array:false
change: PUT /api/orders/{order} {"amount":"{amount}","note":"{note}"} order:path:integer:true amount:body:integer:true note:body:string:false
get /orders/{order}: GET /api/orders/{order}  verbose:query:boolean:false X-Who:header:string:false order:path:integer:true
sign: POST /api/sign {"name":"{name}","tags":"{tags}"} [Content-Type application/x-www-form-urlencoded] name:body:string:true tags:body:array:false
`
	if list[3].Schema == nil || !strings.Contains(string(list[3].Schema), `"maxLength"`) {
		t.Errorf("the schema of a form: %s", list[3].Schema)
	}
	if strings.ReplaceAll(got.String(), `": "`, `":"`) != want && got.String() != want {
		t.Errorf("%s", got.String())
	}
}

func TestWhatIsNone(t *testing.T) {
	for text, want := range map[string]string{
		"[":                         "neither JSON nor YAML",
		"swagger: '2.0'":            "no OpenAPI document of version 3",
		"openapi: 3.1.0":            "has no paths",
		"openapi: 3.1.0\npaths: {}": "has no operations",
		"openapi: 3.1.0\npaths: {/a: {get: {parameters: [{name: x, in: path}]}}}":              `no place for the parameter "x"`,
		"openapi: 3.1.0\npaths: {/a: {get: {operationId: x}}, /b: {get: {operationId: x}}}":    `two operations have the name "x"`,
		"openapi: 3.1.0\npaths: {/a: {$ref: '#/paths/~1a'}}":                                   "has no operations",
		"openapi: 3.1.0\npaths: {/a: {$ref: 'other.yaml#/a'}, /b: 5, /c: {get: null}, /d: []}": "",
	} {
		if _, err := Operations([]byte(text)); want == "" && err != nil && !strings.Contains(err.Error(), "operations") ||
			want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
