import { describe, expect, it } from 'vitest'
import { OperatingError } from '../../../shared/model/errors.ts'
import type { JsonObject } from '../../../shared/model/json.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import { installRoles } from '../../../shared/resources/bootstrap-roles.ts'
import { rulesOfController, type ControllerWithRights } from '../../../shared/resources/controller-roles.ts'
import { createResources } from '../../../shared/resources/create-resources.ts'
import { createVirtualClock } from '../../support/virtual-clock.ts'
import { createMapStore } from './map-store.ts'

const group = 'rbac.authorization.k8s.io'
const autoupdate = 'rbac.authorization.kubernetes.io/autoupdate'
const of = (kind: string, access: 'read' | 'write', more: object = {}) =>
  ({ kind: { group: 'g.dev', kind, ...more }, access }) as const
const definition = (plural: string) => ({ definition: { spec: { names: { plural } } } as never })

function controllerOf(rights: readonly (readonly [string, ReturnType<typeof of>])[] = []): ControllerWithRights {
  return { name: 'painter', kind: { group: 'g.dev' }, rights: new Map(rights) }
}

function open(before?: (request: string) => unknown) {
  const store = createMapStore(before)
  const random = { next: () => 0, uuid: () => 'u' }
  const resources = createResources({ store, clock: createVirtualClock(), random })
  const read = async (name: string, kind = 'ClusterRole'): Promise<ApiObject | undefined> =>
    (await store.get({ group, kind, namespace: '', name }))?.object
  const rulesOf = async (name: string) => (await read(name))?.['rules'] as readonly JsonObject[] | undefined
  const put = (name: string, rules: readonly JsonObject[], annotations: Record<string, string> = {}): void => {
    const metadata = { name, uid: 'u', resourceVersion: '1', generation: 1, creationTimestamp: '2026-11-01T00:00:00Z' }
    store.put({
      apiVersion: `${group}/v1`,
      kind: 'ClusterRole',
      metadata: { ...metadata, annotations },
      rules: [...rules],
    })
  }
  return { store, resources, read, rulesOf, put }
}

describe('a first start', () => {
  it('makes the roles and bindings of Kubernetes, and one role for each controller', async () => {
    const { store, resources } = open()
    await installRoles(resources, [controllerOf()])
    const own = ['cluster-admin', 'admin', 'edit', 'view', 'setpoint:aggregate-to-edit', 'setpoint:aggregate-to-view']
    const systems =
      'aggregate-to-admin aggregate-to-edit aggregate-to-view auth-delegator basic-user controller:painter discovery monitoring public-info-viewer service-account-issuer-discovery'
    const bound = 'basic-user discovery monitoring public-info-viewer service-account-issuer-discovery'
    const named = (names: string) => names.split(' ').map((name) => `system:${name}`)
    const roles = [...own, ...named(systems)].map((name) => `create ClusterRole ${name}`)
    const bindings = ['cluster-admin', ...named(bound)].map((name) => `create ClusterRoleBinding ${name}`)
    expect(store.writes().toSorted()).toEqual([...roles, ...bindings].toSorted())
  })

  it('gives all rights over the kinds of the program to who may edit, and those that read to who may view', async () => {
    const { resources, rulesOf } = open()
    await installRoles(resources, [controllerOf(), controllerOf()])
    const rule = (verbs: readonly string[]) => [{ apiGroups: ['g.dev'], resources: ['*'], verbs }]
    expect(await rulesOf('setpoint:aggregate-to-edit')).toEqual(
      rule(['create', 'delete', 'deletecollection', 'patch', 'update']),
    )
    expect(await rulesOf('setpoint:aggregate-to-view')).toEqual(rule(['get', 'list', 'watch']))
    const none = open()
    await installRoles(none.resources, [])
    expect([
      await none.rulesOf('setpoint:aggregate-to-edit'),
      await none.rulesOf('setpoint:aggregate-to-view'),
    ]).toEqual([[], []])
  })

  it.each(['', group, 'coordination.k8s.io'])(
    'gives nothing by a reconciler of a built-in kind of the group %j, where others stand beside it',
    async (builtIn) => {
      const { resources, rulesOf } = open()
      await installRoles(resources, [controllerOf(), { ...controllerOf(), name: 'maps', kind: { group: builtIn } }])
      for (const role of ['setpoint:aggregate-to-edit', 'setpoint:aggregate-to-view'])
        expect(await rulesOf(role)).toMatchObject([{ apiGroups: ['g.dev'] }])
    },
  )

  it('has roles gathered by others, and bound to groups', async () => {
    const { resources, read } = open()
    await installRoles(resources, [])
    const gathered = { matchLabels: { [`${group}/aggregate-to-edit`]: 'true' } }
    expect((await read('edit'))?.['aggregationRule']).toEqual({ clusterRoleSelectors: [gathered] })
    expect((await read('edit'))?.metadata.labels).toEqual({
      'kubernetes.io/bootstrapping': 'rbac-defaults',
      [`${group}/aggregate-to-admin`]: 'true',
    })
    expect(await read('system:monitoring', 'ClusterRoleBinding')).toMatchObject({
      roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'system:monitoring' },
      subjects: [{ apiGroup: group, kind: 'Group', name: 'system:monitoring' }],
    })
  })
})

