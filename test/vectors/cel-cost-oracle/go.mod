module setpoint.dev/cel-cost-oracle

go 1.23.0

require (
	k8s.io/apiextensions-apiserver v0.32.4
	k8s.io/apimachinery v0.32.4
	k8s.io/apiserver v0.32.4
)
