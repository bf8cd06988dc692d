/** Prints the cases that `main.go` answers: policies over objects of one kind. */
const string = { type: 'string' }
const integer = { type: 'integer' }
const list = (items: object, more: object = {}): object => ({ type: 'array', items, ...more })
const item = {
  type: 'object',
  properties: {
    name: string,
    size: { ...integer, default: 1 },
    labels: { type: 'object', additionalProperties: string },
  },
}
const spec = {
  replicas: integer,
  owner: string,
  ratio: { type: 'number' },
  on: { type: 'boolean' },
  tags: list(string),
  names: list(string, { 'x-kubernetes-list-type': 'set' }),
  items: list(item, { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }),
  limits: { type: 'object', additionalProperties: string },
  fixed: { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { a: string, b: string } },
  free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  inner: { type: 'object', properties: { deep: { type: 'object', properties: { value: string, count: integer } } } },
}
const schema = { type: 'object', properties: { spec: { type: 'object', properties: spec } } }

const thing = (of: object, metadata: object = {}): object => ({
  apiVersion: 'test.setpoint.dev/v1',
  kind: 'Thing',
  metadata: { name: 'a', namespace: 'default', ...metadata },
  spec: of,
})
const small = thing({ replicas: 1 })
const full = thing(
  {
    replicas: 7,
    owner: 'me',
    ratio: 0.5,
    on: true,
    tags: ['x', 'y'],
    names: ['n', 'o'],
    items: [
      { name: 'p', size: 2, labels: { k: 'v' } },
      { name: 'q', size: 3 },
    ],
    limits: { cpu: '1', 'a/b~c': '2' },
    fixed: { a: '1', b: '2' },
    free: { any: { thing: [1, 'two', null] } },
    inner: { deep: { value: 'v', count: 4 } },
  },
  { labels: { app: 'a' }, annotations: { 'x.dev/a': '1' } },
)
const params = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'p' }, data: { most: '5', owner: 'them' } }
const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' }

const validations: readonly (string | object)[] = [
  'object.spec.replicas < 5',
  'object.spec.replicas',
  'has(object.spec.owner) && object.spec.owner == "me"',
  'object.spec.owner == "me"',
  'object.spec.?owner.orValue("none") != "none"',
  'oldObject == null || object.spec.replicas >= oldObject.spec.replicas',
  'request.operation == "CREATE"',
  'request.userInfo.username == "ann" && "staff" in request.userInfo.groups && request.userInfo.extra.team.exists(t, t == "b")',
  'request.kind.kind == "Thing" && request.resource.resource == "things" && request.namespace == "default" && request.name == "a"',
  'request.dryRun == false',
  'request.nope == 1',
  'namespaceObject.metadata.name == "default"',
  'namespaceObject.metadata.labels["kubernetes.io/metadata.name"] == "default"',
  'object.spec.items.all(i, i.size > 1)',
  'object.metadata.labels.exists(l, l == "app")',
  'object.spec.limits["cpu"] == "1"',
  'object.spec.free.any.thing.size() == 3',
  'object.spec.ratio == 0.5',
  'type(object.spec.replicas) == int',
  'object.spec.replicas + 1.0 > 2.0',
  'double(object.spec.replicas) > 2.0',
  'object == oldObject',
  'size(object.spec.tags) == 2 && object.spec.tags[0] == "x"',
  'object.spec.tags[5] == "x"',
  'params.data.most == "5"',
  'variables.nope',
  '1',
  'authorizer == null',
  'authorizer.path("/healthz").check("get").allowed()',
  'authorizer.path("/other").check("get").allowed()',
  'authorizer.group("test.setpoint.dev").resource("things").namespace("default").check("get").allowed()',
  'authorizer.group("test.setpoint.dev").resource("things").namespace("other").check("get").allowed()',
  'authorizer.group("test.setpoint.dev").resource("things").namespace("default").subresource("status").name("a").check("get").allowed()',
  'authorizer.requestResource.check("get").allowed()',
  'authorizer.requestResource.check("update").allowed()',
  'authorizer.serviceAccount("default", "robot").requestResource.check("get").allowed()',
  'authorizer.requestResource.check("update").reason() == ""',
  'authorizer.requestResource.check("get").errored()',
  'authorizer.requestResource.check("get").error() == ""',
  'authorizer.path("/healthz").check("get")',
  'authorizer.nope("x")',
  'authorizer.path("").check("get").allowed()',
  'authorizer.requestResource.subresource("x").check("get").allowed()',
  'authorizer.requestResource.namespace("other").check("get").allowed()',
  { expression: 'false', message: 'plain' },
  { expression: 'false', messageExpression: '"it has " + string(object.spec.replicas)' },
  { expression: 'false', messageExpression: 'object.spec.nope', message: 'otherwise' },
  { expression: 'false', messageExpression: '"  "', message: ' trimmed ' },
  { expression: 'false', messageExpression: '"two\nlines"' },
  { expression: 'false', messageExpression: '1' },
  { expression: 'false', messageExpression: 'authorizer.path("/healthz").check("get").reason()' },
  { expression: 'false', message: 'm', reason: 'Forbidden' },
]

