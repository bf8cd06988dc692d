// Prints random objects of the kinds that clients of Go send as protobuf: a line of JSON each, with the bytes and with
// what Kubernetes' own encoder makes of the same object in JSON.
package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"time"

	admission "k8s.io/api/admissionregistration/v1"
	authentication "k8s.io/api/authentication/v1"
	authorization "k8s.io/api/authorization/v1"
	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	events "k8s.io/api/events/v1"
	rbac "k8s.io/api/rbac/v1"
	extensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"sigs.k8s.io/randfill"
)

const each = 8

type kind struct {
	group string
	name  string
	make  func() runtime.Object
}

var kinds = []kind{
	{"", "Namespace", func() runtime.Object { return &core.Namespace{} }},
	{"", "ConfigMap", func() runtime.Object { return &core.ConfigMap{} }},
	{"", "Secret", func() runtime.Object { return &core.Secret{} }},
	{"", "ServiceAccount", func() runtime.Object { return &core.ServiceAccount{} }},
	{"", "ResourceQuota", func() runtime.Object { return &core.ResourceQuota{} }},
	{"", "Event", func() runtime.Object { return &core.Event{} }},
	{"events.k8s.io", "Event", func() runtime.Object { return &events.Event{} }},
	{"coordination.k8s.io", "Lease", func() runtime.Object { return &coordination.Lease{} }},
	{"rbac.authorization.k8s.io", "Role", func() runtime.Object { return &rbac.Role{} }},
	{"rbac.authorization.k8s.io", "ClusterRole", func() runtime.Object { return &rbac.ClusterRole{} }},
	{"rbac.authorization.k8s.io", "RoleBinding", func() runtime.Object { return &rbac.RoleBinding{} }},
	{"rbac.authorization.k8s.io", "ClusterRoleBinding", func() runtime.Object { return &rbac.ClusterRoleBinding{} }},
	{"authentication.k8s.io", "TokenReview", func() runtime.Object { return &authentication.TokenReview{} }},
	{"authentication.k8s.io", "TokenRequest", func() runtime.Object { return &authentication.TokenRequest{} }},
	{"authorization.k8s.io", "SubjectAccessReview", func() runtime.Object { return &authorization.SubjectAccessReview{} }},
	{"admissionregistration.k8s.io", "MutatingWebhookConfiguration", func() runtime.Object { return &admission.MutatingWebhookConfiguration{} }},
	{"admissionregistration.k8s.io", "ValidatingWebhookConfiguration", func() runtime.Object { return &admission.ValidatingWebhookConfiguration{} }},
	{"admissionregistration.k8s.io", "ValidatingAdmissionPolicy", func() runtime.Object { return &admission.ValidatingAdmissionPolicy{} }},
	{"admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding", func() runtime.Object { return &admission.ValidatingAdmissionPolicyBinding{} }},
	{"admissionregistration.k8s.io", "MutatingAdmissionPolicy", func() runtime.Object { return &admission.MutatingAdmissionPolicy{} }},
	{"admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding", func() runtime.Object { return &admission.MutatingAdmissionPolicyBinding{} }},
	{"apiextensions.k8s.io", "CustomResourceDefinition", func() runtime.Object { return &extensions.CustomResourceDefinition{} }},
}

var raws = []string{`0`, `false`, `null`, `""`, `{"a":[1,"b",{"c":2.5}]}`, `"x"`, `[]`, `12345`}
var words = []string{"", "a", "some-name", "zwei Wörter", "x.y/z", "☃"}

func pick[T any](c randfill.Continue, from []T) T { return from[c.Intn(len(from))] }

func filler(seed int64) *randfill.Filler {
	return randfill.NewWithSeed(seed).NilChance(0.4).NumElements(1, 3).MaxDepth(14).Funcs(
		func(s *string, c randfill.Continue) { *s = pick(c, words) },
		func(n *int64, c randfill.Continue) { *n = int64(c.Intn(1_000_000)) - 1000 },
		func(n *int32, c randfill.Continue) { *n = int32(c.Intn(2000)) - 1000 },
		func(n *float64, c randfill.Continue) { *n = pick(c, []float64{0, -1.5, 3, 1e300, 0.1}) },
		func(t *meta.Time, c randfill.Continue) { *t = meta.Unix(1_700_000_000+int64(c.Intn(1_000_000)), 0) },
		func(t *meta.MicroTime, c randfill.Continue) {
			*t = meta.NewMicroTime(time.UnixMicro(1_700_000_000_000_000 + int64(c.Intn(1_000_000_000))).UTC())
		},
		func(q *resource.Quantity, c randfill.Continue) { *q = resource.MustParse(pick(c, []string{"1", "500m", "2Gi"})) },
		func(f *meta.FieldsV1, c randfill.Continue) { f.Raw = []byte(`{"f:spec":{"f:a":{}}}`) },
		func(j *extensions.JSON, c randfill.Continue) { j.Raw = []byte(pick(c, raws)) },
		func(s *extensions.JSONSchemaPropsOrBool, c randfill.Continue) {
			if s.Allows = true; c.Bool() {
				s.Schema = &extensions.JSONSchemaProps{Type: "string"}
			} else {
				s.Allows = c.Bool()
			}
		},
		func(s *extensions.JSONSchemaPropsOrArray, c randfill.Continue) {
			if c.Bool() {
				s.Schema = &extensions.JSONSchemaProps{Type: "string"}
			} else {
				s.JSONSchemas = []extensions.JSONSchemaProps{{Type: "string"}, {Type: "number"}}
			}
		},
		func(s *extensions.JSONSchemaPropsOrStringArray, c randfill.Continue) {
			if c.Bool() {
				s.Schema = &extensions.JSONSchemaProps{Type: "string"}
			} else {
				s.Property = []string{"a", "b"}
			}
		},
	)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{core.AddToScheme, events.AddToScheme, coordination.AddToScheme, rbac.AddToScheme,
		authentication.AddToScheme, authorization.AddToScheme, admission.AddToScheme, extensions.AddToScheme} {
		must(add(scheme))
	}
	encoder := protobuf.NewSerializer(scheme, scheme)
	rand.Seed(1)
	for _, one := range kinds {
		for seed := int64(0); seed < each; seed++ {
			object := one.make()
			filler(seed).Fill(object)
			object.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{Group: one.group, Version: "v1", Kind: one.name})
			var encoded bytes.Buffer
			must(encoder.Encode(object, &encoded))
			text, err := json.Marshal(object)
			must(err)
			fmt.Fprintf(os.Stdout, "{\"bytes\":%q,\"object\":%s}\n", base64.StdEncoding.EncodeToString(encoded.Bytes()), text)
		}
	}
}
