import { build } from 'esbuild'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import {
  again,
  ConfigMap,
  defineKind,
  defineReconciler,
  done,
  waiting,
  type Applied,
  type BodyOf,
  type Context,
  type Kind,
  type ObjectOf,
} from '../../shared/index.ts'
import { deepFreeze } from '../../shared/model/json.ts'
import { createTestEnv } from '../../shared/testing/test-env.ts'

/**
 * The unit level: what is desired is a pure function of the object, and a reconcile function is a function. Neither
 * needs a control plane to be tested, and what they are tested for is what the control plane then holds.
 */

const Proxy = defineKind({
  group: 'unit.test',
  version: 'v1',
  kind: 'Proxy',
  spec: z.object({
    backends: z.array(z.object({ host: z.string().min(1), weight: z.number().int().min(0).default(1) })).default([]),
    timeoutSeconds: z.number().int().min(1).default(30),
  }),
  status: z.object({ backends: z.number().int() }),
})
type Proxy = ObjectOf<typeof Proxy>

/** The builder: backends that take traffic, by name, and the rest of what is declared. */
function configOf({ metadata, spec }: Pick<Proxy, 'metadata' | 'spec'>): Applied<BodyOf<typeof ConfigMap>> {
  const lines = spec.backends
    .filter(({ weight }) => weight > 0)
    .map(({ host, weight }) => `server ${host} weight=${weight};`)
    .toSorted()
  return {
    metadata: { name: `${metadata.name}-config` },
    data: { 'proxy.conf': [...lines, `timeout ${spec.timeoutSeconds}s;`].join('\n') },
  }
}

const proxies = defineReconciler(Proxy, {
  owns: [ConfigMap],
  async reconcile(proxy, ctx) {
    await ctx.apply(ConfigMap, configOf(proxy))
    const backends = proxy.spec.backends.filter(({ weight }) => weight > 0).length
    if (backends === 0) return again('1m', { ready: waiting('NoBackends', 'no backend takes traffic') })
    return done({ status: { backends } })
  },
})

const metadata = { name: 'web', namespace: 'default', uid: 'u', resourceVersion: '1', generation: 1 }
const proxyOf = (spec: Proxy['spec']): Proxy => ({
  apiVersion: 'unit.test/v1',
  kind: 'Proxy',
  metadata: { ...metadata, creationTimestamp: '' },
  spec,
})

const anySpec: fc.Arbitrary<Proxy['spec']> = fc.record({
  backends: fc.array(fc.record({ host: fc.domain(), weight: fc.nat(3) }), { maxLength: 5 }),
  timeoutSeconds: fc.integer({ min: 1, max: 600 }),
})

/** What a reconcile function did and said, called by hand with as much of a context as it uses. */
async function called(spec: Proxy['spec']) {
  const applied: unknown[] = []
  const ctx: Pick<Context, 'apply'> = {
    apply: async <Read, Body>(_: Kind<Read, Body>, object: Applied<Body>) => {
      applied.push(object)
      return object as unknown as Read
    },
  }
  const outcome = await proxies.reconcile(proxyOf(spec) as never, ctx as Context)
  return { applied, outcome }
}

describe('D28 at the unit level', () => {
  it.each([
    { backends: [], conf: 'timeout 30s;', because: 'nothing to send to' },
    { backends: [{ host: 'a', weight: 2 }], conf: 'server a weight=2;\ntimeout 30s;', because: 'one backend' },
    { backends: [{ host: 'a', weight: 0 }], conf: 'timeout 30s;', because: 'a weight of 0 takes no traffic' },
    {
      backends: [
        { host: 'b', weight: 1 },
        { host: 'a', weight: 1 },
      ],
      conf: 'server a weight=1;\nserver b weight=1;\ntimeout 30s;',
      because: 'the order in the spec changes nothing',
    },
  ])('D28 a builder is tested by a table, without any runtime: $because', ({ backends, conf }) => {
    const { data } = configOf(proxyOf({ backends, timeoutSeconds: 30 }))
    expect(data).toEqual({ 'proxy.conf': conf })
  })

  it('D28 a builder is pure: the same for the same object, whatever the order, and nothing in it is changed', () => {
    fc.assert(
      fc.property(anySpec, (spec) => {
        const first = configOf(deepFreeze(proxyOf(spec) as never))
        expect(configOf(proxyOf({ ...spec, backends: spec.backends.toReversed() }))).toEqual(first)
      }),
    )
  })

  it('D28 a reconcile function is called like any other, with a context of the test', async () => {
    const idle = await called({ backends: [], timeoutSeconds: 5 })
    expect(idle.outcome).toEqual(again('1m', { ready: waiting('NoBackends', 'no backend takes traffic') }))
    const busy = await called({ backends: [{ host: 'a', weight: 1 }], timeoutSeconds: 5 })
    expect(busy).toEqual({
      applied: [{ metadata: { name: 'web-config' }, data: { 'proxy.conf': 'server a weight=1;\ntimeout 5s;' } }],
      outcome: { kind: 'done', status: { backends: 1 } },
    })
  })

  it('D28 what the builder says is what the control plane holds, defaults filled in', async () => {
    await using env = await createTestEnv({ reconcilers: [proxies] })
    await env.apply(Proxy, { metadata: { name: 'web' }, spec: { backends: [{ host: 'a' }] } })
    await env.settle()
    const proxy = (await env.get(Proxy, 'web')) as Proxy
    expect(proxy.spec).toEqual({ backends: [{ host: 'a', weight: 1 }], timeoutSeconds: 30 })
    expect(await env.get(ConfigMap, 'web-config')).toMatchObject(configOf(proxy))
  })

  it('D28 what reconcilers are written with brings no runtime along: no adapter, no module of Node', async () => {
    const { metafile } = await build({
      entryPoints: ['shared/index.ts'],
      bundle: true,
      write: false,
      metafile: true,
      format: 'esm',
      platform: 'neutral',
      packages: 'external',
    })
    const layers = Object.keys(metafile.inputs).map((file) => file.split('/')[1])
    expect(new Set(layers)).toEqual(new Set(['index.ts', 'model', 'reconciler']))
    const external = Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path))
    expect(external.filter((path) => path.startsWith('node:') || path.startsWith('@aws-sdk'))).toEqual([])
    expect(external).toContain('zod')
  })
})
