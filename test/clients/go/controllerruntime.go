package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const finalizer = "clients.setpoint.dev/painted"

var painting = schema.GroupVersionKind{Group: "clients.setpoint.dev", Version: "v1", Kind: "Painting"}

func newPainting(name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(painting)
	object.SetNamespace(namespace)
	object.SetName(name)
	return object
}

// manage is one manager with a controller of paintings: a finalizer, a status, an event, and who did it.
func manage(config *rest.Config) {
	log.SetLogger(zap.New(zap.WriteTo(os.Stderr)))
	id, duration, deadline, retry := os.Args[2], lease, lease*2/3, time.Second
	manager, err := ctrl.NewManager(config, ctrl.Options{
		LeaderElection: true, LeaderElectionID: "painters", LeaderElectionNamespace: namespace,
		LeaseDuration: &duration, RenewDeadline: &deadline, RetryPeriod: &retry,
		Metrics: server.Options{BindAddress: "0"},
	})
	must("make a manager", err)
	painter := &painter{manager.GetClient(), manager, id}
	must("make a controller", ctrl.NewControllerManagedBy(manager).For(newPainting("")).Complete(painter))
	go func() {
		<-manager.Elected()
		fmt.Println("leads")
	}()
	must("run the manager", manager.Start(ctrl.SetupSignalHandler()))
}

type painter struct {
	client.Client
	manager ctrl.Manager
	id      string
}

func (p *painter) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	object := newPainting("")
	if err := p.Get(ctx, request.NamespacedName, object); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !object.GetDeletionTimestamp().IsZero() {
		if controllerutil.RemoveFinalizer(object, finalizer) {
			return ctrl.Result{}, p.Update(ctx, object)
		}
		return ctrl.Result{}, nil
	}
	if controllerutil.AddFinalizer(object, finalizer) {
		return ctrl.Result{}, p.Update(ctx, object)
	}
	color, _, _ := unstructured.NestedString(object.Object, "spec", "color")
	if painted, _, _ := unstructured.NestedString(object.Object, "status", "color"); painted == color {
		return ctrl.Result{}, nil
	}
	_ = unstructured.SetNestedField(object.Object, color, "status", "color")
	_ = unstructured.SetNestedField(object.Object, p.id, "status", "by")
	if err := p.Status().Update(ctx, object); err != nil {
		return ctrl.Result{}, err
	}
	p.manager.GetEventRecorder("painter").Eventf(object, nil, "Normal", "Painted", "Paint", "is %s now", color)
	return ctrl.Result{}, nil
}

func controllerRuntime(config *rest.Config) {
	log.SetLogger(zap.New(zap.WriteTo(os.Stderr)))
	api, err := client.New(config, client.Options{})
	must("make a client", err)
	makeNamespace(kubernetes.NewForConfigOrDie(config))
	define(api)

	one, other := start("manage", "one"), start("manage", "other")
	defer one.kill()
	defer other.kill()
	first, second, firstID, secondID := one, other, "one", "other"
	select {
	case <-one.lines:
	case <-other.lines:
		first, second, firstID, secondID = other, one, "other", "one"
	case <-time.After(2 * time.Minute):
		fail("no manager leads within two minutes")
	}
	paint(api, "a", "red", firstID)
	first.kill()
	killed := time.Now()
	select {
	case <-second.lines:
	case <-time.After(2 * time.Minute):
		fail("no manager leads two minutes after the leader was killed")
	}
	said("the other manager leads %.1f s after the leader was killed, with a lease of %v", time.Since(killed).Seconds(), lease)
	paint(api, "b", "blue", secondID)

	core := kubernetes.NewForConfigOrDie(config).CoreV1()
	eventually("find the events", func() error {
		list, err := core.Events(namespace).List(context.Background(), metav1.ListOptions{FieldSelector: "reason=Painted"})
		if err == nil && len(list.Items) < 2 {
			err = fmt.Errorf("there are %d", len(list.Items))
		}
		return err
	})
	for _, name := range []string{"a", "b"} {
		must("delete a painting", api.Delete(context.Background(), newPainting(name)))
		eventually("let a painting go", func() error {
			err := api.Get(context.Background(), client.ObjectKey{Namespace: namespace, Name: name}, newPainting(""))
			if errors.IsNotFound(err) {
				return nil
			}
			return fmt.Errorf("it is there: %v", err)
		})
	}
	said("finalizers, status and events of a controller work, before and after the change of the leader")
}

func paint(api client.Client, name, color, by string) {
	object := newPainting(name)
	_ = unstructured.SetNestedField(object.Object, color, "spec", "color")
	must("create a painting", api.Create(context.Background(), object))
	eventually("have it painted by the leader", func() error {
		found := newPainting("")
		if err := api.Get(context.Background(), client.ObjectKeyFromObject(object), found); err != nil {
			return err
		}
		painter, _, _ := unstructured.NestedString(found.Object, "status", "by")
		if painter != by || len(found.GetFinalizers()) != 1 {
			return fmt.Errorf("it is painted by %q, and held by %v", painter, found.GetFinalizers())
		}
		return nil
	})
}

func define(api client.Client) {
	anything := map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
	properties := map[string]any{"spec": anything, "status": anything}
	definition := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1",
		"kind":       "CustomResourceDefinition",
		"metadata":   map[string]any{"name": "paintings.clients.setpoint.dev"},
		"spec": map[string]any{
			"group": painting.Group, "scope": "Namespaced",
			"names": map[string]any{"kind": "Painting", "plural": "paintings"},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"schema":       map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "properties": properties}},
				"subresources": map[string]any{"status": map[string]any{}},
			}},
		},
	}}
	if err := api.Create(context.Background(), definition); !errors.IsAlreadyExists(err) {
		must("define paintings", err)
	}
}
