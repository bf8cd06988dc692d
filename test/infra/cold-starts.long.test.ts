import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { allReconcilers } from '../../infra/bundling/reconciler-modules.ts'
import { writeBundle } from '../../infra/bundling/bundle.ts'
import { shippedReconcilers } from '../../infra/shipped-reconcilers.ts'
import { bareStartMs, measureColdStarts, startMsMax, writeBareFunction } from '../bench/cold-starts.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { awsClient, plainClient } from './lambda/runtime-clients.ts'

const scratch = temporaryDirectory('cold-starts')
afterAll(() => scratch[Symbol.dispose]())

/** Those between a request and its status. `npm run bundles -- --starts 50` tells of all of them, and more exactly. */
const names = ['api', 'authorizer', 'relay', 'reconcile']

function write(name: string): string {
  const directory = join(scratch.path, name)
  mkdirSync(directory)
  if (name === 'bare') writeBareFunction(directory)
  else writeBundle(resolve('functions', `${name}.ts`), allReconcilers(shippedReconcilers), directory)
  return directory
}

it('a start takes a second of processor time at most, with all shipped reconcilers: of 1.5 s the rest is Lambda’s', async () => {
  const client = await awsClient().catch(() => plainClient)
  const [bare, ...starts] = await measureColdStarts(client, ['bare', ...names].map(write), 5)
  if (bare === undefined) throw new Error('the bare function was not started')
  // On a slow or busy machine all of them take longer, the bare one too.
  const slowness = Math.max(1, bare.p50 / bareStartMs)
  expect(starts).toHaveLength(names.length)
  const others = starts.filter(({ p50 }) => !(p50 > 10 && p50 / slowness <= startMsMax))
  expect(others).toEqual([])
  // A first change waits for three of them.
  const [api = NaN, authorizer = NaN, , reconcile = NaN] = starts.map(({ p50 }) => p50)
  expect((api + authorizer + reconcile) / slowness).toBeLessThanOrEqual(startMsMax)
})
