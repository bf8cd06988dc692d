// What Kubernetes reckons that rules in CEL cost at worst, and which definitions it refuses for that. Each line of the
// input is a case: {"schema": …}, the schema of a definition. The output is the same line with "want": the costs of the
// rules by their places, and the errors of the definition that speak of costs.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	v1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

type testCase struct {
	Schema json.RawMessage `json:"schema"`
	Want   *want           `json:"want,omitempty"`
}

type want struct {
	// By the place of the rule, "properties.spec 0": of one run of the rule, and of its message.
	Costs   map[string][2]float64 `json:"costs,omitempty"`
	Refused []string              `json:"refused,omitempty"`
	// What else is wrong with the definition.
	Other string `json:"other,omitempty"`
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
	w := &want{Costs: map[string][2]float64{}}
	for _, e := range refusals(&internal) {
		if strings.Contains(e, "exceed") {
			w.Refused = append(w.Refused, e)
		} else {
			w.Other = e
		}
	}
	sort.Strings(w.Refused)
	s, err := structuralschema.NewStructural(&internal)
	if err != nil {
		return w
	}
	costs(s, "", true, w.Costs)
	return w
}

func refusals(schema *apiextensions.JSONSchemaProps) []string {
	definition := &apiextensions.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "things.example.com"},
		Spec: apiextensions.CustomResourceDefinitionSpec{
			Group:                 "example.com",
			Scope:                 apiextensions.NamespaceScoped,
			Names:                 apiextensions.CustomResourceDefinitionNames{Plural: "things", Singular: "thing", Kind: "Thing", ListKind: "ThingList"},
			Versions:              []apiextensions.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true}},
			Validation:            &apiextensions.CustomResourceValidation{OpenAPIV3Schema: schema},
			PreserveUnknownFields: new(bool),
			Conversion:            &apiextensions.CustomResourceConversion{Strategy: apiextensions.NoneConverter},
		},
		Status: apiextensions.CustomResourceDefinitionStatus{StoredVersions: []string{"v1"}},
	}
	var texts []string
	for _, e := range validation.ValidateCustomResourceDefinition(context.Background(), definition) {
		texts = append(texts, strings.Replace(e.Error(), "spec.validation.", "", 1))
	}
	return texts
}

func costs(s *structuralschema.Structural, path string, isRoot bool, into map[string][2]float64) {
	declared := model.SchemaDeclType(s, isRoot || s.XEmbeddedResource)
	if declared != nil && len(s.XValidations) > 0 {
		env := environment.MustBaseEnvSet(version.MajorMinor(1, 32), true)
		results, err := cel.Compile(s, declared, celconfig.PerCallLimit, env, cel.NewExpressionsEnvLoader())
		if err == nil {
			for i, r := range results {
				if r.Error == nil {
					into[strings.TrimSpace(fmt.Sprintf("%s %d", path, i))] = [2]float64{float64(r.MaxCost), float64(r.MessageExpressionMaxCost)}
				}
			}
		}
	}
	for name, below := range s.Properties {
		costs(&below, path+"."+name, false, into)
	}
	if s.Items != nil {
		costs(s.Items, path+"[]", false, into)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil {
		costs(s.AdditionalProperties.Structural, path+"{}", false, into)
	}
}
