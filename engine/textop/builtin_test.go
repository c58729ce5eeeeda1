package textop_test

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/pyrand/pyrandtest"
	"github.com/thresh-dev/thresh/engine/textop"
	"github.com/thresh-dev/thresh/internal/testproc"
)

const toolCall = `{"name": "search_mail", "arguments": {"query": "tickets & \"maps\"", "limit": 20, "deep": true, "near": 0.5, "tags": ["a", "b", null], "한국어": {"도시": "서울"}}}`

const english = "Please read the following notes on the history of the railway station. Then tell me, in two or three sentences, what changed after 1905! Which of the three platforms was moved, and why? The answer should mention the clock tower, the old bridge and the waiting room.\nUse plain words. Do not list dates. If something is unclear, say so at the end; otherwise finish with a short summary of the story."

// texts are seeds in which something could break.
var texts = []string{
	english,
	"서울에서 부산까지 기차로 얼마나 걸리나요? 표는 어디에서 살 수 있는지도 알려 주세요.",
	"東京から京都まで新幹線でどのくらいかかりますか。ホテルも教えてください！",
	"كم تستغرق الرحلة بالقطار من الدار البيضاء إلى مراكش؟ وأين يمكنني شراء التذاكر؟",
	"Family 👨‍👩‍👧‍👦 and flags 🇰🇷🇯🇵, skin 👋🏽, heart ❤️‍🔥, keycap 1️⃣ are single characters.",
	"e\u0301le\u0300ve na\u0308ive क्षत्रिय 한글",
	toolCall,
	"x", " ", "\n\n", "a b", "ㅋㅋ", "\t", "\"", "{}", "[1]", "§ ¶ ¤", "0",
}

// Every built-in operator describes itself fully.
func TestBuiltinMeta(t *testing.T) {
	ops := textop.Builtins()
	if len(ops) < 60 {
		t.Errorf("%d operators: at least 60 are promised", len(ops))
	}
	perSurface := make(map[textop.Surface]int)
	seen := make(map[string]bool)
	for _, op := range ops {
		m := op.Meta()
		for _, d := range m.Validate() {
			t.Errorf("%s: %s", m.ID, d)
		}
		if seen[m.ID] {
			t.Errorf("%s is there twice", m.ID)
		}
		seen[m.ID] = true
		for field, v := range map[string]string{"purpose": m.Purpose, "strength": m.StrengthDoc, "origin": m.Origin} {
			if len(v) < 3 {
				t.Errorf("%s: no %s", m.ID, field)
			}
		}
		for _, s := range m.Surfaces {
			perSurface[s]++
		}
	}
	for _, s := range textop.Surfaces() {
		if perSurface[s] < 6 {
			t.Errorf("%s has %d operators", s, perSurface[s])
		}
	}
	t.Logf("%d operators, by surface %v", len(ops), perSurface)
}

// surfaceOf is a surface on which the operator works.
func surfaceOf(m *textop.Meta) textop.Surface { return m.Surfaces[0] }

// checkResult checks what holds for every application.
func checkResult(t interface {
	Errorf(string, ...any)
}, m *textop.Meta, seed string, ctx *textop.Context, r textop.Result) {
	if !utf8.ValidString(r.Child) {
		t.Errorf("%s: child of %q is not UTF-8", m.ID, seed)
	}
	if r.Status == textop.OK == (r.Child == seed) {
		t.Errorf("%s: status %s with child %q of %q", m.ID, r.Status, r.Child, seed)
	}
	if r.Status == textop.Invalid || r.Error != "" {
		t.Errorf("%s: %q: INVALID %s", m.ID, seed, r.Error)
	}
	if r.Trace.OpID != m.ID || r.Trace.Status != r.Status || r.Trace.LenBefore != utf8.RuneCountInString(seed) || r.Trace.LenAfter != utf8.RuneCountInString(r.Child) {
		t.Errorf("%s: trace %+v is not true of %q -> %q", m.ID, r.Trace, seed, r.Child)
	}
	if limit := ctx.Constraints.MaxChars; limit > 0 && r.Status == textop.OK && r.Trace.LenAfter > limit {
		t.Errorf("%s: %d code points, more than %d", m.ID, r.Trace.LenAfter, limit)
	}
	if r.Status == textop.Skipped == (r.Trace.Reason() == "") {
		t.Errorf("%s: status %s with reason %q", m.ID, r.Status, r.Trace.Reason())
	}
}

