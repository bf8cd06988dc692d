import { accountsGroup, authenticatedGroup, superuserGroup } from '../model/access/authorize.ts'
import { objectsOf, rulesOf, type PolicyRule } from '../model/access/rules.ts'
import { findUncovered } from '../model/access/rule-allows.ts'
import { hasCode } from '../model/errors.ts'
import { equal, type JsonObject } from '../model/json.ts'
import { onNewest } from '../model/on-newest.ts'
import type { ServedKind } from '../model/served-kind.ts'
import { accessGroup, clusterRoleBindingKind, clusterRoleKind } from './access-kinds.ts'
import { builtInKinds } from './built-in-kinds.ts'
import { rulesOfController, type ControllerWithRights } from './controller-roles.ts'
import type { Resources } from './resources.ts'

/**
 * The roles and bindings that are there from the first start, by the names that they have in Kubernetes. A start adds
 * what they lack, and takes nothing away; one whose annotation `rbac.authorization.kubernetes.io/autoupdate` is
 * "false" is left alone. `system:controller:NAME` shows what the runs of a controller may do, exactly.
 */
export async function installRoles(resources: Resources, controllers: readonly ControllerWithRights[]): Promise<void> {
  const kindGroups = [...new Set(controllers.map(({ kind }) => kind.group))].filter((group) => !isOfBuiltInKinds(group))
  await Promise.all([
    ...controllers.map((one) => install(resources, clusterRoleKind, controllerRole(one), replaceRules)),
    ...bootstrapRoles(kindGroups).map((body) => install(resources, clusterRoleKind, body)),
    ...bootstrapBindings.map((body) => install(resources, clusterRoleBindingKind, body)),
  ])
}

/** What may be done with these kinds, the roles say one by one: in the group of ConfigMaps there are Secrets, too. */
function isOfBuiltInKinds(group: string): boolean {
  return builtInKinds.some((kind) => kind.group === group)
}

async function install(
  resources: Resources,
  kind: ServedKind,
  wanted: JsonObject,
  change: RulesChange = addRules,
): Promise<void> {
  try {
    await bringUp(resources, kind, wanted, change)
  } catch (error) {
    // A person can mend or delete such a role only while a control plane runs. The next start brings the role up, or
    // makes it anew.
    if (hasCode(error, 'DAMAGED', 'TOO_LARGE')) return
    if (!hasCode(error, 'NOT_FOUND')) throw error
    await createRole(resources, kind, wanted)
  }
}

/** Another process may have been faster, which knows the same roles. */
async function createRole(resources: Resources, kind: ServedKind, wanted: JsonObject): Promise<void> {
  try {
    await resources.create(kind, wanted, writer)
  } catch (error) {
    if (!hasCode(error, 'ALREADY_EXISTS')) throw error
  }
}

const autoupdate = 'rbac.authorization.kubernetes.io/autoupdate'
const writer = { manager: 'setpoint' } as const

/** Of the role as it is: what somebody changes at the same time is not written over. */
function bringUp(resources: Resources, kind: ServedKind, wanted: JsonObject, change: RulesChange): Promise<void> {
  const at = wanted['metadata'] as { name: string }
  return onNewest(async () => {
    const { object } = await resources.get(kind, at)
    const { annotations, resourceVersion } = object.metadata
    if (annotations?.[autoupdate] === 'false') return
    const rules = change(object, wanted)
    if (rules === undefined) return
    const body = { metadata: { resourceVersion }, rules: [...rules] }
    await resources.patch(kind, at, { type: 'merge', body }, writer)
  })
}

/** The rules that a role is to have; undefined if it has them. */
type RulesChange = (present: JsonObject, wanted: JsonObject) => readonly JsonObject[] | undefined

/** Somebody may have taken a rule away, or an earlier version did not have it. */
function addRules(present: JsonObject, wanted: JsonObject): readonly JsonObject[] | undefined {
  const missing = findUncovered(rulesOf(present), rulesOf(wanted))
  return missing.length === 0 ? undefined : [...objectsOf(present['rules']), ...missing.map(ruleBody)]
}

function replaceRules({ rules: present }: JsonObject, { rules: wanted = [] }: JsonObject) {
  return equal(present, wanted) ? undefined : objectsOf(wanted)
}

function ruleBody(rule: PolicyRule): JsonObject {
  return Object.fromEntries(
    Object.entries(rule).flatMap(([field, values]) => (values.length > 0 ? [[field, [...values]]] : [])),
  )
}

const read = ['get', 'list', 'watch']
const write = ['create', 'delete', 'deletecollection', 'patch', 'update']
const all = [...write, ...read]

interface Named {
  readonly name: string
  /** The roles that gather it. */
  readonly gatheredBy?: readonly string[]
}

function role({ name, gatheredBy = [] }: Named, ...rules: readonly JsonObject[]): JsonObject {
  return { metadata: metadataOf(name, gatheredBy), rules: [...rules] }
}

/** One that has the rules of those that say so. */
function gatheringRole({ name, gatheredBy = [] }: Named): JsonObject {
  const clusterRoleSelectors = [{ matchLabels: { [gatheringLabel(name)]: 'true' } }]
  return { metadata: metadataOf(name, gatheredBy), aggregationRule: { clusterRoleSelectors } }
}

function metadataOf(name: string, gatheredBy: readonly string[]): JsonObject {
  const labels = Object.fromEntries(gatheredBy.map((gatherer) => [gatheringLabel(gatherer), 'true']))
  return {
    name,
    labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults', ...labels },
    annotations: { [autoupdate]: 'true' },
  }
}

function gatheringLabel(gatherer: string): string {
  return `${accessGroup}/aggregate-to-${gatherer}`
}

