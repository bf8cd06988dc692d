import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { hasCode } from '../../shared/model/errors.ts'
import type { ApiObject } from '../../shared/model/object.ts'
import type { StoredObject } from '../../shared/model/stored-object.ts'
import type { ObjectStore } from '../../shared/ports/object-store.ts'
import type { StoredAccess } from '../../shared/resources/stored-access.ts'

/** One that asks and writes. */
export interface AccessProcess {
  readonly access: StoredAccess
  /** Whose writes the access follows. */
  readonly store: ObjectStore
}

interface Step {
  readonly process: number
  readonly name: string
  readonly verb: 'create' | 'remove'
}

/** What bindings promise to all processes of a control plane. */
export function accessContract(adapter: string, open: () => Promise<readonly AccessProcess[]>): void {
  it(`bindings: ${adapter}: each write holds in every process from its answer on`, async () => {
    const step: fc.Arbitrary<Step> = fc.record({
      process: fc.nat(2),
      name: fc.constantFrom('a', 'b', 'c'),
      verb: fc.constantFrom('create', 'remove'),
    })
    const rounds = fc.array(fc.array(step, { minLength: 1, maxLength: 3 }), { maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(rounds, async (all) => {
        const processes = await open()
        for (const steps of all) {
          await Promise.all(steps.map(({ process, ...what }) => write(processes[process % processes.length], what)))
          const stored = await namesStored(processes[0])
          expect(await Promise.all(processes.map(namesKnown))).toEqual(processes.map(() => stored))
        }
      }),
      { numRuns: 5 },
    )
  })
}

async function write(process: AccessProcess | undefined, { name, verb }: Omit<Step, 'process'>): Promise<void> {
  const { store } = process as AccessProcess
  try {
    const there = await store.get({ ...kind, namespace: '', name })
    if (verb === 'create') await store.create(binding(name))
    else if (there !== undefined) await store.remove(there)
  } catch (error) {
    if (!hasCode(error, 'ALREADY_EXISTS', 'VERSION_CONFLICT', 'NOT_FOUND')) throw error
  }
}

const kind = { group: 'rbac.authorization.k8s.io', kind: 'ClusterRoleBinding' } as const

let uids = 0
function binding(name: string): StoredObject {
  const object = {
    apiVersion: `${kind.group}/v1`,
    kind: kind.kind,
    metadata: { name, uid: `u${uids++}`, generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' },
    roleRef: { kind: 'ClusterRole', name },
    subjects: [{ kind: 'User', name: 'alice' }],
  }
  return { object: object as unknown as ApiObject, engine: {} }
}

async function namesStored(process: AccessProcess | undefined): Promise<readonly string[]> {
  const { items } = await (process as AccessProcess).store.list(kind)
  return items.map(({ object }) => object.metadata.name).toSorted()
}

async function namesKnown({ access }: AccessProcess): Promise<readonly string[]> {
  const book = await access.read()
  return [...book.bindingsOf({ name: 'alice', groups: [] }, '')].map(({ name }) => name).toSorted()
}
