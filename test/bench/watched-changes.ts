import { setTimeout as sleep } from 'node:timers/promises'
import { connect, requestText, type Target } from './connection.ts'

export const maps = '/api/v1/namespaces/default/configmaps'

export interface Writing {
  readonly target: Target
  readonly perSecond: number
  readonly forSeconds: number
}

/** Writes so many changes a second, evenly, to ten objects of 1 KB; resolves with how many a second it could make. */
export async function writeEvenly({ target, perSecond, forSeconds }: Writing): Promise<number> {
  const writer = await connect(target)
  const startMs = performance.now()
  const endMs = startMs + forSeconds * 1_000
  let made = 0
  for (let i = 0; performance.now() < endMs; i++) {
    const name = `map-${i % 10}`
    const body = JSON.stringify({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name },
      data: { number: String(i), text: 'x'.repeat(800) },
    })
    const send = async (method: string, path: string, type: string): Promise<number> =>
      (await writer.send(requestText(target, { method, path, type, body }))).status
    if ((await send('PATCH', `${maps}/${name}`, 'application/merge-patch+json')) === 404)
      await send('POST', maps, 'application/json')
    made++
    const restMs = startMs + ((i + 1) * 1_000) / perSecond - performance.now()
    if (restMs > 0) await sleep(restMs)
  }
  writer.close()
  return made / forSeconds
}
