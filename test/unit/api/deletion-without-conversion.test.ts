import { expect, it } from 'vitest'
import { OperatingError } from '../../../shared/model/errors.ts'
import { createHarness } from './harness.ts'

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const v1 = '/apis/example.com/v1/namespaces/default/bells'
const schema = {
  openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { a: { type: 'string' } } } } },
}
const definition = (storage: string) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'bells.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { kind: 'Bell', plural: 'bells' },
    conversion: {
      strategy: 'Webhook',
      webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://away.example.com/convert' } },
    },
    versions: ['v1', 'v2'].map((name) => ({ name, served: true, storage: name === storage, schema })),
  },
})

it.each([
  ['in the stored version, of what is stored in an older one', 'v2'],
  ['in another version than the stored one', 'v1'],
])('a deletion %s needs no conversion webhook, which is away', async (_what, at) => {
  const calls: string[] = []
  const post = async ({ url }: { url: string }): Promise<string> => {
    calls.push(url)
    throw new OperatingError('UNAVAILABLE', 'connection refused')
  }
  const harness = await createHarness({}, { post })
  const stored = at === 'v1' ? 'v2' : 'v1'
  expect((await harness.send(`POST ${crds}`, { body: definition(stored) })).status).toBe(201)
  const body = { apiVersion: `example.com/${stored}`, kind: 'Bell', metadata: { name: 'x' }, spec: { a: '1' } }
  expect((await harness.send(`POST ${v1.replace('v1', stored)}`, { body })).status).toBe(201)
  if (at === 'v2') {
    const type = 'application/merge-patch+json'
    const changed = await harness.send(`PATCH ${crds}/bells.example.com`, {
      type,
      body: { spec: definition('v2').spec },
    })
    expect(changed.status).toBe(200)
  }
  calls.length = 0
  const { status, body: answer } = await harness.send(`DELETE ${v1.replace('v1', at)}/x`)
  expect([status, answer.message]).toEqual([200, undefined])
  harness.close()
})
