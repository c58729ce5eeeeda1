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
get /orders/{order}: GET /api/orders/{order}  verbose:query:boolean:false X-Who:header:string:false c:cookie::false order:path:integer:true
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
		"openapi: 3.1.0\npaths: {/a: {get: {parameters: [{name: x, in: path}]}}}":           `no place for the parameter "x"`,
		"openapi: 3.1.0\npaths: {/a: {get: {operationId: x}}, /b: {get: {operationId: x}}}": `two operations have the name "x"`,
		"openapi: 3.1.0\npaths: {/a: {$ref: '#/paths/~1a'}}":                                `/a: "#/paths/~1a" leads nowhere`,
		"openapi: 3.1.0\npaths: {/a: {$ref: 'other.yaml#/a'}, /b: {get: {}}}":               `/a: "other.yaml#/a" leads nowhere in the document`,
		"openapi: 3.1.0\npaths: {/a: {get: {parameters: [{$ref: '#/components/none'}]}}}":   `GET /a: "#/components/none" leads nowhere`,
		"openapi: 3.1.0\npaths: {/b: 5, /c: {get: null}, /d: []}":                           "",
	} {
		if _, err := Operations([]byte(text)); want == "" && err != nil && !strings.Contains(err.Error(), "operations") ||
			want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

const gallery = `
openapi: 3.0.3
servers: [{url: "https://{host}/{base}/", variables: {host: {default: a.example}, base: {default: v2}}}]
paths:
  /find:
    get:
      operationId: find
      parameters:
        - {name: "page[size]", in: query, schema: {type: integer}}
        - {name: ids, in: query, explode: false, schema: {type: array}}
        - {name: near, in: query, style: deepObject, schema: {type: object}}
        - {name: tags, in: query, style: pipeDelimited, explode: false, schema: {type: array}}
        - {name: words, in: query, style: spaceDelimited, explode: false, schema: {type: array}}
        - {name: where, in: query, content: {application/json: {schema: {type: object}}}}
        - {name: Authorization, in: header, schema: {type: string}}
        - {name: who, in: cookie, schema: {type: string}}
  /upload:
    post:
      operationId: upload
      requestBody: {content: {multipart/form-data: {schema: {$ref: "#/components/schemas/Upload"}, encoding: {photo: {contentType: "image/png, image/jpeg"}}}}}
  /note:
    post:
      operationId: note
      requestBody: {required: true, content: {text/csv: {schema: {type: string, maxLength: 9}}, "image/*": {}}}
  /patch:
    patch:
      operationId: patch
      requestBody: {content: {application/merge-patch+json: {schema: {type: object, properties: {a: {type: integer}}}}}}
  /pet:
    post:
      operationId: pet
      requestBody: {content: {application/json: {schema: {$ref: "#/components/schemas/Pet"}}}}
      responses:
        "200":
          content: {application/json: {schema: {$ref: "#/components/schemas/Account"}}, text/csv: {}}
          headers: {X-Left: {required: true, schema: {type: integer}}, Content-Type: {schema: {type: string}}}
        default: {$ref: "#/components/responses/Problem"}
components:
  responses: {Problem: {description: no, content: {"application/problem+json; charset=utf-8": {}}}}
  schemas:
    Upload: {type: object, properties: {photo: {type: string, format: binary}, more: {type: array, items: {type: string, format: binary}}, note: {type: string}, id: {type: integer, readOnly: true}}}
    Pet: {oneOf: [{$ref: "#/components/schemas/Cat"}, {$ref: "#/components/schemas/Dog"}, {$ref: "#/components/schemas/Fish"}], discriminator: {propertyName: kind, mapping: {cat: "#/components/schemas/Cat", fish: Fish}}}
    Cat: {type: object, required: [kind], properties: {kind: {type: string}}}
    Dog: {type: object, properties: {kind: {type: string, enum: [hound]}}}
    Fish: {type: object, properties: {kind: {type: string}}}
    Account: {allOf: [{$ref: "#/components/schemas/Base"}, {type: object, required: [id, key, kind], properties: {kind: {type: string}, key: {type: string, writeOnly: true}, of: {$ref: "#/components/schemas/Account"}}}]}
    Base: {type: object, required: [id], properties: {id: {type: integer, readOnly: true}}}
    Unused: {type: string}
`

// How values are written, files, texts and types of bodies are read.
func TestRequests(t *testing.T) {
	list, err := Operations([]byte(gallery))
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, o := range list {
		fmt.Fprintf(&got, "%s %s %s %s", o.Name, o.Path, o.Headers, o.JSON)
		for _, a := range o.Arguments {
			fmt.Fprintf(&got, " %s:%s:%s", a.Name, a.In, a.Style)
		}
		fmt.Fprintf(&got, " %v\n", o.Files)
	}
	want := `find /v2/find []  page[size]:query: ids:query:commas near:query:deep tags:query:pipes words:query:spaces where:query:json who:cookie: []
note /v2/note [[Content-Type text/csv]] "{body}" body:body: []
patch /v2/patch [[Content-Type application/merge-patch+json]] {"a":"{a}"} a:body: []
pet /v2/pet [] "{body}" body:body: []
upload /v2/upload [[Content-Type multipart/form-data]] {"photo":"{photo}","more":"{more}","note":"{note}"} photo:body: more:body: note:body: [{photo file image/png} {more file }]
`
	if got.String() != want {
		t.Errorf("%s", got.String())
	}
}

// What is only read is not sent, what is only written is not answered, and what a
// discriminator says is said in JSON Schema. Only what is referred to is given along.
func TestSides(t *testing.T) {
	list, err := Operations([]byte(gallery))
	if err != nil {
		t.Fatal(err)
	}
	upload, pet := list[4], list[3]
	if text := string(upload.Schema); strings.Contains(text, `"id"`) {
		t.Errorf("sent: %s", text)
	}
	for _, want := range []string{
		`{"allOf":[{"$ref":"#/components/schemas/Cat"},{"properties":{"kind":{"enum":["cat"]}},"required":["kind"]}]}`,
		`{"$ref":"#/components/schemas/Dog"},{"allOf":[{"$ref":"#/components/schemas/Fish"},{"properties":{"kind":{"enum":["fish"]}}`,
	} {
		if !strings.Contains(string(pet.Schema), want) {
			t.Errorf("sent: %s", pet.Schema)
		}
	}
	answer := string(pet.Answers["200"])
	for _, want := range []string{`"key":false`, `"required":["id","kind"]`, `"id":{"type":"integer","readOnly":true}`} {
		if !strings.Contains(answer, want) {
			t.Errorf("answered: %s has no %s", answer, want)
		}
	}
	if strings.Contains(answer, "Unused") || strings.Contains(answer, "Cat") {
		t.Errorf("answered: %s", answer)
	}
	if got := fmt.Sprintf("%+v", pet.Frames); !strings.Contains(got, "200:{Types:[application/json text/csv] Headers:[{Name:X-Left Required:true Type:integer") ||
		!strings.Contains(got, "default:{Types:[application/problem+json] Headers:[]}") || strings.Contains(got, "Content-Type") {
		t.Errorf("%s", got)
	}
}