function resourceRule(group: string, resources: readonly string[], verbs: readonly string[]): JsonObject {
  return { apiGroups: [group], resources: [...resources], verbs: [...verbs] }
}

function urlRule(...urls: readonly string[]): JsonObject {
  return { nonResourceURLs: [...urls], verbs: ['get'] }
}

const documents = [
  '/api',
  '/api/*',
  '/apis',
  '/apis/*',
  '/healthz',
  '/livez',
  '/openapi',
  '/openapi/*',
  '/readyz',
  '/version',
]
const health = ['/healthz', '/healthz/*', '/livez', '/livez/*', '/readyz', '/readyz/*']

/** For who checks tokens of ServiceAccounts without asking here for each. */
const issuerDiscovery = 'system:service-account-issuer-discovery'

/** What the control plane tells of its own work; see shared/api/computed. */
const ownWork = resourceRule('setpoint.dev', ['budgets', 'queuedkeys', 'queues', 'timers'], ['get', 'list'])

/**
 * What a namespace of a cluster has and none has here. Clients list it all the same, and at a refusal `kubectl get all`
 * and `kubectl describe namespace` fail.
 */
const ofClusters = [
  ['', 'endpoints', 'limitranges', 'persistentvolumeclaims', 'pods', 'replicationcontrollers', 'services'],
  ['apps', 'daemonsets', 'deployments', 'replicasets', 'statefulsets'],
  ['batch', 'cronjobs', 'jobs'],
  ['networking.k8s.io', 'ingresses'],
].map(([group = '', ...resources]) => resourceRule(group, resources, read))

function controllerRole(controller: ControllerWithRights): JsonObject {
  return role({ name: `system:controller:${controller.name}` }, ...rulesOfController(controller))
}

/** Secrets are in no role that only reads. */
function bootstrapRoles(kindGroups: readonly string[]): readonly JsonObject[] {
  const kinds = (verbs: readonly string[]): JsonObject[] =>
    kindGroups.length === 0 ? [] : [{ apiGroups: [...kindGroups], resources: ['*'], verbs: [...verbs] }]
  return [
    role({ name: 'cluster-admin' }, resourceRule('*', ['*'], ['*']), { nonResourceURLs: ['*'], verbs: ['*'] }),
    gatheringRole({ name: 'admin' }),
    gatheringRole({ name: 'edit', gatheredBy: ['admin'] }),
    gatheringRole({ name: 'view', gatheredBy: ['edit'] }),
    role(
      { name: 'system:aggregate-to-admin', gatheredBy: ['admin'] },
      resourceRule(accessGroup, ['rolebindings', 'roles'], all),
      resourceRule('authorization.k8s.io', ['localsubjectaccessreviews'], ['create']),
    ),
    role(
      { name: 'system:aggregate-to-edit', gatheredBy: ['edit'] },
      resourceRule('', ['configmaps', 'events', 'secrets', 'serviceaccounts'], write),
      resourceRule('', ['secrets'], read),
      resourceRule('', ['secrets/explain'], ['get']),
      resourceRule('', ['serviceaccounts'], ['impersonate']),
      resourceRule('', ['serviceaccounts/token'], ['create']),
      resourceRule('coordination.k8s.io', ['leases'], all),
      resourceRule('events.k8s.io', ['events'], write),
    ),
    role(
      { name: 'system:aggregate-to-view', gatheredBy: ['view'] },
      resourceRule('', ['configmaps', 'events', 'namespaces', 'resourcequotas', 'serviceaccounts'], read),
      resourceRule(
        '',
        [
          'configmaps/explain',
          'events/explain',
          'namespaces/status',
          'resourcequotas/status',
          'serviceaccounts/explain',
        ],
        read,
      ),
      resourceRule('events.k8s.io', ['events'], read),
      ...ofClusters,
      ownWork,
    ),
    role({ name: 'setpoint:aggregate-to-edit', gatheredBy: ['edit'] }, ...kinds(write)),
    role({ name: 'setpoint:aggregate-to-view', gatheredBy: ['view'] }, ...kinds(read)),
    role({ name: 'system:discovery' }, urlRule(...documents)),
    role({ name: 'system:public-info-viewer' }, urlRule('/healthz', '/livez', '/readyz', '/version')),
    role(
      { name: issuerDiscovery },
      urlRule(
        '/.well-known/openid-configuration',
        '/.well-known/openid-configuration/',
        '/openid/v1/jwks',
        '/openid/v1/jwks/',
      ),
    ),
    role({ name: 'system:monitoring' }, urlRule(...health, '/metrics', '/doctor'), ownWork),
    role(
      { name: 'system:basic-user' },
      resourceRule('authorization.k8s.io', ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'], ['create']),
      resourceRule('authentication.k8s.io', ['selfsubjectreviews'], ['create']),
    ),
    role(
      { name: 'system:auth-delegator' },
      resourceRule('authentication.k8s.io', ['tokenreviews'], ['create']),
      resourceRule('authorization.k8s.io', ['subjectaccessreviews'], ['create']),
    ),
  ]
}

const bootstrapBindings: readonly JsonObject[] = [
  binding('cluster-admin', superuserGroup),
  binding('system:basic-user', authenticatedGroup),
  binding('system:discovery', authenticatedGroup),
  binding('system:monitoring', 'system:monitoring'),
  binding('system:public-info-viewer', authenticatedGroup),
  binding(issuerDiscovery, accountsGroup),
]

/** Of the role of its own name. */
function binding(name: string, group: string): JsonObject {
  return {
    metadata: metadataOf(name, []),
    roleRef: { apiGroup: accessGroup, kind: 'ClusterRole', name },
    subjects: [{ apiGroup: accessGroup, kind: 'Group', name: group }],
  }
}
