/**
 * The matrix of verbs, resources, subjects and scopes of `test/vectors/rbac-oracle`, asked of a control plane by the
 * client of Kubernetes for Node: as reviews, and as requests in the name of each subject. Ends with 0 if each answer is
 * what Kubernetes' own authorizer has answered, or says which is not.
 *
 *     node rbac.mjs POLICY.json VECTORS.jsonl.gz
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { Agent, request as httpsRequest } from 'node:https'
import { gunzipSync } from 'node:zlib'
import * as k8s from '@kubernetes/client-node'

const [policyFile, vectorsFile] = process.argv.slice(2)
const { policy, axes } = JSON.parse(readFileSync(policyFile, 'utf8'))
const recorded = gunzipSync(readFileSync(vectorsFile))
  .toString()
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line))
  .filter((line) => 'matrix' in line)

const config = new k8s.KubeConfig()
config.loadFromDefault()
const objects = k8s.KubernetesObjectApi.makeApiClient(config)

/** Behind a name, so that no role of the matrix is one that a control plane brings along. */
const named = (name) => `matrix-${name}`
const rbac = 'rbac.authorization.k8s.io'

async function install() {
  for (const name of ['team', 'other', 'none']) {
    await objects.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  }
  await objects.create(definition)
  const roles = [...policy.clusterRoles.map(ofKind('ClusterRole')), ...policy.roles.map(ofKind('Role'))]
  const bindings = [
    ...policy.clusterRoleBindings.map(ofKind('ClusterRoleBinding')),
    ...policy.roleBindings.map(ofKind('RoleBinding')),
  ]
  for (const role of roles) await objects.create(role)
  for (const { roleRef, subjects, ...binding } of bindings) {
    const { namespace } = binding.metadata
    await objects.create({
      ...binding,
      roleRef: { ...roleRef, apiGroup: rbac, name: named(roleRef.name) },
      subjects: subjects.map((subject) =>
        subject.kind === 'ServiceAccount' ? { namespace, ...subject } : { ...subject, apiGroup: rbac },
      ),
    })
  }
}

function ofKind(kind) {
  return ({ metadata, ...rest }) => ({
    apiVersion: `${rbac}/v1`,
    kind,
    ...rest,
    metadata: { ...metadata, name: named(metadata.name) },
  })
}

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { kind: 'Widget', plural: 'widgets' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        subresources: { status: {} },
      },
    ],
  },
}

/** In the order of the recorded answers. */
const questions = axes.verbs.flatMap((verb) => [
  ...axes.resources.flatMap(([group, resource, subresource]) =>
    axes.scopes.map(([namespace, name]) => ({
      resourceAttributes: { verb, group, resource, subresource, namespace, name },
    })),
  ),
  ...axes.paths.map((path) => ({ nonResourceAttributes: { verb, path } })),
])

async function isAllowed(question, { name: user, groups }) {
  const { status, text } = await send('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
    body: { spec: { ...question, user, groups } },
  })
  assert.equal(status, 201, text)
  return JSON.parse(text).status.allowed
}

/** A few at a time. */
async function inTurns(all, work) {
  const results = []
  let next = 0
  const worker = async () => {
    for (let i = next++; i < all.length; i = next++) results[i] = await work(all[i])
  }
  await Promise.all(Array.from({ length: 8 }, worker))
  return results
}

/** Roles only add: what the matrix does not allow, and is allowed, has to be allowed without its bindings, too. */
async function compare() {
  const answers = []
  const wrong = []
  const more = []
  for (const { matrix, answers: wanted } of recorded) {
    const subject = axes.subjects[matrix]
    answers[matrix] = await inTurns(questions, (question) => isAllowed(question, subject))
    for (const [i, question] of questions.entries()) {
      if (answers[matrix][i] === (wanted[i] === '1')) continue
      if (answers[matrix][i]) more.push({ subject, question })
      else wrong.push({ subject, question, wanted: true })
    }
  }
  return { answers, wrong, more }
}

