import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { createHarness, type Harness } from './harness.ts'
import { withYamlAnswers } from '../../../shared/api/yaml-answer.ts'
import type { HttpResponse } from '../../../shared/ports/http-handler.ts'
import { request } from './sent-request.ts'

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

  it('says texts as texts to who reads YAML 1.1, too', async () => {
    const texts = [
      'yes',
      'Off',
      'y',
      '012',
      '1_000',
      '1:30',
      '2001-01-01',
      '0b11',
      '0o7',
      '~',
      '=',
      '<<',
      '+.inf',
      '1e3',
    ]
    const odd = [
      '',
      ' a',
      'a: b',
      '- x',
      'two\nlines\n',
      '\n x',
      'tab\t\r\n',
      '\u0007',
      'true',
      'null',
      '.5',
      '---\na\n',
    ]
    const all = [...texts, ...odd]
    const data = {
      ...Object.fromEntries(all.map((text, i) => [`k${i}`, text])),
      ...Object.fromEntries(['yes', '1', 'null', '1.5'].map((key) => [key, key])),
    }
    await harness.send('POST /api/v1/namespaces/default/configmaps', { body: { metadata: { name: 'texts' }, data } })
    const path = 'GET /api/v1/namespaces/default/configmaps/texts'
    const [{ body }, plain] = [await harness.send(path, { accept }), await harness.send(path)]
    expect(plain.body.data).toEqual(data)
    for (const version of ['1.1', '1.2'] as const) expect(parse(body, { version })).toEqual(plain.body)
    for (const text of texts) expect(body).toContain(`: ${JSON.stringify(text)}\n`)
  })

  it.each([
    ['application/json, application/yaml', 'json'],
    ['application/json', 'json'],
    ['Application/YAML', 'yaml'],
    ['application/yaml;q=0.5, application/json', 'json'],
    ['application/yaml;q=x, application/json;q=0.1', 'json'],
    ['application/json;q=0.5, application/yaml', 'yaml'],
    ['application/json; q=0.5, application/yaml; q=0.6', 'yaml'],
    ['*/*, application/yaml', 'yaml'],
    ['application/*, application/yaml', 'yaml'],
    ['*, application/yaml;q=0.9', 'yaml'],
    ['text/html, application/yaml;q=0.2, */*;q=0.1', 'yaml'],
  ])('to %s is %s, as on Kubernetes', async (wanted, form) => {
    const { headers } = await harness.send('GET /api/v1/namespaces/default', { accept: wanted })
    expect(headers['content-type']).toBe(`application/${form}`)
  })

  it('that is long is JSON, which is YAML, too', async () => {
    const pathOf = (name: string): string => `GET /api/v1/namespaces/default/configmaps/${name}`
    for (const [name, length] of Object.entries({ short: 20_000, long: 40_000 })) {
      const data = { text: 'x'.repeat(length) }
      await harness.send('POST /api/v1/namespaces/default/configmaps', { body: { metadata: { name }, data } })
      const [yaml, json] = [await harness.send(pathOf(name), { accept }), await harness.send(pathOf(name))]
      expect(yaml.headers['content-type']).toBe('application/yaml')
      expect(yaml.body.startsWith('{')).toBe(name === 'long')
      expect(parse(yaml.body)).toEqual(json.body)
    }
  })

  it.each(['/livez', '/metrics'])('is not made of what is no JSON: %s', async (path) => {
    const [asked, plain] = [await harness.send(`GET ${path}`, { accept }), await harness.send(`GET ${path}`)]
    expect([asked.status, asked.headers['content-type']]).toEqual([200, plain.headers['content-type']])
  })

  it('is not given for a watch', async () => {
    const namespaces = 'GET /api/v1/namespaces'
    expect((await harness.send(`${namespaces}?watch=1`, { accept })).status).toBe(406)
    const either = { accept: `${accept}, application/json;q=0.5` }
    const client = new AbortController()
    const { headers } = await harness.api(request(`${namespaces}?watch=1`, { ...either, signal: client.signal }))
    expect(headers['content-type']).toBe('application/json')
    client.abort()
    for (const query of ['watch=false', 'watch=0'])
      expect(await harness.send(`${namespaces}?${query}`, { accept })).toMatchObject({
        status: 200,
        headers: { 'content-type': accept },
      })
  })
})

describe('an answer that is made already', () => {
  const inYaml = (body: HttpResponse['body'], query = '') => {
    const answer = withYamlAnswers(async () => ({ status: 200, headers: { 'content-type': 'application/json' }, body }))
    return answer(request(`GET /x${query}`, { accept }))
  }
  const pieces = async function* (): AsyncGenerator<string> {
    yield '{}'
  }

  it('stays in JSON from one character above the bound on', async () => {
    const textOf = (length: number) => `{"a":"${'x'.repeat(length - 8)}"}`
    expect((await inYaml(textOf(32_768))).body).toBe(`a: ${'x'.repeat(32_760)}\n`)
    expect((await inYaml(textOf(32_769))).body).toBe(textOf(32_769))
  })

  it.each([
    ['of one piece', '{}', '', accept],
    ['to a watch that is refused', '{}', '?watch=1', accept],
    ['in pieces', pieces(), '', accept],
    ['in pieces of a watch', pieces(), '?watch=1', 'application/json'],
  ])('%s has the type that it is in', async (...row) => {
    const [, body, query, type] = row
    expect((await inYaml(body, query)).headers['content-type']).toBe(type)
  })
})