const applies = [
  'Object{}',
  'Object{spec: Object.spec{}}',
  'Object{spec: Object.spec{owner: "policy"}}',
  'Object{spec: Object.spec{replicas: object.spec.replicas + 1}}',
  'Object{spec: Object.spec{ratio: 2.5, on: !true}}',
  'Object{metadata: Object.metadata{labels: {"new": "l"}, annotations: {"x.dev/b": "2"}}}',
  'Object{metadata: Object.metadata{labels: Object.metadata.labels{new: "l"}}}',
  'Object{metadata: Object.metadata{finalizers: ["x.dev/f"]}}',
  'Object{metadata: Object.metadata{ownerReferences: [Object.metadata.ownerReferences{apiVersion: "v1", kind: "K", name: "n", uid: "u"}]}}',
  'Object{spec: Object.spec{tags: ["z"]}}',
  'Object{spec: Object.spec{names: ["n", "z"]}}',
  'Object{spec: Object.spec{items: [Object.spec.items{name: "p", size: 9}]}}',
  'Object{spec: Object.spec{items: [Object.spec.items{name: "z"}, Object.spec.items{name: "p"}]}}',
  'Object{spec: Object.spec{items: [Object.spec.items{size: 1}]}}',
  'Object{spec: Object.spec{items: [{"name": "m"}]}}',
  'Object{spec: Object.spec{limits: {"cpu": "9", "mem": "1"}}}',
  'Object{spec: Object.spec{limits: {"cpu": 9}}}',
  'Object{spec: Object.spec{fixed: Object.spec.fixed{a: "9"}}}',
  'Object{spec: Object.spec{free: Object.spec.free{more: Object.spec.free.more{x: [1, 2]}}}}',
  'Object{spec: Object.spec{inner: Object.spec.inner{deep: Object.spec.inner.deep{count: 5}}}}',
  'Object{spec: Object.spec{inner: Object.spec.wrong{}}}',
  'Object{spec: Object.spec{items: [Object.spec.wrong{name: "p"}]}}',
  'Object{spec: Object.spec{nope: 1}}',
  'Object{spec: Object.spec{replicas: "one"}}',
  'Object{spec: Object.spec{owner: null}}',
  'Object{spec: Object.spec{?owner: object.spec.?owner}}',
  'Object{spec: Object.spec{?owner: optional.none()}}',
  'Object{spec: Object.spec{?owner: "x"}}',
  'Object{spec: Object.spec{owner: params.data.owner}}',
  'Object{spec: Object.spec{owner: variables.who}}',
  'Object{spec: object.spec}',
  'Object{spec: Object.spec{items: object.spec.items.map(i, Object.spec.items{name: i.name, size: i.size + 1})}}',
  'object.spec.replicas > 3 ? Object{spec: Object.spec{on: true}} : Object{}',
  'Object{apiVersion: "other/v1", kind: "Other"}',
  'Object{metadata: Object.metadata{name: "other"}}',
  '{"spec": {"owner": "x"}}',
  'object',
  'Object.spec{}',
  'Thing{}',
  'JSONPatch{}',
  'jsonpatch.escapeKey("a")',
  'Object{spec: Object.spec{owner: jsonpatch.escapeKey("a/b~c")}}',
]

