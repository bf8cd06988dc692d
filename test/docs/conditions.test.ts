import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { conditionsByKind, postgresFailures } from './reference/conditions.ts'

/** What the reconcilers say, by reading them: reasons stand as words where an outcome or a failure is made. */
const sources = globSync(['functions/reconcilers/**/*.ts', 'shared/reconciler/external/*.ts'])
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n')
const all = Object.values(conditionsByKind)
const told = new Set([
  ...all.flatMap(({ conditions, ready }) => [...Object.values(conditions).flatMap(({ reasons }) => reasons), ...ready]),
  ...Object.values(postgresFailures).flat(),
])

it('the reference has every reason that the shipped kinds give', () => {
  const given = sources.matchAll(/(?:(?:waiting|stop)\(|reason: |PostgresFailure\(\s*'\w+',\s*)'([A-Z]\w+)'/g)
  // An event, and no condition.
  const missing = [...given].map(([, reason = '']) => reason).filter((reason) => !told.has(reason) && reason !== 'Kept')
  expect([...new Set(missing)]).toEqual([])
})

it('the reference has no reason and no condition that nobody gives', () => {
  const types = all.flatMap(({ conditions }) => Object.keys(conditions))
  // `ControlPlaneRef` of the references makes the condition `ControlPlaneRefValid`.
  const isGiven = (word: string): boolean => new RegExp(`\\b${word.replace(/RefValid$/, 'Ref')}\\b`).test(sources)
  expect([...new Set([...types, ...told])].filter((word) => !isGiven(word))).toEqual([])
})
