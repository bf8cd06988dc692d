// What Flux's kustomize-controller does with a source, by its own library: applies in stages, finds that nothing has to
// be done, takes over what kubectl applied, finds drift and mends it, waits by kstatus, makes anew what cannot change,
// and prunes. KUBECONFIG is in the environment. It ends with 0, or says what failed.
package main

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/polling"
	"github.com/fluxcd/pkg/ssa"
	"github.com/fluxcd/pkg/ssa/utils"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

//go:embed shop.yaml
var shop []byte

const (
	namespace = "flux-shop"
	flux      = "kustomize-controller"
)

var ctx = context.Background()

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	must("read the kubeconfig", err)
	config.QPS, config.Burst = 1000, 1000
	f := open(config)
	f.takesOverFromKubectl()
	f.appliesInStages()
	f.doesNothingTwice()
	f.mendsDrift()
	f.waitsByStatus()
	f.makesAnew()
	f.prunes()
}

type source struct {
	client.Client
	manager *ssa.ResourceManager
}

func open(config *rest.Config) source {
	httpClient, err := rest.HTTPClientFor(config)
	must("make an HTTP client", err)
	mapper, err := apiutil.NewDynamicRESTMapper(config, httpClient)
	must("make a mapper", err)
	made, err := client.New(config, client.Options{Mapper: mapper})
	must("make a client", err)
	poller := polling.NewStatusPoller(made, mapper, polling.Options{})
	owner := ssa.Owner{Field: flux, Group: "kustomize.toolkit.fluxcd.io"}
	return source{made, ssa.NewResourceManager(made, poller, owner)}
}

// Objects as the source has them, labelled as kustomize-controller labels them.
func (s source) objects() []*unstructured.Unstructured {
	objects, err := utils.ReadObjects(bytes.NewReader(shop))
	must("read the source", err)
	s.manager.SetOwnerLabels(objects, "shop", "flux-system")
	return objects
}

func (s source) object(kind string) *unstructured.Unstructured {
	for _, one := range s.objects() {
		if one.GetKind() == kind {
			return one
		}
	}
	return nil
}

func (s source) live(kind string) *unstructured.Unstructured {
	object := s.object(kind)
	must("read "+kind, s.Get(ctx, client.ObjectKeyFromObject(object), object))
	return object
}

func options() ssa.ApplyOptions {
	all := ssa.DefaultApplyOptions()
	all.WaitInterval = 200 * time.Millisecond
	all.Cleanup = ssa.ApplyCleanupOptions{
		Annotations: []string{"kubectl.kubernetes.io/last-applied-configuration"},
		FieldManagers: []ssa.FieldManager{
			{Name: "kubectl", OperationType: metav1.ManagedFieldsOperationUpdate},
			{Name: "before-first-apply", OperationType: metav1.ManagedFieldsOperationUpdate},
		},
	}
	return all
}

// What kubectl applied on the client's side, and nobody else.
func (s source) takesOverFromKubectl() {
	space := &unstructured.Unstructured{}
	space.SetAPIVersion("v1")
	space.SetKind("Namespace")
	space.SetName(namespace)
	must("create the namespace", s.Create(ctx, space))
	settings := s.object("ConfigMap")
	settings.SetLabels(nil)
	settings.SetAnnotations(map[string]string{
		"kubectl.kubernetes.io/last-applied-configuration": `{"apiVersion":"v1","kind":"ConfigMap","data":{"color":"green","old":"x"}}`,
	})
	must("set what is old", unstructured.SetNestedStringMap(settings.Object, map[string]string{"color": "green", "old": "x"}, "data"))
	must("create as kubectl does", s.Create(ctx, settings, client.FieldOwner("kubectl-client-side-apply")))
}

func (s source) appliesInStages() {
	done, err := s.manager.ApplyAllStaged(ctx, s.objects(), options())
	must("apply in stages", err)
	want := map[ssa.Action]int{ssa.CreatedAction: 6, ssa.ConfiguredAction: 2}
	for action, count := range want {
		if found := done.ToGroupedMap()[action]; len(found) != count {
			fail("%d objects are %s, where %d should be:\n%s", len(found), action, count, done)
		}
	}
	settings := s.live("ConfigMap")
	if data, _, _ := unstructured.NestedStringMap(settings.Object, "data"); len(data) != 1 || data["color"] != "red" {
		fail("what kubectl applied is not taken over: %v", data)
	}
	for _, entry := range settings.GetManagedFields() {
		if strings.HasPrefix(entry.Manager, "kubectl") {
			fail("kubectl still manages fields: %v", entry)
		}
	}
	said("applies in stages, and takes over what kubectl applied")
}

