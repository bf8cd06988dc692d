// The oracle of field-manager-vectors.jsonl.gz: Kubernetes' own field manager for custom resources, as the API server
// sets it up, without the API server. Reads the lines of that file and answers each step with the object or the error.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	generated "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
)

var thing = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Thing"}

type step struct {
	Schema      *apiextensions.JSONSchemaProps `json:"schema"`
	Op          string                         `json:"op"`
	Manager     string                         `json:"manager"`
	Force       bool                           `json:"force"`
	Subresource string                         `json:"subresource"`
	Reset       [][]string                     `json:"reset"`
}

// objects are decoded apart, with integers as int64, as the API server decodes them.
type objects struct{ live, object *unstructured.Unstructured }

type cause struct {
	Message string `json:"message"`
	Field   string `json:"field"`
}

type answer struct {
	Object  map[string]any `json:"object,omitempty"`
	Message string         `json:"message,omitempty"`
	Causes  []cause        `json:"causes,omitempty"`
}

func main() {
	in, out := bufio.NewReader(os.Stdin), json.NewEncoder(os.Stdout)
	var converter managedfields.TypeConverter
	for {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return
		}
		var s step
		check(err)
		check(json.Unmarshal(line, &s))
		if s.Schema != nil {
			converter = converterFor(s.Schema)
			continue
		}
		check(out.Encode(run(converter, s, decode(line))))
	}
}

func run(converter managedfields.TypeConverter, s step, o objects) answer {
	version := fieldpath.APIVersion(thing.GroupVersion().String())
	reset := fieldpath.NewSet()
	for _, path := range s.Reset {
		reset.Insert(fieldpath.MakePathOrDie(toAny(path)...))
	}
	filters := map[fieldpath.APIVersion]fieldpath.Filter{version: fieldpath.NewExcludeSetFilter(reset)}
	manager, err := managedfields.NewDefaultCRDFieldManager(
		converter, plain{}, plain{}, plain{}, thing, thing.GroupVersion(), s.Subresource, filters)
	check(err)
	var result runtime.Object
	if s.Op == "apply" {
		result, err = manager.Apply(o.live, o.object, s.Manager, s.Force)
	} else {
		result, err = manager.Update(o.live, o.object, s.Manager)
	}
	if err != nil {
		return refusal(err)
	}
	return answer{Object: result.(*unstructured.Unstructured).Object}
}

func refusal(err error) answer {
	a := answer{Message: err.Error()}
	var status *apierrors.StatusError
	if errors.As(err, &status) && status.ErrStatus.Details != nil {
		for _, c := range status.ErrStatus.Details.Causes {
			a.Causes = append(a.Causes, cause{c.Message, c.Field})
		}
	}
	return a
}

func decode(line []byte) objects {
	var fields struct {
		Live   json.RawMessage `json:"live"`
		Object json.RawMessage `json:"object"`
	}
	check(json.Unmarshal(line, &fields))
	live, _ := plain{}.New(thing)
	o := objects{live: live.(*unstructured.Unstructured), object: &unstructured.Unstructured{}}
	if fields.Live != nil {
		o.live.Object = nil
		check(utiljson.Unmarshal(fields.Live, &o.live.Object))
	}
	check(utiljson.Unmarshal(fields.Object, &o.object.Object))
	return o
}

// converterFor does what apiextensions-apiserver does for a CustomResourceDefinition with this schema.
func converterFor(props *apiextensions.JSONSchemaProps) managedfields.TypeConverter {
	names := apiextensions.CustomResourceDefinitionNames{Kind: thing.Kind, ListKind: "ThingList", Plural: "things", Singular: "thing"}
	crd := &apiextensions.CustomResourceDefinition{
		Spec: apiextensions.CustomResourceDefinitionSpec{
			Group: thing.Group, Scope: apiextensions.NamespaceScoped, Names: names,
			Versions: []apiextensions.CustomResourceDefinitionVersion{{
				Name: thing.Version, Served: true, Storage: true,
				Schema: &apiextensions.CustomResourceValidation{OpenAPIV3Schema: props},
			}},
		},
		Status: apiextensions.CustomResourceDefinitionStatus{AcceptedNames: names},
	}
	document, err := builder.BuildOpenAPIV3(crd, thing.Version, builder.Options{})
	check(err)
	models := document.Components.Schemas
	for name, definition := range generated.GetOpenAPIDefinitions(func(name string) spec.Ref {
		return spec.MustCreateRef("#/components/schemas/" + modelName(name))
	}) {
		if _, known := models[modelName(name)]; !known {
			models[modelName(name)] = &definition.Schema
		}
	}
	converter, err := managedfields.NewTypeConverter(models, false)
	check(err)
	return converter
}

// modelName turns k8s.io/apimachinery/pkg/... into io.k8s.apimachinery.pkg....
func modelName(name string) string {
	if rest, found := strings.CutPrefix(name, "k8s.io/"); found {
		return "io.k8s." + strings.ReplaceAll(rest, "/", ".")
	}
	return name
}

// plain converts, defaults and creates as for custom resources of one version: not at all.
type plain struct{}

func (plain) Convert(_, _, _ any) error { return nil }
func (plain) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return in, nil
}
func (plain) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}
func (plain) Default(runtime.Object) {}
func (plain) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetGroupVersionKind(kind)
	return object, nil
}

func toAny(names []string) (parts []any) {
	for _, name := range names {
		parts = append(parts, name)
	}
	return parts
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
