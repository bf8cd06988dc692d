import { gadgetText } from '../gadget.ts'

/** One change of one key: 1 KB of JSON. */
export interface PeerChange {
  readonly key: string
  readonly text: string
}

const keys = 1_000

/**
 * So many clients, each doing one change after the other on keys of which none has two under way; how many they did.
 */
export async function closedLoop(
  clients: number,
  durationMs: number,
  converge: (change: PeerChange) => Promise<void>,
): Promise<number> {
  const free = Array.from({ length: keys }, (_, number) => ({
    key: `gadget-${number}`,
    ...gadgetText(`gadget-${number}`, number),
  }))
  let revision = Date.now()
  let done = 0
  const endMs = performance.now() + durationMs
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (performance.now() < endMs) {
        const gadget = free.shift() as (typeof free)[number]
        await converge({ key: gadget.key, text: `${gadget.head}${revision++}${gadget.tail}` })
        free.push(gadget)
        done++
      }
    }),
  )
  return done
}
