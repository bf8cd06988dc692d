import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { latencyMs, latencyTable } from './latency.ts'

it('from a request to the status a warm change takes 150 ms at the median, by requests that are counted', () => {
  expect(latencyMs('api')).toBeLessThanOrEqual(150)
  // What is lost on the way of the API comes by the stream.
  expect(latencyMs('relay') - latencyMs('api')).toBeLessThan(500)
})

it('docs/aws.md has the table of it', () => {
  expect(readFileSync('docs/aws.md', 'utf8')).toContain(latencyTable())
})
