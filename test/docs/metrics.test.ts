import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { metrics, type Metric } from '../../shared/model/metrics.ts'
import { createTestEnv } from '../../shared/testing/test-env.ts'

/** The table of metrics in the reference, the table in the code, and what a control plane exposes are one. */

const all = Object.values(metrics) as readonly Metric[]

function documented(): readonly string[] {
  const [, section = ''] = readFileSync('docs/reference.md', 'utf8').split('### Metrics')
  return section.split('\n').filter((line) => line.startsWith('| `'))
}

it('the reference has a line for each metric, and for nothing else', () => {
  expect(documented()).toEqual(
    all.map(({ name, type, labels, help }) => {
      const names = labels.map((label) => `\`${label}\``).join(', ')
      return `| \`${name}\` | ${type} | ${names} | ${help} |`
    }),
  )
})

it('a control plane that has answered a request and opened a watch exposes every metric, and no other', async () => {
  await using env = await createTestEnv()
  await env.page('/api/v1/namespaces/default')
  const client = new AbortController()
  await env.api({
    method: 'GET',
    path: '/api/v1/namespaces',
    query: new URLSearchParams({ watch: 'true' }),
    header: () => {},
    fieldsUnder: () => [],
    body: async () => new Uint8Array(),
    signal: client.signal,
  })
  const exposed = [...(await env.page('/metrics')).matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(
    ([, name, type]) => `${name} ${type}`,
  )
  client.abort()
  expect(exposed.toSorted()).toEqual(all.map(({ name, type }) => `${name} ${type}`).toSorted())
})
