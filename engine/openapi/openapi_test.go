package openapi

import (
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/port/sut"
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
	list, err := Operations([]byte(shop), nil)
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
		"swagger: '2.0'":            "not an OpenAPI document of version 3",
		"openapi: 3.1.0":            "has no paths",
		"openapi: 3.1.0\npaths: {}": "has no operations",
		"openapi: 3.1.0\npaths: {/a: {get: {parameters: [{name: x, in: path}]}}}":           `no place for the parameter "x"`,
		"openapi: 3.1.0\npaths: {/a: {get: {operationId: x}}, /b: {get: {operationId: x}}}": `two operations have the name "x"`,
		"openapi: 3.1.0\npaths: {/a: {$ref: '#/paths/~1a'}}":                                `/a: "#/paths/~1a" points to nothing`,
		"openapi: 3.1.0\npaths: {/a: {$ref: 'other.yaml#/a'}, /b: {get: {}}}":               `/a: "other.yaml#/a" points to nothing in the document`,
		"openapi: 3.1.0\npaths: {/a: {post: {requestBody: {$ref: 'other.yaml#/a'}}}}":       `POST /a: "other.yaml#/a" points to nothing in the document, and no other file is read`,
		"openapi: 3.1.0\npaths: {/a: {get: {parameters: [{$ref: '#/components/none'}]}}}":   `GET /a: "#/components/none" points to nothing`,
		"openapi: 3.1.0\npaths: {/b: 5, /c: {get: null}, /d: []}":                           "",
	} {
		if _, err := Operations([]byte(text), nil); want == "" && err != nil && !strings.Contains(err.Error(), "operations") ||
			want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// An answer that is in another file is reported; it differs from one without a schema.
func TestAnswersElsewhere(t *testing.T) {
	ops, err := Operations([]byte("openapi: 3.1.0\npaths: {/a: {get: {responses: {'200': {$ref: 'other.yaml'}, '404': {description: none}}}}}"), nil)
	if err != nil || !strings.Contains(string(ops[0].Answers["200"]), "other.yaml") || string(ops[0].Answers["404"]) != "null" {
		t.Errorf("%s, %v", ops[0].Answers, err)
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
  /zone/{p}/{q}/{r}:
    get: {operationId: zone, parameters: [{name: p, in: path, required: true, style: label, explode: true, schema: {type: array}},
      {name: q, in: path, required: true, style: matrix, schema: {type: array}}, {name: r, in: path, required: true, style: simple, schema: {type: array}}]}
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
	list, err := Operations([]byte(gallery), nil)
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
zone /v2/zone/{p}/{q}/{r} []  p:path:label* q:path:matrix r:path: []
`
	if got.String() != want {
		t.Errorf("%s", got.String())
	}
}

// What is only read is not sent, what is only written is not answered, and what a
// discriminator says is said in JSON Schema. Only what is referred to is given along.
func TestSides(t *testing.T) {
	list, err := Operations([]byte(gallery), nil)
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

// Links lead to operations by their names or places; what is no expression of a call stays
// to the schema.
func TestLinks(t *testing.T) {
	list, err := Operations([]byte(`
openapi: 3.1.0
paths:
  /orders:
    post:
      operationId: order
      responses:
        "201": {links: {look: {$ref: "#/components/links/Look"}, pay: {operationRef: "#/paths/~1orders~1{id}~1pay/post", parameters: {path.id: $response.header.X-Id}, requestBody: $request.body},
          none: {operationId: look, parameters: {id: 7}}, far: {operationRef: "https://example/api#/paths/~1x/get", parameters: {id: $url}}}}
  /orders/{id}:
    get: {operationId: look, parameters: [{name: id, in: path, required: true}]}
  /orders/{id}/pay:
    post: {parameters: [{name: id, in: path, required: true}]}
components: {links: {Look: {operationId: look, parameters: {id: "$response.body#/id"}}}}
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	if o, ok := sut.Find(list, "order"); !ok || fmt.Sprint(o.Links) != "[{look [[id $response.body#/id]]} {post /orders/{id}/pay [[id $response.header.X-Id] [body $request.body]]}]" {
		t.Errorf("%v", list)
	}
}

// Credentials stand where the description says. What every call has is not an argument.
func TestCredentials(t *testing.T) {
	text := []byte(`
openapi: 3.0.0
paths:
  /a:
    get:
      parameters: [{name: key, in: query, schema: {type: string}}, {name: sid, in: cookie}, {name: X-Key, in: header}, {name: tenant, in: cookie}, {name: Auth-Token, in: header}]
components:
  securitySchemes:
    a: {type: apiKey, in: query, name: key}
    b: {type: apiKey, in: cookie, name: sid}
    c: {type: apiKey, in: cookie, name: csrf}
    d: {type: apiKey, in: header, name: X-Key}
    e: {type: http, scheme: bearer}
    f: {type: oauth2}
`)
	headers, query := Credentials(text, "SHOP")
	if got := fmt.Sprint(headers, query); got != "[[Cookie sid=${SHOP_KEY}; csrf=${SHOP_KEY}] [X-Key ${SHOP_KEY}] [Authorization Bearer ${SHOP_TOKEN}] [Auth-Token ${SHOP_KEY}]] [[key ${SHOP_KEY}]]" {
		t.Error(got)
	}
	list, err := Operations(text, &sut.Plan{Headers: headers, Query: query})
	if err != nil || len(list[0].Arguments) != 1 || list[0].Arguments[0].Name != "tenant" || strings.Contains(string(list[0].Schema), "key") {
		t.Errorf("%+v, %v", list, err)
	}
	if headers, _ := Credentials([]byte("openapi: 3.0.0\ncomponents: {securitySchemes: {a: {type: http, scheme: Basic}}}"), "A"); fmt.Sprint(headers) != "[[Authorization Basic ${A_BASIC}]]" {
		t.Error(headers)
	}
}
