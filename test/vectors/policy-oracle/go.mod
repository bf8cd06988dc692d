module setpoint.dev/policy-oracle

go 1.26.0

require (
	k8s.io/api v0.37.0
	k8s.io/apiextensions-apiserver v0.37.0
	k8s.io/apimachinery v0.37.0
	k8s.io/apiserver v0.37.0
	k8s.io/kube-openapi v0.0.0-20260721132016-d427ff9ee9ad
