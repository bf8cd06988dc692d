package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	admission "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	warned "sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// certificates is where both managers find what they show, below the working directory.
const certificates = "certificates"

// examiner defaults and validates paintings of v2.
type examiner struct{}

func (examiner) Default(_ context.Context, painting *PaintingV2) error {
	if painting.Spec.Pigment.Coats == 0 {
		painting.Spec.Pigment.Coats = 1
	}
	return nil
}

func (examiner) ValidateCreate(_ context.Context, painting *PaintingV2) (warned.Warnings, error) {
	if painting.Spec.Pigment.Name == "invisible" {
		return nil, fmt.Errorf("nobody would see the painting")
	}
	return nil, nil
}

func (examiner) ValidateUpdate(_ context.Context, old, painting *PaintingV2) (warned.Warnings, error) {
	before, after := old.Spec.Pigment, painting.Spec.Pigment
	if after.Coats < before.Coats {
		return nil, fmt.Errorf("no coat of %d comes off again", before.Coats)
	}
	if before.Name != after.Name {
		return warned.Warnings{"the painting was " + before.Name}, nil
	}
	return nil, nil
}

func (examiner) ValidateDelete(_ context.Context, painting *PaintingV2) (warned.Warnings, error) {
	if painting.Spec.Pigment.Coats > 5 {
		return nil, fmt.Errorf("a painting of %d coats is kept", painting.Spec.Pigment.Coats)
	}
	return nil, nil
}

func webhookServer(port string) webhook.Server {
	number, err := strconv.Atoi(port)
	must("read the port", err)
	return webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: number, CertDir: certificates})
}

func registerWebhooks(manager ctrl.Manager) {
	hooks := ctrl.NewWebhookManagedBy(manager, &PaintingV2{}).WithDefaulter(examiner{}).WithValidator(examiner{})
	must("register the webhooks", hooks.Complete())
}

// frontDoor takes connections for the managers, as the service of a cluster does: the first that listens gets each.
type frontDoor struct {
	url      string
	caBundle []byte
	ports    []string
}

func openFrontDoor() *frontDoor {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must("listen for webhooks", err)
	door := &frontDoor{url: "https://" + listener.Addr().String(), caBundle: issueCertificate(), ports: []string{freePort(), freePort()}}
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go door.forward(connection)
		}
	}()
	return door
}

func (d *frontDoor) forward(connection net.Conn) {
	defer connection.Close()
	for _, port := range d.ports {
		server, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err != nil {
			continue
		}
		defer server.Close()
		done := make(chan struct{}, 2)
		go func() { _, _ = io.Copy(server, connection); done <- struct{}{} }()
		go func() { _, _ = io.Copy(connection, server); done <- struct{}{} }()
		<-done
		return
	}
}

func freePort() string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must("find a free port", err)
	defer listener.Close()
	return strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
}

// issueCertificate writes a key and a certificate that signs itself, and returns the PEM of the latter.
func issueCertificate() []byte {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must("make a key", err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "paintings"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	must("sign a certificate", err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	must("write a key", err)
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed})
	must("make a directory", os.MkdirAll(certificates, 0o700))
	must("write a certificate", os.WriteFile(filepath.Join(certificates, "tls.crt"), certificate, 0o600))
	must("write a key", os.WriteFile(filepath.Join(certificates, "tls.key"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600))
	return certificate
}

// configureWebhooks names the managers as webhooks of paintings. The control plane asks them in v2, also about a
// painting that is written in another version.
func configureWebhooks(api client.Client, door *frontDoor) {
	rules := []admission.RuleWithOperations{{
		Operations: []admission.OperationType{admission.Create, admission.Update, admission.Delete},
		Rule:       admission.Rule{APIGroups: []string{group}, APIVersions: []string{"v2"}, Resources: []string{"paintings"}},
	}}
	none := admission.SideEffectClassNone
	at := func(path string) admission.WebhookClientConfig {
		url := door.url + path
		return admission.WebhookClientConfig{URL: &url, CABundle: door.caBundle}
	}
	must("configure the mutating webhook", api.Create(context.Background(), &admission.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "paintings"},
		Webhooks: []admission.MutatingWebhook{{
			Name: "default.paintings.setpoint.dev", ClientConfig: at("/mutate-clients-setpoint-dev-v2-painting"),
			Rules: rules, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
		}},
	}))
	must("configure the validating webhook", api.Create(context.Background(), &admission.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "paintings"},
		Webhooks: []admission.ValidatingWebhook{{
			Name: "validate.paintings.setpoint.dev", ClientConfig: at("/validate-clients-setpoint-dev-v2-painting"),
			Rules: rules, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
		}},
	}))
}