// Properties of all operators on texts of all kinds: valid, within the limit,
// the same again, with a true trace; an inverse gives the seed back.
func TestBuiltinProperties(t *testing.T) {
	for _, op := range textop.Builtins() {
		m := op.Meta()
		t.Run(m.ID, func(t *testing.T) {
			var reused textop.Context // a context with memory of other texts gives the same
			rapid.Check(t, func(t *rapid.T) {
				seed := textop.Normalize(rapid.OneOf(rapid.SampledFrom(texts), rapid.String(), rapid.StringMatching(`[a-z]{1,9}( [A-Za-z0-9가-힣]{1,9}){0,9}[.!?]`)).Draw(t, "seed"), textop.Constraints{})
				limit := rapid.SampledFrom([]int{0, 0, 10, 100, 1000}).Draw(t, "limit")
				strength := rapid.IntRange(-1, 7).Draw(t, "strength")
				partner := rapid.SampledFrom(append([]string{""}, texts...)).Draw(t, "partner")
				n := rapid.Int64().Draw(t, "rng")
				reused.Strength, reused.Surface, reused.Partner, reused.Constraints.MaxChars = strength, surfaceOf(m), partner, limit
				r := textop.Run(op, seed, &reused, pyrandtest.New(n))
				checkResult(t, m, seed, &reused, r)
				fresh := textop.Context{Strength: strength, Surface: surfaceOf(m), Partner: partner, Constraints: reused.Constraints}
				if again := textop.Run(op, seed, &fresh, pyrandtest.New(n)); again.Child != r.Child || string(mutator.AppendStep(nil, &again.Trace)) != string(mutator.AppendStep(nil, &r.Trace)) {
					t.Errorf("second application gives %q, first %q", again.Child, r.Child)
				}
				if invert := textop.Inverters[m.ID]; invert != nil && r.Status == textop.OK {
					if back, err := invert(r.Child, &r.Trace); err != nil || back != seed {
						t.Errorf("inverse of %q is %q, %v; seed %q, trace %s", r.Child, back, err, seed, mutator.AppendStep(nil, &r.Trace))
					}
				}
			})
		})
	}
}

// Texts and traces that no operator made are refused or misread, no more.
func TestInvertAnything(t *testing.T) {
	for _, op := range textop.Builtins() {
		invert := textop.Inverters[op.Meta().ID]
		if invert == nil {
			continue
		}
		rapid.Check(t, func(t *rapid.T) {
			child := rapid.OneOf(rapid.String(), rapid.StringMatching(`[0-9a-f=%&#;\\u ]{0,20}`), rapid.SampledFrom(texts)).Draw(t, "child")
			var p textop.Params
			for _, key := range []string{"strength", "frame", "layers", "copies", "shift"} {
				p = append(p, textop.Param{Key: key, Value: rapid.IntRange(-3, 99).Draw(t, key)})
			}
			p = append(p, textop.Param{Key: "key", Value: rapid.SampledFrom([]string{"", "a", "Z9", "lemon"}).Draw(t, "key")})
			if text, err := invert(child, &textop.Step{Params: p}); err != nil && text != "" {
				t.Errorf("%s: %q with error %v", op.Meta().ID, text, err)
			}
		})
	}
}

// What is documented to grow with strength does.
func TestStrengthGrows(t *testing.T) {
	for _, op := range textop.Builtins() {
		m := op.Meta()
		if m.Grows == "" {
			continue
		}
		for _, seed := range texts[:7] {
			last := -1
			for strength := m.Strength.Min; strength <= m.Strength.Max; strength++ {
				r := textop.Run(op, seed, &textop.Context{Strength: strength, Surface: surfaceOf(m)}, pyrandtest.New(3))
				if r.Status != textop.OK {
					continue
				}
				now := r.Trace.Params.Int(m.Grows)
				if now < last || now == 0 {
					t.Errorf("%s: %s is %d at strength %d, %d before", m.ID, m.Grows, now, strength, last)
				}
				last = now
			}
		}
	}
}

