// What Kubernetes answers to rules in CEL: whether they compile, and what they say of values. Each line of the input is
// a case: {"schema": …, "value": …, "old": …}. The output is the same line with "want": either the errors of the
// compilation of each rule, or the errors of the value.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"sort"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	v1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/version"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/environment"
)

type testCase struct {
	Schema json.RawMessage `json:"schema"`
	Value  any             `json:"value"`
	Old    any             `json:"old,omitempty"`
	Want   *want           `json:"want,omitempty"`
}

type want struct {
	// Of the first rule that does not compile.
	Compile string  `json:"compile,omitempty"`
	Errors  []cause `json:"errors,omitempty"`
}

type cause struct {
	Field  string `json:"field"`
	Type   string `json:"type"`
	Detail string `json:"detail"`
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(make([]byte, 1<<20), 1<<24)
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for in.Scan() {
		var c testCase
		if err := json.Unmarshal(in.Bytes(), &c); err != nil {
			panic(err)
		}
		c.Want = answer(c)
		if err := out.Encode(c); err != nil {
			panic(err)
		}
	}
}

func answer(c testCase) *want {
	var props v1.JSONSchemaProps
	if err := json.Unmarshal(c.Schema, &props); err != nil {
		panic(err)
	}
	var internal apiextensions.JSONSchemaProps
	if err := v1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&props, &internal, nil); err != nil {
		panic(err)
	}
	s, err := structuralschema.NewStructural(&internal)
	if err != nil {
		panic(fmt.Sprintf("%s: %v", c.Schema, err))
	}
	if text := compileAll(s); text != "" {
		return &want{Compile: text}
	}
	validator := cel.NewValidator(s, false, celconfig.PerCallLimit)
	if validator == nil {
		return &want{}
	}
	value, old := integers(c.Value), integers(c.Old)
	var options []cel.Option
	if old != nil {
		correlated := common.NewCorrelatedObject(value, old, &model.Structural{Structural: s})
		options = append(options, cel.WithRatcheting(correlated))
	}
	errs, _ := validator.Validate(context.Background(), field.NewPath("self"), s, value, old, math.MaxInt64, options...)
	w := &want{}
	for _, e := range errs {
		w.Errors = append(w.Errors, cause{e.Field, string(e.Type), e.Detail})
	}
	// Maps have no order in Go.
	sort.SliceStable(w.Errors, func(i, j int) bool { return w.Errors[i].Field < w.Errors[j].Field })
	return w
}

// Numbers as the decoder of the API server makes them.
func integers(v any) any {
	switch v := v.(type) {
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int64(v)
		}
	case []any:
		for i := range v {
			v[i] = integers(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = integers(v[k])
		}
	}
	return v
}

func compileAll(s *structuralschema.Structural) string {
	env := environment.MustBaseEnvSet(version.MajorMinor(1, 32), true)
	loader := cel.NewExpressionsEnvLoader()
	results, err := cel.Compile(s, model.SchemaDeclType(s, false), celconfig.PerCallLimit, env, loader)
	if err != nil {
		return err.Error()
	}
	for _, r := range results {
		if r.Error != nil {
			return r.Error.Error()
		}
		if r.MessageExpressionError != nil {
			return r.MessageExpressionError.Error()
		}
	}
	for _, below := range s.Properties {
		if text := compileAll(&below); text != "" {
			return text
		}
	}
	if s.Items != nil {
		return compileAll(s.Items)
	}
	return ""
}
