import { statSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../shared/adapters/node/system-clock.ts'
import type { ApiObject } from '../../shared/model/object.ts'
import { openGuardedPorts } from '../../shared/runtime/local/ports.ts'
import { gadgetText } from './gadget.ts'

export interface Filled {
  readonly fillSeconds: number
  readonly storeMb: number
  /** Up to when their resyncs count as done. */
  readonly turnedMs: number
}

/** Objects as they are when they have been reconciled, and the note that the relay has seen them all. */
export async function fillStore(path: string, objects: number): Promise<Filled> {
  const startMs = performance.now()
  // The mark is to say what is written: a start refuses a database that is ahead of its mark.
  const ports = openGuardedPorts(join(path, 'setpoint.db'), systemClock, {})
  const batch = 5_000
  for (let i = 0; i < objects; i += batch) {
    const size = Math.min(batch, objects - i)
    await Promise.all(
      Array.from({ length: size }, (_, j) => ports.store.create({ object: restingObject(i + j), engine: {} })),
    )
  }
  await ports.relayed.save(await ports.feed.latest())
  const turnedMs = Date.now()
  await ports.turned.save(String(turnedMs))
  ports.close()
  const { size } = statSync(join(path, 'setpoint.db'))
  return { fillSeconds: (performance.now() - startMs) / 1_000, storeMb: size / 2 ** 20, turnedMs }
}

function restingObject(i: number): ApiObject {
  const { head, tail } = gadgetText(`gadget-${i}`, i)
  const { metadata, ...declared } = JSON.parse(`${head}${revision}${tail}`) as ApiObject
  return {
    ...declared,
    metadata: {
      ...metadata,
      uid: uidOf(i),
      resourceVersion: '0',
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
    status: {
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          reason: 'Reconciled',
          message: '',
          lastTransitionTime: '2026-01-01T00:00:00Z',
          observedGeneration: 1,
        },
      ],
      observedGeneration: 1,
      revision,
      openPorts: 4,
    },
  }
}

const revision = 1

export function uidOf(i: number): string {
  return `0f8fad5b-d9cb-469f-a165-${String(i).padStart(12, '0')}`
}
