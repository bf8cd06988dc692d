import { afterEach, describe, expect, it, vi } from 'vitest'
import { ConfigMap, type Controller } from '../../shared/index.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'
import { Widget, widgetOf } from './support/widgets.ts'

/**
 * It has modules loaded anew, which no file that shares its process with others may do: vitest.config.ts gives it one
 * of its own.
 */
let env: TestEnv
afterEach(() => env.close())

const create = (): Promise<unknown> => env.apply(Widget, { metadata: { name: 'w' }, spec: {} })

describe('A22 nothing is carried over in memory', () => {
  /** A reconciler out of its module, loaded as a new process loads it: no variable in it is older. */
  async function load(name: 'stepping' | 'remembering'): Promise<Controller> {
    vi.resetModules()
    const { stepping, remembering } = await import('./support/stepping.ts')
    return name === 'stepping' ? stepping() : remembering()
  }

  async function endOf(name: 'stepping' | 'remembering', crashing: boolean): Promise<unknown> {
    env = await createTestEnv({ reconcilers: [await load(name)] })
    await create()
    for (let i = 0; i < 10; i++) {
      await env.advance('10s')
      if (crashing) await env.crash([await load(name)])
    }
    const { status } = await widgetOf(env)
    const data = (await env.get(ConfigMap, 'child'))?.data
    return { size: status?.size, data }
  }

  it.each([true, false])('A22 the end is the same, with a fresh process between all steps: %s', async (crashing) => {
    expect(await endOf('stepping', crashing)).toEqual({ size: 1, data: { step: '4' } })
  })

  it('A22 a reconciler that keeps its step in a variable of its module comes to another end: it begins anew each time', async () => {
    expect(await endOf('remembering', true)).toEqual({ size: undefined, data: { step: '1' } })
  })
})
