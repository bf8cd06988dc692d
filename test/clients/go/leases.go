package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
)

// Each request of an election ends within half of renewDeadline, by the client's own timeout.
const (
	lease         = 6 * time.Second
	renewDeadline = lease * 2 / 3
	retryPeriod   = time.Second / 2
)

// history keeps what a lease has said, one state after the other.
type history struct {
	sync.Mutex
	states []coordinationv1.LeaseSpec
	stop   func()
}

func followLease(client kubernetes.Interface, name string) *history {
	one := metav1.ListOptions{FieldSelector: "metadata.name=" + name}
	watching, err := client.CoordinationV1().Leases(namespace).Watch(ctx, one)
	must("watch a lease", err)
	kept := &history{stop: watching.Stop}
	go func() {
		for event := range watching.ResultChan() {
			if object, isLease := event.Object.(*coordinationv1.Lease); isLease {
				kept.Lock()
				kept.states = append(kept.states, object.Spec)
				kept.Unlock()
			}
		}
	}()
	return kept
}

// last is the newest state, and the one before its holder came.
func (h *history) last() (newest, before coordinationv1.LeaseSpec, err error) {
	h.Lock()
	defer h.Unlock()
	for i := len(h.states) - 1; i > 0; i-- {
		newest, before = h.states[i], h.states[i-1]
		if newest.HolderIdentity != nil && before.HolderIdentity != nil && *newest.HolderIdentity != *before.HolderIdentity {
			return newest, before, nil
		}
	}
	return newest, before, fmt.Errorf("of %d states of the lease, no two in a row have two holders", len(h.states))
}

// mustChangeInTime holds the lease's own times against what follows from client-go's leaderelection.go. A candidate
// looks at the lease again at most retryPeriod*(1+JitterFactor) after its last look has ended (JitterUntil, sliding),
// so it observes the last renewal at most so late. From then on it counts the lease itself, whatever the times in it
// say (observedTime), and takes it with the first look behind the end: again at most retryPeriod*(1+JitterFactor)
// later. Beside these stand four requests: the renewal, a look that was on its way, the look that observes, and the
// last look that was too early. Never does it lead before the lease of the other one is over.
func mustChangeInTime(h *history, line string) {
	defer h.stop()
	var newest, before coordinationv1.LeaseSpec
	eventually("see the lease change its holder", func() (err error) {
		newest, before, err = h.last()
		return err
	})
	longest, err := time.ParseDuration(strings.TrimPrefix(line, "leads, the longest request took "))
	must("read how long its requests took", err)
	if before.RenewTime == nil || newest.AcquireTime == nil {
		fail("the lease says nothing of its times: %v, %v", before, newest)
	}
	took := newest.AcquireTime.Sub(before.RenewTime.Time)
	between := time.Duration(float64(retryPeriod) * (1 + leaderelection.JitterFactor))
	limit := lease + 2*between + 4*longest + loaded
	least := lease - corrected
	if took <= least || took > limit {
		fail("the other leads %v after the last renewal; it has to be between %v and %v", took, least, limit)
	}
	said("the other leads %.1f s after the last renewal of who was killed; with a lease of %v it has to be within %.1f s",
		took.Seconds(), lease, limit.Seconds())
}

// corrected is for clocks that are set while a machine runs: the times in a lease are by the clock of the day, and
// client-go counts by another one. On a virtual machine under load, a lease of six seconds was half a second short.
const corrected = time.Second

// loaded is for timers that are late on a machine with much else to do.
const loaded = time.Second

// stopwatch knows how long the requests for leases took.
type stopwatch struct {
	sync.Mutex
	longest time.Duration
}

func timeLeases(config *rest.Config) *stopwatch {
	watch := &stopwatch{}
	config.Wrap(func(inner http.RoundTripper) http.RoundTripper { return timer{inner, watch} })
	return watch
}

// leads says that this candidate leads, for mustChangeInTime.
func (w *stopwatch) leads() {
	w.Lock()
	defer w.Unlock()
	fmt.Println("leads, the longest request took", w.longest)
}

type timer struct {
	inner http.RoundTripper
	watch *stopwatch
}

func (t timer) RoundTrip(request *http.Request) (*http.Response, error) {
	began := time.Now()
	response, err := t.inner.RoundTrip(request)
	if strings.Contains(request.URL.Path, "/leases") {
		t.watch.Lock()
		t.watch.longest = max(t.watch.longest, time.Since(began))
		t.watch.Unlock()
	}
	return response, err
}
