import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { createHarness, type Harness } from './harness.ts'

let harness: Harness
beforeAll(async () => {
  harness = await createHarness()
})
afterAll(() => harness.close())

const accept = 'application/yaml'

describe('an answer in YAML', () => {
  it('is given to who asks for it', async () => {
    const { status, headers, body } = await harness.send('GET /api/v1/namespaces/default', { accept })
    expect([status, headers['content-type']]).toEqual([200, 'application/yaml'])
    expect(body).toContain('\nmetadata:\n  ')
    expect(parse(body)).toEqual((await harness.send('GET /api/v1/namespaces/default')).body)
  })

  it.each(['GET /api/v1', 'GET /apis', 'GET /api/v1/namespaces', 'GET /api/v1/namespaces/none', 'GET /openapi/v2'])(
    'says the same as in JSON: %s',
    async (line) => {
      const [yaml, json] = [await harness.send(line, { accept }), await harness.send(line)]
      expect(yaml.headers['content-type']).toBe('application/yaml')
      expect(yaml.status).toBe(json.status)
      expect(parse(yaml.body)).toEqual(json.body)
    },
  )

  it.each(['application/json, application/yaml', '*/*, application/yaml', 'application/json'])(
    'is not given for %s',
    async (first) => {
      const { headers } = await harness.send('GET /api/v1/namespaces/default', { accept: first })
      expect(headers['content-type']).toBe('application/json')
    },
  )

  it('is not given for a watch', async () => {
    expect((await harness.send('GET /api/v1/namespaces?watch=1', { accept })).status).toBe(406)
  })
})
