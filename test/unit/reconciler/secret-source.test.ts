import { describe, expect, it } from 'vitest'
import { secretSource, secretTarget } from '../../../shared/index.ts'

const letters = (count: number): string => 'x'.repeat(count)

describe('where a secret is', () => {
  it.each<[object, boolean]>([
    [{ secretKeyRef: { name: letters(253), key: letters(253) } }, true],
    [{ secretKeyRef: { name: letters(254), key: 'k' } }, false],
    [{ secretKeyRef: { name: 'a', key: letters(254) } }, false],
    [{ secretKeyRef: { name: 'a', key: 'k' } }, true],
    [{ secretKeyRef: { name: 'a', key: '' } }, false],
    [{ secretKeyRef: { name: 'a' } }, false],
    [{ secretsManager: { name: letters(2_048) } }, true],
    [{ secretsManager: { name: letters(2_049) } }, false],
    [{ secretsManager: { name: 'arn:aws:secretsmanager:eu-west-1:1:secret:a/b-c', key: 'k' } }, true],
    [{ secretsManager: { name: 'a b' } }, false],
    [{ parameter: { name: '/a/b' } }, true],
    [{ parameter: { name: '' } }, false],
  ])('%#', (source, is) => {
    expect(secretSource.safeParse(source).success).toBe(is)
  })

  it.each<[object, boolean]>([
    [{ secretsManager: { name: letters(512), key: letters(253) } }, true],
    [{ secretsManager: { name: letters(513) } }, false],
    [{ secretsManager: { name: 'arn:aws' } }, false],
    [{ parameter: { name: '/a/b' } }, true],
    [{ parameter: { name: '/a', key: '' } }, false],
  ])('and is to be kept: %#', (target, is) => {
    expect(secretTarget.safeParse(target).success).toBe(is)
  })

  it('is one of what it can be, by a rule', () => {
    const rulesOf = (schema: typeof secretSource | typeof secretTarget) => schema.meta()?.['x-kubernetes-validations']
    expect(rulesOf(secretTarget)).toEqual([
      {
        rule: '(has(self.secretsManager) ? 1 : 0) + (has(self.parameter) ? 1 : 0) == 1',
        message: 'name one of secretsManager and parameter',
      },
    ])
    expect(rulesOf(secretSource)).toHaveLength(1)
  })
})
