import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { atOnce, limitRequests, whenInTurn } from '../../../../shared/adapters/aws/client/limit-requests.ts'

type Work = (given: string) => Promise<string>

/** A client that makes requests as they are let through, and notes which have begun. */
function limited() {
  const begun: string[] = []
  const ends = new Map<string, PromiseWithResolvers<string>>()
  let layer: ((next: Work) => Work) | undefined
  const client = limitRequests({
    middlewareStack: {
      add: (middleware: (next: Work) => Work) => {
        layer = middleware
      },
    },
  })
  const request = layer?.((given) => {
    begun.push(given)
    const end = Promise.withResolvers<string>()
    ends.set(given, end)
    return end.promise
  })
  const send = (given: string): Promise<string | undefined> => Promise.resolve(request?.(given)).catch(() => '')
  return { begun, ends, send, client }
}

const names = (from: number, to: number): string[] => Array.from({ length: to - from }, (_, i) => `r${from + i}`)

it('of many requests 32 are under way, and the others begin in their order when one ends, well or not', async () => {
  const { begun, ends, send } = limited()
  const sent = names(0, 36).map(send)
  await setImmediate()
  expect(begun).toEqual(names(0, 32))
  ends.get('r5')?.resolve('done')
  await setImmediate()
  expect([begun.length, begun.at(-1), await sent[5]]).toEqual([33, 'r32', 'done'])
  ends.get('r6')?.reject(new Error('no'))
  await setImmediate()
  expect(begun).toEqual(names(0, 34))
})

it('all requests that wait begin when one runs out of time', async () => {
  const { begun, ends, send } = limited()
  for (const name of names(0, 40)) void send(name)
  await setImmediate()
  ends.get('r0')?.reject(Object.assign(new Error('late'), { name: 'TimeoutError' }))
  await setImmediate()
  expect(begun).toEqual(names(0, 40))
  void send('r40')
  await setImmediate()
  expect(begun).toHaveLength(40)
  for (const name of names(1, 9)) ends.get(name)?.resolve('')
  await setImmediate()
  expect(begun).toEqual(names(0, 41))
})

it('a request that comes when there is room again begins at once', async () => {
  const { begun, ends, send } = limited()
  for (const name of names(0, 32)) void send(name)
  await setImmediate()
  ends.get('r0')?.resolve('')
  await setImmediate()
  void send('r32')
  await setImmediate()
  expect(begun).toEqual(names(0, 33))
})

it('what is decided at the last moment waits for its turn, and its requests do not wait again', async () => {
  const { begun, ends, send, client } = limited()
  for (const name of names(0, 33)) void send(name)
  const late = whenInTurn(client, async () => {
    begun.push('decided')
    return send('r33')
  })
  await setImmediate()
  expect(begun).toEqual(names(0, 32))
  ends.get('r0')?.resolve('')
  await setImmediate()
  expect(begun).toEqual(names(0, 33))
  ends.get('r1')?.resolve('')
  await setImmediate()
  expect(begun).toEqual([...names(0, 33), 'decided', 'r33'])
  ends.get('r33')?.resolve('done')
  expect(await late).toBe('done')
})

it('what waits for no turn begins at once, as all does of a client without a limit', async () => {
  const { begun, send } = limited()
  for (const name of names(0, 33)) void send(name)
  void atOnce(() => send('urgent'))
  await setImmediate()
  expect(begun).toEqual([...names(0, 32), 'urgent'])
  expect(await whenInTurn({}, async () => 'done')).toBe('done')
})
