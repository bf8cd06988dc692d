import { expect, it } from 'vitest'
import { createRunAdvice } from '../../../../shared/engine/insight/run-advice.ts'
import { again } from '../../../../shared/index.ts'
import { widgets } from '../../../acceptance/support/widgets.ts'
import { storedWidget } from '../../../support/stored-object.ts'

it('of those that ask for runs, as many are remembered as may well be there, not all that ever did', () => {
  const given: string[] = []
  const adviseOn = createRunAdvice(widgets([]), (_, about) => given.push(about))
  const run = (name: string): void => {
    const { object, engine } = storedWidget(name)
    const ready = [{ type: 'Ready', status: 'True', reason: 'Reconciled', message: '', lastTransitionTime: '' }]
    const status = { observedGeneration: object.metadata.generation, conditions: ready }
    adviseOn({ stored: { object: { ...object, status }, engine }, verdict: again('1s'), ms: 1 })
  }
  for (let i = 0; i < 10; i++) run('often')
  expect(given).toEqual([expect.stringContaining('often')])
  for (let i = 0; i < 9; i++) run('gone')
  for (let i = 0; i < 20_000; i++) run(`w-${i}`)
  run('gone')
  expect(given).toHaveLength(1)
})
