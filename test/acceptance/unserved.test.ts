import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Namespace, type Kind } from '../../shared/index.ts'
import type { StoredObject } from '../../shared/model/stored-object.ts'
import type { PortCall } from '../../shared/testing/observed-ports.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'
import { Widget, widgets, type RunRecord } from './support/widgets.ts'

/** Objects of a kind that is served no more, in no version, are still there: nobody sees them, and they are seen to. */

const Definition: Kind<{ readonly spec: { readonly versions: readonly object[] } }, unknown> = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  namespaced: false,
}
const definitionName = 'widgets.test.setpoint.dev'

let env: TestEnv
let runs: RunRecord[]
beforeEach(async () => {
  env = await createTestEnv({ tickMs: 60_000, reconcilers: [widgets((runs = []))] })
  await env.apply(Namespace, { metadata: { name: 'n' } })
  await env.apply(Widget, { metadata: { name: 'w', namespace: 'n' }, spec: {} })
  await env.settle()
  const { spec } = (await env.get(Definition, definitionName)) ?? { spec: { versions: [] } }
  const versions = spec.versions.map((version) => ({ ...version, served: false }))
  await env.patch(Definition, definitionName, { spec: { versions } })
  await env.settle()
})
afterEach(() => env.close())

const removed = (): readonly PortCall[] =>
  env.calls.filter(({ call, args }) => call === 'store.remove' && (args[0] as StoredObject).object.kind === 'Widget')

describe('an object of a kind that is not served', () => {
  it('is resynced', async () => {
    runs.length = 0
    await env.advance('10h')
    expect(runs).toHaveLength(1)
  })

  it('goes with its definition', async () => {
    await env.delete(Definition, definitionName)
    // On AWS processes may know it for nearly two minutes more.
    await env.advance('5m')
    expect(await env.get(Definition, definitionName)).toBeUndefined()
    expect(removed()).toHaveLength(1)
  })

  it('goes with its namespace', async () => {
    await env.delete(Namespace, 'n')
    await env.advance('1m')
    expect(await env.get(Namespace, 'n')).toBeUndefined()
    expect(removed()).toHaveLength(1)
  })
})
