import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { writeBundle } from '../../infra/bundling/bundle.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import type { Environments } from './lambda/environments.ts'
import { beginRelease, type Release } from './lambda/release.ts'
import { plainClient } from './lambda/runtime-clients.ts'
import { applyFirstShelf, shelf } from './lambda/script.ts'
import { openStage, type Stage } from './lambda/stage.ts'

/**
 * Gradual releases on the runner: the alias, the pace and the alarms are read from the template, CodeDeploy's part is
 * played, and what the alarms look at is what the bundles themselves write.
 */
const root = resolve(import.meta.dirname, '../..')
const scratch = temporaryDirectory('releases')
let stage: Stage
beforeAll(async () => {
  stage = await openStage(plainClient, { releases: 'Canary10Percent5Minutes' })
  await applyFirstShelf(stage)
})
afterAll(async () => {
  await stage?.[Symbol.asyncDispose]()
  scratch[Symbol.dispose]()
})

const objects = '/apis/example.dev/v1/namespaces/default/shelves'
let count = 0

/** So many batches, each of one object. */
async function batches(some: number): Promise<void> {
  for (let i = 0; i < some; i++) {
    await stage.request('POST', objects, shelf(`s${++count}`, { books: 1 }))
    await stage.settle()
  }
}

async function reasons(): Promise<readonly string[]> {
  const { text } = await stage.request('GET', objects)
  const { items } = JSON.parse(text) as {
    readonly items: readonly { readonly status?: { readonly conditions?: readonly Condition[] } }[]
  }
  return items.map(({ status }) => status?.conditions?.find(({ type }) => type === 'Ready')?.reason ?? 'none')
}

interface Condition {
  readonly type: string
  readonly reason: string
}

function begin(next: Environments): Release {
  const release = beginRelease(stage.releaseRules('shelf'), { old: stage.functions.shelf, new: next })
  stage.route('shelf', release.live)
  return release
}

describe('a release of Canary10Percent5Minutes', () => {
  it('has five minutes with a tenth of the batches, and the alarms of the template', () => {
    const { shares, alarms } = stage.releaseRules('shelf')
    expect(shares).toEqual([0.1, 0.1, 0.1, 0.1, 0.1])
    expect(alarms.map(({ metric }) => metric)).toContain('controller_runtime_terminal_reconcile_errors_total')
  })

  it('of good code gives it all batches in the end', async () => {
    const release = begin(await stage.startVersion('shelf', {}))
    for (let minute = 1; minute < 5; minute++) expect(release.minute()).toBe('goes on')
    await batches(10)
    const { batches: had } = release
    expect(had.new).toBe(Math.floor((had.old + had.new) / 10))
    expect(release.minute()).toBe('done')
    const { old } = release.batches
    await batches(3)
    expect(release.batches.old).toBe(old)
    expect(new Set(await reasons())).toEqual(new Set(['Reconciled']))
  })

  it('of code that stops objects is rolled back by what that code itself writes, and the old code repairs them', async () => {
    const directory = join(scratch.path, 'stopping')
    mkdirSync(directory)
    const file = JSON.stringify(join(root, 'test/infra/fixtures/stopping-shelves.ts'))
    const module = `import { shelves } from ${file}\nexport const reconcilers = [shelves]\n`
    writeBundle(join(root, 'functions/reconcile.ts'), module, directory)
    const release = begin(await stage.startVersion('shelf', { directory }))
    await batches(10)
    expect(await reasons()).toContain('Unreadable')
    expect(release.minute()).toBe('rolled back')
    expect(release.alarm?.metric).toBe('controller_runtime_terminal_reconcile_errors_total')
    const stopped = release.batches.new
    await batches(3)
    expect(release.batches.new).toBe(stopped)
  })

  it('of code that does not start is rolled back, and its messages come again to the old code', async () => {
    const release = begin(await stage.startVersion('shelf', { environment: { SETPOINT_TABLE: '' } }))
    await batches(10)
    expect(release.minute()).toBe('rolled back')
    expect(release.alarm?.metric).toBe('Errors')
    await stage.endHiding()
    await stage.settle()
    expect((await reasons()).filter((one) => one === 'none')).toEqual([])
    expect(stage.functions.deadLetters.most).toBe(0)
  })
})
