package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math/rand"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/record"
)

var ctx = context.Background()

func clientGo(config *rest.Config) {
	inJSON, inProtobuf := rest.CopyConfig(config), rest.CopyConfig(config)
	inJSON.ContentType, inJSON.AcceptContentTypes = "application/json", "application/json"
	inProtobuf.ContentType = "application/vnd.kubernetes.protobuf"
	inProtobuf.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	clients := map[string]*kubernetes.Clientset{
		"json":     kubernetes.NewForConfigOrDie(inJSON),
		"protobuf": kubernetes.NewForConfigOrDie(inProtobuf),
	}
	makeNamespace(clients["protobuf"])
	for form, client := range clients {
		writeTyped(form, client)
		recordEvents(form, client)
	}
	electLeader(clients["json"])
	followCutWatches(config)
}

func makeNamespace(client *kubernetes.Clientset) {
	object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	_, err := client.CoreV1().Namespaces().Create(ctx, object, metav1.CreateOptions{})
	if !errors.IsAlreadyExists(err) {
		must("create a namespace", err)
	}
}

func writeTyped(form string, client *kubernetes.Clientset) {
	maps := client.CoreV1().ConfigMaps(namespace)
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: form + "-"}, Data: map[string]string{"a": "1"}}
	created, err := maps.Create(ctx, object, metav1.CreateOptions{})
	must("create a ConfigMap in "+form, err)
	created.Data["a"] = "2"
	updated, err := maps.Update(ctx, created, metav1.UpdateOptions{})
	must("update a ConfigMap in "+form, err)
	if _, err = maps.Update(ctx, created, metav1.UpdateOptions{}); !errors.IsConflict(err) {
		fail("a second update of the same version is no conflict: %v", err)
	}
	found, err := maps.Get(ctx, updated.Name, metav1.GetOptions{})
	must("get a ConfigMap", err)
	if found.Data["a"] != "2" {
		fail("the ConfigMap has %v", found.Data)
	}
	must("delete a ConfigMap in "+form, maps.Delete(ctx, found.Name, metav1.DeleteOptions{}))
	said("a ConfigMap is created, updated, read and deleted in %s", form)
	// The options of its deletion are of its group.
	roles := client.RbacV1().Roles(namespace)
	role, err := roles.Create(ctx, &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{GenerateName: form + "-"}}, metav1.CreateOptions{})
	must("create a Role in "+form, err)
	must("delete a Role in "+form, roles.Delete(ctx, role.Name, metav1.DeleteOptions{}))
}

func recordEvents(form string, client *kubernetes.Clientset) {
	about, err := client.CoreV1().ConfigMaps(namespace).Create(
		ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "about-" + form + "-"}}, metav1.CreateOptions{})
	must("create what events are about", err)

	old := record.NewBroadcaster()
	old.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: client.CoreV1().Events("")})
	for range 2 {
		old.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "clients-" + form}).Event(about, "Normal", "Old", "told")
	}
	renewed := events.NewBroadcaster(&events.EventSinkImpl{Interface: client.EventsV1()})
	must("start the new recorder", renewed.StartRecordingToSinkWithContext(ctx))
	recorder := renewed.NewRecorder(scheme.Scheme, "clients-"+form)
	for range 3 {
		recorder.Eventf(about, nil, "Normal", "New", "Tell", "told %d", 1)
		time.Sleep(100 * time.Millisecond)
	}

	eventually("find the events in both groups", func() error {
		core, err := client.CoreV1().Events(namespace).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.uid=" + string(about.UID)})
		if err != nil {
			return err
		}
		counts := map[string]int32{}
		for _, one := range core.Items {
			counts[one.Reason] = one.Count
			if one.Series != nil {
				counts[one.Reason] = one.Series.Count
			}
		}
		if counts["Old"] != 2 || counts["New"] < 2 {
			return fmt.Errorf("the core group counts %v", counts)
		}
		group, err := client.EventsV1().Events(namespace).List(ctx, metav1.ListOptions{FieldSelector: "regarding.uid=" + string(about.UID)})
		if err == nil && len(group.Items) != len(core.Items) {
			err = fmt.Errorf("events.k8s.io has %d events, the core group %d", len(group.Items), len(core.Items))
		}
		return err
	})
	old.Shutdown()
	renewed.Shutdown()
	said("both recorders of events are heard in both groups, in %s", form)
}

