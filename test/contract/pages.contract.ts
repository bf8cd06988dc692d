import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../shared/adapters/node/system-clock.ts'
import { systemRandom } from '../../shared/adapters/node/system-random.ts'
import type { ServedKind } from '../../shared/model/served-kind.ts'
import type { ObjectStore } from '../../shared/ports/object-store.ts'
import { builtInKinds, namespaceKind } from '../../shared/resources/built-in-kinds.ts'
import { createResources } from '../../shared/resources/create-resources.ts'
import type { Resources } from '../../shared/resources/resources.ts'
import { share } from '../support/strength.ts'

const kind = builtInKinds.find((one) => one.kind === 'ConfigMap') as ServedKind
const by = { manager: 'test' } as const
const name = fc.integer({ min: 0, max: 12 }).map((i) => `m${String(i).padStart(2, '0')}`)
const change = fc.record({ do: fc.constantFrom('create', 'change', 'remove'), name })
type Change = { readonly do: string; readonly name: string }

export interface OpenPages {
  readonly store: ObjectStore
  close(): void
}

/** `isSnapshot`: all pages show the moment of the first one, but for what was removed since. */
export function pagesContract(adapter: string, open: () => Promise<OpenPages>, isSnapshot: boolean): void {
  describe(`pages of a list: ${adapter}`, () => {
    it('show each object that stays once, in order, however much changes between them', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(name, { maxLength: 10 }),
          fc.integer({ min: 1, max: 4 }),
          fc.array(fc.array(change, { maxLength: 4 }), { maxLength: 12 }),
          async (names, limit, between) => {
            const { store, close } = await open()
            const resources = createResources({ store, clock: systemClock, random: systemRandom })
            await resources.create(namespaceKind, { metadata: { name: 'n' } }, by)
            for (const one of new Set(names)) await act(resources, { do: 'create', name: one })
            const before = await all(resources)
            const removed = new Set<string>()
            const seen: { readonly name: string; readonly uid: string; readonly version: string }[] = []
            const versions = new Set<string>()
            let token: string | undefined
            let page = 0
            do {
              const list = await resources.list(kind, {
                namespace: 'n',
                limit,
                ...(token !== undefined && { continue: token }),
              })
              seen.push(
                ...list.items.map(({ object: { metadata } }) => ({ ...metadata, version: metadata.resourceVersion })),
              )
              versions.add(list.resourceVersion)
              expect(list.items.length).toBeLessThanOrEqual(limit)
              token = list.continue
              for (const one of between[page++] ?? []) {
                if (one.do === 'remove') removed.add(one.name)
                await act(resources, one)
              }
            } while (token !== undefined)
            const order = seen.map((one) => one.name)
            expect(order).toEqual([...new Set(order)].toSorted())
            expect(versions.size).toBe(1)
            const stayed = [...before.keys()].filter((one) => !removed.has(one))
            expect(order).toEqual(expect.arrayContaining(stayed))
            for (const one of seen) {
              const first = before.get(one.name)
              if (isSnapshot) expect([one.uid, one.version]).toEqual([first?.uid, first?.version])
              else if (stayed.includes(one.name)) expect(one.uid).toBe(first?.uid)
            }
            close()
          },
        ),
        { numRuns: share(100) },
      )
    })
  })
}

async function act(resources: Resources, { do: what, name: one }: Change): Promise<void> {
  const at = { namespace: 'n', name: one }
  const data = { at: String(systemRandom.next()) }
  const acts: Readonly<Record<string, () => Promise<unknown>>> = {
    create: () => resources.create(kind, { metadata: at, data }, by),
    change: () => resources.patch(kind, at, { type: 'merge', body: { data } }, by),
    remove: () => resources.delete(kind, at),
  }
  // What is there already, or not there, stays as it is.
  await acts[what]?.().catch(() => {})
}

async function all(resources: Resources) {
  const { items } = await resources.list(kind, { namespace: 'n' })
  return new Map(
    items.map(({ object: { metadata } }) => [metadata.name, { uid: metadata.uid, version: metadata.resourceVersion }]),
  )
}
