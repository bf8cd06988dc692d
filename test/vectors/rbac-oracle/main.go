// Records what Kubernetes' own RBAC authorizer answers: to every question of a matrix over a policy written by hand,
// and to questions chosen at random about random policies. Prints JSON lines; ../README.md says how to run it.
package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/kubernetes/pkg/registry/rbac/validation"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac"
)

//go:embed policy.json
var written []byte

type policy struct {
	Roles               []*rbacv1.Role               `json:"roles"`
	RoleBindings        []*rbacv1.RoleBinding        `json:"roleBindings"`
	ClusterRoles        []*rbacv1.ClusterRole        `json:"clusterRoles"`
	ClusterRoleBindings []*rbacv1.ClusterRoleBinding `json:"clusterRoleBindings"`
}

type subject struct {
	Name   string   `json:"name"`
	Groups []string `json:"groups"`
}

type axes struct {
	Subjects  []subject   `json:"subjects"`
	Verbs     []string    `json:"verbs"`
	Resources [][3]string `json:"resources"`
	Scopes    [][2]string `json:"scopes"`
	Paths     []string    `json:"paths"`
}

type question struct {
	Subject     int    `json:"subject"`
	Verb        string `json:"verb"`
	Group       string `json:"group"`
	Resource    string `json:"resource,omitempty"`
	Subresource string `json:"subresource"`
	Namespace   string `json:"namespace"`
	Name        string `json:"name"`
	Path        string `json:"path,omitempty"`
}

type grant struct {
	Subject   int                 `json:"subject"`
	Namespace string              `json:"namespace"`
	Rules     []rbacv1.PolicyRule `json:"rules"`
	Covered   bool                `json:"covered"`
}

func ask(p policy, s subject, q question) byte {
	_, static := validation.NewTestRuleResolver(p.Roles, p.RoleBindings, p.ClusterRoles, p.ClusterRoleBindings)
	decision, _, err := rbac.New(static, static, static, static).Authorize(context.Background(), authorizer.AttributesRecord{
		User: &user.DefaultInfo{Name: s.Name, Groups: s.Groups}, Verb: q.Verb, APIGroup: q.Group, Resource: q.Resource,
		Subresource: q.Subresource, Namespace: q.Namespace, Name: q.Name, Path: q.Path, ResourceRequest: q.Path == "",
	})
	if err != nil {
		panic(err)
	}
	if decision == authorizer.DecisionAllow {
		return '1'
	}
	return '0'
}

func main() {
	out := json.NewEncoder(os.Stdout)
	var hand struct {
		Policy policy `json:"policy"`
		Axes   axes   `json:"axes"`
	}
	must(json.Unmarshal(written, &hand))
	for i, s := range hand.Axes.Subjects {
		answers := []byte{}
		for _, verb := range hand.Axes.Verbs {
			for _, r := range hand.Axes.Resources {
				for _, scope := range hand.Axes.Scopes {
					q := question{Verb: verb, Group: r[0], Resource: r[1], Subresource: r[2], Namespace: scope[0], Name: scope[1]}
					answers = append(answers, ask(hand.Policy, s, q))
				}
			}
			for _, path := range hand.Axes.Paths {
				answers = append(answers, ask(hand.Policy, s, question{Verb: verb, Path: path}))
			}
		}
		must(out.Encode(map[string]any{"matrix": i, "answers": string(answers)}))
	}
	for seed := int64(1); seed <= 150; seed++ {
		must(out.Encode(randomCase(rand.New(rand.NewSource(seed)))))
	}
}

var (
	subjects = []subject{
		{"alice", []string{"devs", "system:authenticated"}}, {"bob", []string{"ops", "system:authenticated"}}, {"carol", []string{}},
		{"system:serviceaccount:a:robot", []string{"system:serviceaccounts", "system:serviceaccounts:a", "system:authenticated"}},
	}
	verbs      = []string{"get", "list", "create", "delete", "impersonate"}
	groups     = []string{"", "apps", "example.com"}
	resources  = []string{"pods", "secrets", "widgets"}
	subs       = []string{"", "", "status", "log/x"}
	namespaces = []string{"", "a", "b"}
	names      = []string{"", "x", "y", "*"}
	paths      = []string{"/", "/api", "/api/v1", "/apis", "/healthz", "/healthz/etcd", "*"}
)

func some(r *rand.Rand, from []string, star bool) []string {
	if star && r.Intn(6) == 0 {
		return []string{"*"}
	}
	found := []string{}
	for _, one := range from {
		if r.Intn(3) == 0 {
			found = append(found, one)
		}
	}
	if len(found) == 0 {
		found = append(found, from[r.Intn(len(from))])
	}
	return found
}

