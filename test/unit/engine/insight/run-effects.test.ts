import { describe, expect, it } from 'vitest'
import { noEffects, noteEffects, outsideCounts } from '../../../../shared/engine/insight/run-effects.ts'
import type { ManagedFieldsEntry } from '../../../../shared/model/object.ts'
import type { ServedKind } from '../../../../shared/model/served-kind.ts'
import type { StoredObject } from '../../../../shared/model/stored-object.ts'
import type { Resources, Written } from '../../../../shared/resources/resources.ts'
import { storedWidget } from '../../../support/stored-object.ts'

it('calls outside are counted by verb and result, and drift is', () => {
  const effects = noEffects()
  expect(effects).toEqual({ reads: 0, written: { created: 0, updated: 0, unchanged: 0, deleted: 0 }, drift: 0 })
  const counts = outsideCounts(effects)
  counts.recordCall('create', 'success')
  counts.recordCall('create', 'success')
  outsideCounts(effects).recordCall('get', 'error')
  counts.recordDrift()
  expect([...(effects.outside ?? [])]).toEqual([
    ['create success', 2],
    ['get error', 1],
  ])
  expect(effects.drift).toBe(1)
})

function entry(manager: string, field: string, more: Partial<ManagedFieldsEntry> = {}): ManagedFieldsEntry {
  return { manager, operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { [field]: {} }, ...more }
}

const child = (...managedFields: ManagedFieldsEntry[]): StoredObject => storedWidget('c', { managedFields })

/** What is counted and told of writes of which each comes out so. */
async function observe(written: Partial<Written>, { wasConverged = true, type = 'apply' } = {}) {
  const effects = noEffects()
  const lines: unknown[] = []
  const result = { stored: child(), outcome: 'updated', ...written } as Written
  const given: string[] = []
  const answer = (name: string) => async () => {
    given.push(name)
    return result
  }
  const resources = noteEffects(
    {
      get: answer('get'),
      list: answer('list'),
      patch: answer('patch'),
      create: answer('create'),
      delete: answer('delete'),
    } as unknown as Resources,
    {
      effects,
      manager: 'widget',
      wasConverged,
      logger: { info: (...line: unknown[]) => lines.push(line) } as never,
    },
  )
  await resources.patch({} as ServedKind, { name: 'c', namespace: 'default' }, { type } as never, { manager: 'widget' })
  return { resources, effects, lines, given }
}

it('reads and writes are counted', async () => {
  const { resources, effects, given } = await observe({ outcome: 'unchanged' })
  const at = { name: 'c', namespace: 'default' }
  await resources.get({} as ServedKind, at)
  await resources.list({} as ServedKind, {})
  await resources.create({} as ServedKind, {}, { manager: 'widget' })
  await resources.delete({} as ServedKind, at)
  expect(effects).toEqual({ reads: 2, written: { created: 0, updated: 0, unchanged: 2, deleted: 1 }, drift: 0 })
  expect(given).toEqual(['patch', 'get', 'list', 'create', 'delete'])
})

describe('a child that has to be mended', () => {
  const ours = entry('widget', 'a')
  const theirs = { before: child(entry('widget', 'b')), stored: child(ours) }

  it.each<[string, Partial<Written>, object, object | undefined]>([
    ['is missing', { outcome: 'created' }, {}, { found: 'missing' }],
    ['is missing, of an object that was not as desired', { outcome: 'created' }, { wasConverged: false }, undefined],
    ['is not applied', { outcome: 'created' }, { type: 'merge' }, undefined],
    ['is as it was', { outcome: 'unchanged', ...theirs }, {}, undefined],
    ['has a past that is not known', { outcome: 'updated', stored: child(ours) }, {}, undefined],
    ['was not ours', { ...theirs, before: child(entry('other', 'b')) }, {}, undefined],
    [
      'was not applied by us',
      { ...theirs, before: child(entry('widget', 'b', { operation: 'Update' })) },
      {},
      undefined,
    ],
    ['has the fields that we had', { ...theirs, before: child(ours) }, {}, undefined],
    ['has no fields', { ...theirs, before: storedWidget('c') }, {}, undefined],
    ['was changed, and nobody says by whom', theirs, {}, { found: 'changed' }],
    ['is ours no more', { ...theirs, stored: child() }, {}, { found: 'changed' }],
    [
      'was changed by the last of others',
      {
        ...theirs,
        before: child(
          entry('first', 'x', { time: '2026-01-01T00:00:00Z' }),
          entry('last', 'x', { time: '2026-01-03T00:00:00Z' }),
          entry('widget', 'b', { time: '2026-01-04T00:00:00Z' }),
          entry('timeless', 'x'),
          entry('second', 'x', { time: '2026-01-02T00:00:00Z' }),
        ),
      },
      {},
      { found: 'changed', by: 'last' },
    ],
    [
      'was changed by one of two whose times are not known',
      { ...theirs, before: child(entry('widget', 'b'), entry('one', 'x'), entry('two', 'x')) },
      {},
      { found: 'changed', by: expect.stringMatching(/^(one|two)$/) },
    ],
  ])('%s', async (_what, written, options, drift) => {
    const { effects, lines } = await observe(written, options)
    expect(effects.drift).toBe(drift === undefined ? 0 : 1)
    expect(lines).toStrictEqual(
      drift === undefined ? [] : [['drift corrected', { child: expect.stringContaining('c'), ...drift }]],
    )
  })
})
