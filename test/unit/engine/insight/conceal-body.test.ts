import { expect, it } from 'vitest'
import { concealBody } from '../../../../shared/engine/insight/conceal-body.ts'
import { SecretValues } from '../../../../shared/engine/insight/secret-values.ts'
import type { JsonObject } from '../../../../shared/model/json.ts'
import { storedWidget } from '../../../support/stored-object.ts'

const secrets = new SecretValues(storedWidget('w').object)
secrets.note({ stringData: { password: 'Geheim123', pin: '12345678' } })
const notMet = undefined
const widget = { group: 'test.setpoint.dev', kind: 'Widget' }
const spec = { password: 'Geheim123' }
const status = { url: 'x:Geheim123', pin: 12345678, conditions: [{ reason: 'NoGeheim123', message: 'Geheim123' }] }
const told = { url: 'x:***', pin: 0, conditions: [{ reason: 'Masked', message: '***' }] }
const event = { reason: 'NoGeheim123', message: 'Geheim123', note: 'Geheim123', action: 'Geheim123', source: spec }

it.each<[string, Parameters<typeof concealBody>[0], JsonObject, JsonObject]>([
  ['a status is told without', widget, { spec, status }, { spec, status: told }],
  ['what is no status stays', widget, { spec, status: 'Geheim123' }, { spec, status: 'Geheim123' }],
  ['a Secret stays', { group: '', kind: 'Secret', isConfidential: true }, { status }, { status }],
  ...['', 'events.k8s.io'].map((group): [string, { group: string; kind: string }, JsonObject, JsonObject] => [
    'an event is told without',
    { group, kind: 'Event' },
    event,
    { ...event, reason: 'Masked', message: '***', note: '***', action: '***' },
  ]),
  ['an event says no more', { group: '', kind: 'Event' }, { note: 'a' }, { note: 'a' }],
  ['another kind of that name stays', { group: 'x', kind: 'Event' }, event, event],
])('%s values of Secrets', (_what, kind, body, expected) => {
  expect(concealBody(kind, body, secrets)).toEqual(expected)
  expect(concealBody(kind, body, notMet)).toBe(body)
})
