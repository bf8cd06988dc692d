import { afterEach, describe, expect, it } from 'vitest'
import { defineReconciler, done } from '../../../../shared/index.ts'
import { startLocalCore, type FollowedCore } from '../../../../shared/runtime/local/core.ts'
import { openLocalPorts } from '../../../../shared/runtime/local/ports.ts'
import { startReplaceableCore } from '../../../../shared/runtime/local/replaceable-core.ts'
import type { Logger } from '../../../../shared/ports/logger.ts'
import { createSeededRandom } from '../../../../shared/testing/seeded-random.ts'
import { Widget } from '../../../acceptance/support/widgets.ts'
import { createVirtualClock } from '../../../support/virtual-clock.ts'

/** The reconcilers are loaded again while functions go on that do not heed the end of their time. */

const timeoutMs = 60_000
const client = { manager: 'test' }

/** A control plane whose functions go on until a test ends them. */
async function startPlane() {
  const clock = createVirtualClock()
  const ports = openLocalPorts(':memory:', clock)
  const waiting: unknown[] = []
  const logger: Logger = {
    debug: () => {},
    info: () => {},
    warn: (message, fields) => {
      if (message.includes('an earlier run goes on')) waiting.push(fields?.['name'])
    },
    error: () => {},
    with: () => logger,
  }
  const underWay: { readonly name: string; readonly end: () => void }[] = []
  const controller = defineReconciler(Widget, {
    onRemoved: 'reconcile',
    reconcile: async ({ metadata: { name } }) => {
      await new Promise<void>((end) => underWay.push({ name, end }))
      return done()
    },
  })
  let running: FollowedCore | undefined
  const core = await startReplaceableCore({
    load: async () => [controller],
    start: async (controllers, overruns) => {
      const given = { ports, controllers, overruns, clock, logger, random: createSeededRandom(1) }
      running = await startLocalCore({ ...given, authenticate: () => {} })
      return running
    },
    introduceAgain: () => ports.introduced.save('[]'),
  })
  const stored = async () => {
    const { resources, catalog } = running ?? expect.fail('a core has started')
    const kind = (await catalog.byKind('test.setpoint.dev', 'Widget')) ?? expect.fail('widgets are served')
    return { resources, kind }
  }
  const pass = async (work: Promise<unknown>): Promise<void> => {
    await clock.advance(1_000)
    await work
    await clock.advance(1_000)
  }
  return {
    /** The objects of which the log said that they wait for an earlier run. */
    waiting,
    advance: (ms: number) => clock.advance(ms),
    /** The objects whose functions are under way, in the order in which they began. */
    underWay: () => underWay.map(({ name }) => name),
    endFirst: async () => {
      underWay.shift()?.end()
      await clock.advance(1_000)
    },
    make: async (name: string) => {
      const { resources, kind } = await stored()
      const made = { metadata: { name, namespace: 'default' }, spec: { size: 1 } }
      await pass(resources.create(kind, made, client))
    },
    remove: async (name: string) => {
      const { resources, kind } = await stored()
      await pass(resources.delete(kind, { name, namespace: 'default' }))
    },
    reload: () => pass(core.replace(500)),
    close: async () => {
      await pass(core.stop(0))
      ports.close()
    },
  }
}

let plane: Awaited<ReturnType<typeof startPlane>>
afterEach(() => plane.close())

describe('a key whose function goes on after a reload', () => {
  it.each([
    ['was given up by the reload', 0],
    ['had taken too long before', timeoutMs],
  ])('waits for its end, and then runs once: the function %s', async (_what, beforeMs) => {
    plane = await startPlane()
    await plane.make('w')
    await plane.advance(beforeMs)
    await plane.reload()
    await plane.advance(3 * timeoutMs)
    expect([plane.underWay(), plane.waiting]).toEqual([['w'], ['w']])
    await plane.endFirst()
    expect(plane.underWay()).toEqual(['w'])
    await plane.endFirst()
    expect(plane.underWay()).toEqual([])
  })

  it('keeps no other key waiting, however many there are', async () => {
    plane = await startPlane()
    const many = Array.from({ length: 10 }, (_, i) => `w${i}`)
    for (const name of many) await plane.make(name)
    await plane.reload()
    await plane.make('other')
    expect(plane.underWay()).toEqual([...many, 'other'])
  })

  it('waits after a second reload, too', async () => {
    plane = await startPlane()
    await plane.make('w')
    await plane.reload()
    await plane.reload()
    expect([plane.underWay(), plane.waiting]).toEqual([['w'], ['w', 'w']])
    await plane.endFirst()
    expect(plane.underWay()).toEqual(['w'])
  })

  it('runs at once after a reload that finds no function going on', async () => {
    plane = await startPlane()
    await plane.make('w')
    await plane.reload()
    await plane.endFirst()
    await plane.endFirst()
    await plane.reload()
    expect([plane.underWay(), plane.waiting]).toEqual([['w'], ['w']])
  })

  it('runs after six of its timeouts if the function never ends', async () => {
    plane = await startPlane()
    await plane.make('w')
    await plane.reload()
    await plane.advance(6 * timeoutMs - 5_000)
    expect(plane.underWay()).toEqual(['w'])
    await plane.advance(5_000)
    expect(plane.underWay()).toEqual(['w', 'w'])
  })

  it.each([
    ['a removed object waits with its last run', ['make', 'reload', 'remove']],
    ['the next object of a name waits for the last run of the one before', ['make', 'end', 'remove', 'reload', 'make']],
  ] as const)('is that of all objects of the name: %s', async (_what, steps) => {
    plane = await startPlane()
    for (const step of steps)
      await (step === 'reload' ? plane.reload() : step === 'end' ? plane.endFirst() : plane[step]('w'))
    expect([plane.underWay(), plane.waiting]).toEqual([['w'], ['w']])
    await plane.endFirst()
    expect(plane.underWay()).toEqual(['w'])
  })
})
