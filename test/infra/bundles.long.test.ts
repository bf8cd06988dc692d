import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { applyFirstShelf, deadMessage, shelf } from './lambda/script.ts'
import { openStage, tickEvent, type Stage } from './lambda/stage.ts'
import { awsClient } from './lambda/runtime-clients.ts'

/**
 * The bundles that CDK produced, run by AWS's own runtime interface client, answer events as AWS sends them. Fetching
 * that client compiles it, once per machine.
 */
const client = await awsClient().catch((error: unknown) => String(error))
const shelvesPath = '/apis/example.dev/v1/namespaces/default/shelves'
const unavailable = typeof client === 'string'

describe.skipIf(unavailable)(
  'a bundle under the runtime interface client of Lambda',
  { meta: { skipped: `aws-lambda-ric cannot be had here: ${String(client)}` } },
  () => {
    let stage: Stage
    beforeAll(async () => {
      stage = await openStage(client as readonly string[])
      await applyFirstShelf(stage)
    })
    afterAll(async () => stage?.[Symbol.asyncDispose]())

    it('api: answers, and streams', async () => {
      const { status, text } = await stage.request('GET', '/apis/example.dev/v1/namespaces/default/shelves/first')
      expect(status).toBe(200)
      // What the API shows has gone through relay, shelf and, for the child, system.
      expect(JSON.parse(text)).toMatchObject({ status: { books: 3, conditions: [{ type: 'Ready', status: 'True' }] } })
    })

    it('api: a watch tells what changes until its time is over', async () => {
      const path = '/apis/example.dev/v1/shelves?watch=true&timeoutSeconds=1'
      const { status, text } = await stage.request('GET', path)
      expect(status).toBe(200)
      expect(JSON.parse(text.trim().split('\n')[0] ?? '')).toMatchObject({ type: 'ADDED', object: { kind: 'Shelf' } })
    })

    it('api: refuses in its own words', async () => {
      const { status, text } = await stage.request('POST', '/apis/example.dev/v1/namespaces/default/shelves', {
        apiVersion: 'example.dev/v1',
        kind: 'Shelf',
        metadata: { name: 'wrong' },
        spec: { books: 'many' },
      })
      expect(status).toBe(422)
      expect(JSON.parse(text)).toMatchObject({ kind: 'Status', reason: 'Invalid' })
    })

    it('authorizer: lets nobody in whose token proves nothing', async () => {
      const event = {
        type: 'TOKEN',
        authorizationToken: 'Bearer nothing',
        methodArn: 'arn:aws:execute-api:r:1:a/v1/GET/',
      }
      const { error } = await stage.functions.authorizer.invoke(event)
      // The one message that API Gateway answers with 401.
      expect(error?.errorMessage).toBe('Unauthorized')
    })

    it('resync: ticks', async () => {
      const { error, body } = await stage.functions.resync.invoke(tickEvent())
      expect(error).toBeUndefined()
      expect(body.toString()).toBe('null')
    })

    it('deadletter: marks the object of a dead message', async () => {
      const message = deadMessage('shelf', 'example.dev/Shelf/default/first')
      const { body } = await stage.functions.deadLetters.invoke({ Records: [message] })
      expect(JSON.parse(body.toString())).toEqual({ batchItemFailures: [] })
      const { text } = await stage.request('GET', '/apis/example.dev/v1/namespaces/default/shelves/first')
      expect(text).toContain('"type":"Stalled","status":"True"')
    })

    it('a message that nobody can read is a dead letter after as many receives as the template says', async () => {
      const { source = '' } = stage.wiring.mappings.find((one) => one.function.includes('SystemFunction')) ?? {}
      const { receives = 0 } = stage.wiring.queues.get(source)?.redrive ?? {}
      await stage.send(source, 'not JSON')
      for (let i = 0; i < receives; i++) {
        expect(stage.functions.deadLetters.log).not.toContain('dead letter not processed')
        await stage.settle()
        await stage.endHiding()
      }
      await stage.settle()
      expect(stage.functions.deadLetters.log).toContain('dead letter not processed')
    })

    it('shelf: goes on, and says so, when a reconcile function lets go of a promise that is rejected', async () => {
      for (const name of ['careless', 'other'])
        await stage.request('POST', shelvesPath, shelf(name, { books: 1, careless: name === 'careless' }))
      await stage.settle()
      expect(stage.functions.shelf.log).toMatch(/an await is missing.*"Error\\n {4}at /)
      expect(stage.functions.shelf.log).not.toContain('nobody waits for careless')
      for (const name of ['careless', 'other'])
        expect((await stage.request('GET', `${shelvesPath}/${name}`)).text).toContain('"type":"Ready","status":"True"')
    })

    it('lamp: has nothing to do with an empty batch', async () => {
      const { body } = await stage.functions.lamp.invoke({ Records: [] })
      expect(JSON.parse(body.toString())).toEqual({ batchItemFailures: [] })
    })

    it('holds the code of its own reconciler only, when that has a module of its own', () => {
      expect(stage.sizes.shelf).toBeLessThan(stage.sizes.lamp)
    })
  },
)
