package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const finalizer = "clients.setpoint.dev/painted"

// manage is one manager: a controller of paintings in v1 (a finalizer, a status, an event, and who did it), and the
// webhooks for them, which serve before it leads.
func manage(config *rest.Config) {
	log.SetLogger(zap.New(zap.WriteTo(os.Stderr)))
	id, port, duration, deadline, retry := os.Args[2], os.Args[3], lease, renewDeadline, retryPeriod
	watch := timeLeases(config)
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:         paintingScheme(scheme.Scheme),
		LeaderElection: true, LeaderElectionID: "painters", LeaderElectionNamespace: namespace,
		LeaseDuration: &duration, RenewDeadline: &deadline, RetryPeriod: &retry,
		Metrics: server.Options{BindAddress: "0"}, WebhookServer: webhookServer(port),
	})
	must("make a manager", err)
	registerWebhooks(manager)
	painter := &painter{manager.GetClient(), manager, id}
	must("make a controller", ctrl.NewControllerManagedBy(manager).For(&Painting{}).Complete(painter))
	go func() {
		<-manager.Elected()
		watch.leads()
	}()
	must("run the manager", manager.Start(ctrl.SetupSignalHandler()))
}

type painter struct {
	client.Client
	manager ctrl.Manager
	id      string
}

func (p *painter) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	object := &Painting{}
	if err := p.Get(ctx, request.NamespacedName, object); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !object.DeletionTimestamp.IsZero() {
		if controllerutil.RemoveFinalizer(object, finalizer) {
			return ctrl.Result{}, p.Update(ctx, object)
		}
		return ctrl.Result{}, nil
	}
	if controllerutil.AddFinalizer(object, finalizer) {
		return ctrl.Result{}, p.Update(ctx, object)
	}
	if object.Status.Color == object.Spec.Color {
		return ctrl.Result{}, nil
	}
	object.Status = PaintingStatus{Color: object.Spec.Color, By: p.id}
	if err := p.Status().Update(ctx, object); err != nil {
		return ctrl.Result{}, err
	}
	p.manager.GetEventRecorder("painter").Eventf(object, nil, "Normal", "Painted", "Paint", "is %s now", object.Spec.Color)
	return ctrl.Result{}, nil
}

// warnings keeps what answers warn of.
type warnings struct{ heard chan string }

func (w warnings) HandleWarningHeader(_ int, _ string, text string) {
	select {
	case w.heard <- text:
	default:
	}
}

func controllerRuntime(config *rest.Config) {
	log.SetLogger(zap.New(zap.WriteTo(os.Stderr)))
	heard := make(chan string, 100)
	config.WarningHandler = warnings{heard}
	api, err := client.New(config, client.Options{Scheme: paintingScheme(scheme.Scheme)})
	must("make a client", err)
	core := kubernetes.NewForConfigOrDie(config)
	makeNamespace(core)
	door := openFrontDoor()
	define(api, door)

	history := followLease(core, "painters")
	one, other := start("manage", "one", door.ports[0]), start("manage", "other", door.ports[1])
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
	configureWebhooks(api, door)
	paint(api, core, "a", "red", firstID)
	examine(api, "a", heard)
	first.kill()
	select {
	case line := <-second.lines:
		mustChangeInTime(history, line)
	case <-time.After(2 * time.Minute):
		fail("no manager leads two minutes after the leader was killed")
	}
	paint(api, core, "b", "blue", secondID)
	examine(api, "b", heard)
	for _, name := range []string{"a", "b"} {
		letGo(api, name)
	}
	said("finalizers, status, events and the cache of a controller work, before and after the change of the leader")
	said("defaulting, validating and conversion webhooks of the managers are asked, before and after the change of the leader")
}

