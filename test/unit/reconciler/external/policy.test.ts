import { expect, it } from 'vitest'
import { policyOf } from '../../../../shared/reconciler/external/policy.ts'
import { thingOf } from './one-run.ts'

const all = { creates: true, updates: true, deletes: true, observesOnly: false }
const none = { creates: false, updates: false, deletes: false }

it.each<[Readonly<Record<string, string>>, object]>([
  [{}, all],
  [{ manage: 'create,update,delete' }, all],
  [{ manage: 'create' }, { ...none, creates: true, observesOnly: false }],
  [{ manage: ' update , delete ' }, { ...none, updates: true, deletes: true, observesOnly: false }],
  [{ manage: 'observe' }, { ...none, observesOnly: true }],
  [{ 'external-id': 'a' }, { ...all, adoption: { id: 'a', mode: 'match' } }],
  [
    { 'external-id': 'a', adopt: 'override' },
    { ...all, adoption: { id: 'a', mode: 'override' } },
  ],
  [
    { 'external-id': 'a', adopt: 'takeover' },
    { ...all, adoption: { id: 'a', mode: 'takeover' } },
  ],
  [{ adopt: 'override' }, all],
  [{ 'create-again': 't' }, { ...all, createAgain: 't' }],
])('the annotations %j allow %j', (given, policy) => {
  const annotations = Object.fromEntries(Object.entries(given).map(([name, value]) => [`setpoint.dev/${name}`, value]))
  expect(policyOf(thingOf({ annotations }))).toStrictEqual(policy)
})

it.each([
  ['manage', 'observe,create'],
  ['manage', 'creates'],
  ['manage', ''],
  ['manage', 'observe,observe'],
  ['adopt', 'Match'],
  ['adopt', 'takeOver'],
  ['adopt', ''],
  ['external-id', ''],
  ['external-id', '.'],
  ['external-id', '..'],
])('%s: %j says nothing, and stops', (name, value) => {
  const object = thingOf({ annotations: { [`setpoint.dev/${name}`]: value } })
  expect(() => policyOf(object)).toThrow(expect.objectContaining({ reason: 'PolicyInvalid' }))
  expect(() => policyOf(object)).toThrow(`setpoint.dev/${name} is ${JSON.stringify(value)}`)
})

it('no annotations are as good as none that speak of it', () => {
  expect(policyOf(thingOf({}))).toEqual(all)
})