func randomRule(r *rand.Rand, namespaced bool) rbacv1.PolicyRule {
	if !namespaced && r.Intn(4) == 0 {
		return rbacv1.PolicyRule{Verbs: some(r, verbs, true), NonResourceURLs: some(r, []string{"/", "/api*", "/api/*", "/healthz", "/healthz/**", "*", "/ap"}, false)}
	}
	rule := rbacv1.PolicyRule{Verbs: some(r, verbs, true), APIGroups: some(r, groups, true),
		Resources: some(r, []string{"pods", "secrets", "widgets", "pods/status", "*/status", "*/log/x", "widgets/*", "widgets/log/x"}, true)}
	if r.Intn(4) == 0 {
		rule.ResourceNames = some(r, []string{"x", "y", "*"}, false)
	}
	return rule
}

func randomRules(r *rand.Rand, namespaced bool) []rbacv1.PolicyRule {
	rules := []rbacv1.PolicyRule{}
	for n := r.Intn(3); n >= 0; n-- {
		rules = append(rules, randomRule(r, namespaced))
	}
	return rules
}

func randomSubjects(r *rand.Rand) []rbacv1.Subject {
	all := []rbacv1.Subject{
		{Kind: "User", Name: "alice"}, {Kind: "User", Name: "carol"}, {Kind: "Group", Name: "ops"}, {Kind: "Group", Name: "devs"},
		{Kind: "Group", Name: "system:serviceaccounts:a"}, {Kind: "ServiceAccount", Name: "robot", Namespace: "a"},
		{Kind: "ServiceAccount", Name: "robot"}, {Kind: "User", Name: "ops"}, {Kind: "User", Name: "system:serviceaccount:a:robot"},
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:r.Intn(3)]
}

func randomCase(r *rand.Rand) any {
	p := policy{}
	for i := 0; i < 3; i++ {
		p.ClusterRoles = append(p.ClusterRoles, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("c", i)}, Rules: randomRules(r, false)})
		p.Roles = append(p.Roles, &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("r", i), Namespace: namespaces[1+i%2]}, Rules: randomRules(r, true)})
	}
	// c3 and r3 do not exist.
	for i := 0; i < 3; i++ {
		p.ClusterRoleBindings = append(p.ClusterRoleBindings, &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("cb", i)},
			RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: fmt.Sprint("c", r.Intn(4))}, Subjects: randomSubjects(r)})
		ref := rbacv1.RoleRef{Kind: "Role", Name: fmt.Sprint("r", r.Intn(4))}
		if r.Intn(2) == 0 {
			ref = rbacv1.RoleRef{Kind: "ClusterRole", Name: fmt.Sprint("c", r.Intn(4))}
		}
		p.RoleBindings = append(p.RoleBindings, &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("b", i), Namespace: namespaces[1+r.Intn(2)]}, RoleRef: ref, Subjects: randomSubjects(r)})
	}
	questions, answers := []question{}, []byte{}
	for i := 0; i < 100; i++ {
		q := question{Subject: r.Intn(len(subjects)), Verb: pick(r, verbs)}
		if r.Intn(5) == 0 {
			q.Path = pick(r, paths)
		} else {
			q.Group, q.Resource, q.Subresource, q.Namespace, q.Name = pick(r, groups), pick(r, resources), pick(r, subs), pick(r, namespaces), pick(r, names)
		}
		questions, answers = append(questions, q), append(answers, ask(p, subjects[q.Subject], q))
	}
	grants := []grant{}
	resolver, _ := validation.NewTestRuleResolver(p.Roles, p.RoleBindings, p.ClusterRoles, p.ClusterRoleBindings)
	for i := 0; i < 20; i++ {
		g := grant{Subject: r.Intn(len(subjects)), Namespace: pick(r, namespaces)}
		g.Rules = randomRules(r, g.Namespace != "")
		s := subjects[g.Subject]
		ctx := genericapirequest.WithNamespace(genericapirequest.WithUser(context.Background(), &user.DefaultInfo{Name: s.Name, Groups: s.Groups}), g.Namespace)
		g.Covered = validation.ConfirmNoEscalation(ctx, resolver, g.Rules) == nil
		grants = append(grants, g)
	}
	return map[string]any{"policy": p, "subjects": subjects, "questions": questions, "answers": string(answers), "grants": grants}
}

func pick(r *rand.Rand, from []string) string { return from[r.Intn(len(from))] }

func must(err error) {
	if err != nil {
		panic(err)
	}
}
