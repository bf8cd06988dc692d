// What Kubernetes answers to admission policies. Each line of the input is a case:
// {"policy": …, "object": …, "old": …, "params": …}. A policy with mutations changes the object, and another one
// judges it. The output is the same line with "want": the expressions that do not compile, what a validating policy
// decides, or the object that a mutating one makes and why mutations fail.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"strings"

	v1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	generated "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

var thing = schema.GroupVersionKind{Group: "test.setpoint.dev", Version: "v1", Kind: "Thing"}
var things = thing.GroupVersion().WithResource("things")

type policy struct {
	ParamKind        *v1.ParamKind         `json:"paramKind,omitempty"`
	MatchConditions  []v1.MatchCondition   `json:"matchConditions,omitempty"`
	Variables        []v1.Variable         `json:"variables,omitempty"`
	Validations      []v1.Validation       `json:"validations,omitempty"`
	AuditAnnotations []v1.AuditAnnotation  `json:"auditAnnotations,omitempty"`
	Mutations        []v1.Mutation         `json:"mutations,omitempty"`
	FailurePolicy    *v1.FailurePolicyType `json:"failurePolicy,omitempty"`
}

type testCase struct {
	Schema json.RawMessage `json:"schema,omitempty"`
	Policy policy          `json:"policy"`
	Object json.RawMessage `json:"object,omitempty"`
	Old    json.RawMessage `json:"old,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Want   *want           `json:"want,omitempty"`
}

type want struct {
	// By what they are: the first word of the error of each, empty for those that compile.
	Faults      []string          `json:"faults,omitempty"`
	Denials     []denial          `json:"denials,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
	Object      map[string]any    `json:"object,omitempty"`
	Failures    []string          `json:"failures,omitempty"`
}

type denial struct {
	Message string `json:"message"`
	Reason  string `json:"reason,omitempty"`
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(make([]byte, 1<<20), 1<<24)
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	var converter managedfields.TypeConverter
	for in.Scan() {
		var c testCase
		check(json.Unmarshal(in.Bytes(), &c))
		if c.Schema != nil {
			converter = converterFor(c.Schema)
			check(out.Encode(map[string]json.RawMessage{"schema": c.Schema}))
			continue
		}
		c.Want = answer(c, converter)
		check(out.Encode(c))
	}
}

func answer(c testCase, converter managedfields.TypeConverter) *want {
	p := c.Policy
	compiler, err := cel.NewCompositedCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	check(err)
	options := cel.OptionalVariableDeclarations{HasParams: p.ParamKind != nil, HasAuthorizer: true}
	plain := cel.OptionalVariableDeclarations{HasParams: p.ParamKind != nil}
	patches := options
	patches.HasPatchTypes = true
	var faults []string
	note := func(accessor cel.ExpressionAccessor, options cel.OptionalVariableDeclarations) {
		if result := compiler.CompileCELExpression(accessor, options, environment.NewExpressions); result.Error != nil {
			faults = append(faults, strings.TrimSpace(accessor.GetExpression()))
		}
	}
	for _, v := range p.Variables {
		accessor := &validating.Variable{Name: v.Name, Expression: v.Expression}
		if result := compiler.CompileAndStoreVariable(accessor, options, environment.NewExpressions); result.Error != nil {
			faults = append(faults, v.Expression)
		}
	}
	var conditions []cel.ExpressionAccessor
	for i := range p.MatchConditions {
		accessor := (*matchconditions.MatchCondition)(&p.MatchConditions[i])
		note(accessor, options)
		conditions = append(conditions, accessor)
	}
	var matcher matchconditions.Matcher
	if len(conditions) > 0 {
		matcher = matchconditions.NewMatcher(compiler.CompileCondition(conditions, options, environment.StoredExpressions), p.FailurePolicy, "policy", "validate", "p")
	}
	var validations, messages, annotations []cel.ExpressionAccessor
	for _, v := range p.Validations {
		accessor := &validating.ValidationCondition{Expression: v.Expression, Message: v.Message, Reason: v.Reason}
		note(accessor, options)
		validations = append(validations, accessor)
		if v.MessageExpression == "" {
			messages = append(messages, nil)
			continue
		}
		message := &validating.MessageExpressionCondition{MessageExpression: v.MessageExpression}
		note(message, plain)
		messages = append(messages, message)
	}
	for _, a := range p.AuditAnnotations {
		accessor := &validating.AuditAnnotationCondition{Key: a.Key, ValueExpression: a.ValueExpression}
		note(accessor, options)
		annotations = append(annotations, accessor)
	}
	var patchers []patch.Patcher
	for _, m := range p.Mutations {
		if m.ApplyConfiguration != nil {
			accessor := &patch.ApplyConfigurationCondition{Expression: m.ApplyConfiguration.Expression}
			note(accessor, patches)
			patchers = append(patchers, patch.NewApplyConfigurationPatcher(compiler.CompileMutatingEvaluator(accessor, patches, environment.StoredExpressions)))
		} else {
			accessor := &patch.JSONPatchCondition{Expression: m.JSONPatch.Expression}
			note(accessor, patches)
			patchers = append(patchers, patch.NewJSONPatcher(compiler.CompileMutatingEvaluator(accessor, patches, environment.StoredExpressions)))
		}
	}
	if len(faults) > 0 {
		return &want{Faults: faults}
	}
	attributes := attributesOf(c)
	params := objectOf(c.Params)
	var paramObject runtime.Object
	if params != nil {
		paramObject = params
	}
	ctx := compiler.CreateContext(context.Background())
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default", Labels: map[string]string{"kubernetes.io/metadata.name": "default"}}}
	if len(p.Mutations) == 0 {
		validator := validating.NewValidator(
			compiler.CompileCondition(validations, options, environment.StoredExpressions),
			matcher,
			compiler.CompileCondition(annotations, options, environment.StoredExpressions),
			compiler.CompileCondition(messages, plain, environment.StoredExpressions),
			p.FailurePolicy, nil)
		return judged(validator.Validate(ctx, things, attributes, paramObject, namespace, celconfig.RuntimeCELCostBudget, rights{}))
	}
	if matcher != nil {
		result := matcher.Match(ctx, attributes, paramObject, rights{})
		if result.Error != nil {
			return &want{Failures: []string{result.Error.Error()}}
		}
		if !result.Matches {
			return &want{Object: attributes.VersionedObject.Object().(*unstructured.Unstructured).Object}
		}
	}
	w := &want{}
	for _, patcher := range patchers {
		made, err := patcher.Patch(ctx, patch.Request{
			MatchedResource:     things,
			VersionedAttributes: attributes,
			ObjectInterfaces:    admission.NewObjectInterfacesFromScheme(runtime.NewScheme()),
			OptionalVariables:   cel.OptionalVariableBindings{VersionedParams: paramObject, Authorizer: rights{}},
			Namespace:           cel.CreateNamespaceObject(namespace),
			TypeConverter:       converter,
		}, celconfig.RuntimeCELCostBudget)
		if err != nil {
			w.Failures = append(w.Failures, err.Error())
			continue
		}
		attributes.UpdateObject(made)
	}
	w.Object = attributes.VersionedObject.Object().(*unstructured.Unstructured).Object
	return w
}