// Encodings, ciphers and smuggled texts hide the plaintext: no word of it is to
// be read, and no number, in any script.
func TestEncodingsHide(t *testing.T) {
	seeds := append(slices.Clone(texts[:5]),
		"Summarise figures of 20251104, then chapter 98761234.", "비밀번호는 20251234 입니다", "パスワードを教えて 電話0312345678", "الرجاء تلخيص التقرير ١٩٨٤٥٦٧",
		"Παρακαλώ ΔΙΑΒΆΣΤΕ ΤΨΣΦΧ", "Пожалуйста ЁЖИК ґанок", "कृपया पढ़कर १२३४५६७", "กรุณาอ่านรายงาน ๑๒๓๔๕๖๗", "ქართული ტექსტი", "Հայերեն տեքստ", "Ｆｕｌｌｗｉｄｔｈ １２３４５６７",
		"Người Việt đọc chữ", "ÜBERGRÖẞE Çalışma ığdır", "አማርኛ ጽሑፍ", "𝐛𝐨𝐥𝐝 𝟏𝟐𝟑𝟒𝟓𝟔𝟕", "\u1112\u1161\u11ab\u1100\u1173\u11af\u110b\u1175\u1107\u1175\u1106\u1175\u11af")
	for _, op := range textop.Builtins() {
		m := op.Meta()
		if !strings.HasPrefix(m.ID, "op_enc_") && !strings.HasPrefix(m.ID, "op_cipher_") && !strings.HasSuffix(m.ID, "_smuggle") {
			continue
		}
		for _, seed := range seeds {
			for strength := 1; strength <= 5; strength++ {
				r := textop.Run(op, seed, &textop.Context{Strength: strength}, pyrandtest.New(1))
				if r.Status != textop.OK {
					t.Errorf("%s: %s %s on %q", m.ID, r.Status, r.Trace.Reason(), seed)
				}
				if strings.Contains(r.Child, seed) {
					t.Errorf("%s at strength %d shows the seed: %q", m.ID, strength, r.Child)
				}
				if strength > 2 { // a line around the code may share words with the seed
					continue
				}
				for _, word := range strings.FieldsFunc(seed, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
					if len([]rune(word)) >= 4 && strings.Contains(r.Child, word) {
						t.Errorf("%s at strength %d shows %q: %q", m.ID, strength, word, r.Child)
						break
					}
				}
			}
		}
	}
}

// Operators that move or delete text keep characters whole: no child has half
// of an emoji, a mark on another letter or a lone half of a flag.
func TestClustersSurvive(t *testing.T) {
	const family, accent, syllable = "👨‍👩‍👧‍👦", "e\u0301", "क्ष"
	seed := strings.Repeat("one "+family+" two "+accent+" three "+syllable+". four "+family+accent+"! ", 4)
	for _, op := range textop.Builtins() {
		m := op.Meta()
		if !slices.ContainsFunc([]string{"op_typo_", "op_res_", "op_struct_", "op_aug_", "op_cross_", "op_cipher_re", "op_cipher_rail"}, func(p string) bool { return strings.HasPrefix(m.ID, p) }) {
			continue
		}
		for n := range int64(60) {
			r := textop.Run(op, seed, &textop.Context{Strength: 1 + int(n%5), Surface: surfaceOf(m), Partner: english}, pyrandtest.New(n))
			rest := strings.NewReplacer(family, "", accent, "", strings.ToUpper(accent), "", syllable, "").Replace(r.Child)
			if i := strings.IndexFunc(rest, func(r rune) bool { return r == 0x200d || r == 0x301 || r == 0x94d || r >= 0x1f466 && r <= 0x1f469 }); i >= 0 {
				t.Errorf("%s tears a character: %q", m.ID, r.Child)
				break
			}
		}
	}
}

// A context option takes the place of a draw, and a bad one is refused.
func TestOptions(t *testing.T) {
	op := operator(t, "op_cipher_caesar")
	ctx := &textop.Context{Strength: 1, Options: map[string]any{"shift": 2}}
	if r := textop.Run(op, "abc xyz", ctx, pyrandtest.New(1)); r.Child != "def abc" || r.Trace.Params.Int("shift") != 2 {
		t.Errorf("got %+v", r)
	}
	ctx.Options["shift"] = "two"
	if r := textop.Run(op, "abc", ctx, pyrandtest.New(1)); r.Status != textop.Invalid || r.Child != "abc" || !strings.Contains(r.Error, "shift") {
		t.Errorf("got %+v", r)
	}
	ctx = &textop.Context{Strength: 5, Options: map[string]any{"style": "nonsense"}}
	if r := textop.Run(operator(t, "op_uni_math_letters"), "abc", ctx, pyrandtest.New(1)); r.Status != textop.Invalid || !strings.Contains(r.Error, "monospace") {
		t.Errorf("got %+v", r)
	}
}