const patches = [
  '[]',
  '[JSONPatch{op: "add", path: "/spec/owner", value: "policy"}]',
  '[JSONPatch{op: "replace", path: "/spec/replicas", value: 3}]',
  '[JSONPatch{op: "replace", path: "/spec/owner", value: "x"}]',
  '[JSONPatch{op: "remove", path: "/spec/owner"}]',
  '[JSONPatch{op: "test", path: "/spec/replicas", value: 7}, JSONPatch{op: "add", path: "/spec/on", value: false}]',
  '[JSONPatch{op: "add", path: "/spec/tags/-", value: "z"}]',
  '[JSONPatch{op: "add", path: "/spec/tags/0", value: "z"}]',
  '[JSONPatch{op: "move", from: "/spec/owner", path: "/metadata/labels/owner"}]',
  '[JSONPatch{op: "copy", from: "/spec/limits", path: "/spec/free"}]',
  '[JSONPatch{op: "add", path: "/metadata/labels/" + jsonpatch.escapeKey("a.dev/b"), value: "1"}]',
  '[JSONPatch{op: "add", path: "/metadata/labels", value: {"a": "1"}}]',
  '[JSONPatch{op: "add", path: "/spec/limits/a~1b~0c", value: "9"}]',
  '[JSONPatch{op: "add", path: "/spec/inner", value: Object.spec.inner{deep: Object.spec.inner.deep{value: "w"}}}]',
  '[JSONPatch{op: "add", path: "/spec/inner", value: Object.spec.inner{deep: Object.wrong{}}}]',
  '[JSONPatch{op: "add", path: "/spec/items", value: [Object.spec.items{name: "m"}]}]',
  '[JSONPatch{op: "add", path: "/spec/free", value: {"list": [1, 2], "text": "x"}}]',
  '[JSONPatch{op: "add", path: "/spec/free", value: {"a": 1.5}}]',
  '[JSONPatch{op: "add", path: "/spec/free", value: {1: "a"}}]',
  '[JSONPatch{op: "add", path: "/spec/owner", value: duration("90s")}]',
  '[JSONPatch{op: "add", path: "/spec/owner", value: timestamp("2020-01-02T03:04:05Z")}]',
  '[JSONPatch{op: "add", path: "/spec/owner", value: b"abc"}]',
  '[JSONPatch{op: "add", path: "/spec/replicas", value: 5u}]',
  '[JSONPatch{op: "add", path: "/spec/owner", value: null}]',
  '[JSONPatch{op: "add", path: "/spec/owner"}]',
  '[JSONPatch{op: "nope", path: "/spec/owner", value: 1}]',
  '[JSONPatch{op: "add", path: "spec", value: 1}]',
  '[JSONPatch{op: 1, path: "/spec"}]',
  '[JSONPatch{ops: "add"}]',
  '[Object{}]',
  '[1]',
  'JSONPatch{op: "add", path: "/spec/owner", value: "x"}',
  'object.spec.replicas > 3 ? [JSONPatch{op: "add", path: "/spec/on", value: true}] : []',
  'object.spec.items.map(i, JSONPatch{op: "add", path: "/metadata/annotations/" + i.name, value: string(i.size)})',
]

const line = (one: object): void => console.log(JSON.stringify(one))
const variables = [{ name: 'who', expression: 'request.userInfo.username' }]

line({ schema })
for (const one of validations) {
  const validation = typeof one === 'string' ? { expression: one } : one
  const policy = { paramKind, variables, validations: [validation] }
  line({ policy, object: small, params })
  line({ policy, object: full, old: small, params })
  line({ policy: { ...policy, failurePolicy: 'Ignore' }, object: small, old: full, params })
  line({ policy, old: full, params })
}
const conditions = [
  'object.spec.replicas > 5',
  'object.spec.owner == "me"',
  'authorizer.requestResource.check("get").allowed()',
  '1',
]
for (const expression of conditions) {
  const matchConditions = [
    { name: 'first', expression },
    { name: 'second', expression: 'object.spec.replicas < 100' },
  ]
  const judging = { matchConditions, validations: [{ expression: 'false', message: 'no' }] }
  for (const object of [small, full]) {
    line({ policy: judging, object })
    line({ policy: { ...judging, failurePolicy: 'Ignore' }, object })
    line({
      policy: {
        matchConditions,
        mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: patches[1] } }],
      },
      object,
    })
  }
}
const annotations = [
  '"a"',
  'null',
  'object.spec.?owner.orValue("none")',
  'object.spec.owner',
  '1',
  '" "',
  'string(size(variables.who))',
]
for (const valueExpression of annotations) {
  const policy = { variables, auditAnnotations: [{ key: 'k', valueExpression }] }
  line({ policy, object: small })
  line({ policy, object: full })
}
const mutations = [
  ...applies.map((expression) => ({ patchType: 'ApplyConfiguration', applyConfiguration: { expression } })),
  ...patches.map((expression) => ({ patchType: 'JSONPatch', jsonPatch: { expression } })),
]
for (const mutation of mutations)
  for (const object of [small, full]) line({ policy: { paramKind, variables, mutations: [mutation] }, object, params })
for (const [i, mutation] of mutations.entries()) {
  const other = mutations[(i * 7 + 3) % mutations.length]
  line({ policy: { paramKind, variables, mutations: [other, mutation] }, object: full, old: small, params })
}
