package crash

import "testing"

// Symbols become the names that people know functions by; what is not understood
// stays as it is. The symbols are those of g++ 12, clang 14 and rustc 1.95.
func TestMangledNames(t *testing.T) {
	for symbol, want := range map[string]string{
		"_ZL6rejectRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE":     "reject",
		"_ZN3app6Loader4copyEP6Record":                                         "app::Loader::copy",
		"_ZNK3app5TableIiSaIiEE4findERKi":                                      "app::Table::find",
		"_ZN3app6LoaderC2ERKS0_":                                               "app::Loader::Loader",
		"_ZN3app6LoaderD0Ev":                                                   "app::Loader::~Loader",
		"_ZN12_GLOBAL__N_16Reader5fieldEm":                                     "anon::Reader::field",
		"_ZZL8inThreadiENKUlvE_clEv":                                           "inThread::lambda::operator()",
		"_ZN3appeqERKNS_5TokenES2_":                                            "app::operator==",
		"_ZN3app3getILb1ELi5ELNS_4ModeE2EEEvv.cold":                            "app::get",
		"_ZNSt6vectorIhSaIhEE17_M_realloc_insertIJhEEEvN9__gnu_cxx17__normal_": "std::vector::_M_realloc_insert",
		"_ZSt4sortIPiZ4mainEUlmmE_EvT_S2_T0_":                                  "std::sort",
		"_ZNKSs2atEm":                                                          "std::string::at",
		"_ZN4main2at17hf3430b7229d383c9E":                                      "main::at",
		"_ZN4main3thr28_$u7b$$u7b$closure$u7d$$u7d$17h3e75f222956cabb4E":       "main::thr::closure",
		"_ZN1a1bILi3EE1cEv":                                                    "a::b::c", "_ZN1aplERKS_": "a::operator+", "_ZN1aixEi": "a::operator[]", "_ZNKSt8functionIFvvEEclEv": "std::function::operator()",
		"_ZN1a1bB5cxx11Ev": "a::b", "_ZZ4mainENKUlvE0_clEv": "main::lambda::operator()", "_ZN1aUt_1bEv": "a::unnamed::b", "_ZNSsC1Ev": "std::string::string",
		"_ZN1a1bIJidEEEvv": "a::b", "_ZN1a1bIXsr1cE1dEEEvv": "a::b", "_ZNVK1a1bEv": "a::b", "_ZNO1a1bEv": "a::b", "_ZZN1a1bEvE1c": "a::b::c", "_ZNK1a1bIPKcRiE1cEv": "a::b::c",
		"_ZN1aIXadL_Z1bvEEE1cEv": "a::c", "_ZN1aILc65EE1cEv": "a::c", "_ZN1aILin5EE1cEv": "a::c", "_ZTV1a": "_ZTV1a", "_ZThn8_N1a1bEv": "_ZThn8_N1a1bEv",
		"_ZSt4moveIRiEONSt16remove_referenceIT_E4typeEOS2_": "std::move", "_ZN1aaSERKS_": "a::operator=", "_ZN1adlEPv": "a::operator delete", "_ZN1a1bL3fooEv": "a::b::foo",
		"_ZN1aCI11bEi": "a::a", "_ZN1aCI2N1b1cEEi": "a::a", // a constructor that is inherited
		"_Znwm":         "operator new",
		"_ZN":           "_ZN",
		"_ZN9999appE":   "_ZN9999appE",
		"_ZNS0_3appEv":  "_ZNS0_3appEv",
		"_Zebra":        "_Zebra",
		"_parse_header": "_parse_header",
	} {
		if got := FunctionName(symbol); got != want {
			t.Errorf("%s: %s, want %s", symbol, got, want)
		}
	}
}

// What the library of a language adds to every program is known by its name; a
// program may have a namespace of such a name.
func TestStandard(t *testing.T) {
	for name, want := range map[string]bool{
		"std::vector::at": true, "core::slice::index": true, "alloc::vec::push": true, "__gnu_cxx::__stoa": true,
		"_RNvNtNtNtCsjrHSEGnQ3l9_3std3sys3pal4unix14abort_internal": true, "_RNvCs1234_7library3std": false,
		"core::Parser::field": false, "core::run": false, "parse": false, "app::std::f": false,
	} {
		if got := Standard(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if len(operatorCodes) != len(operatorNames) {
		t.Errorf("%d codes of operators, %d names", len(operatorCodes), len(operatorNames))
	}
}
