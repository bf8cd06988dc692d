package main

import (
	"bufio"
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// child is this program in another process: a candidate that can be killed.
type child struct {
	command *exec.Cmd
	lines   chan string
	once    sync.Once
}

func start(args ...string) *child {
	command := exec.Command("/proc/self/exe", args...)
	command.Stderr = os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := command.StdoutPipe()
	must("open a pipe", err)
	must("start a candidate", command.Start())
	one := &child{command: command, lines: make(chan string, 1000)}
	go func() {
		scanner := bufio.NewScanner(out)
		for scanner.Scan() {
			one.lines <- scanner.Text()
		}
		close(one.lines)
	}()
	return one
}

func (c *child) kill() {
	c.once.Do(func() {
		_ = c.command.Process.Kill()
		_ = c.command.Wait()
	})
}
