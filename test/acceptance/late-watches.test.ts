import { afterEach, expect, it } from 'vitest'
import {
  ConfigMap,
  done,
  mapped,
  reference,
  type ConfigMapObject,
  type Controller,
  type ReconcilerOptions,
} from '../../shared/index.ts'
import type { ObjectKey } from '../../shared/model/object-key.ts'
import { OperatingError } from '../../shared/model/errors.ts'
import { awsEngine } from '../../shared/testing-aws/aws-engine.ts'
import { createTestEnv, type TestEnv, type TestEnvOptions } from '../../shared/testing/test-env.ts'
import { Widget, widgets, type RunRecord, type WidgetObject } from './support/widgets.ts'

/** It does not matter when a controller learns to watch something: objects that were there before wake it, too. */

let env: TestEnv
let runs: RunRecord[]
afterEach(() => env.close())

type Watches = NonNullable<ReconcilerOptions<WidgetObject>['watches']>

const watching = (watches: Watches): Controller => widgets(runs, () => done(), { watches })
const byPartsRef = () => reference(ConfigMap, (widget: WidgetObject) => widget.spec.partsRef)
const byOwnName = () => reference(ConfigMap, (widget: WidgetObject) => ({ name: `of-${widget.metadata.name}` }))
const named = (config: ConfigMapObject) => ({ name: config.data?.['for'] ?? '' })

/** The objects that are there are looked at little by little; what a restart brings is over in a quarter of an hour. */
const introduced = '15m'

async function wokenBy(act: () => Promise<unknown>): Promise<readonly string[]> {
  await env.settle()
  const before = runs.length
  await act()
  await env.settle()
  return [...new Set(runs.slice(before).map(({ name }) => name))]
}

async function startWith(reconcilers: () => readonly Controller[], more: TestEnvOptions = {}): Promise<void> {
  runs = []
  env = await createTestEnv({ reconcilers: reconcilers(), kinds: [Widget], ...more })
  await env.apply(ConfigMap, { metadata: { name: 'parts' }, data: { for: 'a' } })
  await env.apply(ConfigMap, { metadata: { name: 'of-a' }, data: {} })
  await env.apply(Widget, { metadata: { name: 'a' }, spec: { partsRef: { name: 'parts' } } })
  await env.apply(Widget, { metadata: { name: 'b' }, spec: {} })
  await env.advance('2m')
}

async function restartWith(...watches: Watches): Promise<readonly string[]> {
  return wokenBy(async () => {
    await env.crash([watching(watches)])
    await env.advance(introduced)
  })
}

const touch = (name: string) => () => env.patch(ConfigMap, name, { data: { touched: String(env.nowMs()) } })

it('B18 a controller that learns to watch what its objects refer to is run for all, and woken by what they refer to', async () => {
  await startWith(() => [watching([])])
  expect((await restartWith(byPartsRef())).toSorted()).toEqual(['a', 'b'])
  expect(await wokenBy(touch('parts'))).toEqual(['a'])
  expect(await wokenBy(touch('of-a'))).toEqual([])
})

it('B18 a controller whose objects refer to others of the same kind than before is woken by those', async () => {
  await startWith(() => [watching([byPartsRef()])])
  expect((await restartWith(byOwnName())).toSorted()).toEqual(['a', 'b'])
  expect(await wokenBy(touch('of-a'))).toEqual(['a'])
})

it('B18 a controller that is new is woken by what objects refer to that were there before it', async () => {
  await startWith(() => [])
  expect((await restartWith(byPartsRef())).toSorted()).toEqual(['a', 'b'])
  expect(await wokenBy(touch('parts'))).toEqual(['a'])
})

it('A15 a controller that learns of a map is woken by what its objects were mapped from before', async () => {
  await startWith(() => [watching([])])
  expect((await restartWith(mapped(ConfigMap, named))).toSorted()).toEqual(['a', 'b'])
  expect((await wokenBy(() => env.patch(ConfigMap, 'parts', { data: { for: 'b' } }))).toSorted()).toEqual(['a', 'b'])
})

it('B18 a controller that was away is woken by what objects referred to since then', async () => {
  await startWith(() => [watching([byPartsRef()])])
  await env.crash([])
  await env.patch(Widget, 'b', { spec: { partsRef: { name: 'parts' } } })
  await env.advance(introduced)
  expect((await restartWith(byPartsRef())).toSorted()).toEqual(['a', 'b'])
  expect((await wokenBy(touch('parts'))).toSorted()).toEqual(['a', 'b'])
})

it('B18 a restart that brings no other watch runs nothing', async () => {
  await startWith(() => [watching([byPartsRef()])])
  await env.advance(introduced)
  expect(await restartWith(byPartsRef())).toEqual([])
  expect(await wokenBy(touch('parts'))).toEqual(['a'])
})

it.each([
  { on: 'SQLite', engine: {} },
  { on: 'DynamoDB', engine: { engine: awsEngine } },
])('B18 on $on an object whose references cannot be noted keeps no other from being watched', async ({ engine }) => {
  await startWith(() => [watching([])], engine)
  await env.apply(ConfigMap, { metadata: { name: 'of-b' }, data: {} })
  const error = new OperatingError('INTERNAL', 'the item is too large')
  const ofA = ([key]: readonly unknown[]): boolean => (key as ObjectKey).name === 'a'
  env.faults.always('index.setReferences', { kind: 'error', error }, ofA)
  expect((await restartWith(byOwnName())).toSorted()).toEqual(['a', 'b'])
  expect(await wokenBy(touch('of-b'))).toEqual(['b'])
})