func letGo(api client.Client, name string) {
	object := &Painting{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	must("delete a painting", api.Delete(context.Background(), object))
	eventually("let a painting go", func() error {
		err := api.Get(context.Background(), client.ObjectKeyFromObject(object), &Painting{})
		if errors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("it is there: %v", err)
	})
}

// paint creates a painting in v1 and waits until the leader has done all that it does: what is written last, the
// event, is sent by another thread of the manager than the status.
func paint(api client.Client, core kubernetes.Interface, name, color, by string) {
	object := &Painting{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: PaintingSpec{Color: color}}
	must("create a painting", api.Create(context.Background(), object))
	if note := object.Annotations[coatsNote]; note != "1" {
		fail("the webhook has defaulted the coats to %q", note)
	}
	eventually("have it painted by the leader", func() error {
		found := &Painting{}
		if err := api.Get(context.Background(), client.ObjectKeyFromObject(object), found); err != nil {
			return err
		}
		if found.Status.By != by || found.Status.Color != color || len(found.Finalizers) != 1 {
			return fmt.Errorf("it is painted by %q, and held by %v", found.Status.By, found.Finalizers)
		}
		return nil
	})
	eventually("find the event", func() error {
		selector := metav1.ListOptions{FieldSelector: "reason=Painted,involvedObject.name=" + name}
		list, err := core.CoreV1().Events(namespace).List(context.Background(), selector)
		if err == nil && len(list.Items) == 0 {
			err = fmt.Errorf("there is none")
		}
		return err
	})
}

// examine writes a painting in both versions, and what the webhooks refuse and warn of.
func examine(api client.Client, name string, heard <-chan string) {
	key, ctx := client.ObjectKey{Namespace: namespace, Name: name}, context.Background()
	invisible := &Painting{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "c"}, Spec: PaintingSpec{Color: "invisible"}}
	mustBeRefused("nobody would see the painting", api.Create(ctx, invisible))

	newer := &PaintingV2{}
	must("read a painting in v2", api.Get(ctx, key, newer))
	color := newer.Spec.Pigment.Name
	if newer.Spec.Pigment.Coats != 1 || color == "" || newer.Annotations[coatsNote] != "" || newer.Status.Color != color {
		fail("in v2 the painting is %v", newer)
	}
	before := newer.DeepCopyObject().(*PaintingV2)
	newer.Spec.Pigment.Coats = 3
	must("give it more coats in v2", api.Patch(ctx, newer, client.MergeFrom(before)))
	older := &Painting{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	for len(heard) > 0 {
		<-heard
	}
	must("repaint it in v1", api.Patch(ctx, older, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"color":"green"}}`))))
	if note := older.Annotations[coatsNote]; note != "3" || older.Spec.Color != "green" {
		fail("in v1 the painting has %q coats and is %q", note, older.Spec.Color)
	}
	select {
	case text := <-heard:
		if text != "the painting was "+color {
			fail("the answer warns of %q", text)
		}
	default:
		fail("the answer warns of nothing")
	}
	must("read it again", api.Get(ctx, key, newer))
	before = newer.DeepCopyObject().(*PaintingV2)
	newer.Spec.Pigment.Coats = 2
	mustBeRefused("no coat of 3 comes off again", api.Patch(ctx, newer, client.MergeFrom(before)))
	for _, list := range []client.ObjectList{&PaintingList{}, &PaintingV2List{}} {
		must("list paintings", api.List(ctx, list, client.InNamespace(namespace)))
	}
	eventually("have it repainted", func() error {
		must("read it in v1", api.Get(ctx, key, older))
		if older.Status.Color != "green" {
			return fmt.Errorf("it is %q", older.Status.Color)
		}
		return nil
	})
}

func mustBeRefused(why string, err error) {
	if !errors.IsForbidden(err) || !strings.Contains(err.Error(), why) {
		fail("the webhook should have refused, as %s: %v", why, err)
	}
}

func define(api client.Client, door *frontDoor) {
	text := map[string]any{"type": "string"}
	status := map[string]any{"type": "object", "properties": map[string]any{"color": text, "by": text}}
	version := func(name string, storage bool, spec map[string]any) map[string]any {
		properties := map[string]any{"spec": map[string]any{"type": "object", "properties": spec}, "status": status}
		return map[string]any{
			"name": name, "served": true, "storage": storage,
			"schema":       map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "properties": properties}},
			"subresources": map[string]any{"status": map[string]any{}},
		}
	}
	pigment := map[string]any{"type": "object", "properties": map[string]any{"name": text, "coats": map[string]any{"type": "integer"}}}
	definition := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1",
		"kind":       "CustomResourceDefinition",
		"metadata":   map[string]any{"name": "paintings." + group},
		"spec": map[string]any{
			"group": group, "scope": "Namespaced",
			"names": map[string]any{"kind": "Painting", "plural": "paintings"},
			"versions": []any{
				version("v2", true, map[string]any{"pigment": pigment}),
				version("v1", false, map[string]any{"color": text}),
			},
			"conversion": map[string]any{"strategy": "Webhook", "webhook": map[string]any{
				"conversionReviewVersions": []any{"v1"},
				"clientConfig":             map[string]any{"url": door.url + "/convert", "caBundle": base64.StdEncoding.EncodeToString(door.caBundle)},
			}},
		},
	}}
	must("define paintings", api.Create(context.Background(), definition))
}