async function checkMore(more, wrong) {
  for (const kind of ['ClusterRoleBinding', 'RoleBinding']) {
    const { items } = await objects.list(`${rbac}/v1`, kind)
    const own = items.filter(({ metadata }) => metadata.name.startsWith(named('')))
    for (const { metadata } of own) await objects.delete({ apiVersion: `${rbac}/v1`, kind, metadata })
  }
  await inTurns(more, async ({ subject, question }) => {
    if (!(await isAllowed(question, subject))) wrong.push({ subject, question, wanted: false })
  })
  assert.deepEqual(wrong.slice(0, 5), [], `${wrong.length} answers are others than Kubernetes'`)
}

const methods = {
  get: 'GET',
  list: 'GET',
  watch: 'GET',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETE',
}
const served = new Set(['configmaps', 'secrets', 'widgets'])

/** The request that a question is about; none for one that no request asks. */
function requestOf({ verb, group, resource, subresource, namespace, name }) {
  const isOfOne = ['get', 'update', 'patch', 'delete'].includes(verb)
  const isServed = served.has(resource) && group !== 'other.com' && subresource !== 'explain'
  const isOfStatus = subresource === 'status' && ['get', 'update', 'patch'].includes(verb)
  const isAsked = methods[verb] !== undefined && isServed && (subresource === '' || isOfStatus)
  if (!isAsked || (name !== '') !== isOfOne || (namespace === '' && !['list', 'watch'].includes(verb))) return
  const root = group === '' ? '/api/v1' : `/apis/${group}/v1`
  const place = namespace === '' ? '' : `/namespaces/${namespace}`
  const rest = [resource, name, subresource].filter((part) => part !== '').join('/')
  const query = verb === 'watch' ? '?watch=true&timeoutSeconds=1' : verb === 'list' ? '' : '?dryRun=All'
  return { method: methods[verb], path: `${root}${place}/${rest}${verb === 'get' ? '' : query}` }
}

async function requestAll(answersOf) {
  const asked = axes.subjects.flatMap((subject, i) =>
    questions.flatMap(({ resourceAttributes }, at) => {
      const sent = resourceAttributes === undefined ? undefined : requestOf(resourceAttributes)
      return sent === undefined ? [] : [{ ...sent, subject, allowed: answersOf[i][at] }]
    }),
  )
  const wrong = []
  await inTurns(asked, async ({ method, path, subject, allowed }) => {
    const status = await statusOf(method, path, subject)
    // What is allowed may be missing (404), or have a body that says nothing (400, 415, 422).
    if (status >= 500 || (status === 403) === allowed) wrong.push({ method, path, subject, allowed, status })
  })
  assert.deepEqual(wrong.slice(0, 5), [], `${wrong.length} requests are answered otherwise than reviews`)
  return asked.length
}

async function statusOf(method, path, { name, groups }) {
  const headers = { 'impersonate-user': name, 'impersonate-group': groups }
  const body = method === 'GET' || method === 'DELETE' ? undefined : {}
  return (await send(method, path, { headers, body })).status
}

/** Over connections that stay: the client opens one for each request. */
async function send(method, path, { headers = {}, body }) {
  const url = new URL(path, config.getCurrentCluster().server)
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  const own = { ...access.headers, ...headers, ...(body === undefined ? {} : { 'content-type': type }) }
  return new Promise((resolve, reject) => {
    const request = httpsRequest(url, { method, agent, headers: own }, async (response) => {
      const { statusCode: status } = response
      resolve({ status, text: (await response.setEncoding('utf8').toArray()).join('') })
    })
    request.on('error', reject)
    request.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

const access = { headers: {} }
await config.applyToHTTPSOptions(access)
const { ca, cert, key } = access.agent?.options ?? access
const agent = new Agent({ keepAlive: true, ca, cert, key })

async function main() {
  await install()
  const { answers, wrong, more } = await compare()
  const asked = await requestAll(answers)
  await checkMore(more, wrong)
  const { length } = recorded
  console.log(`ok: ${length * questions.length} reviews are answered as Kubernetes' authorizer answers them`)
  console.log(`ok: ${more.length} of them by what everybody may do here, without the roles of the matrix`)
  console.log(`ok: ${asked} requests in the name of others are let through or refused as that says`)
}

try {
  await main()
} catch (error) {
  console.error(`failed: ${error.code ?? ''} ${error.message} ${error.body ?? ''}`)
  process.exit(1)
}
process.exit(0)
