import { describe, expect, it } from 'vitest'
import type { Condition, ConditionStatus } from '../../../shared/model/conditions.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import { transitionsOf } from '../../../shared/model/transitions.ts'

type States = Partial<Record<'Ready' | 'Stalled' | 'Synced', ConditionStatus>>

function condition(type: string, status: ConditionStatus): Condition {
  return { type, status, reason: `${type}${status}`, message: '', lastTransitionTime: '2026-01-01T00:00:00Z' }
}

function widget(states: States | undefined): ApiObject {
  const conditions = Object.entries(states ?? {}).map(([type, status]) => condition(type, status))
  return {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: {
      name: 'a',
      namespace: 'default',
      uid: 'u',
      generation: 3,
      resourceVersion: '7',
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
    ...(states === undefined ? {} : { status: { conditions } }),
  }
}

describe('transitions', () => {
  it.each<[before: States | undefined, after: States | undefined, types: readonly string[]]>([
    [undefined, undefined, []],
    [undefined, { Ready: 'False' }, []],
    [undefined, { Ready: 'Unknown' }, []],
    [undefined, { Ready: 'True' }, ['Ready']],
    [{ Ready: 'False' }, { Ready: 'True' }, ['Ready']],
    [{ Ready: 'Unknown' }, { Ready: 'True' }, ['Ready']],
    [{ Ready: 'True' }, { Ready: 'True' }, []],
    [{ Ready: 'True' }, { Ready: 'False' }, ['NotReady']],
    [{ Ready: 'True' }, { Ready: 'Unknown' }, ['NotReady']],
    [{ Ready: 'False' }, { Ready: 'Unknown' }, []],
    [{ Ready: 'True' }, { Ready: 'False', Stalled: 'True' }, ['NotReady', 'Failed']],
    [{ Ready: 'False' }, { Ready: 'False', Stalled: 'True' }, ['Failed']],
    [{ Stalled: 'True' }, { Stalled: 'True' }, []],
    [{ Stalled: 'True' }, {}, []],
    [{ Stalled: 'False' }, { Stalled: 'True' }, ['Failed']],
    [{ Stalled: 'True' }, { Stalled: 'False' }, []],
    [{}, { Stalled: 'False' }, []],
    [{ Synced: 'False' }, { Synced: 'True' }, []],
    [{ Ready: 'True' }, undefined, []],
  ])('from %j to %j: %j', (before, after, types) => {
    expect(transitionsOf(widget(before), widget(after)).map(({ type }) => type)).toEqual(types)
  })

  it('say of which object, of which state of it, and the condition before and after', () => {
    expect(transitionsOf(widget({ Ready: 'False' }), widget({ Ready: 'True' }))).toEqual([
      {
        type: 'Ready',
        key: { group: 'example.com', kind: 'Widget', namespace: 'default', name: 'a' },
        uid: 'u',
        generation: 3,
        resourceVersion: '7',
        condition: { type: 'Ready', before: condition('Ready', 'False'), after: condition('Ready', 'True') },
      },
    ])
  })

  it('of an object that is new', () => {
    expect(transitionsOf(undefined, widget({ Ready: 'True', Stalled: 'True' })).map(({ type }) => type)).toEqual([
      'Ready',
      'Failed',
    ])
  })
})