func (s source) doesNothingTwice() {
	before := s.live("Stand").GetResourceVersion()
	done, err := s.manager.ApplyAll(ctx, s.objects(), options())
	must("apply again", err)
	if same := done.ToGroupedMap()[ssa.UnchangedAction]; len(same) != len(s.objects()) {
		fail("something changes that is as it should be:\n%s", done)
	}
	if after := s.live("Stand").GetResourceVersion(); after != before {
		fail("an apply that changes nothing wrote: %s, %s", before, after)
	}
	said("finds nothing to do the second time")
}

func (s source) mendsDrift() {
	stand := s.live("Stand")
	must("drift", unstructured.SetNestedField(stand.Object, "blue", "spec", "color"))
	must("edit", s.Update(ctx, stand, client.FieldOwner("kubectl-edit")))
	entry, _, _, err := s.manager.Diff(ctx, s.object("Stand"), ssa.DefaultDiffOptions())
	must("compare", err)
	if entry.Action != ssa.ConfiguredAction {
		fail("drift is not seen: %s", entry)
	}
	entry, err = s.manager.Apply(ctx, s.object("Stand"), options())
	must("mend", err)
	color, _, _ := unstructured.NestedString(s.live("Stand").Object, "spec", "color")
	if entry.Action != ssa.ConfiguredAction || color != "red" {
		fail("drift is not mended: %s, the color is %s", entry, color)
	}
	said("finds drift in a dry run, and mends it")
}

func (s source) waitsByStatus() {
	wait := ssa.WaitOptions{Interval: 200 * time.Millisecond, Timeout: 2 * time.Minute}
	s.report("False", 1)
	go func() {
		time.Sleep(time.Second)
		s.report("True", s.live("Stand").GetGeneration())
	}()
	begun := time.Now()
	must("wait until all is ready", s.manager.Wait(s.objects(), wait))
	if time.Since(begun) < time.Second {
		fail("an object counts as ready that says that it is not")
	}
	said("waits until the status says that all is ready")
}

func (s source) report(ready string, generation int64) {
	stand := s.live("Stand")
	condition := map[string]any{"type": "Ready", "status": ready, "reason": "Told", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}
	stand.Object["status"] = map[string]any{"observedGeneration": generation, "conditions": []any{condition}}
	must("report", s.Status().Update(ctx, stand))
}

// A role reference cannot change, and a Secret has its type for good.
func (s source) makesAnew() {
	for kind, path := range map[string][]string{"RoleBinding": {"roleRef", "name"}, "Secret": {"type"}} {
		before := s.live(kind).GetUID()
		changed := s.object(kind)
		must("change "+kind, unstructured.SetNestedField(changed.Object, "example.com-other", path...))
		if _, err := s.manager.Apply(ctx, changed, options()); err == nil {
			fail("%s takes another %v", kind, path)
		}
		force := options()
		force.Force = true
		_, err := s.manager.Apply(ctx, changed, force)
		must("make "+kind+" anew", err)
		if s.live(kind).GetUID() == before {
			fail("%s is the one of before", kind)
		}
	}
	said("makes anew what cannot be changed")
}

func (s source) prunes() {
	objects := s.objects()
	done, err := s.manager.DeleteAll(ctx, objects, ssa.DeleteOptions{
		PropagationPolicy: metav1.DeletePropagationBackground,
		Inclusions:        s.manager.GetOwnerLabels("shop", "flux-system"),
	})
	must("prune", err)
	if gone := done.ToGroupedMap()[ssa.DeletedAction]; len(gone) != len(objects) {
		fail("not everything is pruned:\n%s", done)
	}
	go func() {
		time.Sleep(time.Second)
		stand := s.live("Stand")
		stand.SetFinalizers(nil)
		must("let the stand go", s.Update(ctx, stand))
	}()
	must("wait until all is gone", s.manager.WaitForTermination(objects, ssa.WaitOptions{
		Interval: 200 * time.Millisecond, Timeout: 2 * time.Minute,
	}))
	said("prunes, and waits for finalizers")
}

func must(what string, err error) {
	if err != nil {
		fail("%s: %v", what, err)
	}
}

func fail(format string, args ...any) {
	fmt.Printf("failed: "+format+"\n", args...)
	os.Exit(1)
}

func said(format string, args ...any) {
	fmt.Printf("ok: "+format+"\n", args...)
}