describe('a later start', () => {
  const discovery = 'system:public-info-viewer'
  const whole = { nonResourceURLs: ['/healthz', '/livez', '/readyz', '/version'], verbs: ['get'] }
  const each = (...urls: readonly string[]) => urls.map((url) => ({ nonResourceURLs: [url], verbs: ['get'] }))
  const mine = { apiGroups: ['g.dev'], resources: ['things'], verbs: ['get'] }

  it.each<[string, readonly JsonObject[], Record<string, string>, readonly JsonObject[] | 'as it is']>([
    ['lacks all', [], {}, each(...whole.nonResourceURLs)],
    [
      'lacks some',
      [mine, ...each('/livez')],
      {},
      [mine, ...each('/livez'), ...each('/healthz', '/readyz', '/version')],
    ],
    [
      'lacks one',
      [{ ...whole, nonResourceURLs: ['/healthz', '/livez', '/readyz'] }],
      {},
      [{ ...whole, nonResourceURLs: ['/healthz', '/livez', '/readyz'] }, ...each('/version')],
    ],
    ['has all, and more', [mine, whole], {}, 'as it is'],
    ['has more than that', [{ nonResourceURLs: ['*'], verbs: ['*'] }], {}, 'as it is'],
    ['is to be brought up', [], { [autoupdate]: 'true' }, each(...whole.nonResourceURLs)],
    ['is to be left alone', [], { [autoupdate]: 'false' }, 'as it is'],
  ])('brings up a role that %s', async (...row) => {
    const [, present, annotations, rules] = row
    const { put, resources, rulesOf, store } = open()
    put(discovery, present, annotations)
    await installRoles(resources, [])
    expect(await rulesOf(discovery)).toEqual(rules === 'as it is' ? present : rules)
    const writes = store.writes().filter((request) => request.startsWith('replace'))
    expect(writes).toHaveLength(rules === 'as it is' ? 0 : 1)
  })

  it('keeps what somebody adds to a role at the same time', async () => {
    const other = { apiGroups: ['x.dev'], resources: ['xs'], verbs: ['get'] }
    let writes = 0
    const { put, resources, rulesOf } = open((request) => {
      if (request.startsWith('replace') && ++writes === 1) put(discovery, [mine, other])
    })
    put(discovery, [mine])
    await installRoles(resources, [])
    expect(await rulesOf(discovery)).toEqual([mine, other, ...each(...whole.nonResourceURLs)])
    expect(writes).toBe(2)
  })

  it.each([
    ['is damaged', 'DAMAGED'],
    ['is full', 'TOO_LARGE'],
  ] as const)('leaves alone what %s, and brings up all others', async (_what, code) => {
    const { resources, store } = open((request) => {
      if (request.startsWith('get') && request.endsWith(' view')) throw new OperatingError(code, 'view')
    })
    await installRoles(resources, [])
    expect(store.writes()).toContain('create ClusterRole edit')
    expect(store.writes()).not.toContain('create ClusterRole view')
  })

  it('shows of a controller what it may do now, and nothing else', async () => {
    const { put, resources, rulesOf, store } = open()
    const painter = controllerOf([['a', of('Widget', 'read', definition('widgets'))]])
    put('system:controller:painter', [mine])
    await installRoles(resources, [painter])
    expect(await rulesOf('system:controller:painter')).toEqual(rulesOfController(painter))
    const writes = store.writes().length
    await installRoles(resources, [painter])
    expect(store.writes()).toHaveLength(writes)
  })
})

describe('a start beside another', () => {
  const failing = (request: string, code: 'ALREADY_EXISTS' | 'TOO_LARGE' | 'UNAVAILABLE') => (asked: string) => {
    if (asked === request) throw new OperatingError(code, 'x')
  }
  it('goes on where the other was faster', async () => {
    const { resources } = open(failing('create ClusterRole edit', 'ALREADY_EXISTS'))
    await expect(installRoles(resources, [])).resolves.toBeUndefined()
  })

  it.each([
    ['create ClusterRole edit', 'TOO_LARGE'],
    ['get ClusterRole edit', 'UNAVAILABLE'],
  ] as const)('ends where %s fails of %s', async (request, code) => {
    const { resources } = open(failing(request, code))
    await expect(installRoles(resources, [])).rejects.toMatchObject({ code })
  })
})

describe('the rules of a controller', () => {
  const events = { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] }
  const reading = ['get', 'list', 'watch']

  it.each<[string, readonly (readonly [string, ReturnType<typeof of>])[], readonly JsonObject[]]>([
    ['has no rights', [], []],
    [
      'reads a kind',
      [['a', of('W', 'read', definition('ws'))]],
      [{ apiGroups: ['g.dev'], resources: ['ws'], verbs: reading }],
    ],
    [
      'writes kinds, and reads another',
      [
        ['a', of('W', 'write', definition('ws'))],
        ['b', of('A', 'write', definition('as'))],
        ['c', of('X', 'read', definition('xs'))],
      ],
      [
        { apiGroups: ['g.dev'], resources: ['as', 'ws'], verbs: ['create', 'delete', 'patch', 'update', ...reading] },
        { apiGroups: ['g.dev'], resources: ['as/status', 'ws/status'], verbs: ['get', 'patch', 'update'] },
        { apiGroups: ['g.dev'], resources: ['xs'], verbs: reading },
      ],
    ],
    [
      'reads a built-in kind, and one that nobody knows',
      [
        ['a', of('ConfigMap', 'read', { group: '' })],
        ['b', of('ConfigMap', 'read', { group: 'other.dev' })],
        ['c', of('Unknown', 'read', { group: '' })],
      ],
      [{ apiGroups: [''], resources: ['configmaps'], verbs: reading }],
    ],
  ])('that %s', (_what, rights, rules) => {
    expect(rulesOfController(controllerOf(rights))).toEqual([...rules, events])
  })
})
