// Which mutating webhooks Kubernetes asks, and asks again, in which order. The program prints a line for each case of
// one to three webhooks: what each of them is, whether something ahead of them changes the object in each round, and
// under "want" who was called and what the object had in the end. A webhook that changes the object writes its letter
// behind the others.
package main

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"

	admissionv1 "k8s.io/api/admission/v1"
	v1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/mutating"
	webhooktesting "k8s.io/apiserver/pkg/admission/plugin/webhook/testing"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
)

type hook struct {
	// Whether its reinvocationPolicy is IfNeeded.
	Again bool `json:"again"`
	// In which of its calls it changes the object: "always", "never", "first", "later".
	Changes string `json:"changes"`
}

type testCase struct {
	// Whether a policy that is asked in each round changes the object ahead of the webhooks.
	Policy bool   `json:"policy"`
	Hooks  []hook `json:"hooks"`
	Want   want   `json:"want"`
}

type want struct {
	Calls string `json:"calls"`
	Order string `json:"order"`
}

const namespace = "default"

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func orderOf(object *unstructured.Unstructured) string { return object.GetAnnotations()["order"] }

func withLetter(object *unstructured.Unstructured, letter string) {
	object.SetAnnotations(map[string]string{"order": orderOf(object) + letter})
}

// As the plugin of MutatingAdmissionPolicy does it for a policy with the reinvocationPolicy IfNeeded.
type policy struct{ *admission.Handler }

func (policy) Admit(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	withLetter(a.GetObject().(*unstructured.Unstructured), "p")
	a.GetReinvocationContext().SetShouldReinvoke()
	return nil
}

type noSettings struct{}

func (noSettings) ConfigFor(string) (io.Reader, error) { return nil, nil }

// What a server says to the calls of one case.
type server struct {
	hooks []hook
	calls string
}

func (s *server) answer(w http.ResponseWriter, r *http.Request) {
	letter := r.URL.Path[1:]
	asked := s.hooks[letter[0]-'a']
	isFirst := true
	for _, earlier := range s.calls {
		isFirst = isFirst && string(earlier) != letter
	}
	s.calls += letter
	var review admissionv1.AdmissionReview
	check(json.NewDecoder(r.Body).Decode(&review))
	var object unstructured.Unstructured
	check(json.Unmarshal(review.Request.Object.Raw, &object))
	response := &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
	if asked.Changes == "always" || asked.Changes == "first" && isFirst || asked.Changes == "later" && !isFirst {
		patch := admissionv1.PatchTypeJSONPatch
		response.PatchType = &patch
		response.Patch = fmt.Appendf(nil, `[{"op":"add","path":"/metadata/annotations/order","value":%q}]`, orderOf(&object)+letter)
	}
	w.Header().Set("Content-Type", "application/json")
	check(json.NewEncoder(w).Encode(admissionv1.AdmissionReview{TypeMeta: review.TypeMeta, Response: response}))
}

func answer(c testCase) want {
	s := &server{hooks: c.Hooks}
	listening := httptest.NewTLSServer(http.HandlerFunc(s.answer))
	defer listening.Close()
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: listening.Certificate().Raw})
	base, err := url.Parse(listening.URL)
	check(err)

	stop := make(chan struct{})
	defer close(stop)
	client := fake.NewSimpleClientset(
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}},
		&v1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "m"}, Webhooks: webhooksOf(c, listening.URL, authority)},
	)
	factory := informers.NewSharedInformerFactory(client, 0)
	plugin, err := mutating.NewMutatingWebhook(nil)
	check(err)
	plugin.SetAuthenticationInfoResolverWrapper(webhooktesting.Wrapper(webhooktesting.NewAuthenticationInfoResolver(new(int32))))
	plugin.SetServiceResolver(webhooktesting.NewServiceResolver(*base))
	plugin.SetExternalKubeClientSet(client)
	plugin.SetExternalKubeInformerFactory(factory)
	check(plugin.ValidateInitialization())
	factory.Start(stop)
	factory.WaitForCacheSync(stop)

	object := &unstructured.Unstructured{}
	object.SetAPIVersion("test.setpoint.dev/v1")
	object.SetKind("Thing")
	object.SetName("x")
	object.SetNamespace(namespace)
	object.SetAnnotations(map[string]string{"order": ""})
	kind := object.GroupVersionKind()
	things := kind.GroupVersion().WithResource("things")
	attributes := admission.NewAttributesRecord(object, nil, kind, namespace, "x", things, "", admission.Create, &metav1.CreateOptions{}, false, &user.DefaultInfo{Name: "ann"})
	plugins, names := admission.NewPlugins(), []string{"webhooks"}
	register := func(name string, one admission.Interface) {
		plugins.Register(name, func(io.Reader) (admission.Interface, error) { return one, nil })
	}
	register("webhooks", plugin)
	register("policy", policy{admission.NewHandler(admission.Create)})
	if c.Policy {
		names = []string{"policy", "webhooks"}
	}
	// What it makes of them asks again, as the reinvocation context says.
	all, err := plugins.NewFromPlugins(names, noSettings{}, admission.PluginInitializers{}, nil)
	check(err)
	chain := all.(admission.MutationInterface)
	check(chain.Admit(context.Background(), attributes, admission.NewObjectInterfacesFromScheme(runtime.NewScheme())))
	return want{Calls: s.calls, Order: orderOf(object)}
}

func webhooksOf(c testCase, server string, authority []byte) []v1.MutatingWebhook {
	var all []v1.MutatingWebhook
	for i, one := range c.Hooks {
		letter := string(rune('a' + i))
		url := server + "/" + letter
		reinvocation := v1.NeverReinvocationPolicy
		if one.Again {
			reinvocation = v1.IfNeededReinvocationPolicy
		}
		none, fail, exact, seconds := v1.SideEffectClassNone, v1.Fail, v1.Exact, int32(10)
		rule := v1.Rule{APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: []string{"*/*"}}
		all = append(all, v1.MutatingWebhook{
			Name:                    letter + ".m.dev",
			ClientConfig:            v1.WebhookClientConfig{URL: &url, CABundle: authority},
			Rules:                   []v1.RuleWithOperations{{Operations: []v1.OperationType{v1.OperationAll}, Rule: rule}},
			NamespaceSelector:       &metav1.LabelSelector{},
			ObjectSelector:          &metav1.LabelSelector{},
			SideEffects:             &none,
			FailurePolicy:           &fail,
			MatchPolicy:             &exact,
			TimeoutSeconds:          &seconds,
			AdmissionReviewVersions: []string{"v1"},
			ReinvocationPolicy:      &reinvocation,
		})
	}
	return all
}

// All webhooks that there are, in all sequences of this length.
func sequences(length int) [][]hook {
	if length == 0 {
		return [][]hook{nil}
	}
	var all [][]hook
	for _, ahead := range sequences(length - 1) {
		for _, again := range []bool{false, true} {
			for _, changes := range []string{"never", "always", "first", "later"} {
				one := append(append([]hook{}, ahead...), hook{Again: again, Changes: changes})
				all = append(all, one)
			}
		}
	}
	return all
}

func main() {
	out := json.NewEncoder(os.Stdout)
	for length := 1; length <= 3; length++ {
		for _, hooks := range sequences(length) {
			for _, policy := range []bool{false, true} {
				c := testCase{Policy: policy, Hooks: hooks}
				c.Want = answer(c)
				check(out.Encode(c))
			}
		}
	}
}