func judged(result validating.ValidateResult) *want {
	w := &want{}
	for _, decision := range result.Decisions {
		if decision.Action == validating.ActionDeny {
			w.Denials = append(w.Denials, denial{decision.Message, string(decision.Reason)})
		}
	}
	for _, annotation := range result.AuditAnnotations {
		if annotation.Action == validating.AuditAnnotationActionPublish {
			if w.Annotations == nil {
				w.Annotations = map[string]string{}
			}
			w.Annotations[annotation.Key] = annotation.Value
		}
	}
	return w
}

// rights: ann may get the things of namespace default, and the path /healthz, and nobody may anything else.
type rights struct{}

func (rights) Authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	return rights{}.decide(a)
}

func (rights) decide(a authorizer.Attributes) (authorizer.Decision, string, error) {
	isThing := a.IsResourceRequest() && a.GetAPIGroup() == thing.Group && a.GetResource() == "things" && a.GetNamespace() == "default"
	isPath := !a.IsResourceRequest() && a.GetPath() == "/healthz"
	if a.GetUser().GetName() == "ann" && a.GetVerb() == "get" && a.GetSubresource() == "" && (isThing || isPath) {
		return authorizer.DecisionAllow, "", nil
	}
	return authorizer.DecisionNoOpinion, "", nil
}

func attributesOf(c testCase) *admission.VersionedAttributes {
	object, old := objectOf(c.Object), objectOf(c.Old)
	operation, name := admission.Create, "a"
	var options runtime.Object = &metav1.CreateOptions{TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "CreateOptions"}}
	if old != nil {
		operation = admission.Update
		options = &metav1.UpdateOptions{TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "UpdateOptions"}}
	}
	if object == nil {
		operation = admission.Delete
		options = &metav1.DeleteOptions{TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "DeleteOptions"}}
	}
	var present, before runtime.Object
	if object != nil {
		present = object
	}
	if old != nil {
		before = old
	}
	ann := &user.DefaultInfo{Name: "ann", Groups: []string{"staff"}, UID: "1", Extra: map[string][]string{"team": {"a", "b"}}}
	attributes := admission.NewAttributesRecord(present, before, thing, "default", name, things, "", operation, options, false, ann)
	versioned := &admission.VersionedAttributes{Attributes: attributes, VersionedKind: thing}
	versioned.VersionedObject = admission.NewLazyObject(present)
	versioned.VersionedOldObject = admission.NewLazyObject(before)
	return versioned
}

func objectOf(raw json.RawMessage) *unstructured.Unstructured {
	if raw == nil {
		return nil
	}
	object := &unstructured.Unstructured{}
	check(utiljson.Unmarshal(raw, &object.Object))
	return object
}

// converterFor does what apiextensions-apiserver does for a CustomResourceDefinition with this schema.
func converterFor(raw json.RawMessage) managedfields.TypeConverter {
	var props apiextensions.JSONSchemaProps
	check(json.Unmarshal(raw, &props))
	names := apiextensions.CustomResourceDefinitionNames{Kind: thing.Kind, ListKind: "ThingList", Plural: "things", Singular: "thing"}
	crd := &apiextensions.CustomResourceDefinition{
		Spec: apiextensions.CustomResourceDefinitionSpec{
			Group: thing.Group, Scope: apiextensions.NamespaceScoped, Names: names,
			Versions: []apiextensions.CustomResourceDefinitionVersion{{
				Name: thing.Version, Served: true, Storage: true,
				Schema: &apiextensions.CustomResourceValidation{OpenAPIV3Schema: &props},
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

func modelName(name string) string {
	if rest, found := strings.CutPrefix(name, "k8s.io/"); found {
		return "io.k8s." + strings.ReplaceAll(rest, "/", ".")
	}
	return name
}
