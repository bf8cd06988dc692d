import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { isObject, type JsonObject } from '../../../shared/model/json.ts'
import { pick } from '../../support/strength.ts'
import { play, userAgent, type Answer, type Reply } from '../../vectors/server-oracle/play.ts'
import { patchTypes, type Step } from '../../vectors/server-oracle/requests.ts'
import { drawSession } from '../../vectors/server-oracle/sessions.ts'
import { createHarness, type Harness } from './harness.ts'

/**
 * Whole requests, one after the other, are answered as a kube-apiserver answered them: `test/vectors/README.md` says
 * how it was asked, and what is not compared.
 */
interface Vector {
  readonly seed: number
  readonly want: readonly Answer[]
}

const vectors = gunzipSync(readFileSync(new URL('../../vectors/server-vectors.jsonl.gz', import.meta.url)))
  .toString()
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Vector)

const sendTo =
  (harness: Harness) =>
  async ({ line, type = 'application/json', body }: Step): Promise<Reply> => {
    const how = { type, headers: { 'user-agent': userAgent } }
    const reply = await harness.send(line, body === undefined ? how : { ...how, body: body as JsonObject })
    return { status: reply.status, warning: reply.headers['warning'], body: reply.body as unknown }
  }

/** Which of several faults of a request is told is a matter of order. */
function isOtherFault(...answers: readonly Answer[]): boolean {
  return answers.every(({ status }) => [400, 404, 409, 422].includes(status))
}

/** An apply that takes the last field out of a map leaves null there on Kubernetes, which is refused then. */
function isEmptied({ line }: Step, want: Answer, is: Answer): boolean {
  return line.includes('fieldManager=') && want.status === 422 && is.status < 300
}

/** Whether the words of both about what is refused can be compared. */
function isLoose({ fields }: Answer, { type }: Step): boolean {
  return fields === undefined || fields.includes('<nil>') || type === patchTypes.json
}

/** An object that nobody manages any more has no managers there from then on. */
function hasManagers({ object }: Answer): boolean {
  return isObject(object) && isObject(object['metadata']) && object['metadata']['managedFields'] !== undefined
}

function withoutFields({ fields: _, ...answer }: Answer): Answer {
  return answer
}

let compared = 0
let sent = 0

describe('a session on a kube-apiserver', () => {
  it.each(pick(vectors))('is answered in the same way, seed $seed', async ({ seed, want }) => {
    const harness = await createHarness()
    const session = drawSession(seed)
    const answers = await play(session, sendTo(harness))
    harness.close()
    sent += want.length
    for (const [i, step] of session.entries()) {
      const [there, here] = [want[i], answers[i]]
      // It has not understood the request, and what comes after differs.
      if (there === undefined || there.status === 500) break
      if (here === undefined || (isEmptied(step, there, here) && here.object !== undefined)) break
      if (here.status !== there.status && isOtherFault(there, here)) continue
      if (hasManagers(here) && !hasManagers(there)) break
      const shown = isLoose(there, step) ? withoutFields : (answer: Answer) => answer
      expect({ i, step, is: shown(here) }).toEqual({ i, step, is: shown(there) })
      compared++
    }
  })

  it('is compared for the most part', () => {
    expect(compared / sent).toBeGreaterThan(0.7)
  })
})
