import { expect, it } from 'vitest'
import { createExplainVerb } from '../../../shared/api/verbs/explain.ts'
import { callOf } from './called.ts'
import { fakeServices, storedOf } from './fake-services.ts'

it('what the control plane knows of an object is a text', async () => {
  const services = fakeServices(
    { get: (_kind, { name }) => storedOf({ name }) },
    { explain: async (kind, { object }) => `${kind.kind} ${object.metadata.name}` },
  )
  const { status, headers, body } = await createExplainVerb(services)(
    callOf('GET /apis/g.dev/v1/namespaces/n/ks/a/explain'),
  )
  expect([status, headers['content-type'], body]).toEqual([200, expect.stringMatching(/^text\/plain/), 'K a'])
})
