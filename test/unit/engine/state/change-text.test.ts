import { expect, it } from 'vitest'
import { changeText } from '../../../../shared/engine/state/change-text.ts'

it.each([
  [{ fields: ['spec.size', 'spec.color'] }, 'changed by kubectl-edit (spec.size, spec.color)'],
  [{ fields: ['spec.size'] }, 'changed by kubectl-edit (spec.size)'],
  [{ fields: [] }, 'changed by kubectl-edit'],
  [{}, 'changed by kubectl-edit'],
])('%j: %s', (more, text) => {
  expect(changeText({ verb: 'changed', atMs: 1, by: 'kubectl-edit', ...more })).toBe(text)
})
