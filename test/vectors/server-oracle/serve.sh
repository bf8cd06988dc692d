#!/usr/bin/env bash
# Builds etcd and kube-apiserver 1.33.4 from Go's module proxy into a directory, and starts both until it is stopped.
# usage: serve.sh <directory>. The server is then at https://127.0.0.1:16443, and its token is "oracle".
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1/server" "$1/etcd"
cd "$1"
directory=$PWD

if [ ! -x kube-apiserver ]; then
  modules=$(go env GOMODCACHE)
  go mod download k8s.io/kubernetes@v1.33.4
  cp "$here/main.go" server/
  # The versions that Kubernetes is built with; its own modules are those that it was published with.
  sed -e 's/^module .*/module oracle/' -e 's# => ./staging/src/k8s.io/\(.*\)# => k8s.io/\1 v0.33.4#' \
    "$modules/k8s.io/kubernetes@v1.33.4/go.mod" > server/go.mod
  (
    cd server
    go mod edit -require k8s.io/kubernetes@v1.33.4
    GOFLAGS=-mod=mod go build -o "$directory/kube-apiserver" .
    # Kubernetes is built with this version of its client.
    mkdir -p ../etcd && cd ../etcd
    [ -f go.mod ] || go mod init oracle-etcd
    printf 'package main\n\nimport "go.etcd.io/etcd/server/v3/etcdmain"\nimport "os"\n\nfunc main() { etcdmain.Main(os.Args) }\n' > main.go
    go get go.etcd.io/etcd/server/v3@v3.5.21
    go mod tidy
    go build -o "$directory/etcd-server" .
  )
fi

[ -f service-accounts.key ] || openssl genrsa -out service-accounts.key 2048
[ -f service-accounts.pub ] || openssl rsa -in service-accounts.key -pubout -out service-accounts.pub
echo 'oracle,oracle,oracle,"system:masters"' > tokens.csv
rm -rf data
trap 'kill $(jobs -p) 2> /dev/null' EXIT
./etcd-server --data-dir data --listen-client-urls http://127.0.0.1:12379 --advertise-client-urls http://127.0.0.1:12379 \
  --listen-peer-urls http://127.0.0.1:12380 --unsafe-no-fsync > etcd.log 2>&1 &
./kube-apiserver --etcd-servers=http://127.0.0.1:12379 --secure-port=16443 --bind-address=127.0.0.1 --cert-dir=certificates \
  --token-auth-file=tokens.csv --authorization-mode=RBAC --service-account-key-file=service-accounts.pub \
  --service-account-signing-key-file=service-accounts.key --service-account-issuer=https://kubernetes.default.svc \
  --service-cluster-ip-range=10.0.0.0/24 --disable-admission-plugins=ServiceAccount > server.log 2>&1 &
wait -n