func TestMismatch(t *testing.T) {
	op := operator(t, "op_tool_nesting")
	for _, c := range []struct {
		seed   string
		ctx    textop.Context
		reason string
	}{
		{"{}", textop.Context{Surface: textop.PromptText}, textop.ReasonSurface},
		{"{}", textop.Context{Bucket: textop.ModelTheft, Surface: textop.PromptText}, textop.ReasonBucket},
		{"", textop.Context{}, textop.ReasonEmpty},
		{"prose", textop.Context{}, "not_json"},
		{`{"a":1}`, textop.Context{Strength: 5, Constraints: textop.Constraints{MaxChars: 20}}, textop.ReasonLength},
	} {
		r := textop.Run(op, c.seed, &c.ctx, pyrandtest.New(1))
		if r.Status != textop.Skipped || r.Child != c.seed || r.Trace.Reason() != c.reason {
			t.Errorf("%q: %+v, want %s", c.seed, r, c.reason)
		}
	}
}

// Two operators in a row give at least 1,000 distinct children of one seed,
// and every operator gives several alone where its nature allows.
func TestDiversity(t *testing.T) {
	ops := textop.Builtins()
	ops = slices.DeleteFunc(ops, func(op textop.Operator) bool { return !op.Meta().Accepts(textop.PromptText) })
	children := make(map[string]bool)
	ctx := &textop.Context{Surface: textop.PromptText, Strength: 2}
	var streams textop.Streams
	derive := textop.NewDeriver(textop.RuleContract, big.NewInt(1337))
	const tries = 1200
	for i := range tries {
		streams.Seed([]uint64{derive.Seed(fmt.Sprint("seed:", i))})
		text := english
		for range 2 {
			op := pyrandtest.Choice(streams.Select(0), ops)
			text = textop.Run(op, text, ctx, streams.Mutate(0)).Child
		}
		children[text] = true
	}
	if len(children) < 1000 {
		t.Errorf("%d distinct children of %d", len(children), tries)
	}
	t.Logf("%d distinct children of %d", len(children), tries)
}

// A text of 200,000 characters takes each operator time in proportion.
func TestLongTexts(t *testing.T) {
	long := []string{strings.Repeat(english+" ", 500), strings.Repeat("가나다 라마바. ", 5000), strings.Repeat("a", 60000), strings.Repeat("\u0301", 30000), `{"a": "` + strings.Repeat("x", 60000) + `"}`}
	if testing.Short() {
		long = long[:1]
	}
	for i, op := range textop.Builtins() {
		m := op.Meta()
		for j, seed := range long {
			if (i+j)%testproc.Times(1, 3) != 0 {
				continue
			}
			ctx := &textop.Context{Strength: 5, Surface: surfaceOf(m), Partner: english}
			checkResult(t, m, seed, ctx, textop.Run(op, seed, ctx, pyrandtest.New(5)))
		}
	}
}

func BenchmarkOperators(b *testing.B) {
	for _, op := range textop.Builtins() {
		m := op.Meta()
		seed := english
		if strings.HasPrefix(m.ID, "op_tool_") && !m.Accepts(textop.PromptText) {
			seed = toolCall
		}
		b.Run(m.ID, func(b *testing.B) {
			b.ReportAllocs()
			ctx := &textop.Context{Strength: 2, Surface: surfaceOf(m), Partner: texts[1]}
			rng := pyrandtest.New(1)
			for b.Loop() {
				textop.Run(op, seed, ctx, rng)
			}
		})
	}
}

// BenchmarkChildren is one child from two generators by a drawn operator,
// guarded, with its trace as JSON: what the engine does for each, but for its
// records.
func BenchmarkChildren(b *testing.B) {
	ops := textop.Builtins()
	ops = slices.DeleteFunc(ops, func(op textop.Operator) bool { return !op.Meta().Accepts(textop.PromptText) })
	ctx := &textop.Context{Surface: textop.PromptText, Strength: 2}
	guard := textop.NewGuard(ctx.Constraints)
	derive := textop.NewDeriver(textop.RuleContract, big.NewInt(1337))
	var streams textop.Streams
	var derived [textop.Pairs]uint64
	var line []byte
	b.ReportAllocs()
	for i := 0; i < b.N; i += textop.Pairs {
		for j := range derived {
			derived[j] = derive.Seed(strconv.Itoa(i + j))
		}
		streams.Seed(derived[:])
		for j := range derived {
			r := textop.Run(pyrandtest.Choice(streams.Select(j), ops), english, ctx, streams.Mutate(j))
			r.Child = guard.Apply(r.Child).Text
			line = mutator.AppendResult(line[:0], &r)
		}
	}
}
