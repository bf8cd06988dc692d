import { expect, it } from 'vitest'
import { concealVerdict } from '../../../../shared/engine/insight/conceal-verdict.ts'
import { SecretValues } from '../../../../shared/engine/insight/secret-values.ts'
import type { Verdict } from '../../../../shared/reconciler/verdict.ts'
import { storedWidget } from '../../../support/stored-object.ts'

const secrets = new SecretValues(storedWidget('w').object)
secrets.note({ stringData: { password: 'Geheim123' } })

const notMet = undefined

const report = {
  status: { url: 'x:Geheim123@y' },
  conditions: {
    Geheim123: null,
    Synced: { status: 'True', reason: 'Geheim123', message: 'with Geheim123' },
    Silent: { status: 'False', reason: 'Fine' },
  },
} as const
const told = {
  status: { url: 'x:***@y' },
  conditions: {
    Masked: null,
    Synced: { status: 'True', reason: 'Masked', message: 'with ***' },
    Silent: { status: 'False', reason: 'Fine' },
  },
}
const why = { reason: 'NoGeheim123', message: 'Geheim123 is wrong' }
const masked = { reason: 'Masked', message: '*** is wrong' }

it.each<[string, Verdict, object]>([
  ['a run that says nothing', { kind: 'done' }, { kind: 'done' }],
  ['a run that is ready', { kind: 'done', ready: true }, { kind: 'done', ready: true }],
  ['a run that waits', { kind: 'again', afterMs: 5, ready: why }, { kind: 'again', afterMs: 5, ready: masked }],
  ['a run that reports', { kind: 'done', ...report }, { kind: 'done', ...told }],
  ['a status alone', { kind: 'done', status: report.status }, { kind: 'done', status: told.status }],
  ['conditions alone', { kind: 'done', conditions: report.conditions }, { kind: 'done', conditions: told.conditions }],
  ['a failure', { kind: 'failed', ...why, quiet: false }, { kind: 'failed', ...masked, quiet: false }],
  [
    'a failure with a stack',
    { kind: 'failed', ...why, quiet: false, stack: 'Error: Geheim123\n at' },
    { kind: 'failed', ...masked, quiet: false, stack: 'Error: ***\n at' },
  ],
  [
    'a failure that reports',
    { kind: 'failed', ...why, quiet: true, report },
    { kind: 'failed', ...masked, quiet: true, report: told },
  ],
  ['a stop', { kind: 'stopped', ...why }, { kind: 'stopped', ...masked }],
  ['a stop that reports', { kind: 'stopped', ...why, report }, { kind: 'stopped', ...masked, report: told }],
  [
    'a time that is asked for',
    { kind: 'retryAfter', afterMs: 7, message: why.message },
    { kind: 'retryAfter', afterMs: 7, message: masked.message },
  ],
  [
    'the same that reports',
    { kind: 'retryAfter', afterMs: 7, message: 'busy', report },
    { kind: 'retryAfter', afterMs: 7, message: 'busy', report: told },
  ],
])('%s is told without values of Secrets', (_what, verdict, expected) => {
  expect(concealVerdict(verdict, secrets)).toStrictEqual(expected)
  expect(concealVerdict(verdict, notMet)).toBe(verdict)
})
