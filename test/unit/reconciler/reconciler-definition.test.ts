import { describe, expect, it } from 'vitest'
import {
  ConfigMap,
  defineReconciler,
  done,
  generationChanged,
  mapped,
  owned,
  reference,
  Secret,
  type ApiObject,
  type Context,
} from '../../../shared/index.ts'

const kind = { group: 'test.dev', version: 'v1', kind: 'Page', namespaced: true }
const reconcile = async () => done()
const cleanup = async () => done()

const define = (options: object = {}, of = kind) => defineReconciler(of, { reconcile, ...options })

describe('a reconciler', () => {
  it('is as its kind says, where nothing else is said', () => {
    const controller = define()
    expect(controller).toMatchObject({
      name: 'page',
      kind,
      owns: [],
      references: [],
      maps: [],
      resyncMs: 36_000_000,
      debounceMs: 0,
      timeoutMs: 60_000,
      concurrency: 10,
      objectLimit: undefined,
      controllerLimit: undefined,
      reportsStatus: true,
    })
    expect(controller.when({} as never)).toBe(true)
    for (const left of ['cleanup', 'finalizer', 'deletionPolicy', 'canary', 'onRemoved', 'vault'])
      expect(controller).not.toHaveProperty(left)
    expect(Object.isFrozen(controller)).toBe(true)
  })

  it.each([
    [{ name: 'pages' }, { name: 'pages' }],
    [{ resync: '5m' }, { resyncMs: 300_000 }],
    [{ resync: false }, { resyncMs: 0 }],
    [{ resync: 0 }, { resyncMs: 0 }],
    [{ debounce: '2s' }, { debounceMs: 2_000 }],
    [{ timeout: '2s' }, { timeoutMs: 2_000 }],
    [{ concurrency: 1 }, { concurrency: 1 }],
    [{ rateLimit: { object: { runs: 1, within: '1s' } } }, { objectLimit: { runs: 1, withinMs: 1_000 } }],
    [{ rateLimit: { controller: { perSecond: 2 } } }, { controllerLimit: { perSecond: 2, burst: 2 } }],
    [{ when: generationChanged }, { when: generationChanged }],
    [{ onRemoved: 'reconcile' }, { onRemoved: 'reconcile' }],
    [{ vault: { reads: [{ parameter: 'a/' }] } }, { vault: { reads: [{ parameter: 'a/' }] } }],
    [{ cleanup }, { finalizer: 'test.dev/page', deletionPolicy: 'Delete' }],
    [{ cleanup, name: 'pages' }, { finalizer: 'test.dev/pages' }],
    [{ cleanup, finalizer: 'a.dev/b' }, { finalizer: 'a.dev/b' }],
    [{ cleanup, deletionPolicy: 'Retain' }, { deletionPolicy: 'Retain' }],
  ])('is as was said: %j', (options, is) => {
    expect(define(options)).toMatchObject(is)
  })

  it('of a kind of the core has a finalizer of this program', () => {
    expect(define({ cleanup }, { ...kind, group: '' })).toMatchObject({ finalizer: 'setpoint.dev/page' })
  })

  it.each([
    [{ reconcile: undefined }, 'page: reconcile is missing: give a function'],
    [{ reconcile: 'now' }, 'page: reconcile is missing: give a function'],
    [{ cleanup: true }, 'page: cleanup is missing: give a function'],
    [{ reconcile: undefined, reconcil: reconcile }, 'page: there is no option reconcil: reconcile is probably meant'],
    [{ Resync: '5m' }, 'page: there is no option Resync: resync is probably meant'],
    [{ watch: [] }, 'page: there is no option watch: watches is probably meant'],
    [{ retries: 3 }, 'page: there is no option retries: there are name, when, owns, watches, '],
    [{ canary: { version: 'v2' } }, 'page: canary: reconcile is missing: give a function'],
    [{ concurrency: 0 }, 'concurrency must be a whole number from 1, not 0'],
    [{ concurrency: 1.5 }, 'concurrency must be a whole number from 1, not 1.5'],
    [{ timeout: '0s' }, 'a run needs time: timeout must be more than 0'],
    [{ onRemoved: 'reconcile', cleanup }, 'it can have no cleanup'],
    [{ finalizer: 'a.dev/b' }, 'a finalizer without cleanup would never be removed'],
    [{ deletionPolicy: 'Retain' }, 'nothing that a deletionPolicy could decide'],
    [{ cleanup, finalizer: 'a b' }, 'a b is no name for a finalizer'],
    [{ vault: { reads: [{ parameter: '/a/' }] } }, 'must be the beginning of names'],
    [{ vault: { writes: [{ secretsManager: 'a' }] } }, 'must be the beginning of names'],
    [{ name: 'Pages_1', canary: { version: 'v2', reconcile } }, 'no Canary can have this name'],
    [{ canary: { version: 'v2', reconcile, cleanup } }, 'the canary has a cleanup, and the reconciler has none'],
  ])('cannot work and is refused: %j', (options, why) => {
    expect(() => define(options)).toThrow(/^pages?(_1)?: /i)
    expect(() => define(options)).toThrow(why)
  })

  it('of Secrets keeps no last state of them', () => {
    const secret = { ...kind, group: '', kind: 'Secret' }
    expect(() => define({ onRemoved: 'reconcile' }, secret)).toThrow(/^secret: no last state .* use cleanup$/)
    expect(define({ onRemoved: 'reconcile' }, { ...secret, group: 'other.dev' })).toMatchObject({
      onRemoved: 'reconcile',
    })
    expect(define({ onRemoved: 'reconcile' }, { ...secret, kind: 'ConfigMap' })).toMatchObject({
      onRemoved: 'reconcile',
    })
  })

  it.each(['', 'a/b', 'My Pages!', '-a', 'a'.repeat(64)])('has a name that names queues and roles: not %j', (name) => {
    expect(() => define({ name })).toThrow(`Page: the name of its reconciler is ${JSON.stringify(name)}: give 63`)
  })

  it.each(['', NaN])('has a resync that is a duration, or none: not %j', (resync) => {
    expect(() => define({ resync })).toThrow('page: resync: not a duration: ')
  })

  it.each([
    [{ timeout: '1 minute' }, 'page: timeout: not a duration: "1 minute"; write for example "30s"'],
    [{ debounce: -1 }, 'page: debounce: not a duration: -1; write'],
    [{ rateLimit: { object: { runs: 1, within: 'soon' } } }, 'page: rateLimit.object.within: not a duration: "soon"'],
  ])('says where a duration is that is none: %j', (options, why) => {
    expect(() => define(options)).toThrow(TypeError)
    expect(() => define(options)).toThrow(why)
  })

  it('is woken by what it owns and watches', () => {
    const { owns, references, maps } = define({
      owns: [Secret, owned(ConfigMap, { when: generationChanged })],
      watches: [reference(ConfigMap, () => ({ name: 'a' })), mapped(Secret, () => ({ name: 'b' }))],
    })
    expect(owns).toMatchObject([{ kind: Secret }, { kind: ConfigMap, when: generationChanged }])
    expect([references, maps]).toMatchObject([[{ kind: ConfigMap }], [{ kind: Secret }]])
    expect(owns[0]?.when({} as never)).toBe(true)
    const object = { metadata: { namespace: 'n' } } as unknown as ApiObject
    expect(references[0]?.targets(object)).toMatchObject([{ kind: 'ConfigMap', namespace: 'n', name: 'a' }])
    expect(maps[0]?.primaries(object)).toMatchObject([{ kind: 'Page', namespace: 'n', name: 'b' }])
  })

  it('with new code may read its Canary, and names the version', () => {
    const stable = define()
    const tried = define({ canary: { version: 'v2', reconcile } })
    const name = 'release.setpoint.dev/Canary'
    expect([stable.rights.get(name), tried.rights.get(name)]).toMatchObject([undefined, { access: 'read' }])
    expect(tried.canary).toBe('v2')
    expect(tried).not.toHaveProperty('cleanup')
    expect(stable.reconcile).toBe(reconcile)
  })

  it('cleans up by its own function unless an object says otherwise', async () => {
    const cleaned: string[] = []
    const { cleanup: clean } = define({
      cleanup: async ({ metadata }: ApiObject) => {
        cleaned.push(metadata.name)
        return done()
      },
    })
    const ctx = { event: async () => {} } as unknown as Context
    const annotations = { 'setpoint.dev/deletion-policy': 'Retain' }
    for (const metadata of [{ name: 'a' }, { name: 'b', annotations }])
      await clean?.({ metadata } as unknown as ApiObject, ctx)
    expect(cleaned).toEqual(['a'])
  })
})

it.each([
  [{ watches: [ConfigMap] }, 'watches: give what reference(…) or mapped(…) returns'],
  [{ rateLimit: { controler: { perSecond: 1 } } }, 'rateLimit: there is no option controler: controller is probably'],
  [{ rateLimit: { controller: { perSec: 1 } } }, 'rateLimit.controller: there is no option perSec'],
  [{ rateLimit: { object: { run: 1, within: '1s' } } }, 'rateLimit.object: there is no option run: runs is probably'],
  [{ vault: { read: [] } }, 'vault: there is no option read: reads is probably meant'],
  [{ grants: [{ kind: ConfigMap, access: 'delete' }] }, 'grants: access is delete: give read or write'],
  [{ cleanup, deletionPolicy: 'retain' }, 'deletionPolicy is retain: give Delete or Retain'],
])('options %j would do nothing, and are refused', (options, message) => {
  expect(() => define(options)).toThrow(message)
})
