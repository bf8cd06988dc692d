import { describe, expect, it } from 'vitest'
import {
  explainDesired,
  explainDifference,
  explainObserved,
} from '../../../../../shared/engine/insight/explain/state-answers.ts'
import type { Json } from '../../../../../shared/model/json.ts'
import { underLoad } from '../../../../support/under-load.ts'
import { deleted, factsOf, hoursAgo, keyOfConfig, nowMs, paused, situations } from './given-facts.ts'

const there = { key: keyOfConfig('a'), object: {} as never }
const missing = { key: keyOfConfig('b'), object: undefined }

describe('what is desired', () => {
  it('is the object’s content, and who surrounds it', () => {
    const managedFields = [
      { manager: 'kubectl', operation: 'Apply', time: hoursAgo(1) },
      { manager: 'widget', operation: 'Update', subresource: 'status' },
    ]
    const facts = factsOf({
      metadata: { ...deleted, managedFields: managedFields as never },
      content: { spec: { size: 1, color: 'red' }, extra: true },
      engine: { change: { verb: 'changed', by: 'kubectl-edit', atMs: nowMs - 5_000, fields: ['spec.size'] } as never },
      facts: {
        owners: [missing],
        references: { shown: [missing], more: 2 },
        referrers: { shown: [missing], more: 1 },
      },
    })
    expect(explainDesired(facts)).toEqual([
      'Generation 2, changed by kubectl-edit (spec.size) 5s ago.',
      'Deletion was requested 120m ago.',
      'spec:',
      '  size: 1',
      '  color: red',
      'extra: true',
      'Its fields are managed by:',
      '  kubectl  Apply, last 60m ago',
      '  widget  Update of status, last at an unknown time',
      'It belongs to:',
      '  ConfigMap default/b  does not exist',
      'It refers to:',
      '  ConfigMap default/b  does not exist',
      '  and 2 more',
      'It is referred to by:',
      '  ConfigMap default/b  does not exist',
      '  and 1 more',
    ])
  })

  it.each([
    ['of an object that declares nothing', { spec: undefined }, []],
    [
      'of a Secret: its keys',
      { apiVersion: 'v1', kind: 'Secret', spec: undefined, data: { a: 'x', b: 'y' } },
      ['data: a, b (values are not shown)'],
    ],
    ['of a Secret without data', { apiVersion: 'v1', kind: 'Secret' }, ['data:  (values are not shown)']],
    [
      'of a Secret with very long names: their beginning',
      { apiVersion: 'v1', kind: 'Secret', data: { ['a'.repeat(500)]: 'x' } },
      [`data: ${'a'.repeat(400)}… (values are not shown)`],
    ],
    ['of a Secret of another group', { kind: 'Secret', spec: { a: 1 } }, ['spec:', '  a: 1']],
    ['of another kind', { apiVersion: 'v1', spec: { a: 1 } }, ['spec:', '  a: 1']],
    [
      'of a long object: thirty lines',
      { spec: { a: Array.from({ length: 40 }, (_, i) => i) } },
      { 30: '    - … and 12 more' },
    ],
  ])('%s', (_what, content, lines) => {
    const facts = factsOf({ content: { ...content } })
    const { spec } = facts.stored.object
    if (spec === undefined) delete facts.stored.object.spec
    const [first, ...rest] = explainDesired(facts)
    expect(first).toBe('Generation 2.')
    if (Array.isArray(lines)) expect(rest).toEqual(lines)
    else expect([rest.length, rest[30]]).toEqual([31, '    - … and 12 more'])
  })
})

const outside = 'The control plane cannot see outside; the reconciler reports in the status what it finds there.'

describe('what is observed', () => {
  it.each([
    ['', {}, ['Generation 2 is the newest that a run has observed.', outside]],
    ['before the first run', { status: { observedGeneration: undefined } }, ['No run has succeeded yet.', outside]],
    ['by nobody', { facts: { controller: undefined } }, ['Generation 2 is the newest that a run has observed.']],
    ['of a kind without status', { facts: { kind: { hasStatus: false } } }, ['The kind keeps no status.', outside]],
    [
      'with what is reported',
      { status: { size: 3, lastHandledReconcileAt: 'x' } },
      ['Generation 2 is the newest that a run has observed.', 'status:', '  size: 3', outside],
    ],
    [
      'with children',
      { facts: { children: { shown: [missing], more: 0 } }, controller: { owns: [{ kind: { kind: 'ConfigMap' } }] } },
      [
        'Generation 2 is the newest that a run has observed.',
        'Its children:',
        '  ConfigMap default/b  does not exist',
        outside,
      ],
    ],
    [
      'without children that there should be',
      { controller: { owns: [{ kind: { kind: 'ConfigMap' } }] } },
      ['Generation 2 is the newest that a run has observed.', 'It has no children yet, of ConfigMap.', outside],
    ],
  ])('%s', (_what, given, lines) => {
    expect(explainObserved(factsOf(given as never))).toEqual(lines)
  })

  it('is cut after thirty lines', () => {
    const lines = explainObserved(factsOf({ status: { sizes: Array.from({ length: 40 }, (_, i) => i) } }))
    expect([lines.length, lines[31]]).toEqual([33, '    - … and 12 more'])
  })
})

