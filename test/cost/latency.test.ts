import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { coldMs, coldSum, latencyMs, latencyTable } from './latency.ts'

it('from a request to the status a warm change takes 150 ms at the median, by requests that are counted', () => {
  expect(latencyMs('api')).toBeLessThanOrEqual(150)
  // What is lost on the way of the API comes by the stream.
  expect(latencyMs('relay') - latencyMs('api')).toBeLessThan(500)
})

it('from a request to the status where nothing is warm it takes 1.5 s at the worst that was measured', () => {
  expect(coldMs()).toBeLessThanOrEqual(1_500)
})

it('docs/aws.md has the table of both', () => {
  const page = readFileSync('docs/aws.md', 'utf8')
  expect(page).toContain(latencyTable())
  expect(page).toContain(coldSum())
})