// elect is one candidate: says when it leads, and goes on until it is killed.
func elect(config *rest.Config) {
	watch := timeLeases(config)
	config.Timeout = renewDeadline / 2
	client := kubernetes.NewForConfigOrDie(config)
	lock := &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Name: "elected", Namespace: namespace},
		Client:     client.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: os.Args[2]},
	}
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock: lock, LeaseDuration: lease, RenewDeadline: renewDeadline, RetryPeriod: retryPeriod,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { watch.leads() },
			OnStoppedLeading: func() { fmt.Println("leads no more") },
		},
	})
}

func electLeader(client kubernetes.Interface) {
	history := followLease(client, "elected")
	one, other := start("elect", "one"), start("elect", "other")
	defer one.kill()
	defer other.kill()
	first, second := one, other
	select {
	case <-one.lines:
	case <-other.lines:
		first, second = other, one
	case <-time.After(2 * time.Minute):
		fail("nobody leads within two minutes")
	}
	select {
	case line := <-second.lines:
		fail("two lead at once: %q", line)
	case <-time.After(lease + time.Second):
	}
	first.kill()
	select {
	case line := <-second.lines:
		mustChangeInTime(history, line)
	case <-time.After(2 * time.Minute):
		fail("nobody leads two minutes after the leader was killed")
	}
}

// followCutWatches runs an informer whose watches end after each event, while objects come, change and go.
func followCutWatches(config *rest.Config) {
	proxy, cuts := cutter(config)
	defer proxy.Close()
	factory := informers.NewSharedInformerFactoryWithOptions(
		kubernetes.NewForConfigOrDie(&rest.Config{Host: proxy.URL, QPS: 1000, Burst: 1000}), 0, informers.WithNamespace(namespace))
	lister := factory.Core().V1().ConfigMaps().Lister().ConfigMaps(namespace)
	stop := make(chan struct{})
	defer close(stop)
	factory.Start(stop)
	factory.WaitForCacheSync(stop)

	client := kubernetes.NewForConfigOrDie(config)
	maps := client.CoreV1().ConfigMaps(namespace)
	for i := range 120 {
		name := fmt.Sprintf("cut-%d", rand.Intn(12))
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"i": fmt.Sprint(i)}}
		_, err := maps.Create(ctx, object, metav1.CreateOptions{})
		if errors.IsAlreadyExists(err) {
			if rand.Intn(3) == 0 {
				err = maps.Delete(ctx, name, metav1.DeleteOptions{})
			} else {
				patch := fmt.Appendf(nil, `{"data":{"i":"%d"}}`, i)
				_, err = maps.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
			}
		}
		must("change objects", err)
	}
	eventually("know what is there through watches that are cut", func() error {
		list, err := maps.List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		known, err := lister.List(labels.Everything())
		if err != nil || len(known) != len(list.Items) {
			return fmt.Errorf("the informer knows %d objects, there are %d: %v", len(known), len(list.Items), err)
		}
		for _, item := range list.Items {
			if one, err := lister.Get(item.Name); err != nil || one.ResourceVersion != item.ResourceVersion {
				return fmt.Errorf("the informer knows %s otherwise: %v", item.Name, err)
			}
		}
		return nil
	})
	if cuts.Load() < 60 {
		fail("only %d watches were cut", cuts.Load())
	}
	said("an informer knows every object after %d watches were cut behind their first event", cuts.Load())
}

// cutter stands before the control plane, and ends the connection behind each event of a watch.
func cutter(config *rest.Config) (*httptest.Server, *atomic.Int64) {
	transport, err := rest.TransportFor(config)
	must("make a transport", err)
	target, err := url.Parse(config.Host)
	must("read the address", err)
	cuts := &atomic.Int64{}
	return httptest.NewServer(http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		sent := request.Clone(request.Context())
		sent.RequestURI, sent.URL.Scheme, sent.URL.Host, sent.Host = "", target.Scheme, target.Host, ""
		sent.Header.Set("Accept-Encoding", "identity")
		response, err := transport.RoundTrip(sent)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		defer response.Body.Close()
		writer.Header().Set("Content-Type", response.Header.Get("Content-Type"))
		writer.WriteHeader(response.StatusCode)
		lines := bufio.NewReaderSize(response.Body, 1<<20)
		query := request.URL.Query()
		// Cut before it has told what is there, a watch would begin anew for ever.
		isCut := query.Has("watch") && query.Get("sendInitialEvents") != "true"
		for {
			line, err := lines.ReadBytes('\n')
			_, _ = writer.Write(line)
			writer.(http.Flusher).Flush()
			if err != nil {
				return
			}
			if bytes.Contains(line, []byte("k8s.io/initial-events-end")) {
				isCut = true
				continue
			}
			if isCut {
				cuts.Add(1)
				panic(http.ErrAbortHandler)
			}
		}
	})), cuts
}