const none = ['None that the control plane can see.']

describe('where the two differ', () => {
  it.each([
    ['of an object that is as desired: nowhere', { status: { size: 2 } }, none],
    [
      'of an object that is not ready',
      { ...situations.notReady, status: { ...situations.notReady.status, size: 2 } },
      ['size: 1 in spec, 2 in status.'],
    ],
    ['of one that was as desired, and is paused: nowhere', { metadata: paused, status: { size: 2 } }, none],
    [
      'of one that was not ready, and is paused',
      { ...situations.notReady, metadata: paused, status: { ...situations.notReady.status, size: 2 } },
      ['size: 1 in spec, 2 in status.'],
    ],
    [
      'in long values, whose beginning is told',
      {
        content: { spec: { size: 'x'.repeat(500), ['f'.repeat(500)]: 1 } },
        status: { ...situations.notReady.status, size: [['y'.repeat(500)]], ['f'.repeat(500)]: 2 },
      },
      [
        `size: "${'x'.repeat(399)}… in spec, [["${'y'.repeat(397)}… in status.`,
        `${'f'.repeat(400)}…: 1 in spec, 2 in status.`,
      ],
    ],
    ['of one without a spec', { ...situations.notReady, content: { spec: 5 } }, none],
    [
      'of one without a status',
      { ...situations.unattended, facts: { controller: undefined, kind: { hasStatus: false } } },
      none,
    ],
    [
      'of one that is not observed',
      situations.changed,
      ['Generation 3 is not observed yet: its change may be done in part, or not at all.'],
    ],
    ['of one whose kind has no status', { ...situations.changed, facts: { kind: { hasStatus: false } } }, none],
    [
      'in what it refers to',
      { facts: { references: { shown: [there, missing], more: 0 } } },
      ['ConfigMap default/b: is referred to and does not exist.'],
    ],
    [
      'in what it refers to, if it is damaged',
      { facts: { references: { shown: [{ ...missing, isDamaged: true }], more: 0 } } },
      ['ConfigMap default/b: is referred to and is damaged.'],
    ],
    ['of one on its way', { metadata: deleted }, ['The object still exists.']],
    [
      'of one on its way with children',
      { metadata: deleted, facts: { children: { shown: [there], more: 0 } } },
      ['The object still exists, and so do children of it.'],
    ],
  ])('%s', (_what, given, lines) => {
    expect(explainDifference(factsOf(given as never))).toEqual(lines)
  })

  it('is told in thirty lines at most', () => {
    const shown = Array.from({ length: 32 }, () => missing)
    const lines = explainDifference(factsOf({ facts: { references: { shown, more: 0 } } }))
    expect([lines.length, lines.at(-1)]).toEqual([31, '… and 2 more lines'])
  })

  it('is told of an object that has no status at all', () => {
    const facts = factsOf(situations.unattended)
    delete facts.stored.object.status
    expect(explainDifference(facts)).toEqual([
      'Generation 2 is not observed yet: its change may be done in part, or not at all.',
    ])
    expect(explainObserved(facts)).toEqual(['No run has succeeded yet.'])
  })
})

it('a large and deep object is told of in no time', () => {
  const nested = (end: Json): Json => Array.from({ length: 150 }).reduce<Json>((inner) => ({ a: inner }), end)
  const wide = (value: number): Json => Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`f${i}`, value]))
  const { status } = situations.notReady
  const facts = factsOf({
    content: { spec: nested(wide(1)) as object },
    status: { ...status, ...(nested(wide(2)) as object) },
  })
  const startMs = performance.now()
  const lines = [explainDesired, explainObserved, explainDifference].flatMap((answer) => answer(facts))
  expect(performance.now() - startMs).toBeLessThan(underLoad(100))
  expect(lines.length).toBeLessThan(100)
  expect(lines.at(-1)).toBe('… and 19970 more lines')
})
