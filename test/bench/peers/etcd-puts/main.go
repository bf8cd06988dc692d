// etcd-puts puts 1 KB values into an etcd for a while and prints how many it put per second.
//
//	etcd-puts URL CLIENTS MILLISECONDS
//
// It is in Go because etcd's own client is: a client of ours would be what is measured.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

const keys = 1000

func main() {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{os.Args[1]}, DialTimeout: 10 * time.Second})
	if err != nil {
		log.Fatal(err)
	}
	value := strings.Repeat("v", 1024)
	put := func(number int64) {
		key := fmt.Sprintf("/registry/gadgets/default/gadget-%06d", number%keys)
		if _, err := client.Put(context.Background(), key, value); err != nil {
			log.Fatal(err)
		}
	}

	put(0) // Connects.
	start := time.Now()
	end := start.Add(time.Duration(number(os.Args[3])) * time.Millisecond)
	var puts atomic.Int64
	var clients sync.WaitGroup
	for range number(os.Args[2]) {
		clients.Add(1)
		go func() {
			defer clients.Done()
			for time.Now().Before(end) {
				put(puts.Add(1))
			}
		}()
	}
	clients.Wait()
	fmt.Printf("%.1f\n", float64(puts.Load())/time.Since(start).Seconds())
}

func number(text string) int {
	value, err := strconv.Atoi(text)
	if err != nil {
		log.Fatal(err)
	}
	return value
}
