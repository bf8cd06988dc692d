// What Argo CD does with a source, by its own engine: it lists and watches everything in a control plane, applies in
// waves, heals what others changed or removed, and prunes what the source no longer has; first by client-side, then by
// server-side apply. KUBECONFIG is in the environment. It ends with 0, or says what failed.
package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"time"

	"github.com/argoproj/argo-cd/gitops-engine/pkg/cache"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/engine"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/sync"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/sync/common"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/utils/kube"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
)

//go:embed stalls.yaml
var stalls []byte

const (
	namespace = "argo-shop"
	mark      = "clients.setpoint.dev/source"
)

var (
	ctx        = context.Background()
	settings   = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	counters   = schema.GroupVersionResource{Group: "clients.setpoint.dev", Version: "v1", Resource: "counters"}
)

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	must("read the kubeconfig", err)
	config.QPS, config.Burst = 1000, 1000
	live, err := dynamic.NewForConfig(config)
	must("make a client", err)
	known := cache.NewClusterCache(config, cache.SetPopulateResourceInfoHandler(
		func(object *unstructured.Unstructured, _ bool) (any, bool) {
			isOurs := object.GetAnnotations()[mark] != ""
			return isOurs, isOurs
		}))
	made := engine.NewEngine(config, known)
	stop, err := made.Run()
	must("list and watch everything", err)
	defer stop()
	for _, how := range []string{"client-side", "server-side"} {
		app{made, live, how == "server-side"}.goThrough()
		said("applies in waves, heals and prunes by %s apply", how)
	}
}

type app struct {
	engine.GitOpsEngine
	live         dynamic.Interface
	isServerSide bool
}

func (a app) goThrough() {
	objects := source()
	isRed := func() error { return a.hasColor("red") }
	a.sync("apply", objects, isRed)
	must("change", a.paint("blue"))
	a.sync("heal what was changed", objects, isRed)
	must("remove", a.live.Resource(counters).Namespace(namespace).Delete(ctx, "corner", metav1.DeleteOptions{}))
	a.sync("heal what was removed", objects, isRed)
	a.sync("prune", without(objects, "ConfigMap", "Counter"), func() error {
		_, err := a.live.Resource(settings).Namespace(namespace).Get(ctx, "settings", metav1.GetOptions{})
		return mustBeGone(err)
	})
	a.sync("prune the rest", nil, func() error {
		_, err := a.live.Resource(namespaces).Get(ctx, namespace, metav1.GetOptions{})
		return mustBeGone(err)
	})
}

// As Argo CD's controller does, which looks at what is there anew after each look: a single one waits for the health of
// objects as they were when it began, and learns of changes by watches, a little later.
func (a app) sync(what string, objects []*unstructured.Unstructured, check func() error) {
	var err error
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if err = a.syncOnce(what, objects); err == nil {
			err = check()
		}
		if err == nil {
			return
		}
	}
	fail("%s: %v", what, err)
}

func (a app) syncOnce(what string, objects []*unstructured.Unstructured) error {
	within, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	results, err := a.Sync(within, objects, func(r *cache.Resource) bool { return r.Info == true }, "revision", namespace,
		sync.WithPrune(true), sync.WithServerSideApply(a.isServerSide), sync.WithServerSideApplyManager("argocd-controller"))
	for _, one := range results {
		if one.Status == common.ResultCodeSyncFailed {
			fail("%s: %s: %s", what, one.ResourceKey.String(), one.Message)
		}
	}
	return err
}

func mustBeGone(err error) error {
	if errors.IsNotFound(err) {
		return nil
	}
	return fmt.Errorf("it is still there: %v", err)
}

func (a app) hasColor(color string) error {
	object, err := a.live.Resource(counters).Namespace(namespace).Get(ctx, "corner", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if found, _, _ := unstructured.NestedString(object.Object, "spec", "color"); found != color {
		return fmt.Errorf("the color is %s", found)
	}
	return nil
}

func (a app) paint(color string) error {
	object, err := a.live.Resource(counters).Namespace(namespace).Get(ctx, "corner", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if err := unstructured.SetNestedField(object.Object, color, "spec", "color"); err != nil {
		return err
	}
	_, err = a.live.Resource(counters).Namespace(namespace).Update(ctx, object, metav1.UpdateOptions{FieldManager: "painter"})
	return err
}

func source() []*unstructured.Unstructured {
	objects, err := kube.SplitYAML(stalls)
	must("read the source", err)
	for _, object := range objects {
		annotations := object.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[mark] = "stalls"
		object.SetAnnotations(annotations)
	}
	return objects
}

func without(objects []*unstructured.Unstructured, kinds ...string) []*unstructured.Unstructured {
	var kept []*unstructured.Unstructured
next:
	for _, object := range objects {
		for _, kind := range kinds {
			if object.GetKind() == kind {
				continue next
			}
		}
		kept = append(kept, object)
	}
	return kept
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
