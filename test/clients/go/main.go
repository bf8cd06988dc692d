// Programs of Go that speak to a control plane as users' own do: `clients client-go` and `clients controller-runtime`,
// with KUBECONFIG in the environment. Each ends with 0, or says what failed and the last requests that were refused.
package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const namespace = "clients"

var programs = map[string]func(*rest.Config){
	"client-go":          clientGo,
	"controller-runtime": controllerRuntime,
	"elect":              elect,
	"manage":             manage,
}

func main() {
	if len(os.Args) < 2 || programs[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: clients client-go|controller-runtime")
		os.Exit(2)
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	must("read the kubeconfig", err)
	config.QPS, config.Burst = 1000, 1000
	config.Wrap(func(inner http.RoundTripper) http.RoundTripper { return recorder{inner} })
	programs[os.Args[1]](config)
}

func must(what string, err error) {
	if err != nil {
		fail("%s: %v", what, err)
	}
}

func fail(format string, args ...any) {
	fmt.Printf("failed: "+format+"\n", args...)
	refused.Lock()
	defer refused.Unlock()
	for _, one := range refused.last {
		fmt.Println("refused: " + one)
	}
	os.Exit(1)
}

func said(format string, args ...any) {
	fmt.Printf("ok: "+format+"\n", args...)
}

// eventually waits until the check says nothing, for two minutes.
func eventually(what string, check func() error) {
	var err error
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if err = check(); err == nil {
			return
		}
	}
	fail("%s: %v", what, err)
}

// recorder keeps the last requests that were refused, with what they were told.
type recorder struct{ inner http.RoundTripper }

var refused struct {
	sync.Mutex
	last []string
}

func (r recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := r.inner.RoundTrip(request)
	line := request.Method + " " + request.URL.RequestURI() + " " + request.Header.Get("Content-Type")
	if err != nil {
		keep(line + ": " + err.Error())
		return response, err
	}
	if response.StatusCode >= 400 {
		body, _ := io.ReadAll(response.Body)
		response.Body = io.NopCloser(bytes.NewReader(body))
		keep(fmt.Sprintf("%s: %d %s", line, response.StatusCode, strings.TrimSpace(string(body))))
	}
	return response, err
}

func keep(line string) {
	refused.Lock()
	defer refused.Unlock()
	if refused.last = append(refused.last, line); len(refused.last) > 5 {
		refused.last = refused.last[1:]
	}
}
