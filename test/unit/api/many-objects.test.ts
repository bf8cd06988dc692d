import { afterEach, beforeEach, expect, it } from 'vitest'
import { createWidgetHarness, widget, widgets, type Harness } from './harness.ts'
import { request } from './sent-request.ts'

let harness: Harness
beforeEach(async () => {
  harness = await createWidgetHarness()
})
afterEach(() => harness.close())

const count = 4_000
/** What a request reads between two turns of the event loop, at most. */
const objectsPerTurn = 1_000

async function fill(): Promise<void> {
  await Promise.all(
    Array.from({ length: count }, (_, i) => harness.send(`POST ${widgets}`, { body: widget(`w${i}`, { size: 1 }) })),
  )
}

/** How many turns of the event loop others have while a request is answered. */
async function countTurns(line: string): Promise<number> {
  let turns = 0
  let isOver = false
  const turn = (): void => {
    if (isOver) return
    turns++
    setImmediate(turn)
  }
  setImmediate(turn)
  const { status, body } = await harness.api(request(line))
  expect(status).toBe(200)
  if (!line.includes('watch=1') && typeof body !== 'string') for await (const _ of body as AsyncIterable<string>);
  isOver = true
  return turns
}

it.each([
  ['a list that selects none of them', `GET ${widgets}?labelSelector=app%3Dnone`],
  ['a page that selects none of them', `GET ${widgets}?labelSelector=app%3Dnone&limit=10`],
  ['a list of all', `GET ${widgets}`],
  ['a deletion that selects none of them', `DELETE ${widgets}?labelSelector=app%3Dnone`],
  ['a deletion of all that is not done', `DELETE ${widgets}?dryRun=All`],
  ['a deletion of all', `DELETE ${widgets}`],
  ['a watch that goes on, and selects', `GET ${widgets}?watch=1&labelSelector=app%3Dnone&resourceVersion=`],
  ['a watch that begins with all', `GET ${widgets}?watch=1&labelSelector=app%3Dnone`],
])('%s leaves turns to others', async (_, line) => {
  await fill()
  const version = (await harness.send(`GET ${widgets}?limit=1`)).body.metadata.resourceVersion
  const asked = line.endsWith('resourceVersion=') ? `${line}${version}` : line
  expect(await countTurns(asked)).toBeGreaterThanOrEqual(count / objectsPerTurn)
})
